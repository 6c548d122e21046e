"""The figures of a report for publications, drawn by matplotlib.

They are as wide as a column of a paper or as a page, with embedded fonts, a palette for
colour-blind readers, markers that differ by run, units, and n and intervals in the figure.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from jaywalk.core.errors import UsageError
from jaywalk.core.text import some_of, suggestion
from jaywalk.metrics.generalization.run_pairs import pair_scores
from jaywalk.report._episode_figures import draw_moment, draw_series
from jaywalk.report._habit_figures import braking_rows
from jaywalk.report._habit_section import foresight_figures
from jaywalk.report._paper_charts import draw_chart, legend_above, new_figure
from jaywalk.report.charts import run_colour
from jaywalk.report.comparison import compare_runs
from jaywalk.report.figures import figures_of, harm_figure
from jaywalk.report.harm import HARM_PROTOCOL, harm_of
from jaywalk.report.scored_runs import ScoredRun, run_labels, score_folders
from jaywalk.report.summary import summarise
from jaywalk.report.svg import BETTER, NEITHER, WORSE, claim

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Width = Literal["column", "page"]
WIDTHS_IN: Final[dict[str, float]] = {"column": 3.5, "page": 7.16}
SUFFIXES: Final = (".pdf", ".svg", ".png")
_STYLE: Final[dict[str, Any]] = {
    "font.family": "sans-serif",
    "font.size": 7.0,
    "axes.labelsize": 7.0,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.labelsize": 6.5,
    "ytick.labelsize": 6.5,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "legend.fontsize": 6.5,
    "legend.frameon": False,
    "lines.linewidth": 1.0,
    "pdf.fonttype": 42,  # real fonts, as publishers ask
    "svg.fonttype": "none",
    "svg.hashsalt": "jaywalk",  # the same figure gives the same file
    "savefig.dpi": 300,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """Input of a figure."""

    runs: Sequence[ScoredRun]
    labels: Sequence[str]
    episode: str
    width_in: float


@dataclass(frozen=True, slots=True, kw_only=True)
class PaperFigure:
    """A figure by name.

    Attributes:
        about: One line for the list.
        needs: What the runs must have, in words; empty for every run.
    """

    name: str
    about: str
    draw: Callable[[Request], Figure]
    needs: str = ""


def draw_figure(
    name: str, runs: Sequence[ScoredRun], *, episode: str = "", width: Width = "column"
) -> Figure:
    """Draw a figure of one or more runs.

    Args:
        name: One of ``FIGURES``.
        runs: Scored under one protocol; the first is the baseline of differences.
        episode: Id of the episode, for figures of one episode.
        width: As wide as a column or as a page.

    Raises:
        UsageError: No figure has that name, or the runs lack what it needs.
    """
    if name not in FIGURES:
        near = difflib.get_close_matches(name, FIGURES, n=1)
        hint = f"Did you mean '{near[0]}'?" if near else f"There are: {', '.join(FIGURES)}."
        raise UsageError(f"No figure is called '{name}'. {hint}")
    if not runs:
        raise UsageError("Nothing to draw: give one or more runs.")
    if width not in WIDTHS_IN:
        raise UsageError(f"width is '{width}', expected {' or '.join(WIDTHS_IN)}.")
    labels = run_labels([run.score for run in runs])
    request = Request(runs=runs, labels=labels, episode=episode, width_in=WIDTHS_IN[width])
    with _style():
        return FIGURES[name].draw(request)


def save_figure(figure: Figure, path: Path) -> None:
    """Write a figure as PDF, SVG or PNG, by the name of the file.

    Raises:
        UsageError: The file has another ending.
        PrerequisiteError: The file cannot be written.
    """
    check_suffix(path)
    claim(path)
    dates = {".pdf": {"CreationDate": None}, ".svg": {"Date": None}}
    with _style():
        figure.savefig(path, metadata=dates.get(path.suffix.lower()), bbox_inches="tight")


def check_suffix(path: Path) -> None:
    """Raise unless figures can be written in the format that the file's name asks for."""
    if path.suffix.lower() not in SUFFIXES:
        raise UsageError(f"'{path}' ends with '{path.suffix}', expected {', '.join(SUFFIXES)}.")


