"""Self-contained HTML page about runs, which needs no network and no other file."""

from __future__ import annotations

import math
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from jaywalk import __version__
from jaywalk.core.errors import UsageError
from jaywalk.metrics.driving.inspected import inspection_of
from jaywalk.metrics.driving.penalties import NO_MIN_SPEED
from jaywalk.metrics.driving.protocols import protocol_version
from jaywalk.report._episode_cards import Cards, DriverView, EpisodeCard, make_cards
from jaywalk.report._generalization import gap_view
from jaywalk.report._habit_section import habit_view
from jaywalk.report._series import GAP_MARGIN_M, GAP_REACH_M, TTC_HORIZON_S
from jaywalk.report.charts import run_colour
from jaywalk.report.comparison import Comparison, Difference, compare_runs
from jaywalk.report.figures import figures_of, leading_metric
from jaywalk.report.harm import HARM_PROTOCOL, HIT, RunHarm, harm_of
from jaywalk.report.labels import interval_text, label_of, number, p_text
from jaywalk.report.scored_runs import ScoredRun, run_labels
from jaywalk.report.summary import QuantityKind, ReportSummary, summarise
from jaywalk.report.svg import claim, content_policy

MOST_EPISODES: Final = 60
_HITS_OF_PEOPLE: Final = (HIT, "collisions_pedestrian")
_MOST_HARM: Final = 5  # events that are not folded
_SCRIPTS: Final = ("replay.js", "page.js")


def write_page(runs: Sequence[ScoredRun], path: Path, **options: Any) -> None:
    """Write the page of :func:`build_page` to a file."""
    text = build_page(runs, **options)
    claim(path).write_text(text, encoding="utf-8")


def build_page(
    runs: Sequence[ScoredRun],
    *,
    title: str = "",
    allow_mixed: bool = False,
    most_episodes: int = MOST_EPISODES,
    motions: Path | None = None,
    people: Sequence[ScoredRun] = (),
    reason: str = "",
    view: DriverView | None = None,
) -> str:
    """The whole page as text.

    Args:
        runs: One or more, scored under one protocol; the first is the baseline of comparisons.
        title: Heading; by default the agents and the suite.
        allow_mixed: Show runs of different suites or scenario versions side by side.
        most_episodes: Episodes drawn and replayed; failures come first.
        motions: Motion library of the runs' posed people, for animations; None: ours.
        people: The same runs under the protocol that harm to people is counted by; not needed if
            ``runs`` are scored under it.
        reason: Why the page has its protocol, in words.
        view: Renders what the driver of a failed episode saw; None: only maps.
    """
    if not runs:
        raise UsageError("Nothing to report: give one or more runs.")
    labels = run_labels([run.score for run in runs])
    summaries = [summarise(run.score, label) for run, label in zip(runs, labels, strict=True)]
    comparison = compare_runs(runs, allow_mixed=allow_mixed) if len(runs) > 1 else None
    cards = make_cards(runs, labels, most_episodes, view)
    counted = runs if runs[0].score.protocol == HARM_PROTOCOL else people
    harms = [harm_of(run) for run in counted]
    environment = _environment()
    source = _asset("page.html.j2")
    template = environment.from_string(source)
    style, scripts = _asset("page.css"), "\n".join(_asset(name) for name in _SCRIPTS)
    gap = gap_view(runs, labels)
    section = environment.from_string(_asset("generalization.html.j2"))
    return template.render(
        title=title or _title(summaries),
        version=__version__,
        style=Markup(style),
        scripts=Markup(scripts),
        policy=Markup(content_policy(source, style=style, scripts=scripts)),
        runs=summaries,
        protocol=runs[0].score.protocol,
        protocol_version=protocol_version(runs[0].score.protocol),
        suites=list(dict.fromkeys(run.score.suite for run in runs if run.score.suite)),
        complete=all(run.score.is_complete for run in runs),
        warnings=_warnings(summaries, comparison),
        inspected=list(dict.fromkeys(inspection_of(run.score) for run in runs)),
        stars=_stars(summaries, comparison),
        harms=[_harm_view(harm, k, labels[k], cards) for k, harm in enumerate(harms)],
        harm_protocol=HARM_PROTOCOL,
        reason=reason,
        tables=[rows for rows in _split(summary_rows(summaries), summaries) if rows],
        gap=gap,
        generalization=Markup(section.render(gap=gap)) if gap is not None else "",
        comparison=comparison,
        comparisons=[] if comparison is None else [_pair_view(p) for p in comparison.pairs],
        figures=figures_of(summaries, () if comparison is None else comparison.pairs, harms),
        scenarios=_scenario_rows(cards, len(runs), leading_metric(summaries)),
        leading=label_of(leading_metric(summaries)),
        has_min_speed=math.isfinite(_mean(cards.cards, NO_MIN_SPEED)),
        failures=[card for card in cards.cards if not card.score.success],
        cards=cards,
        habit=habit_view(runs, labels, motions),
        gap_margin_m=GAP_MARGIN_M,
        gap_reach_m=GAP_REACH_M,
        ttc_horizon_s=TTC_HORIZON_S,
    )


