"""Contact intervals: the two actors, first and last tick, speed and place. One hit, one interval.

The functions are pure functions of the states and boxes of a record, and independent of protocols.
Metrics decide which actor was at fault, whether a contact counts and how long it is forgiven.

Contacts during a step are found from the poses at its two ends. A simulator pushes colliding bodies
apart within the step, so boxes at the ends of steps need not overlap. Each pair is therefore tested
along two motions: the actual one (straight between the two ends) and the undisturbed one (the pose
and velocity at the start of the step, extrapolated). Shapes are upright: boxes, and cylinders for
people.

The impulses of the ego's collision sensor are joined with the contacts found by geometry.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from jaywalk.core.arrays import FloatArray
from jaywalk.record import columns as c
from jaywalk.record import tracks
from jaywalk.record._touches import (
    COS,
    HIGH,
    HX,
    HY,
    LOW,
    MOVES,
    POSE_COLUMNS,
    ROUND,
    SHAPE_COLUMNS,
    SIN,
    TOUCH,
    TURN,
    VX,
    VY,
    X,
    Y,
    find_touches,
)
from jaywalk.record.bodies import IS_ROUND, body_shapes, solid_bodies
from jaywalk.record.queries import Contact
from jaywalk.record.tracks import BodyStates

MERGE_S: Final = 0.5  # bodies that bounce apart for less than this had one contact
_WINDOW_TICKS: Final = 2000
_NEVER: Final = -1


@dataclass(frozen=True, slots=True)
class _Bodies:
    """Actors that can touch: their numbers, shapes, rows with shapes and half heights."""

    numbers: NDArray[np.int64]
    shapes: FloatArray
    table: pl.DataFrame
    half_z: FloatArray


def find_contacts(
    ticks: pl.DataFrame,
    actors: pl.DataFrame,
    states: pl.DataFrame | pl.LazyFrame,
    *,
    ego: int | None = None,
    ego_only: bool = False,
    merge_s: float = MERGE_S,
) -> list[Contact]:
    """Contact intervals between actors, by geometry; not those of two people or two props.

    Args:
        ticks: Table ``ticks``.
        actors: Table ``actors``; those without a box, attached ones and low props touch nothing.
        states: Table ``states``; lazy, it is read a piece at a time.
        ego: Actor that is named first in its contacts.
        ego_only: Only contacts of the ego; much faster in a crowd.
        merge_s: Two touches of a pair that are less than this apart are one contact.

    Returns:
        Contacts in order of their first tick, then actors.
    """
    bodies = _describe_bodies(body_shapes(actors, states.lazy()))
    if len(bodies.numbers) < 2 or ticks.height < 2:
        return []
    numbers = ticks[c.TICK].to_numpy().astype(np.int64)
    times = ticks[c.TIME_S].to_numpy()
    only = _NEVER
    if ego_only:
        found = np.flatnonzero(bodies.numbers == (_NEVER if ego is None else ego))
        if not len(found):
            return []
        only = int(found[0])
    touches: list[tuple[int, NDArray[np.void], FloatArray]] = []
    reader = tracks.PoseReader(bodies.table)
    for first, last in _windows(len(numbers)):
        window = reader.read(states.lazy(), numbers[first:last])
        poses = _kernel_poses(window, bodies.half_z)
        alive = (tracks.alive_at(bodies.table, numbers[first:last]) & window.known).T.copy()
        speeds = np.hypot(poses[..., VX], poses[..., VY])
        delta_s = np.diff(times[first:last], prepend=times[first])
        rows = _run(poses, alive, bodies.shapes, delta_s, only)
        before = speeds[rows["step"] - 1]
        pair = np.c_[
            before[np.arange(len(rows)), rows["a"]], before[np.arange(len(rows)), rows["b"]]
        ]
        touches.append((first, rows, pair))
    return _merge(touches, bodies, numbers, times, merge_s, ego)


def _windows(count: int) -> Iterator[tuple[int, int]]:
    """Ranges of ticks that share one tick with their neighbours."""
    for first in range(0, count - 1, _WINDOW_TICKS):
        yield first, min(first + _WINDOW_TICKS + 1, count)


def _run(
    poses: FloatArray, alive: NDArray[np.bool_], shapes: FloatArray, delta_s: FloatArray, only: int
) -> NDArray[np.void]:
    out = np.zeros(4096, TOUCH)
    count = find_touches(poses, alive, shapes, delta_s, only, out)
    if count > len(out):
        out = np.zeros(count, TOUCH)
        find_touches(poses, alive, shapes, delta_s, only, out)
    return out[:count]


def _describe_bodies(shapes: pl.DataFrame) -> _Bodies:
    solid = solid_bodies(shapes)
    columns = np.zeros((solid.height, SHAPE_COLUMNS))
    columns[:, HX], columns[:, HY] = solid[c.HALF_X_M], solid[c.HALF_Y_M]
    columns[:, ROUND] = solid[IS_ROUND]
    columns[:, MOVES] = solid[c.KIND] != "prop"
    return _Bodies(
        numbers=solid[c.ACTOR].to_numpy().astype(np.int64),
        shapes=columns,
        table=solid,
        half_z=solid[c.HALF_Z_M].to_numpy().astype(float),
    )


def _kernel_poses(states: BodyStates, half_z: FloatArray) -> FloatArray:
    """Return poses (ticks, actors, POSE_COLUMNS) in the form that the kernels take."""
    pose = states.pose.swapaxes(0, 1)
    out = np.empty((*pose.shape[:2], POSE_COLUMNS))
    out[..., X], out[..., Y] = pose[..., tracks.X], pose[..., tracks.Y]
    out[..., COS], out[..., SIN] = pose[..., tracks.COS], pose[..., tracks.SIN]
    out[..., LOW], out[..., HIGH] = pose[..., tracks.Z] - half_z, pose[..., tracks.Z] + half_z
    out[..., VX], out[..., VY] = pose[..., tracks.VX], pose[..., tracks.VY]
    out[..., TURN] = pose[..., tracks.TURN]
    return out


def _merge(
    touches: list[tuple[int, NDArray[np.void], FloatArray]],
    bodies: _Bodies,
    ticks: NDArray[np.int64],
    times: FloatArray,
    merge_s: float,
    ego: int | None,
) -> list[Contact]:
    latest: dict[tuple[int, int], tuple[int, Contact]] = {}
    done: list[Contact] = []
    for first, rows, speeds in touches:
        for touch, (speed_a, speed_b) in zip(rows, speeds, strict=True):
            step = first + int(touch["step"])
            pair = int(touch["a"]), int(touch["b"])
            if pair in latest:
                last_step, contact = latest[pair]
                # A step that touches again at once has no gap at all.
                if step == last_step + 1 or times[step - 1] - times[last_step] < merge_s:
                    latest[pair] = step, replace(contact, end_tick=int(ticks[step]))
                    continue
                done.append(contact)
            contact = _contact(touch, int(ticks[step]), speed_a, speed_b, bodies)
            latest[pair] = step, contact
    done += [contact for _, contact in latest.values()]
    named = [hit.swapped() if hit.other == ego else hit for hit in done]
    return sorted(named, key=lambda hit: (hit.tick, hit.actor, hit.other))


def _contact(touch: np.void, tick: int, speed_a: float, speed_b: float, bodies: _Bodies) -> Contact:
    return Contact(
        actor=int(bodies.numbers[touch["a"]]),
        other=int(bodies.numbers[touch["b"]]),
        tick=tick,
        end_tick=tick,
        x_m=float(touch["x_m"]),
        y_m=float(touch["y_m"]),
        z_m=float(touch["z_m"]),
        normal_x=float(touch["nx"]),
        normal_y=float(touch["ny"]),
        speed_mps=float(speed_a),
        other_speed_mps=float(speed_b),
        closing_mps=float(touch["closing_mps"]),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """One message of the ego's collision sensor."""

    tick: int
    other: int | None  # None: scenery
    other_type_id: str
    impulse_ns: tuple[float, float, float]
    place_m: tuple[float, float, float]

    @property
    def size_ns(self) -> float:
        """Length of the impulse."""
        return math.sqrt(sum(part * part for part in self.impulse_ns))


