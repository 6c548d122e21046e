"""A programme of blocks on the clock: phase, style, heading and contact of every frame at 60 Hz."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy.ndimage import gaussian_filter1d

from jaywalk.core.arrays import FloatArray
from jaywalk.motion.synthesis._draws import Draws
from jaywalk.motion.synthesis._gait_model import PERIOD_RANGE_S, GaitModel, run_share
from jaywalk.motion.synthesis._programme import (
    Block,
    ClipPerson,
    HoldBlock,
    Leap,
    Shuffle,
    WalkBlock,
)
from jaywalk.motion.synthesis._stand_model import smooth_noise

FRAMES_PER_S: Final = 60.0
#: The swinging foot passes the standing one here: starting earlier swings it backward first.
_START_PHASES: Final = (0.72, 0.22)
_START_RAMP: Final = 0.42
_STOP_RAMP: Final = 0.5
#: Walking backward the foot lands where it lifts off walking forward.
_BACK_STRIKES: Final = (0.62, 0.12)
_GRAVITY: Final = 9.81


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeline:
    """Frames of a clip, on the body of scale 1.

    Attributes:
        phase: (frames,) gait phase in cycles.
        amplitude: (frames,) 0 standing, 1 walking.
        codes: (frames, dims) gait code.
        period_s: (frames,) duration of a cycle.
        yaw_rad: (frames,) heading.
        given_mps: (frames, 3) velocity (left, up, forward) given by shuffles and leaps.
        planted: (frames, 2) contact given by standing, NaN where the gait decides.
        starts: First frame of every block.
        rate_hz: Frames per second of the body of scale 1.
    """

    phase: FloatArray
    amplitude: FloatArray
    codes: FloatArray
    period_s: FloatArray
    yaw_rad: FloatArray
    given_mps: FloatArray
    planted: FloatArray
    starts: tuple[int, ...]
    rate_hz: float

    def __len__(self) -> int:
        return len(self.phase)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """Frames of one block."""

    phase: FloatArray
    amplitude: FloatArray
    codes: FloatArray
    period_s: FloatArray
    turning: FloatArray
    given: FloatArray
    planted: FloatArray


def smoothstep(share: FloatArray) -> FloatArray:
    """Cubic from 0 to 1, level at both ends."""
    s = np.clip(share, 0.0, 1.0)
    return np.asarray(s * s * (3.0 - 2.0 * s))


def bump(time_s: FloatArray, at_s: float, seconds: float) -> FloatArray:
    """Speed of a minimum-jerk movement of length 1 that begins at a time."""
    q = np.clip((time_s - at_s) / seconds, 0.0, 1.0)
    return np.asarray(30.0 * q**2 * (1.0 - q) ** 2 / seconds)


def lay_out(
    blocks: Sequence[Block],
    model: GaitModel,
    person: ClipPerson,
    draws: Draws,
    *,
    pace: float = 1.0,
) -> Timeline:
    """Put blocks on the clock.

    Args:
        blocks: What is done.
        model: The gait.
        person: Who does it.
        draws: Random numbers.
        pace: Factor on all speeds, to make up for the feet's own opinion.
    """
    clock = np.sqrt(person.body_scale)
    parts: list[_Part] = []
    phase = draws.uniform()
    for block in blocks:
        if isinstance(block, WalkBlock):
            part = _walk(block, model, person, draws, phase=phase, pace=pace)
        else:
            part = _hold(block, model, person, phase=phase)
        parts.append(part)
        phase = float(part.phase[-1])
    starts = np.concatenate([[0], np.cumsum([len(part.phase) for part in parts])[:-1]])
    turning = np.concatenate([part.turning for part in parts])
    rate = FRAMES_PER_S * clock
    return Timeline(
        phase=np.concatenate([part.phase for part in parts]),
        amplitude=np.concatenate([part.amplitude for part in parts]),
        codes=np.concatenate([part.codes for part in parts]),
        period_s=np.concatenate([part.period_s for part in parts]),
        yaw_rad=np.cumsum(turning) / rate,
        given_mps=np.concatenate([part.given for part in parts]),
        planted=np.concatenate([part.planted for part in parts]),
        starts=tuple(int(start) for start in starts),
        rate_hz=rate,
    )


def _speeds(block: WalkBlock, person: ClipPerson, time_s: FloatArray, pace: float) -> FloatArray:
    """(frames,) wanted speed on the body of scale 1; people need two or three steps to start."""
    speed = np.full(len(time_s), block.speed_mps)
    for change in block.paces:
        share = smoothstep((time_s - change.at_s) / change.seconds)
        speed = speed + share * (change.speed_mps - speed)
    if block.starts:
        speed = speed * (0.5 + 0.5 * smoothstep(time_s / 1.2))
    if block.stops:
        speed = speed * (0.65 + 0.35 * smoothstep((block.seconds + 0.2 - time_s) / 1.0))
    return np.asarray(speed * pace / np.sqrt(person.body_scale))


def _walk(
    block: WalkBlock,
    model: GaitModel,
    person: ClipPerson,
    draws: Draws,
    *,
    phase: float,
    pace: float,
) -> _Part:
    clock = float(np.sqrt(person.body_scale))
    rate = FRAMES_PER_S * clock
    frames = int((block.seconds + 2.0) * FRAMES_PER_S)  # room for the last step
    time_s = np.arange(frames) / FRAMES_PER_S
    speed = _speeds(block, person, time_s, pace)
    turning = np.zeros(frames)
    for turn in block.turns:
        turning += turn.angle_rad * bump(time_s, turn.at_s, turn.seconds) * clock
    codes, period = _codes(model, person, speed, turning, draws)
    travelled = np.cumsum(1.0 / (period * rate))
    first = draws.one_of(_START_PHASES) if block.starts else phase
    share = np.clip(0.5 + codes[:, -1], 0.3, 0.7)
    along = _unwarped(first, float(share[0])) + (-travelled if block.backward else travelled)
    warped = _warped(along, share)
    end = _end(warped, block, round(block.seconds * FRAMES_PER_S))
    amplitude = np.ones(end)
    if block.starts:
        amplitude *= smoothstep(travelled[:end] / _START_RAMP)
    if block.stops:
        amplitude *= smoothstep((travelled[end - 1] - travelled[:end]) / _STOP_RAMP)
    return _Part(
        phase=warped[:end],
        amplitude=amplitude,
        codes=codes[:end],
        period_s=period[:end],
        turning=turning[:end],
        given=np.zeros((end, 3)),
        planted=np.full((end, 2), np.nan),
    )


def _codes(
    model: GaitModel, person: ClipPerson, speed: FloatArray, turning: FloatArray, draws: Draws
) -> tuple[FloatArray, FloatArray]:
    """(frames, dims) codes and (frames,) periods for speeds and turn rates."""
    run = run_share(speed, person.run_from_mps)
    straight = model.typical(speed, run, np.zeros_like(speed))
    turn = np.clip(turning * np.exp(straight[:, -2]), -1.6, 1.6)
    noise = smooth_noise(len(speed), len(person.style), 0.6 * FRAMES_PER_S, draws)
    codes = model.typical(speed, run, turn) + person.style
    codes = codes + person.restless * model.within * noise
    usual = np.exp(codes[:, -2])
    stride = np.maximum(model.stride_m(codes), 0.1)
    period = np.clip(stride / speed, 0.72 * usual, 1.36 * usual)
    period = np.clip(period, *PERIOD_RANGE_S)
    period = gaussian_filter1d(period, 0.15 * FRAMES_PER_S, mode="nearest")
    return codes, np.asarray(period)


def _warped(along: FloatArray, share: FloatArray) -> FloatArray:
    """Time in cycles to phase, where the right strike is at one half."""
    whole = np.floor(along)
    part = along - whole
    early = 0.5 * part / share
    late = 0.5 + 0.5 * (part - share) / (1.0 - share)
    return np.asarray(whole + np.where(part < share, early, late))


def _unwarped(phase: float, share: float) -> float:
    whole = float(np.floor(phase))
    part = phase - whole
    return whole + (
        2.0 * part * share if part < 0.5 else share + (2.0 * part - 1.0) * (1.0 - share)
    )


def _end(phase: FloatArray, block: WalkBlock, wanted: int) -> int:
    """Frames of the block: to the first step that lands after its duration."""
    if not block.stops:
        return wanted
    marks = _BACK_STRIKES if block.backward else (0.0, 0.5)
    halves = np.floor((phase - marks[0]) * 2.0 + 1e-9)
    landings = np.flatnonzero(np.diff(halves) != 0.0) + 1
    after = landings[landings >= wanted]
    return int(after[0]) + 1 if len(after) else len(phase)


def _hold(block: HoldBlock, model: GaitModel, person: ClipPerson, *, phase: float) -> _Part:
    frames = max(2, round(block.seconds * FRAMES_PER_S))
    time_s = np.arange(frames) / FRAMES_PER_S
    planted = np.ones((frames, 2))
    given = np.zeros((frames, 3))
    turning = np.zeros(frames)
    clock = float(np.sqrt(person.body_scale))
    for shuffle in block.shuffles:
        shape = bump(time_s, shuffle.at_s, shuffle.seconds) * clock
        given[:, 0] += shuffle.left_m / person.body_scale * shape
        given[:, 2] += shuffle.forward_m / person.body_scale * shape
        turning += shuffle.turn_rad * shape
        _lift_feet(planted, shuffle, time_s)
    for leap in block.leaps:
        given[:, 1:] += _leap(leap, time_s, planted, person.body_scale)
    for lift in block.lifts:
        lifted = (time_s >= lift.at_s) & (time_s < lift.at_s + lift.seconds)
        planted[lifted, lift.side] = 0.0
    slow = np.array([0.6])
    code = model.typical(slow, np.zeros(1), np.zeros(1)) + person.style
    return _Part(
        phase=np.full(frames, phase),
        amplitude=np.zeros(frames),
        codes=np.repeat(code, frames, axis=0),
        period_s=np.ones(frames),
        turning=turning,
        given=given,
        planted=planted,
    )


def _lift_feet(planted: FloatArray, shuffle: Shuffle, time_s: FloatArray) -> None:
    """Alternate steps: the foot on the side of the movement goes first."""
    leads_left = shuffle.left_m > 0.0 or (shuffle.left_m == 0.0 and shuffle.turn_rad >= 0.0)
    each = shuffle.seconds / shuffle.steps
    for step in range(shuffle.steps):
        side = (step + (0 if leads_left else 1)) % 2
        begin = shuffle.at_s + step * each
        lifted = (time_s >= begin + 0.08 * each) & (time_s < begin + 0.92 * each)
        planted[lifted, side] = 0.0


def _leap(leap: Leap, time_s: FloatArray, planted: FloatArray, scale: float) -> FloatArray:
    """(frames, 2) upward and forward speed: crouch, push, flight, landing."""
    height, dip = leap.height_m / scale, leap.dip_m / scale
    flight = 2.0 * np.sqrt(2.0 * leap.height_m / _GRAVITY)
    push, sink = 0.22, 0.45
    marks = np.cumsum([leap.at_s, sink, push, flight, push, sink])
    level = np.zeros(len(time_s))
    level -= dip * smoothstep((time_s - marks[0]) / sink)
    level += dip * smoothstep((time_s - marks[1]) / push)
    inside = (time_s > marks[2]) & (time_s < marks[3])
    u = np.clip((time_s - marks[2]) / flight, 0.0, 1.0)
    level += np.where(inside, 4.0 * height * u * (1.0 - u), 0.0)
    level -= 0.8 * dip * smoothstep((time_s - marks[3]) / push)
    level += 0.8 * dip * smoothstep((time_s - marks[4]) / sink)
    planted[inside] = 0.0
    # the body leads a little before the feet leave, and follows after they have landed
    lead = 0.5 * push
    way = smoothstep((time_s - marks[2] + lead) / (flight + 2.0 * lead))
    path = np.stack([level, leap.forward_m / scale * way], axis=1)
    return np.asarray(np.gradient(path, axis=0) * FRAMES_PER_S * np.sqrt(scale))