@contextmanager
def _style() -> Iterator[None]:
    import matplotlib as mpl

    with mpl.rc_context(_STYLE):
        yield


def _lacks(name: str, what: str) -> UsageError:
    return UsageError(f"The figure '{name}' needs {what}.")


def _of_report(name: str) -> Callable[[Request], Figure]:
    """Draw the chart that the report calls by a name."""

    def draw(request: Request) -> Figure:
        summaries = [
            summarise(run.score, label)
            for run, label in zip(request.runs, request.labels, strict=True)
        ]
        charts = {one.name: one for one in figures_of(summaries, ())}
        if name not in charts:
            raise _lacks(name, FIGURES[name].needs)
        return draw_chart(charts[name], request.width_in)

    return draw


def _harm(request: Request) -> Figure:
    harms = [harm_of(_under_harm_protocol(run)) for run in request.runs]
    return draw_chart(harm_figure(harms, request.labels), request.width_in)


def _under_harm_protocol(run: ScoredRun) -> ScoredRun:
    if run.score.protocol == HARM_PROTOCOL:
        return run
    if run.folder is None:
        raise _lacks("harm", "the records of the run, or scores under protocol jaywalk")
    return score_folders([run.folder], HARM_PROTOCOL)[0]


def _difference(request: Request) -> Figure:
    if len(request.runs) < 2:
        raise _lacks("difference", FIGURES["difference"].needs)
    pairs = compare_runs(request.runs).pairs
    figures = [one for one in figures_of([], pairs) if one.name.startswith("difference")]
    if len(figures) > 1:
        raise UsageError(
            f"The figure 'difference' shows two runs, not {len(request.runs)}. Draw one for each "
            "candidate."
        )
    return draw_chart(figures[0], request.width_in)


def _forecasts(name: str) -> Callable[[Request], Figure]:
    def draw(request: Request) -> Figure:
        found = {one.name: one for one in foresight_figures(request.runs, request.labels)}
        if name not in found:
            raise _lacks(name, FIGURES[name].needs)
        return draw_chart(found[name], request.width_in)

    return draw


def _generalization(request: Request) -> Figure:
    tables = [
        (k, scores)
        for k, run in enumerate(request.runs)
        if (scores := pair_scores(run.score, run.folder)) is not None
    ]
    if not tables:
        raise _lacks("generalization", FIGURES["generalization"].needs)
    names = list(dict.fromkeys(name for _, found in tables for name in found["categories"]))
    figure = new_figure(request.width_in, 2.3)
    axes = figure.add_subplot()
    wide = 0.8 / len(tables)
    for place, (k, scores) in enumerate(tables):
        colour = run_colour(k)
        for x, name in enumerate(names):
            values = scores["categories"].get(name)
            if values is None:
                continue
            at = x - 0.4 + wide * (place + 0.5)
            shift, base = values["generalization_hm"], values["base_hm"]
            axes.bar(at, shift or 0.0, 0.86 * wide, color=colour)
            axes.plot([at - 0.43 * wide, at + 0.43 * wide], [base or 0.0] * 2, color="black")
            low, high = values["intervals"]["generalization"]["hm"]
            if low is not None and high is not None:
                axes.plot([at, at], [low, high], color="black", linewidth=0.7)
    counts = [_drives_in(tables, name) for name in names]
    axes.set_xticks(
        range(len(names)),
        [f"{name}\n{n} drives" for name, n in zip(names, counts, strict=True)],
    )
    axes.tick_params(axis="x", length=0)
    axes.set_ylim(0.0, 102.0)
    axes.set_ylabel("harmonic mean of DS and SR (%)")
    axes.set_xlabel("bar: under the shift, with 95 % interval; line: without the shift")
    if len(tables) > 1:
        legend_above(axes, [request.labels[k] for k, _ in tables])
    return figure


def _drives_in(tables: Sequence[tuple[int, dict[str, Any]]], name: str) -> int:
    return max(
        int(found["categories"].get(name, {}).get("generalization_n", 0)) for _, found in tables
    )


