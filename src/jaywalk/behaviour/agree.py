"""Agreement of a model's two answers: does the person want to cross, and do they?"""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from jaywalk.behaviour.tasks import find_task
from jaywalk.metrics.behaviour.agreement import OUTCOMES, agreement
from jaywalk.metrics.behaviour.instances import decide


def agreement_report(
    samples: pl.DataFrame,
    intention: NDArray[np.float64],
    action: NDArray[np.float64],
) -> dict[str, Any]:
    """Return the agreement table of intention samples as JSON values.

    Args:
        samples: Samples of the intention task, with ``label`` and ``action_label``.
        intention: Probabilities of the three intentions, ``(n, 3)``.
        action: Probability of crossing for the same samples, ``(n, 1)``.
    """
    table = agreement(
        samples["label"].to_numpy(),
        decide(intention),
        samples["action_label"].to_numpy(),
        decide(action),
    )
    intentions = find_task("intention", "pie").class_names
    actions = find_task("action", "pie").class_names
    pairs = [(wanted, done) for wanted in intentions for done in actions]
    return {
        "n_samples": samples.height,
        "outcomes": list(OUTCOMES),
        "overall_percent": table.overall.tolist(),
        "rows": [
            {
                "intention": wanted,
                "action": done,
                "counts": table.counts[i].tolist(),
                "percent": table.shares[i].tolist(),
            }
            for i, (wanted, done) in enumerate(pairs)
        ],
    }
