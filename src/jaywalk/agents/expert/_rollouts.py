"""Forecasts of other actors, and the choice of an acceleration without contact.

Vehicles are predicted along their lanes, people straight ahead, all as boxes over time. Candidate
accelerations move the ego's box along the line. The first candidate without contact within the
horizon is chosen. Boxes of crossing actors are extended backwards, so that the ego passes with a
gap in time and not only in space.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from jaywalk.agents.driving._lanes import Lanes
from jaywalk.agents.driving.perception import PERSON, PROP, VEHICLE, EgoVehicle, Observation
from jaywalk.agents.driving.route_line import STEP_M, RouteLine
from jaywalk.core.arrays import BoolArray, FloatArray
from jaywalk.geometry.box import axis_gaps

STEP_S: Final = 0.2
STEPS: Final = 21  # 0 to 4 s
TIMES_S: Final[FloatArray] = STEP_S * np.arange(STEPS, dtype=np.float64)
_ON_LANE_M: Final = 2.0  # vehicles with worse matches are predicted without a lane
_FADE_S: Final = 2.0  # an offset from the lane's centre vanishes over this time
_HARDEST_MPS2: Final = 6.0
_TURN_S: Final = 1.5  # free vehicles keep turning this long, then go straight
_LOOK_S: Final = 0.5  # lanes are matched at the place after this time, which separates branches
_LANE_STEPS: Final = 80
_NOBODY: Final[frozenset[int]] = frozenset()
MILD_MPS2: Final = 2.0  # braking that the ego may cause


@dataclass(frozen=True, slots=True, kw_only=True)
class Paths:
    """Forecast boxes: place and heading of ``n`` actors at ``TIMES_S``."""

    xy_m: FloatArray  # (n, t, 2)
    cos: FloatArray  # (n, t)
    sin: FloatArray
    travelled_m: FloatArray  # (n, t)


def foresee(
    seen: Observation, lanes: Lanes, brake: frozenset[int] = _NOBODY, brakes_mps2: float = MILD_MPS2
) -> Paths:
    """Predict all actors with constant speed; braking continues, acceleration does not.

    People and props move straight ahead.

    Args:
        seen: Actors around the ego.
        lanes: The lanes of the map.
        brake: Actors that are expected to brake for the ego.
        brakes_mps2: How hard they brake.
    """
    speed = seen.speed_mps
    push = np.where(seen.kind == VEHICLE, np.minimum(seen.acceleration_mps2, 0.0), 0.0)
    if brake:
        expected = np.array([actor_id in brake for actor_id in seen.actor_id.tolist()], np.bool_)
        push = np.where(expected, np.minimum(push, -brakes_mps2), push)
    travelled = _travelled(speed, np.maximum(push, -_HARDEST_MPS2))
    heading = np.where(
        speed > 0.3,
        np.arctan2(seen.velocity_mps[:, 1], seen.velocity_mps[:, 0]),
        np.arctan2(seen.sin, seen.cos),
    )
    way = np.column_stack([np.cos(heading), np.sin(heading)])
    xy = seen.xy_m[:, None, :] + travelled[:, :, None] * way[:, None, :]
    # A body keeps its heading although it may be pushed or walk sideways.
    cos = np.repeat(seen.cos[:, None], STEPS, axis=1)
    sin = np.repeat(seen.sin[:, None], STEPS, axis=1)
    moving = np.flatnonzero((seen.kind == VEHICLE) & (speed > 0.5))
    if len(moving):
        some = seen.where(moving)
        placed, turned = _vehicles(some, travelled[moving], lanes)
        xy[moving], cos[moving], sin[moving] = placed, np.cos(turned), np.sin(turned)
    return Paths(xy_m=xy, cos=cos, sin=sin, travelled_m=travelled)


def _travelled(speed_mps: FloatArray, push_mps2: FloatArray) -> FloatArray:
    """Return the distance covered at each time; braking ends at a stop."""
    until = np.where(push_mps2 < -0.2, speed_mps / np.maximum(-push_mps2, 0.2), np.inf)
    times = np.minimum(TIMES_S[None, :], until[:, None])
    pushed = np.where(push_mps2 < -0.2, push_mps2, 0.0)
    return np.asarray(speed_mps[:, None] * times + 0.5 * pushed[:, None] * times**2)


def _vehicles(
    seen: Observation, travelled_m: FloatArray, lanes: Lanes
) -> tuple[FloatArray, FloatArray]:
    """Return places and headings of moving vehicles: on their lane, else by their turn rate."""
    yaw = np.arctan2(seen.sin, seen.cos)
    free_xy, free_yaw = _freely(seen, yaw, travelled_m)
    soon = yaw + _LOOK_S * np.clip(seen.yaw_rate_radps, -0.8, 0.8)
    probe = seen.xy_m + _LOOK_S * seen.velocity_mps
    point, _ = lanes.match(probe, seen.z_m, soon)
    here, misfit = lanes.match(seen.xy_m, seen.z_m, yaw)
    # Start on its future lane, at the present distance.
    back = np.hypot(*(lanes.points[point, :2] - seen.xy_m).T)
    ahead = lanes.ahead(point, _LANE_STEPS)
    index = np.clip(travelled_m - back[:, None], 0.0, _LANE_STEPS)
    low = np.minimum(index.astype(np.int64), _LANE_STEPS - 1)
    share = index - low
    rows = np.arange(len(seen))[:, None]
    first, second = lanes.points[ahead[rows, low]], lanes.points[ahead[rows, low + 1]]
    xy = first[:, :, :2] + share[:, :, None] * (second[:, :, :2] - first[:, :, :2])
    lane_yaw = first[:, :, 3]
    home = lanes.points[here]
    aside = -(seen.xy_m[:, 0] - home[:, 0]) * np.sin(home[:, 3]) + (
        seen.xy_m[:, 1] - home[:, 1]
    ) * np.cos(home[:, 3])
    left = aside[:, None] * np.maximum(1.0 - TIMES_S[None, :] / _FADE_S, 0.0)
    side = np.stack([-np.sin(lane_yaw), np.cos(lane_yaw)], axis=-1)
    xy = xy + left[:, :, None] * side
    near = travelled_m <= back[:, None]
    on_lane = (misfit < _ON_LANE_M)[:, None]
    use = on_lane & ~near
    return (
        np.where(use[:, :, None], xy, free_xy),
        np.where(use, lane_yaw, free_yaw),
    )


def _freely(
    seen: Observation, yaw: FloatArray, travelled_m: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Predict without a lane: a kinematic bicycle on a circle, then on a straight line."""
    speed = np.maximum(seen.speed_mps, 0.1)
    per_m = np.clip(seen.yaw_rate_radps / speed, -0.25, 0.25)[:, None]
    turning = np.minimum(travelled_m, _TURN_S * speed[:, None])
    turned = yaw[:, None] + per_m * turning
    middle = yaw[:, None] + 0.5 * per_m * turning
    chord = turning * np.sinc(per_m * turning / (2.0 * np.pi))
    rest = travelled_m - turning
    x = seen.xy_m[:, 0:1] + chord * np.cos(middle) + rest * np.cos(turned)
    y = seen.xy_m[:, 1:2] + chord * np.sin(middle) + rest * np.sin(turned)
    return np.stack([x, y], axis=-1), turned


