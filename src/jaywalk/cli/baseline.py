"""``jaywalk baseline``: accepted results of runs, and whether this code still gives them."""

from __future__ import annotations

import math
import shlex
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from jaywalk.cli.output import AsJson, AsValue, finish, print_json, print_line, print_table, say
from jaywalk.core.errors import UsageError
from jaywalk.runner.agent_choice import PerceptionLevel, agent_specs

if TYPE_CHECKING:
    from jaywalk.metrics.driving.baseline import Baseline
    from jaywalk.metrics.driving.baseline_changes import Changes
    from jaywalk.runner.baseline_driver import BaselineDriver, BaselineVerdict

app = typer.Typer(
    help="Accepted record hashes and scores of runs: verify, accept, create.",
    no_args_is_help=True,
)

_CHANGED, _MISSING, _INCOMPLETE = 1, 3, 4
_SHOWN: Final = 12  # changed episodes that are listed

Folder = Annotated[Path, typer.Option("--baselines", help="Folder of the baselines.")]
Names = Annotated[list[str] | None, typer.Argument(metavar="[NAME]...", help="Which ones.")]
Workers = Annotated[int, typer.Option(min=0, help="Episodes at a time; 0: one per core.")]
Reason = Annotated[str, typer.Option(help="Why the scores may change; it goes into the log.")]
From = Annotated[
    Path | None,
    typer.Option(
        "--from",
        help="Take this run, driven by the same code, instead of driving; for several baselines "
        "a folder that holds a run of each by its name.",
    ),
]
Out = Annotated[
    Path | None,
    typer.Option(
        "--out", "-o", help="Drive into DIR/NAME and keep the runs.", show_default="a cache folder"
    ),
]
_FOLDER: Final = Path("baselines")


@app.command("list")
def list_baselines(baselines: Folder = _FOLDER, as_json: AsJson = False) -> None:
    """List the baselines: what each drives, and when it was accepted.

    Example: jaywalk baseline list
    """
    from jaywalk.core.source_digest import SHORT

    rows = []
    for baseline in _load(baselines, None, which="all"):
        when = baseline.accepted.date if baseline.accepted else "never"
        rows.append(
            {
                "name": baseline.name,
                "suite": baseline.run.suite_id or baseline.run.suite,
                "agent": baseline.run.agent_version or baseline.run.agent,
                "seeds": ",".join(map(str, baseline.run.seeds)),
                "subset": baseline.run.subset,
                "variant": baseline.run.variant,
                "episodes": len(baseline.episodes),
                "in_ci": baseline.in_ci,
                "accepted": when,
                "code": baseline.code.sources[:SHORT],
            }
        )
    if as_json:
        print_json(rows)
        return
    columns = ["name", "suite", "agent", "seeds", "subset", "episodes", "in_ci", "accepted", "code"]
    print_table(columns, [[_text(row[key]) for key in columns] for row in rows])


@app.command()
def verify(
    names: Names = None,
    every: Annotated[bool, typer.Option("--all", help="All of them, not only CI's.")] = False,
    workers: Workers = 0,
    out: Out = None,
    require_all: Annotated[
        bool, typer.Option("--require-all", help="A baseline that must be skipped is an error.")
    ] = False,
    baselines: Folder = _FOLDER,
    as_json: AsJson = False,
) -> None:
    """Drive baselines again and report what changed, and by how much.

    Without names: those that CI verifies. Interrupted, the same command goes on where it was.
    Exit code 0: all as accepted. 1: something changed. 3: a baseline was never accepted, or what
    it needs is missing. 4: episodes could not be driven.

    Example: jaywalk baseline verify

    Example: jaywalk baseline verify smoke-expert smoke-bold --workers 2 --json
    """
    chosen = _load(baselines, names, which="all" if every else "ci")
    driver = _driver(baselines, out, workers)
    verdicts: list[BaselineVerdict] = []
    with _interruptible():
        for number, one in enumerate(chosen, start=1):
            say(f"baseline {one.name} ({number} of {len(chosen)})")
            verdicts.append(driver.verify(one))
    if as_json:
        print_json({"baselines": [one.as_dict() for one in verdicts]})
    else:
        _print_verdicts(verdicts)
    code = _exit_code(verdicts, require_all=require_all)
    if code:
        raise typer.Exit(code)


