"""Motion of walkers and of loose props.

Walkers turn control into motion, stand on the ground, fall when hit, and advance a gait clock. The
origin of a walker is mid-body, so it stands with ``z = ground + ez - cz``. Loose props such as
cones and bins slide on the ground after a hit until they rest.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from jaywalk.core.kernels import kernel
from jaywalk.geometry.angle import nearest_turn
from jaywalk.server.world._longitudinal import GRAVITY_MPS2
from jaywalk.server.world._tables import Kind
from jaywalk.town.ground import Ground, surface_height

PROP: Final = int(Kind.PROP)
MOVABLE_KG: Final = 60.0  # heavier props stand like walls
_FRICTION: Final = 0.6
_SPIN_RAD_PER_S2: Final = 12.0


@kernel
def step_props(actors: NDArray[Any], n_rows: int, ground: Ground, dt_s: float) -> None:
    """Advance every moving prop of at most 60 kg; all other props report zero velocity.

    Args:
        actors: ``ACTOR`` table.
        n_rows: Rows in use.
        ground: Surface to slide on.
        dt_s: Step; must be positive.
    """
    for index in range(n_rows):
        row = actors[index]
        if row["id"] == 0 or row["kind"] != PROP or row["attached"]:
            continue
        row["age_s"] += dt_s
        row["prev_x"], row["prev_y"], row["prev_z"] = row["x"], row["y"], row["z"]
        row["prev_yaw"] = row["yaw"]
        row["teleported"] = 0
        if row["vx"] == 0.0 and row["vy"] == 0.0 and row["wz"] == 0.0:
            continue
        speed = np.sqrt(row["vx"] ** 2 + row["vy"] ** 2)
        if not row["physics"] or not (0.0 < row["mass"] <= MOVABLE_KG) or not np.isfinite(speed):
            row["vx"] = row["vy"] = row["vz"] = row["wz"] = 0.0
            continue
        left = max(speed - _FRICTION * GRAVITY_MPS2 * dt_s, 0.0)
        share = left / speed if speed > 0.0 else 0.0
        row["vx"], row["vy"] = row["vx"] * share, row["vy"] * share
        spin = max(abs(row["wz"]) - _SPIN_RAD_PER_S2 * dt_s, 0.0)
        row["wz"] = spin if row["wz"] > 0.0 else -spin
        before = surface_height(ground, row["x"], row["y"], row["z"])
        row["x"] += row["vx"] * dt_s
        row["y"] += row["vy"] * dt_s
        row["yaw"] += row["wz"] * dt_s
        # The prop keeps its height above the ground, whatever its mesh's origin is.
        row["z"] += surface_height(ground, row["x"], row["y"], row["z"]) - before


WALKER: Final = int(Kind.WALKER)
_ACCELERATION_MPS2: Final = 20.0  # full walking speed within two ticks
_MAX_SPEED_MPS: Final = 12.0  # faster than any runner; animals of the tests gallop at this
_TURN_RAD_PER_S: Final = 12.0
_SLIDE_FRICTION: Final = 0.6
_SETTLE_MPS: Final = 6.0
_ACCELERATION_S: Final = 0.07  # smoothing of the reported acceleration
_FREE_FALL_M: Final = 3.0
_LOST_BELOW_M: Final = 5.0
_TERMINAL_MPS: Final = 50.0
_JUMP_MPS: Final = 4.2  # CARLA's character jump
_TELEPORT_M: Final = 5.0
_LYING_HEIGHT_M: Final = 0.25  # of the origin of a person who lies


@kernel
def stride_length_m(speed_mps: float) -> float:
    """Length of a gait cycle (two steps): 1.4 m at 1.4 m/s, longer when faster."""
    return float(1.4 * np.sqrt(min(max(speed_mps, 0.2), 8.0) / 1.4))


@kernel
def _finite_or(value: float, otherwise: float) -> float:
    return value if np.isfinite(value) else otherwise


@kernel
def _walk(row: Any, dt_s: float) -> None:
    """Velocity and heading follow the control."""
    dx, dy = _finite_or(row["dir_x"], 0.0), _finite_or(row["dir_y"], 0.0)
    length = np.sqrt(dx * dx + dy * dy)
    speed = min(max(_finite_or(row["walk_speed"], 0.0), 0.0), _MAX_SPEED_MPS)
    if length < 1e-6:
        speed, length = 0.0, 1.0
    wish_x, wish_y = dx / length * speed, dy / length * speed
    gap_x, gap_y = wish_x - row["vx"], wish_y - row["vy"]
    gap = np.sqrt(gap_x * gap_x + gap_y * gap_y)
    most = _ACCELERATION_MPS2 * dt_s
    share = 1.0 if gap <= most else most / gap
    row["vx"] = wish_x if share == 1.0 else row["vx"] + gap_x * share
    row["vy"] = wish_y if share == 1.0 else row["vy"] + gap_y * share
    row["wz"] = 0.0
    if speed > 0.0:
        turn = nearest_turn(np.arctan2(wish_y, wish_x) - row["yaw"])
        turn = min(max(turn, -_TURN_RAD_PER_S * dt_s), _TURN_RAD_PER_S * dt_s)
        row["yaw"] += turn
        row["wz"] = turn / dt_s


@kernel
def _slide(row: Any, dt_s: float) -> None:
    """Let a fallen person slide to rest; there is no braking in the air."""
    row["wz"] = 0.0
    if row["settled"]:
        speed = np.sqrt(row["vx"] ** 2 + row["vy"] ** 2)
        left = speed - _SLIDE_FRICTION * GRAVITY_MPS2 * dt_s
        share = left / speed if left > 0.0 else 0.0
        row["vx"], row["vy"] = row["vx"] * share, row["vy"] * share
    row["down_s"] = max(row["down_s"] - dt_s, 0.0)


@kernel
def _stand_on(row: Any, ground: Ground, dt_s: float) -> None:
    """Height over the ground: settle, fall freely from far above, or stay out of the world."""
    reach = row["ez"] - row["cz"]
    stance = min(reach, _LYING_HEIGHT_M) if row["down_s"] > 0.0 else reach
    height = surface_height(ground, row["x"], row["y"], row["z"] - stance) + stance
    gap = row["z"] - height
    if row["settled"] and row["vz"] <= 0.5 and -_LOST_BELOW_M < gap < 0.5:
        row["z"], row["vz"] = height, 0.0
        return
    if -_LOST_BELOW_M <= gap <= 0.0 and row["vz"] <= 0.5:
        row["z"], row["vz"], row["settled"] = height, 0.0, 1
        return
    row["settled"] = 0
    row["vz"] = max(row["vz"] - GRAVITY_MPS2 * dt_s, -_TERMINAL_MPS)
    settling = row["down_s"] <= 0.0 and 0.0 < gap <= _FREE_FALL_M
    if settling and row["vz"] <= 0.0:
        row["vz"] = min(row["vz"], -_SETTLE_MPS)
    row["z"] += row["vz"] * dt_s
    if gap > 0.0 and row["z"] <= height:
        row["z"], row["vz"], row["settled"] = height, 0.0, 1


@kernel
def _follow_client(row: Any, dt_s: float) -> None:
    """Set the velocity of a walker that the client's navigation or a script places each tick."""
    dx, dy = row["x"] - row["prev_x"], row["y"] - row["prev_y"]
    distance = np.sqrt(dx * dx + dy * dy)
    row["vx"] = row["vy"] = row["vz"] = row["wz"] = 0.0
    if row["teleported"] and 1e-6 < distance <= _TELEPORT_M:
        row["vx"], row["vy"] = dx / dt_s, dy / dt_s
        row["wz"] = nearest_turn(row["yaw"] - row["prev_yaw"]) / dt_s
    row["prev_x"], row["prev_y"], row["prev_z"] = row["x"], row["y"], row["z"]
    row["prev_yaw"] = row["yaw"]
    row["teleported"] = 0


