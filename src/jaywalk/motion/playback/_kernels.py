"""Kernels that advance all people who play a clip: time, path, pose and feet."""

from __future__ import annotations

import math

import numpy as np

from jaywalk.core.arrays import FloatArray, IntArray
from jaywalk.core.kernels import kernel
from jaywalk.geometry.rotation import quat_slerp, rotator_from_quat
from jaywalk.motion.playback._feet import LegTables, ball_place, pin_stance_feet
from jaywalk.motion.playback.bank import FREE, HELD, NOTHING, STEPPING, Frames, Rows

_EXACT = 1e-6  # of a frame: times nearer to a frame than this are rounded to it


@kernel
def _at(frames: Frames, clip: int, time_s: float) -> tuple[int, float]:
    """Frame at or before a time, and the fraction of the interval to the next frame."""
    last = frames.length[clip] - 1
    place = min(max(time_s * frames.rate_hz, 0.0), float(last))
    frame = math.floor(place + _EXACT)
    share = place - frame
    if share < _EXACT or frame >= last:
        share = 0.0
    return frames.first[clip] + min(frame, last), share


@kernel
def _stands(frames: Frames, clip: int, time_s: float, side: int) -> bool:
    frame, share = _at(frames, clip, time_s)
    return bool(frames.planted[frame + 1 if share > 0.5 else frame, side])


@kernel
def _pose(frames: Frames, clip: int, time_s: float, turns: FloatArray, hips_m: FloatArray) -> None:
    """Write the pose of a clip at a time."""
    frame, share = _at(frames, clip, time_s)
    for k in range(3):
        hips_m[k] = frames.hips_m[frame, k]
        if share > 0.0:
            hips_m[k] += share * (frames.hips_m[frame + 1, k] - frames.hips_m[frame, k])
    for bone in range(turns.shape[0]):
        if share > 0.0:
            a, b = frames.turns[frame, bone], frames.turns[frame + 1, bone]
            q = quat_slerp((a[0], a[1], a[2], a[3]), (b[0], b[1], b[2], b[3]), share)
            for k in range(4):
                turns[bone, k] = q[k]
        else:
            for k in range(4):
                turns[bone, k] = frames.turns[frame, bone, k]


@kernel
def _place(frames: Frames, clip: int, time_s: float) -> tuple[float, float, float]:
    """``x y yaw`` of the walker in a clip."""
    frame, share = _at(frames, clip, time_s)
    a = frames.actor[frame]
    if share == 0.0:
        return a[0], a[1], a[3]
    b = frames.actor[frame + 1]
    return (
        a[0] + share * (b[0] - a[0]),
        a[1] + share * (b[1] - a[1]),
        a[3] + share * (b[3] - a[3]),
    )


@kernel
def _moved(frames: Frames, clip: int, from_s: float, to_s: float) -> tuple[float, float, float]:
    """Forward and rightward movement and turn between two times, in the axes at the first time."""
    x0, y0, yaw0 = _place(frames, clip, from_s)
    x1, y1, yaw1 = _place(frames, clip, to_s)
    cos, sin = math.cos(yaw0), math.sin(yaw0)
    dx, dy = x1 - x0, y1 - y0
    return cos * dx + sin * dy, cos * dy - sin * dx, yaw1 - yaw0


@kernel
def _smooth(share: float) -> float:
    s = min(max(share, 0.0), 1.0)
    return s * s * (3.0 - 2.0 * s)


@kernel
def _walk(frames: Frames, rows: Rows, i: int, dt_s: float, weight: float) -> None:
    """Advance time and path; during a join, both clips move the person by their weights."""
    start = rows.time_s[i]
    end = min(start + rows.rate[i] * dt_s, (frames.length[rows.clip[i]] - 1) / frames.rate_hz)
    ahead, right, turned = _moved(frames, rows.clip[i], start, end)
    rows.time_s[i] = end
    if weight < 1.0:
        old_ahead, old_right, old_turned = 0.0, 0.0, 0.0
        if rows.old_clip[i] != NOTHING:
            was = rows.old_time_s[i]
            rows.old_time_s[i] = was + rows.old_rate[i] * dt_s
            old_ahead, old_right, old_turned = _moved(
                frames, rows.old_clip[i], was, rows.old_time_s[i]
            )
        ahead = weight * ahead + (1.0 - weight) * old_ahead
        right = weight * right + (1.0 - weight) * old_right
        turned = weight * turned + (1.0 - weight) * old_turned
    cos, sin = math.cos(rows.yaw_rad[i]), math.sin(rows.yaw_rad[i])
    rows.x_m[i] += cos * ahead - sin * right
    rows.y_m[i] += sin * ahead + cos * right
    rows.speed_mps[i] = math.sqrt(ahead * ahead + right * right) / dt_s
    before = rows.since_s[i]
    rows.since_s[i] = before + dt_s
    if before < rows.turn_s[i]:
        done = _smooth((before + dt_s) / rows.turn_s[i]) - _smooth(before / rows.turn_s[i])
        turned += rows.turn_rad[i] * done
    rows.yaw_rad[i] += turned + rows.steer_radps[i] * dt_s