@app.command()
def accept(
    reason: Reason,
    names: Names = None,
    every: Annotated[bool, typer.Option("--all", help="All of them.")] = False,
    source: From = None,
    workers: Workers = 0,
    out: Out = None,
    baselines: Folder = _FOLDER,
    as_json: AsValue = False,
) -> None:
    """Make what this code drives the accepted result, and write the reason into the log.

    Example: jaywalk baseline accept smoke-expert --reason "expert-v2 passes parked cars closer"

    Example: jaywalk baseline accept --all --from runs/verified --reason "protocol jaywalk 2"
    """
    from jaywalk.runner.baselines import check_reason

    why = check_reason(reason)
    if not names and not every:
        raise UsageError("Name the baselines to accept, or give --all.")
    if source is not None and not source.is_dir():
        raise UsageError(f"--from is '{source}', and there is no such folder.")
    chosen = _load(baselines, names, which="all")
    driver = _driver(baselines, out, workers)
    rows, skipped = [], []
    with _interruptible():
        for baseline in chosen:
            driven = driver.drive(baseline, _source_of(source, baseline, len(chosen)))
            if driven.problem:
                skipped.append(f"{baseline.name}: {driven.problem}")
                continue
            assert driven.result is not None
            rows.append(driver.accept(baseline, driven.result, why))
            driven.clean()
    if as_json:
        print_json({"accepted": rows, "skipped": skipped})
    else:
        for line in skipped:
            say(f"NOT accepted: {line}")
        lines = [f"{row['name']}: {row['summary']}" for row in rows]
        finish(lines, f"git add {baselines} && git commit  # the reason is in the log")
    if skipped:
        raise typer.Exit(_INCOMPLETE)


@app.command()
def new(
    name: Annotated[str, typer.Argument(help="Name of the baseline and of its file.")],
    suite: Annotated[
        str, typer.Option(help="A suite's name, or a table of routes (.toml) in the folder.")
    ],
    agent: Annotated[str, typer.Option(help="Who drives: a name of 'jaywalk list agents'.")],
    reason: Reason,
    seeds: Annotated[str, typer.Option(help="Seeds, as in 1,2,3 or 1-3.")] = "1",
    subset: Annotated[str, typer.Option(help="Only these route ids, as in 1,5-9.")] = "",
    variant: Annotated[str, typer.Option(help="Variant of the suite.")] = "",
    people_model: Annotated[
        str,
        typer.Option(help="Model of the people, as for run.", show_default="as the suite says"),
    ] = "",
    perception: Annotated[
        PerceptionLevel | None, typer.Option(help="What our drivers see.", show_default="full")
    ] = None,
    in_ci: Annotated[bool, typer.Option("--in-ci", help="CI verifies it.")] = False,
    drive: Annotated[
        bool, typer.Option("--drive/--no-drive", help="Whether to drive and accept it now.")
    ] = True,
    source: From = None,
    workers: Workers = 0,
    out: Out = None,
    baselines: Folder = _FOLDER,
) -> None:
    """Create a baseline: what to drive, and what driving it now gives.

    Example: jaywalk baseline new habit-timid --suite habit --subset 51-70 --agent timid
    --reason "a driver that brakes often"
    """
    from jaywalk.metrics.driving.baseline import Baseline, BaselineRun, write_baseline
    from jaywalk.runner.baselines import check_new_name, check_reason, suite_of
    from jaywalk.runner.selection import parse_seeds
    from jaywalk.town.town import own_towns

    check_new_name(name)
    why = check_reason(reason)
    path = baselines / f"{name}.json"
    if path.exists():
        raise UsageError(f"'{path}' exists; update it with 'jaywalk baseline accept {name}'.")
    (spec, *more) = agent_specs(agent, None, perception)
    if more or agent.endswith(".py") or "://" in agent:
        raise UsageError(f"--agent is '{agent}', expected one driver of 'jaywalk list agents'.")
    baseline = Baseline(
        name=name,
        in_ci=in_ci,
        run=BaselineRun(
            suite=suite,
            agent=agent,
            arguments=spec.arguments,
            seeds=list(parse_seeds(seeds)),
            subset=subset,
            variant=variant,
            people_model=people_model,
        ),
    )
    found = suite_of(baseline, baselines)
    towns = sorted({item.route.town for item in found.routes} - set(own_towns()))
    settled = {"suite_id": found.name, "people_model": found.people_model, "requires": towns}
    run = baseline.run.model_copy(update=settled)
    baseline = baseline.model_copy(update={"run": run})
    if not drive:
        write_baseline(path, baseline)
        finish([str(path)], f"jaywalk baseline accept {name} --reason ...")
        return
    driver = _driver(baselines, out, workers)
    with _interruptible():
        result = driver.drive(baseline, source)
    if result.problem or result.result is None:
        say(f"{name}: {result.problem}")
        raise typer.Exit(_MISSING if result.skipped else _INCOMPLETE)
    row = driver.accept(baseline, result.result, why)
    result.clean()
    finish([f"{path}: {row['summary']}"], f"jaywalk baseline verify {name}")


