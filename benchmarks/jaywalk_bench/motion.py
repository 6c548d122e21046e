"""How many ten-second clips per second one core cleans and puts on the four rigs."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np

from jaywalk.core.seeds import stream
from jaywalk.geometry.rotation import from_rotvec
from jaywalk.motion.clip import Clip
from jaywalk.motion.library.building import DEFAULT_POLICIES, clean, on_rigs
from jaywalk.motion.smpl import JOINT_COUNT
from jaywalk_bench.calibration import calibration_ms

AIM_CLIPS_PER_S: Final = 40.0
_CLIP_S: Final = 10.0
_RATE_HZ: Final = 120.0


@dataclass(frozen=True, slots=True, kw_only=True)
class MotionBenchmark:
    """Clips per second of CPU, on one core, after parsing.

    Attributes:
        build_clips_per_s: Cleaning from 120 Hz (rate, floor, foot lock) and all four rigs.
        retarget_clips_per_s: The four rigs alone.
        clips: Clips measured.
        calibration_ms: Time of a fixed loop, to compare machines.
    """

    build_clips_per_s: float
    retarget_clips_per_s: float
    clips: int
    calibration_ms: float

    def as_dict(self) -> dict[str, Any]:
        """For JSON, with the aim beside the number."""
        measured = self.build_clips_per_s
        aim = {
            "at_least": AIM_CLIPS_PER_S,
            "measured": measured,
            "met": measured >= AIM_CLIPS_PER_S,
        }
        return {**asdict(self), "aims": {"build_clips_per_s": aim}}


def bench_motion(*, clips: int = 40) -> MotionBenchmark:
    """Time synthetic clips of ten seconds at 120 Hz."""
    motions = [synthetic_motion(number) for number in range(clips)]
    # Compiling is not part of the task: once a machine, then it comes from the cache.
    on_rigs(clean(motions[0], foot_lock=True), DEFAULT_POLICIES)
    started = time.process_time()
    cleaned = [clean(motion, foot_lock=True) for motion in motions]
    between = time.process_time()
    for motion in cleaned:
        on_rigs(motion, DEFAULT_POLICIES)
    ended = time.process_time()
    return MotionBenchmark(
        build_clips_per_s=clips / (ended - started),
        retarget_clips_per_s=clips / (ended - between),
        clips=clips,
        calibration_ms=calibration_ms(),
    )


def synthetic_motion(number: int) -> Clip:
    """Ten seconds of smooth turning of all joints on a straight path."""
    rng = stream(0, "bench", "motion", number)
    time_s = np.arange(round(_CLIP_S * _RATE_HZ)) / _RATE_HZ
    angle = rng.uniform(0.3, 1.5, (JOINT_COUNT, 3)) * time_s[:, None, None]
    vectors = 0.3 * np.sin(2.0 * np.pi * (angle + rng.uniform(0.0, 1.0, (JOINT_COUNT, 3))))
    vectors[:, 0, 1] += 0.1 * time_s
    root = np.stack([0.0 * time_s, 0.9 + 0.0 * time_s, 1.2 * time_s], axis=1)
    return Clip(
        name=f"bench{number}", rotations=from_rotvec(vectors), root_m=root, rate_hz=_RATE_HZ
    )