def summary_rows(runs: Sequence[ReportSummary]) -> list[dict[str, Any]]:
    """Return the rows of the summary table: one per quantity, with one cell per run."""
    names: dict[tuple[str, QuantityKind], None] = {}
    for run in runs:
        names |= dict.fromkeys((q.name, q.kind) for q in run.quantities)
    rows = []
    for name, kind in names:
        label = label_of(name)
        unit = "per km" if kind == "per_km" else label.unit
        cells = []
        for run in runs:
            q = run.quantity(name, kind)
            if q is None:
                cells.append({"value": "–", "interval": "", "n": "", "note": ""})
                continue
            n = f"{q.n} in {number(run.driven_km)} km" if kind == "per_km" else f"n {q.n}"
            cells.append(
                {
                    "value": number(q.value),
                    "interval": interval_text(q.low, q.high),
                    "n": n,
                    "note": q.note,
                }
            )
        rows.append(
            {"name": name, "words": label.words, "unit": unit, "kind": kind, "cells": cells}
        )
    return rows


def _split(
    rows: list[dict[str, Any]], runs: Sequence[ReportSummary]
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the headline rows, which stay open, and the rest, which the page folds."""
    lead = {("success_rate", "rate"), (leading_metric(runs), "mean"), (NO_MIN_SPEED, "mean")}
    lead |= {(kind, "per_km") for kind in _HITS_OF_PEOPLE}
    is_lead = [(row["name"], row["kind"]) in lead for row in rows]
    return (
        [row for row, first in zip(rows, is_lead, strict=True) if first],
        [row for row, first in zip(rows, is_lead, strict=True) if not first],
    )


def _harm_view(harm: RunHarm, index: int, label: str, cards: Cards) -> dict[str, Any]:
    keys = {card.score.episode_id: card.key for card in cards.cards if card.run == index}
    events = [
        {
            "words": event.words,
            "is_child": event.is_child,
            "was_hit": event.was_hit,
            "time_s": event.time_s,
            "episode": event.episode_id,
            "key": keys.get(event.episode_id, ""),
            "message": event.message,
        }
        for event in harm.events
    ]
    return {
        "label": label,
        "colour": run_colour(index),
        "hit": harm.count(was_hit=True),
        "children_hit": harm.count(was_hit=True, children=True),
        "endangered": harm.count(was_hit=False),
        "children_endangered": harm.count(was_hit=False, children=True),
        "injuries": number(harm.injuries),
        "episodes": harm.episodes,
        "km": number(harm.km),
        "hit_rate": f"{number(harm.hit.value)} {interval_text(harm.hit.low, harm.hit.high)}",
        "endangered_rate": f"{number(harm.endangered.value)} "
        + interval_text(harm.endangered.low, harm.endangered.high),
        "first": events[:_MOST_HARM],
        "rest": events[_MOST_HARM:],
    }


def _pair_view(pair: Any) -> dict[str, Any]:
    rows = [_difference_view(d, "") for d in pair.metrics]
    rows += [_difference_view(d, "per km") for d in pair.rates_per_km]
    has_primary = any(row["primary"] for row in rows)
    return {
        "pair": pair,
        "lead": [row for row in rows if row["primary"]] or rows,
        "others": [row for row in rows if not row["primary"]] if has_primary else [],
        "flip_p": p_text(pair.flip_p_value),
        "gained": [flip for flip in pair.flips if flip.to_success],
        "lost": [flip for flip in pair.flips if not flip.to_success],
    }


def _difference_view(d: Difference, unit: str) -> dict[str, Any]:
    label = label_of(d.name)
    sign = d.sign
    return {
        "words": label.words,
        "unit": unit or label.unit,
        "baseline": number(d.baseline),
        "candidate": number(d.candidate),
        "difference": number(d.value, sign=True),
        "interval": interval_text(d.low, d.high, sign=True),
        "certain": d.is_clear,
        "sign": f"{sign.higher} up, {sign.lower} down, {sign.ties} equal",
        "p": p_text(sign.p_value),
        "p_holm": p_text(d.p_holm) if d.primary else "",
        "primary": d.primary,
        "detectable": number(d.detectable),
        "n": d.n_pairs,
        "note": d.warning,
    }


def _scenario_rows(cards: Cards, n_runs: int, metric: str) -> list[dict[str, Any]]:
    """Return one row per scenario: the cards of all runs and the mean of the leading metric.

    A driving score has the one without the minimum-speed factor in brackets.
    """
    rows: dict[str, list[list[EpisodeCard]]] = {}
    for card in cards.cards:
        rows.setdefault(card.scenario, [[] for _ in range(n_runs)])[card.run].append(card)
    listed = []
    for name, by_run in rows.items():
        kinds = dict.fromkeys(c.score.scenario for of_run in by_run for c in of_run)
        cells = []
        for of_run in by_run:
            mean = number(_mean(of_run, metric))
            if math.isfinite(faster := _mean(of_run, NO_MIN_SPEED)):
                mean += f" ({number(faster)})"
            cells.append(
                {"cards": of_run, "mean": mean, "won": sum(c.score.success for c in of_run)}
            )
        classes = [kind for kind in kinds if kind and kind != name]
        listed.append({"name": name, "classes": classes, "cells": cells})
    return listed


def _mean(cards: Sequence[EpisodeCard], metric: str) -> float:
    values = [card.score.metrics.get(metric, math.nan) for card in cards]
    kept = [value for value in values if math.isfinite(value)]
    return sum(kept) / len(kept) if kept else math.nan


def _warnings(runs: Sequence[ReportSummary], comparison: Comparison | None) -> list[str]:
    if comparison is not None:
        return list(comparison.warnings)
    return [f"{run.label}: {text}" for run in runs for text in run.run.warnings]


def _stars(runs: Sequence[ReportSummary], comparison: Comparison | None) -> list[str]:
    """Return the reasons why intervals are weaker than requested, each once."""
    notes = [q.note for run in runs for q in run.quantities]
    for pair in () if comparison is None else comparison.pairs:
        notes += [d.warning for d in (*pair.metrics, *pair.rates_per_km)]
    return sorted({note for note in notes if note})


def _title(runs: Sequence[ReportSummary]) -> str:
    names = " and ".join(run.label for run in runs) if len(runs) < 4 else f"{len(runs)} runs"
    suite = runs[0].run.suite
    return f"{names} on {suite}" if suite else names


def _asset(name: str) -> str:
    return files("jaywalk.report").joinpath("assets", name).read_text(encoding="utf-8")


def _environment() -> Environment:
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.globals["run_colour"] = run_colour
    environment.filters["safe_svg"] = Markup
    return environment
