"""``jaywalk run``: drive a suite with an agent and record every episode."""

from __future__ import annotations

import shlex
import signal
import sys
from dataclasses import fields
from enum import StrEnum
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated, Any, Final, NoReturn

import typer

from jaywalk.cli.output import AsValue, finish, print_json, say, touch
from jaywalk.core.errors import UsageError
from jaywalk.core.text import did_you_mean
from jaywalk.runner.agent_choice import PerceptionLevel

if TYPE_CHECKING:
    from jaywalk.runner.job import RunRequest, RunSummary, Show, Verification
    from jaywalk.runner.pool import Scorer
    from jaywalk.runner.progress import Tally

_INCOMPLETE: Final = 4


class TrafficKind(StrEnum):
    """Who drives the other vehicles."""

    own = "own"
    traffic_manager = "traffic-manager"


def run(
    ctx: typer.Context,
    suite: Annotated[
        str,
        typer.Argument(
            help="A suite's name; route or scenario files: one, a folder, a glob; or a run file "
            "(.toml) with all options."
        ),
    ],
    agent: Annotated[
        str,
        typer.Option(
            help="Agent: a name, a .py file or ws://HOST:PORT; several, with commas, are several "
            "runs.",
            show_default=False,
        ),
    ] = "",
    seeds: Annotated[str, typer.Option(help="Seeds, as in 1,2,3 or 1-3.")] = "1",
    workers: Annotated[int, typer.Option(min=0, help="Episodes at a time; 0: one per core.")] = 0,
    routes: Annotated[
        str,
        typer.Option(help="Route files to drive instead of the suite's (a glob), or ids to keep."),
    ] = "",
    subset: Annotated[str, typer.Option(help="Only these route ids, as in 1,5-9.")] = "",
    limit: Annotated[int, typer.Option(min=0, help="Only the first routes; 0: all.")] = 0,
    variant: Annotated[str, typer.Option(help="Variant of the suite.")] = "",
    town: Annotated[str, typer.Option(help="Drive in this town instead of the routes' own.")] = "",
    xodr: Annotated[Path | None, typer.Option(help="Drive in this OpenDRIVE file instead.")] = None,
    people: Annotated[int | None, typer.Option(min=0, help="People about.")] = None,
    vehicles: Annotated[int | None, typer.Option(min=0, help="Other vehicles about.")] = None,
    motions: Annotated[
        str,
        typer.Option(
            help="Motion library of posed people: a folder that 'jaywalk motion build' wrote.",
            show_default="ours",
        ),
    ] = "",
    people_model: Annotated[
        str,
        typer.Option(
            help="How posed and ambient people behave: reactive and campus people look, wait for "
            "gaps and avoid vehicles; scripted ones do not react, as in HABIT. Or your own model "
            "of posed people: FILE.py, module:Class or ws://HOST:PORT.",
            show_default="reactive",
        ),
    ] = "",
    wet_grip: Annotated[
        bool | None,
        typer.Option(
            "--wet-grip/--no-wet-grip",
            help="Whether wet roads are slippery.",
            show_default="as the suite says; files: no",
        ),
    ] = None,
    traffic: Annotated[
        TrafficKind, typer.Option(help="Our own traffic, or CARLA's Traffic Manager.")
    ] = TrafficKind.own,
    agent_config: Annotated[
        Path | None, typer.Option(help="Config file of the agent; JSON for a named one.")
    ] = None,
    perception: Annotated[
        PerceptionLevel | None,
        typer.Option(
            help="What our drivers see: everything, or no farther than the weather and "
            "nothing behind other things.",
            show_default="full",
        ),
    ] = None,
    predictor: Annotated[
        str,
        typer.Option(
            help="What comfort-zone predicts people with: a name of 'jaywalk list predictors', "
            "FILE.py, module:function or FILE.onnx.",
            show_default="constant-velocity",
        ),
    ] = "",
    server: Annotated[
        str, typer.Option(help="HOST:PORT of a running server instead of embedded ones.")
    ] = "",
    cluster: Annotated[
        str, typer.Option(help="Spread over a Ray cluster: its address, or 'local'.")
    ] = "",
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Run folder.", show_default="runs/SUITE-AGENT"),
    ] = None,
    verify_determinism: Annotated[
        bool, typer.Option("--verify-determinism", help="Run all twice and compare the records.")
    ] = False,
    watchdog_s: Annotated[
        float, typer.Option(min=1.0, help="End an episode that stands still for so long.")
    ] = 180.0,
    retries: Annotated[
        int, typer.Option(min=0, help="More tries after a crash of server or worker.")
    ] = 2,
    allow_mixed_code: Annotated[
        bool,
        typer.Option(
            "--allow-mixed-code",
            help="Resume a run that other versions of code or data began; scores will say so.",
        ),
    ] = False,
    as_json: AsValue = False,
) -> None:
    """Drive a suite and record every episode; the same command again runs only what is missing.

    Exit code 4 if episodes are missing in the end, 1 if --verify-determinism found a difference
    or the agent failed in every episode.
    A run file holds the same options; those on the command line come first.

    Example: jaywalk run smoke --agent cruise,blind --seeds 1,2,3 --workers 4

    Example: jaywalk run smoke --agent ws://127.0.0.1:8765

    Example: jaywalk run my_run.toml --limit 2

    Example: jaywalk run smoke --agent comfort-zone --predictor mine.py
    """
    from jaywalk.runner.request import RunOptions, make_requests
    from jaywalk.runner.selection import parse_seeds

    _check_there(suite)
    chosen = dict(ctx.params) | _of_run_file(ctx, suite)
    if not chosen["agent"]:
        raise UsageError("Say who drives: --agent NAME, FILE.py or ws://HOST:PORT.")
    chosen["seeds"] = parse_seeds(chosen["seeds"])
    chosen["traffic"] = str(chosen["traffic"])
    names = [field.name for field in fields(RunOptions) if field.name in chosen]
    options = RunOptions(**{name: chosen[name] for name in names})
    requests = make_requests(chosen["suite"], chosen["agent"], options, chosen["out"])
    run_all(requests, verify=chosen["verify_determinism"], as_json=as_json)


