"""Reacting people of a record: their traits, their plans to cross, and the world around them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, NamedTuple

import numpy as np

from jaywalk.actors.reactive.traits import PRESETS, SCRIPTED, ReactionSettings, Traits
from jaywalk.core.arrays import BoolArray, FloatArray, IntArray
from jaywalk.core.errors import DataError
from jaywalk.record import columns as c
from jaywalk.record.queries import Announcement, announcements
from jaywalk.record.reader import Record
from jaywalk.record.tracks import COS, HX, HY, SIN, VX, VY, EpisodeTracks, X, Y, read_tracks
from jaywalk.report.ground_plan import ground_plan, has_own_scenery, town_of
from jaywalk.town.town import Town
from jaywalk.town.walkways import WalkGrid, build_walk_grid

_NAME: Final = "habit"  # of the events of posed people
_ENDS: Final = ("crossed", "gives up", "knocked down", "back", "stays", "strolled")
_TALL_M: Final = 0.6  # half height of a prop that hides what is behind it
_STANDING_MPS: Final = 0.3
_NO_LANES: Final[FloatArray] = np.zeros((0, 2))
_RUN_AGAIN: Final = "drive the suite again, as in jaywalk run habit --people-model reactive"


class RecordedPlan(NamedTuple):
    """A person's plan to cross.

    Attributes:
        begins: Tick of the plan.
        ends: Tick at which the person has crossed, gives up or is knocked down.
        path_m: (p, 2) corners.
        via_m: Place at the kerb.
        road_m: Where the path enters and leaves the road, along it.
        painted: Whether it enters the road on a crosswalk.
        lanes: (n, 2) where lanes begin, and the sides from which their traffic comes; perhaps none.
    """

    begins: int
    ends: int
    path_m: FloatArray
    via_m: tuple[float, float]
    road_m: tuple[float, float]
    painted: bool
    lanes: FloatArray = _NO_LANES


class Around(NamedTuple):
    """Everything that reacting people may see at a tick, in the forms of the model."""

    ids: IntArray
    vehicle: FloatArray
    blocker: FloatArray
    other: FloatArray


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedPeople:
    """Reacting people of an episode. Frame: CARLA's.

    Attributes:
        actor: (p,) numbers in the record, by row of the model.
        traits: Their traits.
        clip_mps: (p,) speed of the clip that each person walks with.
        watched_m: (p, 2) points that people face before they set off; NaN: not recorded.
        noise_key: Key of the noise of the episode.
        settings: Parameters of the model.
        plans: The plan of each person who is to cross; None for the others.
        tracks: Bodies of the episode.
        body: (p,) index of each person among the bodies.
        grid: Surfaces and solid objects of the town.
        decision: (p, n) decisions as recorded; NaN where a person took no part in the model.
        evidence: (p, n) evidence as recorded.
    """

    actor: IntArray
    traits: Traits
    clip_mps: FloatArray
    watched_m: FloatArray
    noise_key: int
    settings: ReactionSettings
    plans: tuple[RecordedPlan | None, ...]
    tracks: EpisodeTracks
    body: IntArray
    grid: WalkGrid
    decision: FloatArray
    evidence: FloatArray
    _vehicles: IntArray
    _server_ids: IntArray
    _tall: IntArray
    _others: IntArray

    @property
    def delta_s(self) -> float:
        """Length of a tick."""
        return float(np.median(self.tracks.delta_s[1:]))

    def place_m(self, tick: int) -> FloatArray:
        """(p, 2) places of the people."""
        return np.asarray(self.tracks.pose[self.body, tick][:, [X, Y]])

    def yaw_rad(self, tick: int) -> FloatArray:
        """(p,) headings of the people."""
        return np.asarray(self.tracks.states.yaw_rad[self.body, tick])

    def velocity_mps(self, tick: int) -> FloatArray:
        """(p, 2) velocities of the people, from their places."""
        return (self.place_m(tick) - self.place_m(max(tick - 1, 0))) / self.delta_s

    def around(self, tick: int, moved: Mapping[int, FloatArray] | None = None) -> Around:
        """Vehicles, what hides them, and people who are not controlled by the model.

        Args:
            tick: Index of the tick.
            moved: Poses that differ from the record, by index of the body.
        """
        pose, present = self.tracks.pose[:, tick], self.tracks.present[:, tick]
        if moved:
            pose = pose.copy()
            for body, row in moved.items():
                pose[body] = row
        rows = self._vehicles[present[self._vehicles]]
        vehicle = np.empty((len(rows), 8))
        vehicle[:, :4] = pose[rows][:, [X, Y, COS, SIN]]
        vehicle[:, 4:6] = self.tracks.shape[rows][:, [HX, HY]]
        vehicle[:, 6:] = pose[rows][:, [VX, VY]]
        standing = np.hypot(vehicle[:, 6], vehicle[:, 7]) < _STANDING_MPS
        tall = self._tall[present[self._tall]]
        props = np.column_stack(
            [pose[tall][:, [X, Y, COS, SIN]], self.tracks.shape[tall][:, [HX, HY]]]
        )
        others = self._others[present[self._others]]
        ids = self._server_ids[present[self._vehicles]]
        order = np.argsort(ids)
        return Around(
            ids[order],
            np.ascontiguousarray(vehicle[order]),
            np.concatenate([vehicle[standing, :6], props]),
            np.ascontiguousarray(pose[others][:, [X, Y, VX, VY]]),
        )

    def stays(self, tick: int) -> BoolArray:
        """(p,) who stands before their plan begins, and looks around."""
        known = np.isfinite(self.watched_m[:, 0])
        later = [plan is not None and tick < plan.begins for plan in self.plans]
        return np.asarray(known & np.array(later, np.bool_))

    def is_planning(self, tick: int) -> BoolArray:
        """(p,) who is on the way to cross at a tick."""
        return np.array(
            [plan is not None and plan.begins <= tick < plan.ends for plan in self.plans]
        )


def read_reacting_people(record: Record) -> RecordedPeople:
    """Read the reacting people of a record.

    Raises:
        DataError: Nobody reacts in it, or it was made before traits and plans were recorded.
    """
    where = f"'{record.folder}'"
    model = str(record.episode.parameters.get("people_model", SCRIPTED))
    name = model.rsplit("/", 1)[-1].split("-")[0]
    if name == SCRIPTED:
        raise DataError(
            f"{where} has people_model '{model}': scripted people never decide, so that there is "
            f"nothing to roll on; expected people who react: {_RUN_AGAIN}."
        )
    if name not in PRESETS:
        raise DataError(
            f"{where} has people_model '{model}'; rollouts know {', '.join(PRESETS)}: {_RUN_AGAIN}."
        )
    notes = list(announcements(record, kind="note", name=_NAME))
    roles = [note for note in notes if note.detail.get("what") == "role"]
    if not roles or any("traits" not in role.detail for role in roles):
        raise DataError(
            f"{where} holds no traits of its people: it was made by an older version; {_RUN_AGAIN}."
        )
    actor = np.array([role.actor for role in roles], np.int64)
    tracks = read_tracks(record, columns=(c.DECISION, c.EVIDENCE))
    body = np.searchsorted(tracks.number, actor)
    if not np.array_equal(tracks.number[np.minimum(body, len(tracks.number) - 1)], actor):
        raise DataError(f"{where} has roles of people without states; {_RUN_AGAIN}.")
    kind = np.array(tracks.kind)
    vehicles = np.flatnonzero(kind == "vehicle")
    tall = tracks.bodies[c.HALF_Z_M].cast(float).to_numpy() > _TALL_M
    walkers = np.flatnonzero(kind == "walker")
    decision, evidence = tracks.dense(c.DECISION)[body], tracks.dense(c.EVIDENCE)[body]
    return RecordedPeople(
        actor=actor,
        traits=_traits(roles),
        clip_mps=np.array([_clip_mps(role.detail) for role in roles]),
        watched_m=np.array([_watched_m(role.detail) for role in roles]).reshape(-1, 2),
        noise_key=int(roles[0].detail["noise_key"]),
        settings=PRESETS[name],
        plans=tuple(_plan(notes, role, len(tracks.tick)) for role in roles),
        tracks=tracks,
        body=body,
        grid=_grid_of(record),
        decision=decision,
        evidence=evidence,
        _vehicles=vehicles,
        _server_ids=tracks.bodies[c.SERVER_ID].to_numpy().astype(np.int64)[vehicles],
        _tall=np.flatnonzero((kind == "prop") & tall),
        _others=walkers[~np.isin(walkers, body)],
    )


def _traits(roles: list[Announcement]) -> Traits:
    columns: dict[str, Any] = {}
    for name in Traits._fields:
        values = [role.detail["traits"].get(name) for role in roles]
        if any(value is None for value in values):
            raise DataError(f"The record lacks the trait '{name}' of its people; {_RUN_AGAIN}.")
        kind = np.bool_ if isinstance(values[0], bool) else np.float64
        columns[name] = np.array(values, np.int64 if _is_whole(values) else kind)
    return Traits(**columns)


def _is_whole(values: list[Any]) -> bool:
    return all(isinstance(value, int) and not isinstance(value, bool) for value in values)


def _watched_m(detail: dict[str, Any]) -> tuple[float, float]:
    x, y = detail.get("watched_m", (math.nan, math.nan))
    return float(x), float(y)


def _clip_mps(detail: dict[str, Any]) -> float:
    return float(detail.get("clip_mps", detail["traits"]["free_mps"]))


def _plan(notes: list[Announcement], role: Announcement, ticks: int) -> RecordedPlan | None:
    """The crossing that a person plans; attempts are played as clips and are no plan to cross."""
    mine = [note for note in notes if note.actor == role.actor]
    plans = [n for n in mine if n.detail.get("what") == "intends" and "path_m" in n.detail]
    if role.detail.get("intended") != "crossing" or not plans:
        return None
    facts = plans[0].detail
    if facts.get("road_m") is None:
        return None
    begins = plans[0].tick
    ends = [n.tick for n in mine if n.detail.get("what") in _ENDS and n.tick > begins]
    return RecordedPlan(
        begins=begins,
        ends=min(ends, default=ticks),
        path_m=np.array(facts["path_m"], np.float64),
        via_m=(float(facts["via_m"][0]), float(facts["via_m"][1])),
        road_m=(float(facts["road_m"][0]), float(facts["road_m"][1])),
        painted=bool(facts.get("painted", False)),
        lanes=np.array(facts.get("lanes", []), np.float64).reshape(-1, 2),
    )


def _grid_of(record: Record) -> WalkGrid:
    town = town_of(record)
    if town is None:
        raise DataError(f"'{record.folder}' holds no map; {_RUN_AGAIN}.")
    return _town_grid(town)


@lru_cache(maxsize=4)
def _town_grid(town: Town) -> WalkGrid:
    boxes = ground_plan(town).boxes if has_own_scenery(town) else ()
    solids = np.array([_box(np.asarray(corners)) for corners in boxes]).reshape(-1, 6)
    return build_walk_grid(town.strips, town.crosswalks, solids, town.ground)


def _box(corners: FloatArray) -> tuple[float, ...]:
    """Box x, y, cos, sin, half length, half width of four corners."""
    middle, along, across = corners.mean(axis=0), corners[1] - corners[0], corners[3] - corners[0]
    size = max(math.hypot(*along), 1e-9)
    return (
        float(middle[0]),
        float(middle[1]),
        float(along[0] / size),
        float(along[1] / size),
        0.5 * size,
        max(0.5 * math.hypot(*across), 0.02),
    )
