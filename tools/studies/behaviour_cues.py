"""Which cue tells who will cross: the approach, the gaze, or both; on JAAD, on our people, across.

Trains tree models on JAAD and on an export of runs with each set of cues, and tests each on both.
All use the samples with look tags only, so that the sets are comparable; ``place`` is the control
without either cue. AUC of the action task on the test split, with 95 % intervals over pedestrians.

    python tools/studies/behaviour_cues.py --jaad JAAD --sim people --out behaviour-cues.json
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from jaywalk.datasets.behaviour_tables import BehaviourData
from jaywalk.forecasting.behaviour._inputs import CUES, tagged_samples
from jaywalk.forecasting.behaviour.learning import TrainingPlan, open_model, train_model
from jaywalk.forecasting.behaviour.sampling import draw_samples, load_dataset
from jaywalk.forecasting.behaviour.scoring import Bootstrap, score_report
from jaywalk.forecasting.behaviour.tasks import find_task
from studies._measurement import measurement

MODELS: Final = ("forest", "gradient-boosting")
_COLUMNS: Final = ("model", "trained on", "tested on", *CUES, "samples", "pedestrians")


def cue_rows(
    data: dict[str, BehaviourData], folder: Path, *, seeds: int, resamples: int
) -> list[list[str]]:
    """Return a row for each model, training set and test set."""
    rows = []
    for model in MODELS:
        trained = {}
        for name, cues in ((name, cues) for name in data for cues in CUES):
            place = folder / f"{model}-{name}-{cues}"
            plan = TrainingPlan(
                model=model,
                task="action",
                settings={},
                seeds=tuple(range(seeds)),
                cues=cues,
                tagged=True,
            )
            train_model(data[name], plan, place)
            trained[name, cues] = open_model(place)
        for source in data:
            for target, people in data.items():
                task = find_task("action", people.dataset)
                samples = tagged_samples(people, draw_samples(people, task, "test"))
                reports = [
                    score_report(
                        task,
                        samples,
                        trained[source, cues].predict(people, samples, "action"),
                        Bootstrap(resamples=resamples),
                    )
                    for cues in CUES
                ]
                counts = [str(reports[0][key]) for key in ("n_samples", "n_instances")]
                rows.append([model, source, target, *map(_auc, reports), *counts])
    return rows


def _auc(report: dict[str, Any]) -> str:
    value, ends = report["base"]["auc"], report["base"].get("auc_ci")
    if value is None:
        return "-"
    interval = "" if not ends or None in ends else f" [{ends[0]:.2f}, {ends[1]:.2f}]"
    return f"{value:.2f}{interval}"


def main(arguments: Sequence[str] | None = None) -> None:
    """Train, test and write the measurement."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--jaad", type=Path, help="annotations of JAAD")
    parser.add_argument("--sim", type=Path, required=True, help="'jaywalk behaviour export'")
    parser.add_argument("--models", type=Path, help="folder of trained models, to continue")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--resamples", type=int, default=1000)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args(arguments)
    data = {"JAAD": load_dataset("jaad", options.jaad)} if options.jaad else {}
    data["ours"] = load_dataset("sim", options.sim)
    with tempfile.TemporaryDirectory() as scratch:
        rows = cue_rows(
            data,
            options.models or Path(scratch),
            seeds=options.seeds,
            resamples=options.resamples,
        )
    facts = measurement(
        "python tools/studies/behaviour_cues.py --jaad JAAD --sim people",
        note="AUC of action on samples with look tags; 95 % BCa intervals over pedestrians.",
        tables={"auc": (_COLUMNS, rows)},
    )
    options.out.write_text(json.dumps(facts, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
