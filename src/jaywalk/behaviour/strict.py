"""The corrected variants: benchmark samples minus those that do not test what they claim to test.

Strict samples are a subset of the benchmark's, so any model's outputs can be scored both ways.

* All tasks: no window, and no stretch from window to event, with missing frames.
* Action: nobody who is tagged as crossing in the window already, and nobody who crosses at an
  unknown time. Where no crossing point was written down but the tags show the first step, that is
  the event; it must lie 30 to 90 frames ahead.
* Intention: no window that shows more than the people saw who judged, none that is padded, nobody
  tagged as crossing in the window.
* Risk: the box 90 frames ahead must exist; no last box stands in for it.
"""

from __future__ import annotations

import polars as pl

from jaywalk.behaviour.tasks import LONGEST_FRAMES, OBSERVED_FRAMES, PREDICTED_FRAMES, Task


def strict_reasons(samples: pl.DataFrame, task: Task) -> pl.Series:
    """Return why the strict variant leaves each sample out; null where it stays."""
    rules = [("gap", pl.col("has_gap"))]
    visible = pl.col("already_crossing").fill_null(value=False)
    if task.name == "action":
        unknown = (pl.col("action_label") == 1) & pl.col("event_inferred")
        longest = LONGEST_FRAMES - OBSERVED_FRAMES
        true_tte = pl.col("true_tte_frames")
        rules += [
            ("already_crossing", visible),
            ("event_unknown", unknown & true_tte.is_null()),
            ("event_out_of_range", unknown & ~true_tte.is_between(PREDICTED_FRAMES, longest)),
        ]
    elif task.name == "intention":
        rules += [
            ("already_crossing", visible),
            ("past_critical_point", pl.col("past_critical")),
            ("padded", pl.col("padded")),
        ]
    else:
        rules.append(("horizon_not_reached", ~pl.col("horizon_reached")))
    reason = pl.lit(None, pl.String)
    for name, rule in reversed(rules):
        reason = pl.when(rule).then(pl.lit(name)).otherwise(reason)
    return samples.select(reason.alias("reason")).to_series()


def correct_times(samples: pl.DataFrame, task: Task) -> pl.DataFrame:
    """Count the time to an inferred crossing from the first box that is tagged as crossing."""
    if task.name != "action":
        return samples
    known = (
        (pl.col("action_label") == 1)
        & pl.col("event_inferred")
        & pl.col("true_tte_frames").is_not_null()
    )
    return samples.with_columns(
        tte_frames=pl.when(known).then("true_tte_frames").otherwise("tte_frames")
    )


def strict_samples(samples: pl.DataFrame, task: Task) -> pl.DataFrame:
    """Return the samples of the strict variant, in benchmark order."""
    kept = samples.filter(strict_reasons(samples, task).is_null())
    return correct_times(kept, task)


def strict_exclusions(samples: pl.DataFrame, task: Task) -> dict[str, int]:
    """Count what the strict variant leaves out, by reason."""
    counts = strict_reasons(samples, task).drop_nulls().value_counts(sort=True)
    return {str(reason): int(n) for reason, n in counts.iter_rows()}
