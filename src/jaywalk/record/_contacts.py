"""Contact intervals: the two actors, first and last tick, speed and place. One hit, one interval.

The functions are pure functions of the states and boxes of a record, and independent of protocols.
Metrics decide which actor was at fault, whether a contact counts and how long it is forgiven.

Contacts during a step are found from the poses at its two ends. A simulator pushes colliding bodies
apart within the step, so boxes at the ends of steps need not overlap. Each pair is therefore tested
along two motions: the actual one (straight between the two ends) and the undisturbed one (the pose
and velocity at the start of the step, extrapolated). Shapes are upright: boxes, and cylinders for
people.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from jaywalk.core.arrays import FloatArray
from jaywalk.core.kernels import kernel
from jaywalk.geometry.box import box_box_point, shape_overlap
from jaywalk.record import columns as c
from jaywalk.record import tracks
from jaywalk.record.bodies import IS_ROUND, body_shapes, solid_bodies
from jaywalk.record.tracks import BodyStates

# Columns of a pose: box centre, heading, bottom and top, velocity and rate of turning.
X, Y, COS, SIN, LOW, HIGH, VX, VY, TURN = range(9)
POSE_COLUMNS: Final = 9
# Columns of a shape: half length, half width, 1 for an upright cylinder, 1 if the body can drive.
HX, HY, ROUND, MOVES = range(4)
SHAPE_COLUMNS: Final = 4

TOUCH_HEIGHT_M: Final = 0.05  # least common height of two bodies in contact
FREE_DEPTH_M: Final = 0.02  # carried-on motion must overlap by this: braking may have averted it
_SPACING_M: Final = 0.05  # spacing of the poses tried along a motion
_MOST_TRIES: Final = 64

TOUCH: Final = np.dtype(
    [
        ("step", "i4"),
        ("a", "i4"),
        ("b", "i4"),
        ("depth_m", "f8"),
        ("x_m", "f8"),
        ("y_m", "f8"),
        ("z_m", "f8"),
        ("nx", "f8"),
        ("ny", "f8"),
        ("closing_mps", "f8"),
    ]
)


@kernel
def _overlap(a: FloatArray, a_shape: FloatArray, b: FloatArray, b_shape: FloatArray) -> Any:
    return shape_overlap(
        a[X],
        a[Y],
        a[COS],
        a[SIN],
        a_shape[HX],
        a_shape[HY],
        a_shape[ROUND] != 0.0,
        b[X],
        b[Y],
        b[COS],
        b[SIN],
        b_shape[HX],
        b_shape[HY],
        b_shape[ROUND] != 0.0,
    )


@kernel
def _point(
    a: FloatArray, a_shape: FloatArray, b: FloatArray, b_shape: FloatArray, nx: float, ny: float
) -> Any:
    if a_shape[ROUND] != 0.0:
        return a[X] - nx * a_shape[HX], a[Y] - ny * a_shape[HX]
    if b_shape[ROUND] != 0.0:
        return b[X] + nx * b_shape[HX], b[Y] + ny * b_shape[HX]
    return box_box_point(
        a[X],
        a[Y],
        a[COS],
        a[SIN],
        a_shape[HX],
        a_shape[HY],
        b[X],
        b[Y],
        b[COS],
        b[SIN],
        b_shape[HX],
        b_shape[HY],
    )


@kernel
def _between(start: FloatArray, end: FloatArray, share: float, out: FloatArray) -> None:
    """Pose at a share of the step."""
    for k in range(POSE_COLUMNS):
        out[k] = start[k] + share * (end[k] - start[k])
    norm = np.sqrt(out[COS] ** 2 + out[SIN] ** 2)
    if norm > 1e-9:
        out[COS], out[SIN] = out[COS] / norm, out[SIN] / norm
    else:
        out[COS], out[SIN] = end[COS], end[SIN]


@kernel
def _carry_on(start: FloatArray, delta_s: float, out: FloatArray) -> None:
    """Compute the pose at the end of an undisturbed step."""
    out[:] = start
    out[X] += start[VX] * delta_s
    out[Y] += start[VY] * delta_s
    angle = start[TURN] * delta_s
    cos, sin = np.cos(angle), np.sin(angle)
    out[COS] = start[COS] * cos - start[SIN] * sin
    out[SIN] = start[SIN] * cos + start[COS] * sin


@kernel
def _along(
    a0: FloatArray,
    a1: FloatArray,
    a_shape: FloatArray,
    b0: FloatArray,
    b1: FloatArray,
    b_shape: FloatArray,
    least_m: float,
    at_a: FloatArray,
    at_b: FloatArray,
    touch: Any,
) -> bool:
    """First overlap deeper than ``least_m`` along a motion, after its beginning."""
    moved = np.sqrt((a1[X] - a0[X] - b1[X] + b0[X]) ** 2 + (a1[Y] - a0[Y] - b1[Y] + b0[Y]) ** 2)
    tries = min(max(int(np.ceil(moved / _SPACING_M)), 1), _MOST_TRIES)
    for k in range(1, tries + 1):
        _between(a0, a1, k / tries, at_a)
        _between(b0, b1, k / tries, at_b)
        if min(at_a[HIGH], at_b[HIGH]) - max(at_a[LOW], at_b[LOW]) < TOUCH_HEIGHT_M:
            continue
        depth, nx, ny = _overlap(at_a, a_shape, at_b, b_shape)
        if depth > least_m:
            touch["depth_m"], touch["nx"], touch["ny"] = depth, nx, ny
            touch["x_m"], touch["y_m"] = _point(at_a, a_shape, at_b, b_shape, nx, ny)
            touch["z_m"] = 0.5 * (max(at_a[LOW], at_b[LOW]) + min(at_a[HIGH], at_b[HIGH]))
            return True
    return False


@kernel
def _meet(
    a0: FloatArray,
    a1: FloatArray,
    a_shape: FloatArray,
    b0: FloatArray,
    b1: FloatArray,
    b_shape: FloatArray,
    delta_s: float,
    work: FloatArray,
    touch: Any,
) -> bool:
    if not _along(a0, a1, a_shape, b0, b1, b_shape, 0.0, work[0], work[1], touch):
        _carry_on(a0, delta_s, work[2])
        _carry_on(b0, delta_s, work[3])
        met = _along(
            a0, work[2], a_shape, b0, work[3], b_shape, FREE_DEPTH_M, work[0], work[1], touch
        )
        if not met:
            return False
    towards = -((a0[VX] - b0[VX]) * touch["nx"] + (a0[VY] - b0[VY]) * touch["ny"])
    touch["closing_mps"] = max(towards, 0.0)
    return True


@kernel
def find_touches(
    poses: FloatArray,
    alive: NDArray[np.bool_],
    shapes: FloatArray,
    delta_s: FloatArray,
    only: int,
    out: Any,
) -> int:
    """Find every touching pair of every step.

    Args:
        poses: (ticks, actors, POSE_COLUMNS).
        alive: (ticks, actors).
        shapes: (actors, SHAPE_COLUMNS).
        delta_s: (ticks,) length of the step that ends at each tick.
        only: Index of the actor whose contacts are searched, -1 for all actors.
        out: ``TOUCH`` rows to fill.

    Returns:
        Number of touches; touches beyond the length of ``out`` are only counted.
    """
    ticks, actors = alive.shape
    work = np.zeros((4, POSE_COLUMNS))
    west, east = np.zeros(actors), np.zeros(actors)
    here = np.zeros(actors, np.int64)
    spare = np.zeros(1, TOUCH)
    count = 0
    for step in range(1, ticks):
        used = 0
        for k in range(actors):
            if not (alive[step, k] and alive[step - 1, k]):
                continue
            start, end = poses[step - 1, k], poses[step, k]
            reach = shapes[k, HX]
            if shapes[k, ROUND] == 0.0:
                reach = np.sqrt(shapes[k, HX] ** 2 + shapes[k, HY] ** 2)
            free = start[X] + start[VX] * delta_s[step]
            west[used] = min(start[X], end[X], free) - reach
            east[used] = max(start[X], end[X], free) + reach
            here[used] = k
            used += 1
        order = np.argsort(west[:used])
        for p in range(used):
            for q in range(p + 1, used):
                if west[order[q]] > east[order[p]]:
                    break
                a, b = min(here[order[p]], here[order[q]]), max(here[order[p]], here[order[q]])
                if only >= 0 and a != only and b != only:
                    continue
                if shapes[a, MOVES] == 0.0 and shapes[b, MOVES] == 0.0:
                    continue
                # People brush past each other; that is not a hit.
                if shapes[a, ROUND] != 0.0 and shapes[b, ROUND] != 0.0:
                    continue
                touch = out[count] if count < len(out) else spare[0]
                if _meet(
                    poses[step - 1, a],
                    poses[step, a],
                    shapes[a],
                    poses[step - 1, b],
                    poses[step, b],
                    shapes[b],
                    delta_s[step],
                    work,
                    touch,
                ):
                    touch["step"], touch["a"], touch["b"] = step, a, b
                    count += 1
    return count


MERGE_S: Final = 0.5  # bodies that bounce apart for less than this had one contact
_WINDOW_TICKS: Final = 2000
_NEVER: Final = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class Contact:
    """One hit. Speeds are those at the last tick before it; the normal points to ``actor``."""

    actor: int
    other: int
    tick: int
    end_tick: int
    x_m: float
    y_m: float
    z_m: float
    normal_x: float
    normal_y: float
    speed_mps: float
    other_speed_mps: float
    closing_mps: float
    impulse_ns: float | None = None

    def as_row(self, other_type_id: str) -> dict[str, Any]:
        """Columns of the events table, without the event's number."""
        names = self.__dataclass_fields__
        return {name: getattr(self, name) for name in names} | {c.OTHER_TYPE_ID: other_type_id}


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
            found = _contact(touch, int(ticks[step]), speed_a, speed_b, bodies)
            latest[pair] = step, found
    done += [contact for _, contact in latest.values()]
    named = [_swap(hit) if hit.other == ego else hit for hit in done]
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


def _swap(hit: Contact) -> Contact:
    return replace(
        hit,
        actor=hit.other,
        other=hit.actor,
        speed_mps=hit.other_speed_mps,
        other_speed_mps=hit.speed_mps,
        normal_x=-hit.normal_x,
        normal_y=-hit.normal_y,
    )
