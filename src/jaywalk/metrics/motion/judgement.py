"""Table that compares a generated motion library with captures unseen by the model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from jaywalk.core.errors import UsageError
from jaywalk.geometry.rotation import angle_between_rad
from jaywalk.metrics.motion._diversity import (
    MotionWindows,
    collect_windows,
    distinct_share,
    likeness,
    nearest,
    space_of,
)
from jaywalk.metrics.motion._gait import (
    acceleration_mps2,
    float_m,
    foot_skating_ratio,
    gait_figures,
    jitter_mps3,
    path_speed_mps,
    penetration_m,
    stance_slip_mps,
)
from jaywalk.motion.clip import Clip
from jaywalk.motion.foot_lock import balls_m
from jaywalk.motion.library.reading import MotionLibrary
from jaywalk.motion.smpl import BALL_HEIGHT_M

#: Subjects kept away from training when the model is judged.
HELD_OUT: Final = (
    "07",
    "08",
    "12",
    "22",
    "35",
    "39",
    "77",
    "83",
    "91",
    "105",
    "113",
    "132",
    "137",
    "143",
)
_WALKING_MPS: Final = 0.35


def clip_figures(motion: Clip) -> dict[str, float]:
    """Return realism figures of one motion; gait figures are NaN with hardly any walking."""
    balls = balls_m(motion)[..., [2, 0, 1]]
    standing = motion.body_scale * BALL_HEIGHT_M
    steps = angle_between_rad(motion.rotations[1:], motion.rotations[:-1])
    speed = path_speed_mps(motion)
    gait = gait_figures(motion) if speed > _WALKING_MPS else None
    return {
        "speed_mps": speed,
        "foot_skating_ratio": foot_skating_ratio(balls, motion.rate_hz),
        "stance_slip_mps": stance_slip_mps(balls, motion.rate_hz, standing),
        "penetration_m": penetration_m(balls, standing),
        "float_m": float_m(balls, standing),
        "jitter_mps3": jitter_mps3(motion.root_m, motion.rate_hz),
        "joint_jitter_mps3": jitter_mps3(motion.joints_m(), motion.rate_hz),
        "acceleration_mps2": acceleration_mps2(motion.joints_m(), motion.rate_hz),
        "joint_step_deg": float(np.rad2deg(steps.max())),
        "cadence_hz": gait.cadence_hz if gait else np.nan,
        "step_length_m": gait.step_length_m if gait else np.nan,
        "double_support": gait.double_support if gait else np.nan,
        "flight": gait.flight if gait else np.nan,
    }


def collection_figures(motions: Sequence[Clip]) -> dict[str, Any]:
    """Median and 95th percentile of every figure over a collection."""
    rows = [clip_figures(motion) for motion in motions]
    out: dict[str, Any] = {"clips": len(rows)}
    for key in rows[0] if rows else ():
        values = np.array([row[key] for row in rows])
        values = values[~np.isnan(values)]
        if len(values):
            low, middle, high = np.percentile(values, [5.0, 50.0, 95.0])
            out[key] = {"p5": float(low), "p50": float(middle), "p95": float(high)}
    return out


def subject_of_source(source: str) -> str:
    """Subject of a clip built from CMU's files (``cmu/35_01.bvh[...]``), without zeros."""
    name = source.rpartition("/")[2].partition("_")[0]
    return name.lstrip("0")


def judge(
    generated: MotionLibrary, real: MotionLibrary, held_out: Sequence[str] = HELD_OUT
) -> dict[str, Any]:
    """Figures of held-out, training and generated clips by class.

    Args:
        generated: Sampled from a model trained without the held-out subjects.
        real: Built from the captures.
        held_out: Those subjects.

    Raises:
        UsageError: No clip of the held-out subjects is in the real library.
    """
    out = {name.lstrip("0") for name in held_out}
    held = [n for n in real.names if subject_of_source(real.columns["source"][real.rows[n]]) in out]
    known = [name for name in real.names if name not in set(held)]
    if not held or not known:
        raise UsageError("the real library needs clips of held-out subjects and of others")
    result: dict[str, Any] = {}
    for kind in ("crossing", "attempting", "not_crossing", "all"):
        sets = {
            "held out": _chosen(real, held, kind),
            "training": _chosen(real, known, kind),
            "generated": _chosen(generated, generated.names, kind),
        }
        result[kind] = _compare(sets)
    every = _chosen(real, real.names, "all")
    reference = collect_windows(*every)
    made = collect_windows(*_chosen(generated, generated.names, "all"))
    result["all"]["generated"]["distinct"] = distinct_share(made, reference, space_of(reference))
    return result


def _chosen(
    library: MotionLibrary, names: Sequence[str], kind: str
) -> tuple[list[Clip], list[str]]:
    kinds = library.columns["class"]
    chosen = [n for n in names if kind in ("all", kinds[library.rows[n]])]
    sources = [library.columns["source"][library.rows[n]] for n in chosen]
    groups = [text.partition("[")[0] for text in sources]  # a capture's sequence
    return [library.motion(name) for name in chosen], groups


def _compare(sets: dict[str, tuple[list[Clip], list[str]]]) -> dict[str, Any]:
    result: dict[str, Any] = {}
    windows: dict[str, MotionWindows] = {}
    for name, (motions, groups) in sets.items():
        result[name] = collection_figures(motions)
        if motions:
            windows[name] = collect_windows(motions, groups)
    reference = windows.get("held out")
    if reference is None or len(reference) <= 20:
        return result
    space = space_of(reference)
    for name in ("training", "generated"):
        if name in windows:
            found = likeness(windows[name], reference, space)
            result[name]["likeness"] = {key: getattr(found, key) for key in found.__slots__}
    own = likeness(reference, reference, space)
    result["held out"]["likeness"] = {"windows": own.windows, "spread": own.spread}
    known = windows.get("training")
    for name in ("held out", "generated"):  # a model that copies lies nearer than strangers do
        if known is not None and name in windows:
            near = np.median(nearest(space.of(windows[name]), space.of(known)))
            result[name]["nearest_training"] = float(near)
    return result