_AHEAD_M: Final = 0.4  # longitudinal room around the ego's box
_VEHICLE_SIDE_M: Final = 0.3
_PERSON_SIDE_M: Final = 0.45
_BESIDE_SIDE_M: Final = 0.25
_STILL_SIDE_M: Final = 0.12  # for actors that do not move
_SPREAD_MPS: Final = 0.12  # growth of a person's uncertainty
_PERSON_TRAIL_S: Final = 1.3
_LEAD_S: Final = 0.3
_CROSSER_LEAD_S: Final = 1.2  # for people on the road, who go first
_PUSH_S: Final = 1.0  # an acceleration lasts at most this long
_PUSH_MPS2: Final = 10.0
_VEHICLE_TRAIL_S: Final = 1.1
_TRAIL_M: Final = 16.0
_SHRUNK_M: Final = 0.02
_STANDS_MPS: Final = 0.1
_WALKS_MPS: Final = 0.5
_CROSSING: Final = 0.5  # sine of the least angle of a crossing vehicle


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
    (distance, reach), *others = axis_gaps(
        a.x - b.x,
        a.y - b.y,
        a.cos,
        a.sin,
        a.half_x,
        a.half_y,
        b.cos,
        b.sin,
        b.half_x,
        b.half_y,
    )
    hit = distance < reach
    for distance, reach in others:
        hit &= distance < reach
    return np.asarray(hit)