def _driver(folder: Path, out: Path | None, workers: int) -> BaselineDriver:
    from jaywalk.cli.run import quietly
    from jaywalk.runner.baseline_driver import BaselineDriver

    return BaselineDriver(folder=folder, out=out, workers=workers, execute=quietly, say=say)


def _source_of(source: Path | None, baseline: Baseline, count: int) -> Path | None:
    """The run of one baseline in the folder given with --from."""
    from jaywalk.record.run import RunFolder

    if source is None or (count == 1 and RunFolder(source).config_file.is_file()):
        return source
    return source / baseline.name


# -- choosing and printing ---------------------------------------------------------------------


def _load(folder: Path, names: list[str] | None, *, which: str) -> list[Baseline]:
    from jaywalk.metrics.driving.baseline import check_names, find_baselines, read_baseline

    if names:
        check_names(folder, names)
    chosen = names or find_baselines(folder)
    loaded = [read_baseline(folder / f"{name}.json") for name in chosen]
    if which == "ci" and not names:
        loaded = [one for one in loaded if one.in_ci]
    if not loaded:
        raise UsageError(f"'{folder}' holds no baseline; make one with 'jaywalk baseline new'.")
    return loaded


@contextmanager
def _interruptible() -> Iterator[None]:
    from jaywalk.cli.run import as_interrupt

    signal.signal(signal.SIGTERM, as_interrupt)
    try:
        yield
    except KeyboardInterrupt:
        say("interrupted; what is finished is kept. To go on, run the same command again:")
        say(shlex.join(["jaywalk", *sys.argv[1:]]))
        raise typer.Exit(_INCOMPLETE) from None


def _exit_code(verdicts: list[BaselineVerdict], *, require_all: bool) -> int:
    states = {one.state for one in verdicts}
    if "incomplete" in states:
        return _INCOMPLETE
    if "never accepted" in states or (require_all and "skipped" in states):
        return _MISSING
    return _CHANGED if "changed" in states else 0


def _print_verdicts(verdicts: list[BaselineVerdict]) -> None:
    print_table(["baseline", "state", ""], [[one.name, one.state, one.text] for one in verdicts])
    for one in verdicts:
        if one.changes is not None and not one.changes.is_equal:
            _print_changes(one, one.changes)
    count = {
        state: sum(one.state == state for one in verdicts)
        for state in dict.fromkeys(one.state for one in verdicts)
    }
    line = ", ".join(f"{n} {state}" for state, n in count.items())
    changed = [one.name for one in verdicts if one.state == "changed"]
    then = (
        f"jaywalk baseline accept {' '.join(changed)} --reason ..."
        if changed
        else ("jaywalk baseline list")
    )
    finish([f"baselines: {line}"], then)


def _print_changes(verdict: BaselineVerdict, changes: Changes) -> None:
    say(f"{verdict.name}: {changes.summary()}; the new run is {verdict.run_folder}")
    for note in changes.notes:
        say(f"  {note}")
    moved = [
        [name, _number(a), _number(b), _number(b - a, sign=True)]
        for name, (a, b) in changes.headline.items()
        if a != b
    ]
    if moved:
        print_table([f"{verdict.name}, all episodes", "accepted", "now", "change"], moved)
    moves = [
        [name, str(n), _number(mean, sign=True), _number(largest, sign=True)]
        for name, (n, mean, largest) in changes.moves().items()
    ]
    if moves:
        print_table(["score", "episodes moved", "mean change", "largest"], moves)
    for change in changes.changed[:_SHOWN]:
        what = ", ".join(
            f"{key} {_text(a)} -> {_text(b)}"
            for key, (a, b) in change.moved.items()
            if "status" in key or "success" in key or "driving_score" in key
        )
        said = what or ("other scores" if change.moved else "scores equal")
        print_line(f"  {change.episode}: {said}")
    if len(changes.changed) > _SHOWN:
        print_line(f"  ... and {len(changes.changed) - _SHOWN} more (--json lists all)")
    for title, ids in (("missing", changes.missing), ("new", changes.extra)):
        if ids:
            print_line(f"  {title}: {', '.join(ids[:_SHOWN])}")


def _number(value: float, *, sign: bool = False) -> str:
    if not math.isfinite(value):
        return "-"
    if abs(value) < 1e-3:  # no exponents in cells
        return f"{value:+z.6f}" if sign else f"{value:z.6f}"
    return f"{value:+.4g}" if sign else f"{value:.6g}"


def _text(value: Any) -> str:
    return (
        {True: "yes", False: "no", None: "-"}[value]
        if value is None or isinstance(value, bool)
        else str(value)
    )
