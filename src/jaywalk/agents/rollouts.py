"""Trying accelerations out: the own box along the line against everybody's forecast boxes.

The first wish that touches nobody within the horizon is taken. Boxes of things that cross are drawn
out behind them, so that passing means passing with a gap in time and not only in space.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from jaywalk.agents.forecast import STEPS, TIMES_S, Paths
from jaywalk.agents.perception import PERSON, PROP, Own, Seen
from jaywalk.agents.route_line import STEP_M, RouteLine

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

_AHEAD_M: Final = 0.4  # longitudinal room around the own box
_VEHICLE_SIDE_M: Final = 0.3
_PERSON_SIDE_M: Final = 0.45
_BESIDE_SIDE_M: Final = 0.25
_STILL_SIDE_M: Final = 0.12  # what does not move needs no more
_SPREAD_MPS: Final = 0.12  # how fast a person's place becomes uncertain
_PERSON_TRAIL_S: Final = 1.3
_LEAD_S: Final = 0.3
_CROSSER_LEAD_S: Final = 1.2  # of people on the road: they are let go first
_PUSH_S: Final = 1.0  # so long an acceleration may go on
_PUSH_MPS2: Final = 10.0
_VEHICLE_TRAIL_S: Final = 1.1
_TRAIL_M: Final = 16.0
_SHRUNK_M: Final = 0.02
_STANDS_MPS: Final = 0.1
_WALKS_MPS: Final = 0.5
_CROSSING: Final = 0.5  # sine of the angle from which on a vehicle crosses


@dataclass(frozen=True, slots=True, kw_only=True)
class Boxes:
    """Boxes (x, y, cos, sin, half length, half width), broadcast against each other."""

    x: FloatArray
    y: FloatArray
    cos: FloatArray
    sin: FloatArray
    half_x: FloatArray
    half_y: FloatArray


def overlap(a: Boxes, b: Boxes) -> BoolArray:
    """Separating-axis test of every pair."""
    dx, dy = a.x - b.x, a.y - b.y
    cos = np.abs(a.cos * b.cos + a.sin * b.sin)
    sin = np.abs(a.cos * b.sin - a.sin * b.cos)
    hit = np.abs(dx * a.cos + dy * a.sin) < a.half_x + b.half_x * cos + b.half_y * sin
    hit &= np.abs(dy * a.cos - dx * a.sin) < a.half_y + b.half_x * sin + b.half_y * cos
    hit &= np.abs(dx * b.cos + dy * b.sin) < b.half_x + a.half_x * cos + a.half_y * sin
    hit &= np.abs(dy * b.cos - dx * b.sin) < b.half_y + a.half_x * sin + a.half_y * cos
    return np.asarray(hit)


def own_distance(speed_mps: float, pulls_mps2: FloatArray, top_mps: float) -> FloatArray:
    """Metres driven at each time under each acceleration, up to a top speed or to a stop."""
    pull = pulls_mps2[:, None]
    limit = np.where(pull > 0.0, max(top_mps, speed_mps), 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        until = np.where(np.abs(pull) > 1e-6, (limit - speed_mps) / pull, np.inf)
    until = np.maximum(until, 0.0)
    first = np.minimum(TIMES_S[None, :], until)
    driven = speed_mps * first + 0.5 * pull * first**2
    return np.asarray(driven + limit * np.maximum(TIMES_S[None, :] - until, 0.0))


def own_boxes(line: RouteLine, along_m: float, own: Own, driven_m: FloatArray) -> Boxes:
    """The own box along the line: arrays ``(k, t, 1)``."""
    at = np.clip((along_m + driven_m) / STEP_M, 0.0, len(line) - 1.001)
    low = at.astype(np.int64)
    share = (at - low)[:, :, None]
    xy = line.xy_m[low] + share * (line.xy_m[low + 1] - line.xy_m[low])
    yaw = line.yaw_rad[low]
    # The line is where the car should be; it is some centimetres beside it now.
    first_x, first_y = line.point_at(along_m)
    aside = np.array([own.x_m - first_x, own.y_m - first_y])
    xy = xy + aside * np.maximum(1.0 - TIMES_S[None, :, None] / 2.0, 0.0)
    middle = own.front_m - own.half_length_m
    return Boxes(
        x=(xy[:, :, 0] + middle * np.cos(yaw))[:, :, None],
        y=(xy[:, :, 1] + middle * np.sin(yaw))[:, :, None],
        cos=np.cos(yaw)[:, :, None],
        sin=np.sin(yaw)[:, :, None],
        half_x=np.array(own.half_length_m + _AHEAD_M),
        half_y=np.array(own.half_width_m),
    )


def their_boxes(
    seen: Seen, paths: Paths, own: Own, patience: Patience, on_road: BoolArray
) -> tuple[Boxes, BoolArray]:
    """Forecast boxes with room around them, arrays ``(1, t, n)``; and who crosses, ``(n, t)``."""
    speed = seen.speed_mps
    person, prop = seen.kind == PERSON, seen.kind == PROP
    heading = np.arctan2(seen.velocity_mps[:, 1], seen.velocity_mps[:, 0])
    walks = person & (speed > 0.2)
    # People have no long side; what counts is the way they walk.
    cos = np.where(walks[:, None], np.cos(heading)[:, None], paths.cos)
    sin = np.where(walks[:, None], np.sin(heading)[:, None], paths.sin)
    crosses = np.abs(sin * np.cos(own.yaw_rad) - cos * np.sin(own.yaw_rad)) > _CROSSING
    trail_s = np.where(person, _PERSON_TRAIL_S, _VEHICLE_TRAIL_S)[:, None] * crosses
    share = np.where(person, patience.people, patience.vehicles)
    trail = share[:, None] * np.minimum(trail_s * speed[:, None], _TRAIL_M)
    lead_s = np.where(on_road & walks, _CROSSER_LEAD_S, _LEAD_S)[:, None]
    lead = lead_s * speed[:, None] * np.where(person[:, None], 1.0, crosses)
    lead = share[:, None] * (lead + np.where(person[:, None], 0.0, crosses) * _gained_m(seen))
    still = prop | (~person & (speed < 0.2))
    side = np.where(person, _PERSON_SIDE_M, np.where(still, _STILL_SIDE_M, _VEHICLE_SIDE_M))
    # Who walks along the road sways, but does not mean to come over.
    beside = walks & ~crosses[:, 0]
    side = np.where(beside, _BESIDE_SIDE_M, side)
    spread = np.where((walks & ~beside)[:, None], _SPREAD_MPS * TIMES_S[None, :], 0.0)
    half_x = seen.half_m[:, 0:1] + 0.5 * (trail + lead) + spread
    half_y = seen.half_m[:, 1:2] + (side * share)[:, None] + spread
    shift = 0.5 * (lead - trail)
    boxes = Boxes(
        x=(paths.xy_m[:, :, 0] + shift * cos).T[None],
        y=(paths.xy_m[:, :, 1] + shift * sin).T[None],
        cos=cos.T[None], sin=sin.T[None], half_x=half_x.T[None], half_y=half_y.T[None],
    )  # fmt: skip
    return boxes, np.asarray(crosses)


def _gained_m(seen: Seen) -> FloatArray:
    """How much farther each comes if its acceleration goes on for a while: ``(n, t)``."""
    push = np.clip(seen.acceleration_mps2, 0.0, _PUSH_MPS2)[:, None]
    pushed = np.minimum(TIMES_S, _PUSH_S)[None, :]
    return np.asarray(push * (0.5 * pushed**2 + pushed * (TIMES_S[None, :] - pushed)))


def bare_boxes(seen: Seen, paths: Paths) -> Boxes:
    """Forecast boxes as they are."""
    ones = np.ones((1, STEPS, 1))
    return Boxes(
        x=paths.xy_m[:, :, 0].T[None], y=paths.xy_m[:, :, 1].T[None],
        cos=paths.cos.T[None], sin=paths.sin.T[None],
        half_x=ones * (seen.half_m[:, 0] + _SHRUNK_M),
        half_y=ones * (seen.half_m[:, 1] + _SHRUNK_M),
    )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """Share of the usual room that is left to others."""

    people: float = 1.0
    vehicles: float = 1.0


USUAL: Final = Patience()


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """What came of trying accelerations.

    ``clear`` also wants that the car does not come to rest where somebody is about to cross.
    """

    first_s: FloatArray  # (k,) when each first touches somebody while moving; inf: never
    who: NDArray[np.int64]  # (k,) row of whom; -1: nobody
    clear: BoolArray  # (k,)

    def first_free(self, *, clear: bool) -> int | None:
        """The first acceleration that touches nobody; ``clear``: nor stops in somebody's way."""
        free = np.flatnonzero(np.isinf(self.first_s) & (self.clear if clear else True))
        return int(free[0]) if len(free) else None