def own_distance(speed_mps: float, pulls_mps2: FloatArray, top_mps: float) -> FloatArray:
    """Return the metres driven at each time for each acceleration, up to a top speed or a stop."""
    pull = pulls_mps2[:, None]
    limit = np.where(pull > 0.0, max(top_mps, speed_mps), 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        until = np.where(np.abs(pull) > 1e-6, (limit - speed_mps) / pull, np.inf)
    until = np.maximum(until, 0.0)
    first = np.minimum(TIMES_S[None, :], until)
    driven = speed_mps * first + 0.5 * pull * first**2
    return np.asarray(driven + limit * np.maximum(TIMES_S[None, :] - until, 0.0))


def own_boxes(line: RouteLine, along_m: float, own: EgoVehicle, driven_m: FloatArray) -> Boxes:
    """Return the ego's boxes along the line, arrays ``(k, t, 1)``."""
    at = np.clip((along_m + driven_m) / STEP_M, 0.0, len(line) - 1.001)
    low = at.astype(np.int64)
    share = (at - low)[:, :, None]
    xy = line.xy_m[low] + share * (line.xy_m[low + 1] - line.xy_m[low])
    yaw = line.yaw_rad[low]
    # The ego is some centimetres beside the line now.
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
    seen: Observation, paths: Paths, own: EgoVehicle, margins: Margins, on_road: BoolArray
) -> tuple[Boxes, BoolArray]:
    """Return forecast boxes with margins ``(1, t, n)`` and a mask of crossing actors ``(n, t)``."""
    speed = seen.speed_mps
    person, prop = seen.kind == PERSON, seen.kind == PROP
    heading = np.arctan2(seen.velocity_mps[:, 1], seen.velocity_mps[:, 0])
    walks = person & (speed > 0.2)
    # People have no long side; use their direction of motion.
    cos = np.where(walks[:, None], np.cos(heading)[:, None], paths.cos)
    sin = np.where(walks[:, None], np.sin(heading)[:, None], paths.sin)
    crosses = np.abs(sin * np.cos(own.yaw_rad) - cos * np.sin(own.yaw_rad)) > _CROSSING
    trail_s = np.where(person, _PERSON_TRAIL_S, _VEHICLE_TRAIL_S)[:, None] * crosses
    share = np.where(person, margins.people, margins.vehicles)
    trail = share[:, None] * np.minimum(trail_s * speed[:, None], _TRAIL_M)
    lead_s = np.where(on_road & walks, _CROSSER_LEAD_S, _LEAD_S)[:, None]
    lead = lead_s * speed[:, None] * np.where(person[:, None], 1.0, crosses)
    lead = share[:, None] * (lead + np.where(person[:, None], 0.0, crosses) * _gained_m(seen))
    still = prop | (~person & (speed < 0.2))
    side = np.where(person, _PERSON_SIDE_M, np.where(still, _STILL_SIDE_M, _VEHICLE_SIDE_M))
    # People who walk along the road sway, but do not intend to cross.
    beside = walks & ~crosses[:, 0]
    side = np.where(beside, _BESIDE_SIDE_M, side)
    spread = np.where((walks & ~beside)[:, None], _SPREAD_MPS * TIMES_S[None, :], 0.0)
    half_x = seen.half_m[:, 0:1] + 0.5 * (trail + lead) + spread
    half_y = seen.half_m[:, 1:2] + (side * share)[:, None] + spread
    shift = 0.5 * (lead - trail)
    boxes = Boxes(
        x=(paths.xy_m[:, :, 0] + shift * cos).T[None],
        y=(paths.xy_m[:, :, 1] + shift * sin).T[None],
        cos=cos.T[None],
        sin=sin.T[None],
        half_x=half_x.T[None],
        half_y=half_y.T[None],
    )
    return boxes, np.asarray(crosses)


