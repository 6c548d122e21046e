"""Where others will be: vehicles along their lanes, people straight on, all as boxes in time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from jaywalk.agents.lanes import Lanes
from jaywalk.agents.perception import VEHICLE, Seen

FloatArray = NDArray[np.float64]

STEP_S: Final = 0.2
STEPS: Final = 21  # 0 to 4 s
TIMES_S: Final[FloatArray] = STEP_S * np.arange(STEPS, dtype=np.float64)
_ON_LANE_M: Final = 2.0  # worse matches drive freely
_FADE_S: Final = 2.0  # an offset from the lane's centre is given up over this time
_HARDEST_MPS2: Final = 6.0
_TURN_S: Final = 1.5  # free vehicles keep turning this long, then go straight
_LOOK_S: Final = 0.5  # lanes are matched where a vehicle will be, which tells branches apart
_LANE_STEPS: Final = 80
_NOBODY: Final[frozenset[int]] = frozenset()
MILD_MPS2: Final = 2.0  # how hard others may be made to brake


@dataclass(frozen=True, slots=True, kw_only=True)
class Paths:
    """Forecast boxes: place and heading at ``TIMES_S`` of ``n`` things."""

    xy_m: FloatArray  # (n, t, 2)
    cos: FloatArray  # (n, t)
    sin: FloatArray
    travelled_m: FloatArray  # (n, t)


def foresee(
    seen: Seen, lanes: Lanes, brake: frozenset[int] = _NOBODY, brakes_mps2: float = MILD_MPS2
) -> Paths:
    """Constant speed (braking goes on, acceleration does not); people and props straight on.

    Args:
        seen: Everything around.
        lanes: The lanes of the map.
        brake: Actors that can be expected to brake for the own car.
        brakes_mps2: How hard they brake.
    """
    speed = seen.speed_mps
    push = np.where(seen.kind == VEHICLE, np.minimum(seen.acceleration_mps2, 0.0), 0.0)
    if brake:
        expected = np.array([one in brake for one in seen.actor_id.tolist()], np.bool_)
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
    """Distance covered at each time; braking ends at a stop."""
    until = np.where(push_mps2 < -0.2, speed_mps / np.maximum(-push_mps2, 0.2), np.inf)
    times = np.minimum(TIMES_S[None, :], until[:, None])
    pushed = np.where(push_mps2 < -0.2, push_mps2, 0.0)
    return np.asarray(speed_mps[:, None] * times + 0.5 * pushed[:, None] * times**2)


def _vehicles(seen: Seen, travelled_m: FloatArray, lanes: Lanes) -> tuple[FloatArray, FloatArray]:
    """Places and headings of moving vehicles: on their lane, else with their present turning."""
    yaw = np.arctan2(seen.sin, seen.cos)
    free_xy, free_yaw = _freely(seen, yaw, travelled_m)
    soon = yaw + _LOOK_S * np.clip(seen.yaw_rate_radps, -0.8, 0.8)
    probe = seen.xy_m + _LOOK_S * seen.velocity_mps
    point, _ = lanes.match(probe, seen.z_m, soon)
    here, misfit = lanes.match(seen.xy_m, seen.z_m, yaw)
    # Start on the lane it will be on, as far back as where it is now.
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


def _freely(seen: Seen, yaw: FloatArray, travelled_m: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The kinematic bicycle with its wheels held for a while: a circle, then a straight line."""
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
