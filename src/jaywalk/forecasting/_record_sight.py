"""Heads and chests of posed people, their gaze at the ego, and occlusion from the ego's view."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import polars as pl

from jaywalk.core.arrays import BoolArray, FloatArray, IntArray
from jaywalk.core.errors import UsageError
from jaywalk.geometry.rotation import conjugate, multiply, rotate
from jaywalk.geometry.zones import sight_blocked
from jaywalk.metrics.safety.posed import posed_people
from jaywalk.motion import packaged_library
from jaywalk.motion.carla_rigs import load_rig
from jaywalk.motion.library.reading import EVERYDAY, library_digest, open_library
from jaywalk.motion.playback.bank import ClipBank
from jaywalk.motion.retarget import DRIVEN, RigClip
from jaywalk.record import columns as c
from jaywalk.record.queries import state_rows
from jaywalk.record.reader import Record
from jaywalk.record.tracks import ROUND, EpisodeTracks, X, Y, read_tracks

HEAD: Final = "crl_Head__C"
CHEST: Final = "crl_spine01__C"
_PLACE: Final = {name: i for i, name in enumerate(DRIVEN)}
_AHEAD: Final = np.array([0.0, 1.0, 0.0])  # of the mesh, at rest
_STEEP: Final = 0.2  # horizontal part of a direction below which it has no yaw: 78 degrees up, down
LOOKS_WITHIN_RAD: Final = np.deg2rad(30.0)  # eyes turn this far without the head
_TALLER_M: Final = 0.2  # a head is visible above an actor this much lower


def looks_at(
    head_rad: FloatArray,
    place_m: FloatArray,
    rear_m: FloatArray,
    front_m: FloatArray,
    within_rad: float = LOOKS_WITHIN_RAD,
) -> BoolArray:
    """Return whether heads face a vehicle: a point between its bumpers lies within an angle.

    Args:
        head_rad: (n,) directions of the faces; NaN gives False.
        place_m: (n, 2) positions of the people.
        rear_m: (n, 2) middle of the rear bumper.
        front_m: (n, 2) middle of the front bumper.
        within_rad: The angle.
    """
    rear, front = (_aside(head_rad, end - place_m) for end in (rear_m, front_m))
    between = (rear * front <= 0.0) & (np.abs(rear) + np.abs(front) < np.pi)
    nearest = np.minimum(np.abs(rear), np.abs(front))
    return np.asarray((between | (nearest <= within_rad)) & np.isfinite(head_rad))


def _aside(head_rad: FloatArray, towards_m: FloatArray) -> FloatArray:
    turn = np.arctan2(towards_m[:, 1], towards_m[:, 0]) - head_rad
    return np.asarray(np.arctan2(np.sin(turn), np.cos(turn)))


def occluded_people(record: Record, tracks: EpisodeTracks) -> pl.DataFrame:
    """Mark people whose middle and both sides lie behind vehicles or props, by actor and tick.

    An occluding body is at least as tall, within 0.2 m. The eye is in the middle of the ego.
    Other people, buildings and hills occlude nothing.

    Args:
        record: Record with the props.
        tracks: Vehicles and people at the ticks to check.

    Returns:
        ``actor``, ``tick``, ``occluded`` of all rows of people.
    """
    props = read_tracks(record, only=pl.col(c.KIND) == "prop")
    at = np.searchsorted(props.tick, tracks.tick)  # props have rows only when they move
    has_row = np.zeros(tracks.present.shape, np.bool_)
    has_row[tracks.states.body_at, tracks.states.tick_at] = True
    moving, still = _Boxes.of(tracks), _Boxes.of(props)
    vehicles = np.array([kind == "vehicle" for kind in tracks.kind])
    vehicles[tracks.ego] = False
    people = np.array(tracks.people, np.int64)
    hidden = np.zeros(tracks.present.shape, np.bool_)
    for j in np.flatnonzero(has_row[tracks.ego]):
        who = people[has_row[people, j]]
        hiding = _Boxes.joined(
            moving.at(np.flatnonzero(vehicles & has_row[:, j]), int(j)),
            still.at(np.flatnonzero(props.present[:, at[j]]), int(at[j])),
        )
        if len(who) and len(hiding.height_m):
            eye_m = moving.place_m[tracks.ego, j]
            hidden[who, j] = _hidden(
                eye_m, moving.at(who, int(j)), tracks.shape[who, ROUND], hiding
            )
    bodies, ticks = np.nonzero(has_row & np.isin(np.arange(len(has_row)), people)[:, None])
    return pl.DataFrame(
        {
            c.ACTOR: tracks.number[bodies].astype(np.uint32),
            c.TICK: tracks.tick[ticks].astype(np.int32),
            "occluded": hidden[bodies, ticks],
        }
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Boxes:
    """Upright boxes of bodies: at every tick (m, n), or at one tick (m,)."""

    place_m: FloatArray  # centres, with a last axis of 2
    yaw_rad: FloatArray
    half_m: FloatArray  # (m, 2)
    height_m: FloatArray  # (m,)

    @classmethod
    def of(cls, tracks: EpisodeTracks) -> _Boxes:
        half_z = tracks.bodies[c.HALF_Z_M].fill_null(0.0).to_numpy().astype(np.float64)
        half = tracks.bodies.select(pl.col(c.HALF_X_M, c.HALF_Y_M).fill_null(0.0)).to_numpy()
        return cls(
            place_m=tracks.pose[..., [X, Y]],
            yaw_rad=tracks.states.yaw_rad,
            half_m=half.astype(np.float64),
            height_m=2.0 * half_z,
        )

    @classmethod
    def joined(cls, a: _Boxes, b: _Boxes) -> _Boxes:
        return cls(
            place_m=np.concatenate([a.place_m, b.place_m]),
            yaw_rad=np.concatenate([a.yaw_rad, b.yaw_rad]),
            half_m=np.concatenate([a.half_m, b.half_m]),
            height_m=np.concatenate([a.height_m, b.height_m]),
        )

    def at(self, bodies: IntArray, tick: int) -> _Boxes:
        """Some boxes at the tick with an index."""
        return _Boxes(
            place_m=self.place_m[bodies, tick],
            yaw_rad=self.yaw_rad[bodies, tick],
            half_m=self.half_m[bodies],
            height_m=self.height_m[bodies],
        )


def _hidden(eye_m: FloatArray, people: _Boxes, is_round: FloatArray, hiding: _Boxes) -> BoolArray:
    away = people.place_m - eye_m
    away /= np.maximum(np.linalg.norm(away, axis=1), 1e-9)[:, None]
    turn = people.yaw_rad - np.arctan2(away[:, 1], away[:, 0])
    half = people.half_m
    seen_m = np.abs(half[:, 0] * np.sin(turn)) + np.abs(half[:, 1] * np.cos(turn))
    reach_m = np.where(is_round != 0.0, half[:, 0], seen_m)
    across = np.stack([-away[:, 1], away[:, 0]], axis=1) * reach_m[:, None]
    taller = hiding.height_m > people.height_m[:, None] - _TALLER_M
    boxes = hiding.place_m, hiding.yaw_rad, hiding.half_m
    points = (people.place_m, people.place_m + across, people.place_m - across)
    return np.asarray(
        np.logical_and.reduce(
            [(sight_blocked(eye_m, at, *boxes) & taller).any(axis=1) for at in points]
        )
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Facing:
    """Yaws of one person, one value per frame.

    Radians from -pi to pi in CARLA's axes, as an actor's yaw: seen from above to the right. NaN
    where a face or a chest points at the sky or at the ground.

    Attributes:
        head_rad: (frames,) yaw of the face.
        body_rad: (frames,) yaw of the chest.
    """

    head_rad: FloatArray
    body_rad: FloatArray


def facing(motion: RigClip) -> Facing:
    """Return yaws of head and chest of a motion, turned from rest by all parent bones."""
    return Facing(head_rad=_yaw_rad(motion, HEAD), body_rad=_yaw_rad(motion, CHEST))


def _yaw_rad(motion: RigClip, bone: str) -> FloatArray:
    ahead = rotate(_turned(motion, bone), _AHEAD)
    # mesh y is the actor's forward, mesh x its left
    forward, right = ahead[:, 1], -ahead[:, 0]
    yaw = motion.actor[:, 3] + np.arctan2(right, forward)
    wrapped = np.arctan2(np.sin(yaw), np.cos(yaw))
    return np.where(np.hypot(forward, right) < _STEEP, np.nan, wrapped)


def _turned(motion: RigClip, bone: str) -> FloatArray:
    """Return the rotation of a bone from rest in mesh axes, (frames, 4)."""
    rig = load_rig(motion.rig)
    here = rig.bone_index[bone]
    away = conjugate(rig.rest_mesh[here, 3:])
    while here >= 0:
        name = rig.bones[here]
        local = motion.turns[:, _PLACE[name]] if name in _PLACE else rig.rest_local[here, 3:]
        away = multiply(local, away)
        here = int(rig.parents[here])
    return np.broadcast_to(away, (len(motion.actor), 4))


_SCHEMA = pl.Schema(
    {"actor": pl.UInt32, "tick": pl.Int32, "head_rad": pl.Float64, "body_rad": pl.Float64}
)
_SHOWN_DIGITS = 16  # of a digest, in records


class PosingLibraries:
    """Motion libraries that records name, each opened once: the packaged one and the user's."""

    def __init__(self, folders: Iterable[Path] = ()) -> None:
        self._folders = {library_digest(folder)[:_SHOWN_DIGITS]: folder for folder in folders}
        self._banks: dict[str, ClipBank] = {}

    def bank(self, record: Record) -> ClipBank | None:
        """Return the clips of a record's people; None if their library was not given."""
        name = str(record.episode.parameters.get("motions") or "")
        packaged = name in ("", EVERYDAY)
        digest = name.rpartition("sha256:")[2]
        if not packaged and digest not in self._folders:
            return None
        if digest not in self._banks:
            folder = self._folders.get(digest)
            library = packaged_library(name) if folder is None else open_library(folder)
            self._banks[digest] = ClipBank(library)
        return self._banks[digest]

    def check_all_used(self) -> None:
        """Raise if a given library posed no person."""
        for digest, folder in self._folders.items():
            if digest not in self._banks:
                raise UsageError(
                    f"no person in these records was posed by '{folder}' (sha256:{digest}); give "
                    "the library the run was made with, or none for our own."
                )