def _gained_m(seen: Observation) -> FloatArray:
    """Return the extra distance if each acceleration continues for a while, ``(n, t)``."""
    push = np.clip(seen.acceleration_mps2, 0.0, _PUSH_MPS2)[:, None]
    pushed = np.minimum(TIMES_S, _PUSH_S)[None, :]
    return np.asarray(push * (0.5 * pushed**2 + pushed * (TIMES_S[None, :] - pushed)))


def bare_boxes(seen: Observation, paths: Paths) -> Boxes:
    """Return the forecast boxes without margins."""
    ones = np.ones((1, STEPS, 1))
    return Boxes(
        x=paths.xy_m[:, :, 0].T[None],
        y=paths.xy_m[:, :, 1].T[None],
        cos=paths.cos.T[None],
        sin=paths.sin.T[None],
        half_x=ones * (seen.half_m[:, 0] + _SHRUNK_M),
        half_y=ones * (seen.half_m[:, 1] + _SHRUNK_M),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Margins:
    """Share of the usual room to other actors."""

    people: float = 1.0
    vehicles: float = 1.0


USUAL_MARGINS: Final = Margins()


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """Result of trying accelerations.

    ``clear`` is False where the ego would stop in the path of a crossing actor.
    """

    first_s: FloatArray  # (k,) time of the first contact while moving; inf: never
    who: NDArray[np.int64]  # (k,) row of the actor; -1: none
    clear: BoolArray  # (k,)

    def first_free(self, *, clear: bool) -> int | None:
        """Return the first acceleration without contact, or None; ``clear`` requires clear ones."""
        free = np.flatnonzero(np.isinf(self.first_s) & (self.clear if clear else True))
        return int(free[0]) if len(free) else None


def try_out(
    line: RouteLine,
    along_m: float,
    own: EgoVehicle,
    seen: Observation,
    paths: Paths,
    pulls_mps2: FloatArray,
    top_mps: float,
    margins: Margins = USUAL_MARGINS,
    on_road: BoolArray | None = None,
) -> Trial:
    """Return the time at which each acceleration first touches another box.

    Args:
        line: The line to follow.
        along_m: The ego's distance along it.
        own: The ego.
        seen: Other actors.
        paths: Their forecasts.
        pulls_mps2: (k,) accelerations to try.
        top_mps: Top speed of the ego.
        margins: Room to other actors.
        on_road: (n,) mask of people on a driving lane, who get more room; None for no person.
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
    theirs, crosses = their_boxes(seen, paths, own, margins, on_road)
    hit: NDArray[Any] = overlap(mine, theirs)
    # For actors already inside the margin only the body counts.
    inside = np.any(hit[:, 0, :], axis=0)
    if inside.any():
        tight = Boxes(
            x=mine.x,
            y=mine.y,
            cos=mine.cos,
            sin=mine.sin,
            half_x=mine.half_x - _AHEAD_M + 0.1,
            half_y=mine.half_y,
        )
        close = seen.where(inside)
        some = Paths(
            xy_m=paths.xy_m[inside],
            cos=paths.cos[inside],
            sin=paths.sin[inside],
            travelled_m=paths.travelled_m[inside],
        )
        hit[:, :, inside] = overlap(tight, bare_boxes(close, some))
        hit[:, 0, :] = False
    # Braking does not avoid an actor that moves into the standing ego ...
    stands = speed + pulls_mps2[:, None] * TIMES_S[None, :] < _STANDS_MPS
    stands &= (pulls_mps2 < 0.0)[:, None]
    # ... but the ego should not stop in the path of a crossing actor.
    pass_by = crosses.T[None] & (seen.speed_mps > _WALKS_MPS) & (seen.kind != PROP)
    in_way = np.any(hit & pass_by & stands[:, :, None], axis=(1, 2)) & (speed > _STANDS_MPS)
    hit &= ~stands[:, :, None]
    any_hit = np.any(hit, axis=2)
    step = np.argmax(any_hit, axis=1)
    hits = np.any(any_hit, axis=1)
    rows = np.argmax(hit[np.arange(count), step], axis=1)
    return Trial(
        first_s=np.where(hits, TIMES_S[step], np.inf),
        who=np.where(hits, rows, -1),
        clear=~in_way,
    )