def try_out(
    line: RouteLine, along_m: float, own: Own, seen: Seen, paths: Paths,
    pulls_mps2: FloatArray, top_mps: float, patience: Patience = USUAL,
    on_road: BoolArray | None = None,
) -> Trial:  # fmt: skip
    """When each acceleration would first touch somebody's box.

    Args:
        line: The line to follow.
        along_m: Where the car is on it.
        own: The car.
        seen: The others.
        paths: Their forecasts.
        pulls_mps2: (k,) what to try.
        top_mps: No faster than this.
        patience: How much room others are given.
        on_road: (n,) people on a driving lane, who get more; None: nobody.
    """
    count = len(pulls_mps2)
    if not len(seen):
        return Trial(
            first_s=np.full(count, np.inf), who=np.full(count, -1), clear=np.ones(count, np.bool_)
        )
    speed = max(own.speed_mps, 0.0)
    mine = own_boxes(line, along_m, own, own_distance(speed, pulls_mps2, top_mps))
    if on_road is None:
        on_road = np.zeros(len(seen), np.bool_)
    theirs, crosses = their_boxes(seen, paths, own, patience, on_road)
    hit: NDArray[Any] = overlap(mine, theirs)
    # Whoever is in the extra room already cannot be given it: only their body counts.
    inside = np.any(hit[:, 0, :], axis=0)
    if inside.any():
        tight = Boxes(
            x=mine.x, y=mine.y, cos=mine.cos, sin=mine.sin,
            half_x=mine.half_x - _AHEAD_M + 0.1, half_y=mine.half_y,
        )  # fmt: skip
        close = seen.where(inside)
        some = Paths(
            xy_m=paths.xy_m[inside], cos=paths.cos[inside], sin=paths.sin[inside],
            travelled_m=paths.travelled_m[inside],
        )  # fmt: skip
        hit[:, :, inside] = overlap(tight, bare_boxes(close, some))
        hit[:, 0, :] = False
    # Whoever walks or drives into a car that stands is not avoided by braking ...
    stands = speed + pulls_mps2[:, None] * TIMES_S[None, :] < _STANDS_MPS
    stands &= (pulls_mps2 < 0.0)[:, None]
    # ... but one need not come to rest in the way of somebody who crosses.
    pass_by = crosses.T[None] & (seen.speed_mps > _WALKS_MPS) & (seen.kind != PROP)
    in_way = np.any(hit & pass_by & stands[:, :, None], axis=(1, 2)) & (speed > _STANDS_MPS)
    hit &= ~stands[:, :, None]
    any_hit = np.any(hit, axis=2)
    step = np.argmax(any_hit, axis=1)
    found = np.any(any_hit, axis=1)
    who = np.argmax(hit[np.arange(count), step], axis=1)
    return Trial(
        first_s=np.where(found, TIMES_S[step], np.inf), who=np.where(found, who, -1),
        clear=~in_way,
    )  # fmt: skip