def _braking(request: Request) -> Figure:
    if len(request.runs) > 1:
        raise UsageError("The figure 'braking' shows one run. Draw one for each.")
    rows = braking_rows(request.runs[0].score)
    if not rows:
        raise _lacks("braking", FIGURES["braking"].needs)
    colours = {"false": WORSE, "true": BETTER, "other": NEITHER}
    words = {"false": "needless", "true": "for a person who came", "other": "another cause"}
    figure = new_figure(request.width_in, 0.75 + 0.14 * len(rows))
    axes = figure.add_subplot()
    for y, row in enumerate(rows):
        axes.plot([0.0, row.duration_s], [y, y], color="#bbbbbb", linewidth=0.6, zorder=1)
        for first_s, last_s, why in row.events:
            axes.barh(y, max(last_s - first_s, 0.2), 0.6, left=first_s, color=colours[why])
    axes.set_yticks(range(len(rows)), [row.episode_id for row in rows])
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.set_xlim(left=0.0)
    axes.tick_params(axis="y", length=0)
    axes.set_xlabel(f"time (s); n = {sum(len(row.events) for row in rows)} brakings")
    from matplotlib.patches import Patch

    keys = [Patch(color=colours[why]) for why in words]
    figure.legend(keys, list(words.values()), loc="outside upper left", ncols=3, handlelength=1.0)
    return figure


def _episode(name: str, draw: Callable[..., None]) -> Callable[[Request], Figure]:
    heights = {"series": 3.6, "moment": 2.55}

    def drawn(request: Request) -> Figure:
        run = request.runs[0]
        known = [one for one in run.score.episodes if run.episode_folder(one) is not None]
        chosen = [one for one in known if one.episode_id == request.episode]
        if len(request.runs) > 1:
            raise UsageError(f"The figure '{name}' shows one episode of one run.")
        if not chosen:
            ids = [one.episode_id for one in known]
            needs = f"The figure '{name}' needs a recorded episode"
            if not request.episode:
                raise UsageError(f"{needs}, so give --episode ID. Known: {some_of(ids)}.")
            raise UsageError(
                f"{needs}, and {run.score.name} has no episode '{request.episode}'."
                f"{suggestion(request.episode, ids)}"
            )
        figure = new_figure(request.width_in, heights[name])
        draw(figure, run, chosen[0])
        return figure

    return drawn


_PAIRS: Final = "a run with base/shift pairs, such as one of the suite fail2drive"
_FORESIGHT: Final = "a run of the suite habit whose driver gives forecasts, such as comfort-zone"
FIGURES: Final = {
    one.name: one
    for one in (
        PaperFigure(
            name="harm", about="People hit and endangered per km, under every protocol.", draw=_harm
        ),
        PaperFigure(
            name="scores",
            about="Success rate, driving score and route completion.",
            draw=_of_report("scores"),
            needs="a scored episode",
        ),
        PaperFigure(
            name="rates",
            about="Events per km of every kind that happened.",
            draw=_of_report("rates"),
            needs="an episode with an event",
        ),
        PaperFigure(
            name="scenarios",
            about="Driving score or route completion by scenario.",
            draw=_of_report("scenarios"),
            needs="a scored episode",
        ),
        PaperFigure(
            name="difference",
            about="Paired differences between two runs.",
            draw=_difference,
            needs="two runs, the baseline first",
        ),
        PaperFigure(
            name="generalization",
            about="Base and shift by category, for runs with pairs.",
            draw=_generalization,
            needs=_PAIRS,
        ),
        PaperFigure(
            name="forecast-bias",
            about="Bias of forecasts for people from the left and the right.",
            draw=_forecasts("forecast-bias"),
            needs=_FORESIGHT,
        ),
        PaperFigure(
            name="forecast-error-by-side",
            about="Error of forecasts for people from the left and the right.",
            draw=_forecasts("forecast-error-by-side"),
            needs=_FORESIGHT,
        ),
        PaperFigure(
            name="braking",
            about="When and for whom a driver braked, by episode.",
            draw=_braking,
            needs="a run with braking for people, scored under protocol jaywalk",
        ),
        PaperFigure(
            name="series",
            about="Speed, pedals, gap and time to collision in one episode (--episode).",
            draw=_episode("series", draw_series),
        ),
        PaperFigure(
            name="moment",
            about="The critical moment of one episode from above (--episode).",
            draw=_episode("moment", draw_moment),
        ),
    )
}