def _check_there(name: str) -> None:
    """Say that a run, scenario or route file is missing before anything else is asked for."""
    path = Path(name)
    if path.suffix not in (".toml", ".yaml", ".yml", ".xml") or path.exists() or "*" in name:
        return
    names = [one.name for one in path.parent.glob(f"*{path.suffix}")]
    raise UsageError(
        f"The file '{name}' does not exist.{did_you_mean(path.name, names)} Expected a run file "
        "(.toml with the key 'suite'), a scenario file, a route file or the name of a suite."
    )


def _of_run_file(ctx: typer.Context, name: str) -> dict[str, Any]:
    """Options of a run file that the command line does not give; empty without such a file."""
    from jaywalk.runner.run_file import is_run_file, read_run_file

    if not is_run_file(name):
        return {}
    given = read_run_file(Path(name)).given()

    def is_free(key: str) -> bool:
        source = ctx.get_parameter_source(key)
        return key == "suite" or source is None or source.name != "COMMANDLINE"

    return {key: value for key, value in given.items() if is_free(key)}


def run_all(requests: list[RunRequest], *, verify: bool = False, as_json: bool = False) -> None:
    """Run requests one after the other and print how they ended."""
    from jaywalk.metrics.driving.inspected import inspection_line
    from jaywalk.runner.job import compare_hashes

    signal.signal(signal.SIGTERM, as_interrupt)
    summaries: list[RunSummary] = []
    verdicts: list[Verification] = []
    try:
        for request in requests:
            summaries.append(_run_one(request, as_json))
            if verify:
                repeat = _run_one(request.repeat(), as_json)
                verdicts.append(compare_hashes(summaries[-1].hashes, repeat.hashes))
    except KeyboardInterrupt:
        say("interrupted; what is finished is kept. To go on, run the same command again:")
        say(shlex.join(["jaywalk", *sys.argv[1:]]))
        raise typer.Exit(_INCOMPLETE) from None
    held_out = inspection_line(requests[0].suite.name, requests[0].seeds)
    if as_json:
        print_json(_as_dict(summaries, verdicts) | {"inspected": held_out})
    else:
        say(f"held out? {held_out}")
        _print_end(summaries, verdicts)
    if not all(summary.is_complete for summary in summaries):
        raise typer.Exit(_INCOMPLETE)
    if any(verdict.uncompared for verdict in verdicts):
        raise typer.Exit(_INCOMPLETE)
    if any(verdict.differing for verdict in verdicts) or any(
        summary.always_failed for summary in summaries
    ):
        raise typer.Exit(1)


