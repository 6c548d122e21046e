"""Drive a suite from a program or a notebook."""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

from jaywalk.api.loading import Run, load
from jaywalk.core.errors import UsageError
from jaywalk.core.text import printable
from jaywalk.runner.agent_choice import PerceptionLevel
from jaywalk.runner.job import RunRequest, Show, run_request
from jaywalk.runner.pool import DEFAULT_RETRIES, Broken, PoolProgress, QuickScore
from jaywalk.runner.progress import LiveTable, PlainLines, Tally, quick_scorer
from jaywalk.runner.request import RunOptions, make_requests
from jaywalk.runner.selection import parse_seeds
from jaywalk.runner.watchdog import DEFAULT_S

if TYPE_CHECKING:
    from jaywalk.runner.plan import EpisodeOutcome


def drive(
    suite: str | Path,
    agent: str | Path,
    *,
    seeds: int | str | Sequence[int] = 1,
    out: str | Path | None = None,
    workers: int = 0,
    subset: str = "",
    limit: int = 0,
    routes: str = "",
    variant: str = "",
    town: str = "",
    xodr: str | Path | None = None,
    people: int | None = None,
    vehicles: int | None = None,
    motions: str = "",
    people_model: str = "",
    wet_grip: bool | None = None,
    traffic: Literal["own", "traffic-manager"] = "own",
    agent_config: str | Path | None = None,
    perception: Literal["full", "limited"] | None = None,
    predictor: str = "",
    server: str = "",
    cluster: str = "",
    watchdog_s: float = DEFAULT_S,
    retries: int = DEFAULT_RETRIES,
    allow_mixed_code: bool = False,
    progress: bool = True,
) -> Run:
    """Drive a suite and return the run; the same call again drives only what is missing.

    The options are those of ``jaywalk run``. Workers are processes of their own that do not import
    the calling program, so a script needs no ``if __name__ == "__main__"``.

    Args:
        suite: Name of a suite, or a route or scenario file, a folder or a glob of them.
        agent: Name of a driver, an agent's file or ``ws://HOST:PORT``.
        seeds: A seed, several, or text such as ``1-3``.
        out: Run folder; by default ``runs/SUITE-AGENT``.
        workers: Episodes at a time; 0: one per core.
        subset: Only these route ids, as in ``1,5-9``.
        limit: Only the first routes; 0: all.
        routes: Route files to drive instead of the suite's (a glob), or ids to keep.
        variant: Variant of the suite.
        town: Drive in this town instead of the routes' own.
        xodr: Drive in this OpenDRIVE file instead.
        people: Number of people.
        vehicles: Number of other vehicles.
        motions: Motion library of posed people, a folder; "" for ours.
        people_model: How posed and ambient people behave: ``reactive``, ``scripted`` or ``campus``;
            "" for ``reactive`` where anybody is about.
        wet_grip: Whether wet roads are slippery; None: as the suite says.
        traffic: Our own traffic, or CARLA's Traffic Manager.
        agent_config: Config file of the agent; JSON for a named one.
        perception: What our drivers see.
        predictor: What ``comfort-zone`` predicts people with.
        server: ``HOST:PORT`` of a running server instead of embedded ones.
        cluster: Spread over a Ray cluster: its address, or ``local``.
        watchdog_s: End an episode that makes no progress for so long.
        retries: More tries after a crash of server or worker.
        allow_mixed_code: Resume a run that other versions of code or data began.
        progress: Whether to show progress: a bar in a notebook, a table on a terminal, lines
            elsewhere.

    Raises:
        UsageError: An option is wrong, or the folder holds another run.
        PrerequisiteError: No world can be opened, or the folder is in use.

    Warns:
        UserWarning: Episodes are missing in the end, or the agent failed in every episode.
    """
    options = RunOptions(
        seeds=_seeds(seeds),
        routes=routes,
        subset=subset,
        limit=_not_negative("limit", limit),
        variant=variant,
        town=town,
        xodr=_path(xodr),
        people=people,
        vehicles=vehicles,
        motions=motions,
        people_model=people_model,
        wet_grip=wet_grip,
        traffic=_one_of("traffic", traffic, ("own", "traffic-manager")),
        agent_config=_path(agent_config),
        perception=_perception(perception),
        predictor=predictor,
        server=server,
        cluster=cluster,
        workers=_not_negative("workers", workers),
        watchdog_s=watchdog_s,
        retries=_not_negative("retries", retries),
        allow_mixed_code=allow_mixed_code,
    )
    requests = make_requests(str(suite), _one_agent(agent), options, _path(out))
    return _drive(requests[0], progress=progress)


