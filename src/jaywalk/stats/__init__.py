"""Intervals and comparisons: exact and Wilson intervals, cluster bootstraps, paired tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jaywalk.core.lazy import lazy_exports

if TYPE_CHECKING:
    from jaywalk.stats.bootstrap import Estimate as Estimate
    from jaywalk.stats.bootstrap import bca as bca
    from jaywalk.stats.bootstrap import ratio_of_sums as ratio_of_sums
    from jaywalk.stats.clustered import clustered_rate as clustered_rate
    from jaywalk.stats.clustered import clustered_wilson as clustered_wilson
    from jaywalk.stats.clustered import compare_paired as compare_paired
    from jaywalk.stats.clustered import design_effect as design_effect
    from jaywalk.stats.clustered import holm as holm
    from jaywalk.stats.clustered import mcnemar as mcnemar
    from jaywalk.stats.intervals import Interval as Interval
    from jaywalk.stats.intervals import clopper_pearson as clopper_pearson
    from jaywalk.stats.intervals import poisson_rate as poisson_rate
    from jaywalk.stats.intervals import rule_of_three as rule_of_three
    from jaywalk.stats.intervals import wilson as wilson

__getattr__, __all__ = lazy_exports(
    __name__,
    {
        "bootstrap": (
            "Estimate",
            "bca",
            "ratio_of_sums",
        ),
        "clustered": (
            "clustered_rate",
            "clustered_wilson",
            "compare_paired",
            "design_effect",
            "holm",
            "mcnemar",
        ),
        "intervals": (
            "Interval",
            "clopper_pearson",
            "poisson_rate",
            "rule_of_three",
            "wilson",
        ),
    },
)
