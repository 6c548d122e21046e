"""Capture of one episode from a client's snapshots, tick by tick, into a writer.

The runner, which ticks the world, and the passive recorder, which only watches, both use it. All
values per tick come from the snapshot; the server is asked once per new actor.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import polars as pl

from jaywalk.core.arrays import FloatArray, IntArray
from jaywalk.record import columns as c
from jaywalk.record._contacts import MERGE_S, Hit, find_contacts, join_hits
from jaywalk.record.episode import Episode
from jaywalk.record.rows import (
    CONTROL_COLUMNS,
    INTEGER_COLUMNS,
    KIND_OTHER,
    KIND_VEHICLE,
    KIND_WALKER,
    MOTION_COLUMNS,
    NO_ACTOR,
    NO_CLIP,
    NO_GROUP,
    Rows,
    actor_row,
    blank_states,
    chassis_row,
    kind_of,
    mount_row,
    pose_of,
    signal_row,
)
from jaywalk.record.writer import EpisodeWriter

_FLUSH_ROWS: Final = 4096
_SETTLED: Final = frozenset({"light", "sign"})
_NO_WALK: Final = (0.0, 0.0, 0.0, 0.0)
_NO_DRIVE: Final = (0.0, 0.0, 0.0, 0.0)

Vector = tuple[float, float, float]
FetchActors = Callable[[list[int]], Iterable[Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reacting:
    """Perception and decisions of reacting people at one tick, one row per person.

    Attributes:
        ids: Server ids of the people.
        gaze_deg: (n, 2) yaw and pitch of the head against the body.
        gaze_id: Server ids of the vehicles they look at; 0: none.
        perceived_id: Server ids of the vehicles of the perceived gaps; 0: none.
        perceived_gap_s: Infinite: no gap is perceived.
        group: -1: alone.
    """

    ids: IntArray
    gaze_deg: FloatArray
    gaze_id: IntArray
    attention: IntArray
    decision: IntArray
    evidence: FloatArray
    perceived_gap_s: FloatArray
    perceived_id: IntArray
    group: IntArray


class _Known:
    """An actor that has been seen."""

    __slots__ = ("handle", "kind", "last_tick", "number", "pose", "row", "signal")

    def __init__(self, number: int, kind: str, handle: Any, row: dict[str, Any]) -> None:
        self.number = number
        self.kind = kind
        self.handle = handle
        self.row = row
        self.last_tick = -1
        self.pose: tuple[float, ...] = ()
        self.signal: tuple[int, bool] | None = None


class EpisodeCapture:
    """One episode in the making.

    Attributes:
        writer: For rows only the caller knows: ego, forecasts, debug, route, events.
        lamps: Server id -> lamp flags, as last asked for.
        pose_states: Server id -> (clip, phase, blend) of posed walkers at the present tick.
        reactions: People who react, at the present tick; None: nobody does.
        intended_classes: Server id -> class of a person's planned behaviour.
        first_ego_place_m: Position at which the ego was first seen (x, y).
    """

    def __init__(self, folder: Path, fetch: FetchActors, ego_id: int | None = None) -> None:
        """Begin an episode.

        Args:
            folder: Folder of the record.
            fetch: Gives the client's actors of some ids, e.g. ``world.get_actors``.
            ego_id: Server id of the ego, if there is one.
        """
        self.writer = EpisodeWriter(folder)
        self.ego_id = ego_id
        self.lamps: Mapping[int, int] = {}
        self.pose_states: Mapping[int, tuple[str, float, float]] = {}
        self.reactions: Reacting | None = None
        self.intended_classes: Mapping[int, str] = {}
        self.first_frame: int | None = None
        self.first_elapsed_s = 0.0
        self.tick = -1
        self.step_s: float | None = None
        self.first_ego_place_m: tuple[float, float] | None = None
        self._fetch = fetch
        self._known: dict[int, _Known] = {}
        self._unknown_ids: set[int] = set()
        self._present = -1  # actors in the last snapshot
        self._followed: list[tuple[int, _Known]] = []  # those of them that may move or go
        self._settled: list[_Known] = []  # actors that never leave
        self._lights: list[_Known] = []
        self._hits: list[tuple[int, int, str, Vector, Vector]] = []
        self._ego_velocity: dict[int, tuple[float, float]] = {}
        self._floats: list[float] = []
        self._wholes: list[int] = []
        self._reactions: list[tuple[int, Reacting]] = []  # by tick
        self._rows = 0

    def observe(self, snapshot: Any) -> bool:
        """Take a world snapshot; one that was seen before (or is older) is left out."""
        stamp = snapshot.timestamp
        if self.first_frame is None:
            self.first_frame, self.first_elapsed_s = snapshot.frame, stamp.elapsed_seconds
        tick = snapshot.frame - self.first_frame
        if tick <= self.tick:
            return False
        self.tick = tick
        if self.step_s is None and stamp.delta_seconds > 0.0 and tick > 0:
            self.step_s = round(stamp.delta_seconds, 6)
        time_s = stamp.elapsed_seconds - self.first_elapsed_s
        self.writer.add_tick(tick, time_s, stamp.delta_seconds)
        if not self._follow(snapshot, tick):
            self._rescan_actors(snapshot, tick)
        if self.reactions is not None:
            self._reactions.append((tick, self.reactions))
        if self._rows >= _FLUSH_ROWS:
            self._flush()
        return True

    def _follow(self, snapshot: Any, tick: int) -> bool:
        """Take the states of the actors of the last tick; return False if the actors may differ.

        Most of a town's actors are signs and lights, which never move. They are skipped while the
        number of actors is unchanged and no followed actor is missing.
        """
        if len(snapshot) != self._present:
            return False
        found = [(known, snapshot.find(server_id)) for server_id, known in self._followed]
        if any(one is None for _, one in found):
            return False
        for known, one in found:
            known.last_tick = tick
            self._take(known, one, tick)
        for known in self._lights:
            self._take(known, None, tick)
        return True

    def _rescan_actors(self, snapshot: Any, tick: int) -> None:
        """Take every actor of a snapshot, and get to know the new ones."""
        for known in self._settled:
            known.last_tick = tick - 1  # they were there until now, or still are
        seen = list(snapshot)
        new = [one.id for one in seen if one.id not in self._known]
        if new:
            self._register_actors([n for n in new if n not in self._unknown_ids], snapshot)
        present = [(one, self._known[one.id]) for one in seen if one.id in self._known]
        for one, known in present:
            known.last_tick = tick
            self._take(known, one, tick)
        self._present = len(seen)
        self._settled = [known for _, known in present if known.kind in _SETTLED]
        self._lights = [known for known in self._settled if known.kind == "light"]
        self._followed = [(one.id, known) for one, known in present if known.kind not in _SETTLED]

    def _register_actors(self, ids: list[int], snapshot: Any) -> None:
        """Number and describe new actors, in order of their ids."""
        handles = {handle.id: handle for handle in self._fetch(ids)} if ids else {}
        for server_id in sorted(ids):
            handle = handles.get(server_id)
            if handle is None:
                # Gone before we could ask; without a description its states mean nothing.
                self._unknown_ids.add(server_id)
                continue
            kind = kind_of(handle.type_id)
            row = actor_row(handle, kind)
            number = len(self._known)
            row |= {c.ACTOR: number, c.FIRST_TICK: self.tick}
            parent = handle.parent
            if parent is not None and parent.id in self._known:
                row[c.PARENT] = self._known[parent.id].number
                theirs, ours = snapshot.find(parent.id), snapshot.find(server_id)
                if theirs is not None and ours is not None:
                    row |= mount_row(ours.get_transform(), theirs.get_transform())
            if server_id == self.ego_id:
                # A watcher may come too late to ask; mass and axles may be missing, the ego not.
                with contextlib.suppress(RuntimeError):
                    row |= chassis_row(handle, handle.get_transform())
            self._known[server_id] = _Known(number, kind, handle, row)

    def _take(self, known: _Known, actor: Any, tick: int) -> None:
        kind = known.kind
        if kind == "vehicle":
            control = known.handle.get_control()
            drive = (control.throttle, control.steer, control.brake, known.handle.get_speed_limit())
            self._motion(actor, drive, _NO_WALK, None)
            self._wholes += (
                known.number,
                tick,
                KIND_VEHICLE,
                control.hand_brake,
                control.reverse,
                control.manual_gear_shift,
                control.gear,
                known.handle.is_at_traffic_light(),
                int(known.handle.get_traffic_light_state()),
                self.lamps.get(actor.id, 0),
                False,
                NO_CLIP,
            )
            if actor.id == self.ego_id:
                self._follow_ego(actor, tick)
        elif kind == "walker":
            control = known.handle.get_control()
            way, posed = control.direction, self.pose_states.get(actor.id)
            self._motion(actor, _NO_DRIVE, (way.x, way.y, way.z, control.speed), posed)
            clip = NO_CLIP if posed is None else self.writer.clip_number(posed[0])
            self._wholes += (
                known.number,
                tick,
                KIND_WALKER,
                False,
                False,
                False,
                0,
                False,
                0,
                0,
                control.jump,
                clip,
            )
        elif kind == "prop":
            pose = pose_of(actor.get_transform())
            if pose != known.pose:
                known.pose = pose
                self._motion(actor, _NO_DRIVE, _NO_WALK, None)
                self._wholes += (
                    known.number,
                    tick,
                    KIND_OTHER,
                    False,
                    False,
                    False,
                    0,
                    False,
                    0,
                    0,
                    False,
                    NO_CLIP,
                )
        elif kind == "light":
            signal = int(known.handle.get_state()), bool(known.handle.is_frozen())
            if signal != known.signal:
                known.signal = signal
                row = signal_row(known.handle, *signal)
                self.writer.add("signals", actor=known.number, tick=tick, **row)

    def _follow_ego(self, ego: Any, tick: int) -> None:
        speed = ego.get_velocity()
        self._ego_velocity[tick] = speed.x, speed.y
        if self.first_ego_place_m is None:
            place = ego.get_transform().location
            self.first_ego_place_m = place.x, place.y

    def _motion(
        self,
        actor: Any,
        drive: tuple[float, ...],
        walk: tuple[float, ...],
        posed: tuple[str, float, float] | None,
    ) -> None:
        transform = actor.get_transform()
        p, r = transform.location, transform.rotation
        v, w, a = actor.get_velocity(), actor.get_angular_velocity(), actor.get_acceleration()
        phase, blend = (0.0, 0.0) if posed is None else posed[1:]
        self._floats += (
            p.x,
            p.y,
            p.z,
            r.pitch,
            r.yaw,
            r.roll,
            v.x,
            v.y,
            v.z,
            w.x,
            w.y,
            w.z,
            a.x,
            a.y,
            a.z,
            *drive,
            *walk,
            phase,
            blend,
        )
        self._rows += 1

    def _flush(self) -> None:
        if not self._rows:
            return
        rows = blank_states(self._rows)
        floats = np.array(self._floats, np.float32).reshape(self._rows, -1)
        for k, name in enumerate((*MOTION_COLUMNS, *CONTROL_COLUMNS)):
            rows[name] = floats[:, k]
        wholes = np.array(self._wholes, np.int64).reshape(self._rows, -1)
        for k, name in enumerate(INTEGER_COLUMNS):
            rows[name] = wholes[:, k]
        self._add_reactions(rows)
        self.writer.add_states(rows)
        self._floats, self._wholes, self._rows = [], [], 0

    def _add_reactions(self, rows: Rows) -> None:
        """Write what reacting people perceive and decide into the state rows of a flush."""
        if not self._reactions:
            return
        keys = rows[c.TICK].astype(np.int64) * 2**32 + rows[c.ACTOR]
        order = np.argsort(keys, kind="stable")
        for tick, people in self._reactions:
            wanted = tick * 2**32 + self._numbers(people.ids)
            at = order[np.minimum(np.searchsorted(keys, wanted, sorter=order), len(keys) - 1)]
            present = keys[at] == wanted
            at = at[present]
            gap = people.perceived_gap_s
            rows[c.GAZE_YAW_DEG][at] = people.gaze_deg[present, 0]
            rows[c.GAZE_PITCH_DEG][at] = people.gaze_deg[present, 1]
            rows[c.GAZE_ACTOR][at] = self._numbers(people.gaze_id)[present]
            rows[c.ATTENTION][at] = people.attention[present]
            rows[c.DECISION][at] = people.decision[present]
            rows[c.EVIDENCE][at] = people.evidence[present]
            rows[c.PERCEIVED_GAP_S][at] = np.where(np.isfinite(gap), gap, np.nan)[present]
            rows[c.PERCEIVED_ACTOR][at] = self._numbers(people.perceived_id)[present]
            rows[c.PEOPLE_GROUP][at] = np.where(people.group < 0, NO_GROUP, people.group)[present]
        self._reactions = []

    def _numbers(self, server_ids: IntArray) -> IntArray:
        """Numbers in the record; ``NO_ACTOR`` for ids that are not known."""
        known = self._known
        return np.array(
            [known[k].number if k in known else NO_ACTOR for k in server_ids.tolist()], np.int64
        )

    def number_of(self, server_id: int) -> int | None:
        """Number in the record of an actor of the server."""
        known = self._known.get(server_id)
        return None if known is None else known.number

    def add_landmarks(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Add lights and signs given with the server's ids; those never seen are left out."""
        for row in rows:
            number = self.number_of(row[c.ACTOR])
            if number is None:
                continue
            group = [self.number_of(light) for light in row.get(c.GROUP) or ()]
            known = sorted(light for light in group if light is not None)
            more = {c.GROUP: known} if c.GROUP in row else {}
            self.writer.add("landmarks", **{**row, c.ACTOR: number, **more})

    def add_hit(
        self,
        frame: int,
        other_id: int,
        other_type_id: str,
        impulse_ns: Vector,
        place_m: Vector,
    ) -> None:
        """Take a message of the ego's collision sensor."""
        self._hits.append((frame, other_id, other_type_id, impulse_ns, place_m))

    def finish(self, episode: Episode) -> Path:
        """Find the contacts, write the record and put it in place."""
        self._flush()
        for known in self._settled:
            known.last_tick = self.tick
        for server_id, known in self._known.items():
            more: dict[str, Any] = {c.LAST_TICK: known.last_tick}
            if server_id in self.intended_classes:
                more[c.INTENDED_CLASS] = self.intended_classes[server_id]
            self.writer.add("actors", **{**known.row, **more})
        self._add_contacts()
        ego = None if self.ego_id is None else self.number_of(self.ego_id)
        wall = episode.wall.model_copy(
            update={"first_frame": self.first_frame, "first_elapsed_s": self.first_elapsed_s}
        )
        known_now = {"ego_actor": ego, "step_s": self.step_s, "wall": wall}
        return self.writer.finish(episode.model_copy(update=known_now))

    def _add_contacts(self) -> None:
        types: dict[int | None, str] = {
            known.number: known.row[c.TYPE_ID] for known in self._known.values()
        }
        ego = None if self.ego_id is None else self.number_of(self.ego_id)
        contacts = find_contacts(
            pl.DataFrame(self.writer.table("ticks")),
            pl.DataFrame(self.writer.table("actors")),
            pl.scan_parquet(self.writer.write_states()),
            ego=ego,
        )
        alone: list[dict[str, Any]] = []
        if ego is not None and self._hits:
            merge_ticks = round(MERGE_S / (self.step_s or MERGE_S))
            hits = [self._hit(*hit) for hit in self._hits]
            contacts, alone = join_hits(ego, hits, contacts, merge_ticks, self._velocity_before)
        rows = [("geometry", hit.as_row(types[hit.other])) for hit in contacts]
        rows += [("collision-sensor", row) for row in alone]
        for source, row in sorted(rows, key=lambda pair: int(pair[1][c.TICK])):
            self.writer.add_event(kind="contact", source=source, **row)

    def _hit(
        self,
        frame: int,
        other_id: int,
        other_type_id: str,
        impulse_ns: Vector,
        place_m: Vector,
    ) -> Hit:
        return Hit(
            tick=max(frame - (self.first_frame or 0), 0),
            other=self.number_of(other_id) if other_id else None,
            other_type_id=other_type_id,
            impulse_ns=impulse_ns,
            place_m=place_m,
        )

    def _velocity_before(self, tick: int) -> tuple[float, float]:
        earlier = [known for known in self._ego_velocity if known < tick]
        return self._ego_velocity[max(earlier)] if earlier else (0.0, 0.0)

    def discard(self) -> None:
        """Throw the episode away."""
        self.writer.discard()
