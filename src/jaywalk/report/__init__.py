"""Reports: tables, figures and pages about the results of metrics."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jaywalk.core.lazy import lazy_exports

if TYPE_CHECKING:
    from jaywalk.report.comparison import Comparison as Comparison
    from jaywalk.report.comparison import compare_runs as compare_runs
    from jaywalk.report.page import write_page as write_page
    from jaywalk.report.replay import write_film as write_film
    from jaywalk.report.replay import write_still as write_still

__getattr__, __all__ = lazy_exports(
    __name__,
    {
        "comparison": (
            "Comparison",
            "compare_runs",
        ),
        "page": ("write_page",),
        "replay": (
            "write_film",
            "write_still",
        ),
    },
)
