"""Metrics: pure functions of records and result files; they never see a simulator."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jaywalk.core.lazy import lazy_exports

if TYPE_CHECKING:
    from jaywalk.metrics.driving.aggregate import aggregate as aggregate
    from jaywalk.metrics.driving.protocols import score_episode as score_episode
    from jaywalk.metrics.driving.run_score import score_run as score_run
    from jaywalk.metrics.driving.summary import EpisodeScore as EpisodeScore
    from jaywalk.metrics.driving.summary import RunScore as RunScore
    from jaywalk.metrics.spec import METRICS as METRICS
    from jaywalk.metrics.spec import NOT_APPLICABLE as NOT_APPLICABLE
    from jaywalk.metrics.spec import PROTOCOL_SPECS as PROTOCOL_SPECS
    from jaywalk.metrics.spec import MetricInput as MetricInput
    from jaywalk.metrics.spec import MetricResult as MetricResult
    from jaywalk.metrics.spec import MetricSpec as MetricSpec
    from jaywalk.metrics.spec import ProtocolSpec as ProtocolSpec
    from jaywalk.metrics.spec import count as count
    from jaywalk.metrics.spec import metric as metric

__getattr__, __all__ = lazy_exports(
    __name__,
    {
        "driving.aggregate": ("aggregate",),
        "driving.protocols": ("score_episode",),
        "driving.run_score": ("score_run",),
        "driving.summary": (
            "EpisodeScore",
            "RunScore",
        ),
        "spec": (
            "METRICS",
            "MetricInput",
            "MetricResult",
            "MetricSpec",
            "NOT_APPLICABLE",
            "PROTOCOL_SPECS",
            "ProtocolSpec",
            "count",
            "metric",
        ),
    },
)
