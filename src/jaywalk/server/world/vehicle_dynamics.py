"""Vehicle motion: longitudinal law, kinematic bicycle with a grip limit, and the ground.

The bicycle model is the one that PDM-Lite was fitted with: the origin moves along heading + slip
and turns by v / rear * sin(slip). Motion beyond it, from a collision or a set velocity (sideways
speed, spin), is kept as an excess that the tyres reduce at their friction limit.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from jaywalk.core.kernels import kernel
from jaywalk.server.world._longitudinal import (
    GRAVITY_MPS2,
    TICK_S,
    WET_GRIP,
    ackermann_pedals,
    next_speed,
)
from jaywalk.server.world._tables import Kind
from jaywalk.town.ground import Ground, surface_height

VEHICLE: Final = int(Kind.VEHICLE)
_SETTLE_MPS: Final = 3.0  # cars spawned a little above the road sink at this rate
_FREE_FALL_M: Final = 3.0
_LOST_BELOW_M: Final = 5.0  # parked under the world: not on this surface
_TERMINAL_MPS: Final = 60.0
_HOVER_M: Final = 0.15
_NO_FRICTION_MPS2: Final = 0.01
_JUMP_M: Final = 5.0  # a longer teleport is not motion
_TILT_S: Final = 0.1  # smoothing of pitch and roll
_ACCELERATION_S: Final = 0.07  # smoothing of the reported acceleration


@kernel
def _finite_or(value: float, otherwise: float) -> float:
    return value if np.isfinite(value) else otherwise


@kernel
def grip_share(wetness_percent: float) -> float:
    """Return the share of the dry grip on a road with this wetness (0..100)."""
    wet = min(max(_finite_or(wetness_percent, 0.0), 0.0), 100.0)
    return float(1.0 - (1.0 - WET_GRIP) * wet / 100.0)


@kernel
def set_velocity(row: Any, vx_mps: float, vy_mps: float, vz_mps: float) -> None:
    """Give an actor a world velocity at once; components that are not finite count as 0."""
    vx, vy, vz = _finite_or(vx_mps, 0.0), _finite_or(vy_mps, 0.0), _finite_or(vz_mps, 0.0)
    row["vx"], row["vy"], row["vz"] = vx, vy, vz
    cos, sin = np.cos(row["yaw"]), np.sin(row["yaw"])
    row["v_long"] = vx * cos + vy * sin
    row["v_lat"] = -vx * sin + vy * cos
    if vz > 0.5:
        row["settled"] = 0


@kernel
def _clean_controls(row: Any, model: Any) -> None:
    """NaN brake is full brake, NaN throttle none, NaN steer keeps the wheels where they are."""
    throttle, brake, steer = row["throttle"], row["brake"], row["steer"]
    row["throttle"] = 0.0 if np.isnan(throttle) else min(max(throttle, 0.0), 1.0)
    row["brake"] = 1.0 if np.isnan(brake) else min(max(brake, 0.0), 1.0)
    if np.isnan(steer):
        steer = row["wheel_angle"] / model["steer_gain_rad"]
    row["steer"] = min(max(steer, -1.0), 1.0)


@kernel
def _take_impulses(row: Any, dt_s: float) -> None:
    """Turn the pending impulses and forces into velocity and clear them."""
    mass = max(row["mass"], 1.0)
    dvx = _finite_or((row["imp_x"] + row["force_x"] * dt_s) / mass, 0.0)
    dvy = _finite_or((row["imp_y"] + row["force_y"] * dt_s) / mass, 0.0)
    dvz = _finite_or((row["imp_z"] + row["force_z"] * dt_s) / mass, 0.0)
    inertia = mass * (row["ex"] ** 2 + row["ey"] ** 2) / 3.0 + 1e-3
    spin = _finite_or((row["imp_yaw"] + row["torque_yaw"] * dt_s) / inertia, 0.0)
    row["imp_x"] = row["imp_y"] = row["imp_z"] = row["imp_yaw"] = 0.0
    row["force_x"] = row["force_y"] = row["force_z"] = row["torque_yaw"] = 0.0
    if dvx != 0.0 or dvy != 0.0 or dvz != 0.0 or spin != 0.0:
        set_velocity(row, row["vx"] + dvx, row["vy"] + dvy, row["vz"] + dvz)
        row["yaw_rate"] += spin


@kernel
def _slip_sine(wheel_angle: float, speed_mps: float, grip: float, model: Any) -> float:
    """Sine of the slip angle of the origin, no more than the tyres can hold at this speed."""
    rear = model["rear_m"]
    tangent = rear / (model["front_m"] + rear) * np.tan(wheel_angle)
    sine = tangent / np.sqrt(1.0 + tangent * tangent)
    square = speed_mps * speed_mps
    if square > 1e-6:
        limit = rear * model["grip_mu"] * grip * GRAVITY_MPS2 / square
        sine = min(max(sine, -limit), limit)
    return float(sine)


@kernel
def _shrunk(value: float, by: float) -> float:
    if abs(value) <= by:
        return 0.0
    return value - by if value > 0.0 else value + by


@kernel
def _gear_of(row: Any) -> int:
    if row["manual_gear"] and not row["reverse"]:
        return 1 if row["gear"] > 0 else (-1 if row["gear"] < 0 else 0)
    return -1 if row["reverse"] else 1


@kernel
def _drive_step(row: Any, model: Any, grip: float, dt_s: float) -> None:
    """Advance one substep in the plane: steering, speed, slip, pose."""
    rear = model["rear_m"]
    # Speed along the slip direction, and the motion that the bicycle model does not explain.
    sine = _slip_sine(row["wheel_angle"], row["v_long"], grip, model)
    cosine = np.sqrt(1.0 - sine * sine)
    speed = row["v_long"] / cosine
    slide = row["v_lat"] - speed * sine
    spin = row["yaw_rate"] - speed / rear * sine

    change = row["steer"] * model["steer_gain_rad"] - row["wheel_angle"]
    most = model["steer_rate_per_s"] * model["steer_gain_rad"] * dt_s
    row["wheel_angle"] += min(max(change, -most), most)

    friction = model["grip_mu"] * grip * GRAVITY_MPS2
    if row["const_vel"]:
        after = _finite_or(row["cvx"], 0.0)
        speed, slide, spin = after, _finite_or(row["cvy"], 0.0), 0.0
    elif row["settled"] and friction > _NO_FRICTION_MPS2:
        pull = -GRAVITY_MPS2 * np.sin(row["pitch"])
        after = next_speed(
            speed,
            row["throttle"],
            row["brake"],
            row["hand_brake"] != 0,
            _gear_of(row),
            pull,
            grip,
            model,
            dt_s,
        )
        slide = _shrunk(slide, friction * dt_s)
        # Tyres at a quarter of the length from the centre brake a spin of box inertia.
        spin = _shrunk(spin, 1.5 * friction / (rear + 1.0) * dt_s)
    else:
        after = speed  # airborne, or on tyres without friction
    sine = _slip_sine(row["wheel_angle"], after, grip, model)
    cosine = np.sqrt(1.0 - sine * sine)
    mean = 0.5 * (speed + after)
    turn = (mean / rear * sine + spin) * dt_s
    middle = row["yaw"] + 0.5 * turn
    cos, sin = np.cos(middle), np.sin(middle)
    forward, sideways = mean * cosine, mean * sine + slide
    row["x"] += (forward * cos - sideways * sin) * dt_s
    row["y"] += (forward * sin + sideways * cos) * dt_s
    row["yaw"] += turn
    row["v_long"], row["v_lat"] = after * cosine, after * sine + slide
    row["yaw_rate"] = after / rear * sine + spin


@kernel
def _follow_ground(row: Any, model: Any, ground: Ground, tilt: float, dt_s: float) -> None:
    """Height, pitch and roll from the surface under the four wheels; falling when far above it.

    ``tilt`` is the share of the way to the new pitch and roll that a moving car goes this step.
    """
    cos, sin = np.cos(row["yaw"]), np.sin(row["yaw"])
    wx, wy, z = model["wheel_x_m"], model["wheel_y_m"], row["z"]
    x, y = row["x"], row["y"]
    fl = surface_height(ground, x + wx * cos + wy * sin, y + wx * sin - wy * cos, z)
    fr = surface_height(ground, x + wx * cos - wy * sin, y + wx * sin + wy * cos, z)
    rl = surface_height(ground, x - wx * cos + wy * sin, y - wx * sin - wy * cos, z)
    rr = surface_height(ground, x - wx * cos - wy * sin, y - wx * sin + wy * cos, z)
    height = 0.25 * (fl + fr + rl + rr)
    gap = z - height
    moving = row["v_long"] != 0.0 or row["v_lat"] != 0.0 or row["yaw_rate"] != 0.0
    if not row["gravity"]:
        row["settled"] = 1 if gap < _HOVER_M else 0  # tyres in the air hold nothing
        row["z"] += row["vz"] * dt_s
        return
    if row["settled"] and -_LOST_BELOW_M < gap < 0.5:
        step = max(_SETTLE_MPS, 0.7 * abs(row["v_long"]) + 0.5) * dt_s
        row["z"] -= min(max(gap, -step), step)
    elif gap < -_LOST_BELOW_M or gap > 0.0 or (row["vz"] > 0.0 and not row["settled"]):
        _fall(row, gap, dt_s)
    else:
        row["z"] = height
        row["settled"] = 1
    if row["settled"]:
        share = tilt if moving else 1.0
        pitch = np.arctan2(0.5 * (fl + fr - rl - rr), 2.0 * wx)
        roll = 0.0 if model["two_wheeler"] else np.arctan2(0.5 * (fl + rl - fr - rr), 2.0 * wy)
        row["wy"], row["wx"] = row["pitch"], row["roll"]
        row["pitch"] += share * (pitch - row["pitch"])
        row["roll"] += share * (roll - row["roll"])
        row["wy"] = (row["pitch"] - row["wy"]) / dt_s
        row["wx"] = (row["roll"] - row["wx"]) / dt_s


@kernel
def _fall(row: Any, gap_m: float, dt_s: float) -> None:
    row["settled"] = 0
    row["vz"] = max(row["vz"] - GRAVITY_MPS2 * dt_s, -_TERMINAL_MPS)
    if 0.0 < gap_m <= _FREE_FALL_M and row["vz"] <= 0.0:
        row["vz"] = min(row["vz"], -_SETTLE_MPS)
    drop = -row["vz"] * dt_s
    if gap_m > 0.0 and drop >= gap_m:
        drop = gap_m
        row["settled"] = 1
    row["z"] -= drop


@kernel
def _report_motion(row: Any, share: float, dt_s: float) -> None:
    """World velocity and acceleration (smoothed by ``share``) from the body state; exact zeros."""
    cos, sin = np.cos(row["yaw"]), np.sin(row["yaw"])
    vx = row["v_long"] * cos - row["v_lat"] * sin
    vy = row["v_long"] * sin + row["v_lat"] * cos
    vz = (row["z"] - row["prev_z"]) / dt_s if row["settled"] else row["vz"]
    still = row["settled"] and vx == 0.0 and vy == 0.0 and row["yaw_rate"] == 0.0
    if still and (abs(vz) < 0.02 or not row["gravity"]):
        vz = row["wx"] = row["wy"] = 0.0
    row["ax"] += share * ((vx - row["vx"]) / dt_s - row["ax"])
    row["ay"] += share * ((vy - row["vy"]) / dt_s - row["ay"])
    row["az"] += share * ((vz - row["vz"]) / dt_s - row["az"])
    if still and abs(row["ax"]) + abs(row["ay"]) + abs(row["az"]) < 1e-2:
        row["ax"] = row["ay"] = row["az"] = 0.0
    row["vx"], row["vy"], row["vz"], row["wz"] = vx, vy, vz, row["yaw_rate"]


@kernel
def report_teleports(row: Any, dt_s: float) -> None:
    """Velocity of an actor that only commands move: its displacement, 0 when it stays or jumps."""
    dx, dy, dz = row["x"] - row["prev_x"], row["y"] - row["prev_y"], row["z"] - row["prev_z"]
    distance = np.sqrt(dx * dx + dy * dy + dz * dz)
    if row["teleported"] and distance <= _JUMP_M:
        turn = row["yaw"] - row["prev_yaw"]
        turn -= 2.0 * np.pi * np.round(turn / (2.0 * np.pi))
        set_velocity(row, dx / dt_s, dy / dt_s, dz / dt_s)
        row["yaw_rate"] = turn / dt_s
    else:
        set_velocity(row, 0.0, 0.0, 0.0)
        row["yaw_rate"] = 0.0
    row["wx"] = row["wy"] = row["ax"] = row["ay"] = row["az"] = 0.0
    row["wz"] = row["yaw_rate"]
    row["prev_x"], row["prev_y"], row["prev_z"] = row["x"], row["y"], row["z"]
    row["prev_yaw"] = row["yaw"]
    row["teleported"] = 0
    row["imp_x"] = row["imp_y"] = row["imp_z"] = row["imp_yaw"] = 0.0
    row["force_x"] = row["force_y"] = row["force_z"] = row["torque_yaw"] = 0.0


@kernel
def step_vehicles(
    actors: NDArray[Any],
    n_rows: int,
    models: NDArray[Any],
    ground: Ground,
    wetness_percent: float,
    dt_s: float,
    substeps: int,
) -> None:
    """Advance every vehicle by ``dt_s``.

    Args:
        actors: ``ACTOR`` table.
        n_rows: Rows in use.
        models: ``VEHICLE_MODEL`` table, indexed by the actors' ``model``.
        ground: Surface to stand on.
        wetness_percent: 0..100, lowers the grip in corners and under braking by up to 35 %.
        dt_s: Step; must be positive.
        substeps: At least this many substeps (none is longer than 0.05 s in any case).
    """
    grip = grip_share(wetness_percent)
    tilt = 1.0 - np.exp(-dt_s / _TILT_S)
    smooth = 1.0 - np.exp(-dt_s / _ACCELERATION_S)
    count = max(substeps, int(np.ceil(dt_s / TICK_S - 1e-9)), 1)
    for index in range(n_rows):
        row = actors[index]
        if row["id"] == 0 or row["kind"] != VEHICLE or row["attached"]:
            continue
        row["age_s"] += dt_s
        model = models[row["model"]]
        _clean_controls(row, model)
        if not row["physics"]:
            report_teleports(row, dt_s)
            continue
        if row["teleported"]:
            row["settled"] = 0
            set_velocity(row, row["vx"], row["vy"], row["vz"])
            row["teleported"] = 0
        row["prev_x"], row["prev_y"], row["prev_z"] = row["x"], row["y"], row["z"]
        row["prev_yaw"] = row["yaw"]
        _take_impulses(row, dt_s)
        if row["ackermann"]:
            ackermann_pedals(row, model, dt_s)
        standing = row["settled"] and row["v_long"] == 0.0 and row["v_lat"] == 0.0
        for _ in range(count):
            _drive_step(row, model, grip, dt_s / count)
        still = row["v_long"] == 0.0 and row["v_lat"] == 0.0 and row["yaw_rate"] == 0.0
        # The ground below a car that stands was sampled when it came to rest.
        if not (standing and still):
            _follow_ground(row, model, ground, tilt, dt_s)
        _report_motion(row, smooth, dt_s)