def group_hits(hits: Iterable[Hit], merge_ticks: int) -> list[list[Hit]]:
    """Group messages by contact: same other actor, at most ``merge_ticks`` apart."""
    latest: dict[tuple[int | None, str], list[Hit]] = {}
    groups: list[list[Hit]] = []
    for hit in sorted(hits, key=lambda hit: hit.tick):
        key = hit.other, hit.other_type_id
        group = latest.get(key)
        if group is None or hit.tick - group[-1].tick > merge_ticks:
            group = latest[key] = []
            groups.append(group)
        group.append(hit)
    return groups


def join_hits(
    ego: int,
    hits: Iterable[Hit],
    contacts: list[Contact],
    merge_ticks: int,
    velocity_before: Callable[[int], tuple[float, float]],
) -> tuple[list[Contact], list[dict[str, Any]]]:
    """Return contacts with their impulses, and events for sensor hits that geometry did not find.

    Args:
        ego: Actor that wears the sensor.
        hits: Messages of the sensor.
        contacts: Contacts found by geometry.
        merge_ticks: Messages this far apart belong together.
        velocity_before: Velocity (x, y) of the ego at the last tick before a tick.
    """
    joined = list(contacts)
    alone: list[dict[str, Any]] = []
    for group in group_hits(hits, merge_ticks):
        first, last = group[0], group[-1]
        total = sum(hit.size_ns for hit in group)
        for k, contact in enumerate(joined):
            same = (contact.actor, contact.other) == (ego, first.other)
            near = first.tick <= contact.end_tick + merge_ticks
            if same and near and last.tick >= contact.tick - merge_ticks:
                total += contact.impulse_ns or 0.0
                joined[k] = replace(contact, impulse_ns=total)
                break
        else:
            alone.append(_event(ego, first, last, total, velocity_before(first.tick)))
    return joined, alone


def _event(
    ego: int, first: Hit, last: Hit, total_ns: float, velocity: tuple[float, float]
) -> dict[str, Any]:
    vx, vy = velocity
    flat = math.hypot(*first.impulse_ns[:2])
    row: dict[str, Any] = {
        c.TICK: first.tick,
        c.END_TICK: last.tick,
        c.ACTOR: ego,
        c.OTHER: first.other,
        c.OTHER_TYPE_ID: first.other_type_id,
        c.SPEED_MPS: math.hypot(vx, vy),
        c.IMPULSE_NS: total_ns,
    }
    row |= dict(zip((c.X_M, c.Y_M, c.Z_M), first.place_m, strict=True))
    if flat > 0.0:
        nx, ny = first.impulse_ns[0] / flat, first.impulse_ns[1] / flat
        row |= {c.NORMAL_X: nx, c.NORMAL_Y: ny, c.CLOSING_MPS: max(-(vx * nx + vy * ny), 0.0)}
    return row