@kernel
def _take_impulses(row: Any, dt_s: float) -> None:
    mass = max(row["mass"], 1.0)
    row["vx"] += _finite_or((row["imp_x"] + row["force_x"] * dt_s) / mass, 0.0)
    row["vy"] += _finite_or((row["imp_y"] + row["force_y"] * dt_s) / mass, 0.0)
    row["vz"] += _finite_or((row["imp_z"] + row["force_z"] * dt_s) / mass, 0.0)
    row["imp_x"] = row["imp_y"] = row["imp_z"] = row["imp_yaw"] = 0.0
    row["force_x"] = row["force_y"] = row["force_z"] = row["torque_yaw"] = 0.0


@kernel
def _move(row: Any, ground: Ground, dt_s: float) -> None:
    """Advance a walker with physics by one step."""
    if row["teleported"]:
        row["settled"] = 0
        row["teleported"] = 0
    row["prev_x"], row["prev_y"], row["prev_z"] = row["x"], row["y"], row["z"]
    row["prev_yaw"] = row["yaw"]
    was_settled = row["settled"]
    if row["down_s"] > 0.0:
        _take_impulses(row, dt_s)
        _slide(row, dt_s)
    else:
        _walk(row, dt_s)
        _take_impulses(row, dt_s)
        if row["jump"] and row["settled"]:
            row["vz"] = _JUMP_MPS
            row["settled"] = 0
    row["jump"] = 0
    row["x"] += row["vx"] * dt_s
    row["y"] += row["vy"] * dt_s
    standing = was_settled and row["vx"] == 0.0 and row["vy"] == 0.0 and row["down_s"] <= 0.0
    if row["gravity"] and not (standing and row["settled"] and row["vz"] == 0.0):
        _stand_on(row, ground, dt_s)


@kernel
def step_walkers(actors: NDArray[Any], n_rows: int, ground: Ground, dt_s: float) -> None:
    """Advance every walker by ``dt_s``.

    Walkers with ``ai`` set, or with physics off, keep the position that the client gave them. They
    only get a velocity from their displacement since the last step. Physics always moves a
    knocked-down walker.

    Args:
        actors: ``ACTOR`` table.
        n_rows: Rows in use.
        ground: Surface to stand on.
        dt_s: Step; must be positive.
    """
    share = 1.0 - np.exp(-dt_s / _ACCELERATION_S)
    for index in range(n_rows):
        row = actors[index]
        if row["id"] == 0 or row["kind"] != WALKER or row["attached"]:
            continue
        row["age_s"] += dt_s
        old_x, old_y, old_z = row["vx"], row["vy"], row["vz"]
        if (row["ai"] and row["down_s"] <= 0.0) or not row["physics"]:
            _follow_client(row, dt_s)
        else:
            _move(row, ground, dt_s)
        row["ax"] += share * ((row["vx"] - old_x) / dt_s - row["ax"])
        row["ay"] += share * ((row["vy"] - old_y) / dt_s - row["ay"])
        row["az"] += share * ((row["vz"] - old_z) / dt_s - row["az"])
        speed = np.sqrt(row["vx"] ** 2 + row["vy"] ** 2)
        if speed == 0.0 and abs(row["ax"]) + abs(row["ay"]) + abs(row["az"]) < 1e-2:
            row["ax"] = row["ay"] = row["az"] = 0.0
        if speed > 0.0 and row["down_s"] <= 0.0:
            row["gait_phase"] = (row["gait_phase"] + speed * dt_s / stride_length_m(speed)) % 1.0