def as_interrupt(number: int, frame: FrameType | None) -> NoReturn:
    """Take a signal for Ctrl-C."""
    raise KeyboardInterrupt


def _run_one(request: RunRequest, as_json: bool, score: Scorer | None = None) -> RunSummary:
    from rich.console import Console

    from jaywalk.runner.job import run_request
    from jaywalk.runner.progress import LiveTable, PlainLines, quick_scorer

    title = f"{request.suite.name} with {request.agent.name} in {request.run_folder}"
    stream = sys.stderr if as_json else sys.stdout

    def show(tally: Tally) -> Show:
        if stream.isatty():
            return LiveTable(tally, title, Console(file=stream))
        say(f"{title}: {tally.left} of {tally.total} episodes to run")

        def write(line: str) -> None:
            touch()
            stream.write(line + "\n")
            stream.flush()

        return PlainLines(tally, write, say)

    return run_request(request, show, say=say, score=score or quick_scorer(say))


def quietly(request: RunRequest, score: Scorer | None = None) -> RunSummary:
    """Run what is missing of a request, with lines on stderr alone."""
    return _run_one(request, as_json=True, score=score)


def _print_end(summaries: list[RunSummary], verdicts: list[Verification]) -> None:
    lines = []
    for summary in summaries:
        state = "complete" if summary.is_complete else "INCOMPLETE"
        failed = f", {summary.failed} given up" if summary.failed else ""
        agent = f", {summary.agent_failures} agent failures" if summary.agent_failures else ""
        lines.append(
            f"{summary.run_folder}: {summary.done}/{summary.total} episodes{failed}{agent}, {state}"
        )
        if summary.always_failed:
            lines.append(f"the agent failed in every episode; first: {summary.first_failure}")
    for verdict in verdicts:
        lines.append(f"determinism: {len(verdict.identical)}/{verdict.compared} identical")
        lines += [f"  differs: {name}" for name in verdict.differing]
    folders = " ".join(str(summary.run_folder) for summary in summaries)
    if all(summary.is_complete for summary in summaries):
        lines += [f"score: jaywalk score {summary.run_folder}" for summary in summaries]
        finish(lines, f"jaywalk report {folders} -o report.html")
    else:
        finish(lines, f"{shlex.join(['jaywalk', *sys.argv[1:]])}  # runs what is missing")


def _as_dict(summaries: list[RunSummary], verdicts: list[Verification]) -> dict[str, Any]:
    runs: list[dict[str, Any]] = [
        {
            "run": str(summary.run_folder),
            "episodes": summary.total,
            "done": summary.done,
            "failed": summary.failed,
            "agent_failures": summary.agent_failures,
            "ran": summary.ran,
            "complete": summary.is_complete,
        }
        for summary in summaries
    ]
    for entry, verdict in zip(runs, verdicts, strict=False):
        entry["determinism"] = {
            "identical": len(verdict.identical),
            "compared": verdict.compared,
            "differing": list(verdict.differing),
        }
    return {"runs": runs}