def _drive(request: RunRequest, *, progress: bool) -> Run:
    def show(tally: Tally) -> Show:
        return _display(tally, request) if progress else PlainLines(tally, lambda line: None)

    summary = run_request(request, show, say=_say, score=quick_scorer(_say) if progress else None)
    if not summary.is_complete:
        warnings.warn(
            f"{summary.run_folder} is incomplete: {summary.total - summary.done} of "
            f"{summary.total} episodes are missing. The same call again drives them.",
            stacklevel=3,
        )
    if summary.always_failed:
        warnings.warn(
            f"the agent failed in every episode; first: {summary.first_failure}", stacklevel=3
        )
    return load(summary.run_folder)


def _say(text: str) -> None:
    sys.stderr.write(f"jaywalk: {printable(text)}\n")


def _path(value: str | Path | None) -> Path | None:
    return None if value is None else Path(value)


def _one_agent(agent: object) -> str:
    if not isinstance(agent, str | Path):
        raise UsageError(
            f"agent is a {type(agent).__name__}, expected a name, a file or an address. Workers "
            "are processes of their own: write the agent into a .py file and give its path."
        )
    if "," in str(agent):
        raise UsageError(f"agent is '{agent}', expected one agent. Call drive() once for each.")
    return str(agent)


def _seeds(seeds: int | str | Sequence[int]) -> tuple[int, ...]:
    if isinstance(seeds, str | int):
        return parse_seeds(str(seeds))
    return parse_seeds(",".join(str(seed) for seed in seeds))


def _one_of(name: str, value: str, known: Sequence[str]) -> str:
    if value not in known:
        raise UsageError(f"{name} is '{value}', expected {' or '.join(known)}.")
    return value


def _perception(value: str | None) -> PerceptionLevel | None:
    if value is None:
        return None
    return PerceptionLevel(_one_of("perception", value, [str(one) for one in PerceptionLevel]))


def _not_negative(name: str, value: int) -> int:
    if value < 0:
        raise UsageError(f"{name} is {value}, expected 0 or more.")
    return value


def _display(tally: Tally, request: RunRequest) -> Show:
    title = f"{request.suite.name} with {request.agent.name} in {request.run_folder}"
    notebook = _notebook()
    if notebook is not None:
        return NotebookBar(tally, title, notebook)
    if sys.stderr.isatty():
        from rich.console import Console

        return LiveTable(tally, title, Console(file=sys.stderr))

    def write(line: str) -> None:
        sys.stderr.write(line + "\n")
        sys.stderr.flush()

    write(f"{title}: {tally.left} of {tally.total} episodes to run")
    return PlainLines(tally, write, _say)


def _notebook() -> Any | None:
    """The display module of a running Jupyter kernel; None elsewhere."""
    shell = sys.modules.get("IPython")
    active = shell.get_ipython() if shell is not None else None
    if active is None or not hasattr(active, "kernel"):
        return None
    from importlib import import_module

    return import_module("IPython.display")


class NotebookBar(PlainLines):
    """A bar in a notebook's cell, updated in place; problems are lines below it."""

    def __init__(self, tally: Tally, title: str, notebook: Any) -> None:
        super().__init__(tally, lambda line: None)
        self._title, self._notebook = title, notebook
        self._began_s = time.monotonic()
        self._shown = ""
        self._handle: Any = None

    def progress(self, event: PoolProgress) -> None:
        """Note the progress of an episode."""
        self.tally.progress(event)

    def finished(self, outcome: EpisodeOutcome, score: QuickScore | None) -> None:
        """Count a recorded episode."""
        super().finished(outcome, score)
        self.refresh()

    def broken(self, event: Broken, *, will_retry: bool) -> None:
        """Print the error below the bar."""
        super().broken(event, will_retry=will_retry)
        _say(
            f"{event.episode_id}: {'will be tried again' if will_retry else 'given up'}: "
            f"{event.error}"
        )

    def refresh(self) -> None:
        """Redraw the bar if it has changed."""
        text = self.view()
        if text != self._shown and self._handle is not None:
            self._shown = text
            self._handle.update(self._notebook.HTML(text))

    def view(self) -> str:
        """The bar as HTML."""
        from html import escape

        tally = self.tally
        under_way = sum(one.route_share for one in tally.running.values())
        done = tally.done + tally.failed
        eta_s = tally.eta_s(time.monotonic() - self._began_s)
        left = (
            ""
            if eta_s is None or not tally.left
            else f", about {max(eta_s, 1.0) / 60.0:.0f} min left"
        )
        failed = f", {tally.failed} given up" if tally.failed else ""
        running = ", ".join(sorted(tally.running))
        return (
            f"<div>{escape(self._title)}<br>"
            f'<progress max="{tally.total}" value="{done + under_way:.1f}" style="width:20em">'
            f"</progress> {done}/{tally.total}{failed}{left}<br>"
            f"<small>{escape(running)}</small></div>"
        )

    def __enter__(self) -> Self:
        self._shown = self.view()
        self._handle = self._notebook.display(self._notebook.HTML(self._shown), display_id=True)
        return self

    def __exit__(self, *problem: object) -> None:
        self.tally.running.clear()
        self.refresh()