def angle_rows(record: Record, libraries: PosingLibraries, excluded: Counter[str]) -> pl.DataFrame:
    """Return angles of people posed by clips, by actor and tick, in right-handed radians.

    An angle is null if there is none. In joins of two clips, the angles are those of the blended
    bones.
    """
    posed = state_rows(record, (c.CLIP,), posed=True)
    if len(posed) == 0:
        return pl.DataFrame(schema=_SCHEMA)
    bank = libraries.bank(record)
    if bank is None:
        library = record.episode.parameters["motions"]
        why = f"person without head and body angles: give --motions the library '{library}'"
        excluded[why] += posed["actor"].n_unique()
        return pl.DataFrame(schema=_SCHEMA)
    parts = [pl.DataFrame(schema=_SCHEMA)]
    for person in posed_people(record, bank):
        seen = facing(person.motion)
        rows = {
            "actor": np.full(len(person.tick), person.actor, np.uint32),
            "tick": person.tick.astype(np.int32),
            "head_rad": -seen.head_rad,  # CARLA's yaws are those of a mirrored plane
            "body_rad": -seen.body_rad,
        }
        parts.append(pl.DataFrame(rows, schema=_SCHEMA))
    return pl.concat(parts).with_columns(pl.col("head_rad", "body_rad").fill_nan(None))