@kernel
def _fade(frames: Frames, rows: Rows, i: int, weight: float) -> None:
    """Blend the previous clip or the frozen pose into the shown pose."""
    turns, hips = rows.source_turns[i], rows.source_hips_m[i]
    if not rows.frozen[i]:
        _pose(frames, rows.old_clip[i], rows.old_time_s[i], turns, hips)
    for k in range(3):
        rows.hips_m[i, k] = weight * rows.hips_m[i, k] + (1.0 - weight) * hips[k]
    for bone in range(turns.shape[0]):
        a, b = turns[bone], rows.turns[i, bone]
        q = quat_slerp((a[0], a[1], a[2], a[3]), (b[0], b[1], b[2], b[3]), weight)
        for k in range(4):
            rows.turns[i, bone, k] = q[k]


@kernel
def _join_weight(rows: Rows, i: int, since_s: float) -> float:
    if since_s >= rows.blend_s[i]:
        return 1.0
    return float(_smooth(since_s / rows.blend_s[i]))


@kernel
def show(frames: Frames, rows: Rows, i: int, legs: LegTables, dt_s: float) -> None:
    """Write the pose of one person at the current time of the clip."""
    weight = _join_weight(rows, i, rows.since_s[i])
    _pose(frames, rows.clip[i], rows.time_s[i], rows.turns[i], rows.hips_m[i])
    busy = rows.foot[i, 0] != FREE or rows.foot[i, 1] != FREE
    if weight >= 1.0 and not busy:
        return
    if weight < 1.0:
        _fade(frames, rows, i, weight)
    clip, time_s = rows.clip[i], rows.time_s[i]
    if weight < 0.5 and rows.old_clip[i] != NOTHING:
        clip, time_s = rows.old_clip[i], rows.old_time_s[i]
    pin_stance_feet(
        rows,
        i,
        legs,
        _stands(frames, clip, time_s, 0),
        _stands(frames, clip, time_s, 1),
        weight,
        dt_s,
    )


@kernel
def advance(frames: Frames, rows: Rows, legs: LegTables, dt_s: float) -> None:
    """Advance all people who play a clip by one step."""
    for i in range(rows.clip.shape[0]):
        if rows.clip[i] < 0:
            continue
        _walk(frames, rows, i, dt_s, _join_weight(rows, i, rows.since_s[i] + 0.5 * dt_s))
        show(frames, rows, i, legs, dt_s)


@kernel
def hold_standing_feet(frames: Frames, rows: Rows, i: int, legs: LegTables) -> None:
    """Hold the standing feet at their shown positions, at the beginning of a join."""
    for side in range(2):
        if rows.foot[i, side] == HELD or (rows.foot[i, side] == STEPPING and not rows.frozen[i]):
            continue
        rows.foot[i, side] = FREE  # the frozen pose already includes the step
        if _stands(frames, rows.clip[i], rows.time_s[i], side):
            ball = ball_place(rows, i, side, legs)
            rows.foot[i, side] = HELD
            for k in range(3):
                rows.lock_m[i, side, k] = ball[k]


@kernel
def angles_of(turns: FloatArray, chosen: IntArray) -> FloatArray:
    """Pitch, yaw and roll (chosen, 21, 3) in degrees of the shown rotations of some people."""
    out = np.empty((chosen.shape[0], turns.shape[1], 3))
    for n in range(chosen.shape[0]):
        for bone in range(turns.shape[1]):
            q = turns[chosen[n], bone]
            pitch, yaw, roll = rotator_from_quat((q[0], q[1], q[2], q[3]))
            out[n, bone, 0], out[n, bone, 1], out[n, bone, 2] = pitch, yaw, roll
    return out
