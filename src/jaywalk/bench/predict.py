"""How long the statistics of a prediction study take: IRS with BCa, as the paper's tables need."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from jaywalk.bench.calibration import calibration_ms
from jaywalk.core.seeds import stream
from jaywalk.metrics.prediction.irs import FPR_TARGETS, irs

AIM_S: Final = 60.0
_DRAWS = 1000
_POSITIVE_SHARE = 0.07


@dataclass(frozen=True, slots=True, kw_only=True)
class PredictBenchmark:
    """Time of all tables, with the size of the task."""

    irs_s: float
    cpu_s: float
    models: int
    horizons: int
    tracks: int
    samples: int
    resamples: int
    calibration_ms: float

    def as_dict(self) -> dict[str, Any]:
        """For JSON, with the aim beside the number."""
        aim = {"at_most": AIM_S, "measured": self.irs_s, "met": self.irs_s <= AIM_S}
        return {**asdict(self), "aims": {"irs_s": aim}}


def bench_predict(
    *, models: int = 8, tracks: int = 500, per_track: int = 40, resamples: int = 10_000
) -> PredictBenchmark:
    """Time IRS with BCa intervals of several models at four horizons on synthetic scores."""
    labels, codes, scores = synthetic_scores(models, tracks, per_track)
    # Compiling is not part of the task: once a machine, then it comes from the cache.
    irs(scores[0], labels, codes, fpr_target=0.1, resamples=2)
    started, cpu = time.perf_counter(), time.process_time()
    for target in FPR_TARGETS.values():
        for model in scores:
            irs(model, labels, codes, fpr_target=target, resamples=resamples)
    return PredictBenchmark(
        irs_s=time.perf_counter() - started,
        cpu_s=time.process_time() - cpu,
        models=models,
        horizons=len(FPR_TARGETS),
        tracks=tracks,
        samples=labels.size,
        resamples=resamples,
        calibration_ms=calibration_ms(),
    )


def synthetic_scores(
    models: int, tracks: int, per_track: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], list[NDArray[np.float64]]]:
    """Labels, tracks and the Monte Carlo scores of some models, most of them tied at 0."""
    rng = stream(0, "bench", "predict")
    codes = np.repeat(np.arange(tracks), per_track)
    labels = (rng.random(codes.size) < _POSITIVE_SHARE).astype(np.int64)
    scores = []
    for _ in range(models):
        level = np.where(labels == 1, 0.4, -0.3) + 0.3 * rng.standard_normal(codes.size)
        scores.append(np.round(np.clip(level, 0.0, 1.0) * _DRAWS) / _DRAWS)
    return labels, codes, scores
