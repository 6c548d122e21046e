"""The jaywalk command: loads the verb that is asked for, prints our errors as one line.

Only the file of that verb is imported; ``jaywalk --help`` imports none.
"""

from __future__ import annotations

import errno
import os
import sqlite3
import sys
from contextlib import nullcontext
from functools import cached_property
from importlib import import_module
from typing import Any, Final, NoReturn

import typer
from typer.core import TyperCommand, TyperGroup

from jaywalk import __version__
from jaywalk.cli.output import add_output_options, heartbeat
from jaywalk.core.errors import JaywalkError
from jaywalk.core.extras import missing_extra
from jaywalk.core.text import printable

# Verb -> file of this folder and the command or group of commands in it, and one line of help.
VERBS: Final = {
    "demo": (
        "demo:demo",
        "Run the suite 'smoke' with a driver that looks and one that does not, compare, report.",
    ),
    "serve": ("serve:serve", "Serve a town to CARLA clients."),
    "run": (
        "run:run",
        "Drive a suite and record every episode; the same command again runs only what is missing.",
    ),
    "check": (
        "check:check",
        "Drive an agent for some seconds and tell whether it is wired correctly.",
    ),
    "new": ("new:app", "Write a working agent to begin with."),
    "record": (
        "record:record",
        "Watch a server and record every episode, without ticking or changing anything.",
    ),
    "score": (
        "score:score",
        "Score a run, or result files made elsewhere. Exit code 4 if episodes are missing.",
    ),
    "compare": (
        "compare:compare",
        "Compare runs with the first one. Exit code 4 if episodes are missing.",
    ),
    "report": (
        "report:report",
        "Write one HTML file with figures, failures, pictures and replays; it needs no network.",
    ),
    "figure": (
        "figure:figure",
        "Draw a figure of runs for a publication. Exit code 4 if episodes are missing.",
    ),
    "replay": (
        "replay:replay",
        "Draw an episode from its record alone: no simulator, no agent.",
    ),
    "export": (
        "export:export",
        "Write result files that the benchmarks' own tools read. Exit code 4 if episodes are "
        "missing.",
    ),
    "suite": (
        "suite:app",
        "Suites: build one for any town, export any for public evaluators.",
    ),
    "scenario": (
        "scenario:app",
        "Scenarios as one readable file: write, look at, check, pair, edit.",
    ),
    "leaderboard": (
        "leaderboard:app",
        "Leaderboard of the generalization benchmark: make, check and show entries.",
    ),
    "baseline": (
        "baseline:app",
        "Accepted record hashes and scores of runs: verify, accept, create.",
    ),
    "town": ("town:app", "Towns: list them, draw them, check your own OpenDRIVE files."),
    "list": (
        "listing:list_things",
        "List towns, blueprints, sensors and whatever else has a name.",
    ),
    "doctor": ("doctor:doctor", "Check this machine: each line is ok, or names the fix."),
    "behaviour": (
        "behaviour:app",
        "Intention, action and risk of people on JAAD, PIE and our own runs.",
    ),
    "predict": (
        "predict:app",
        "Predicting people: the in-ROI sensitivity and its rivals, with their statistics.",
    ),
    "realism": (
        "realism:app",
        "Human-likeness: the Sim Agents realism score, its flaws, and a better score.",
    ),
    "motion": (
        "motion:app",
        "Motion capture on CARLA's walkers: build, check, class, show and search libraries.",
    ),
    "pairs": ("pairs:app", "Counterfactual pairs: are they, and what do they show?"),
    "bench": ("bench:app", "Measure speed and memory against the project's targets."),
}
_STYLE: Final[dict[str, Any]] = {
    "pretty_exceptions_enable": False,
    "rich_markup_mode": "rich",
}


# Verb, part of the parser's message, and what was probably meant.
_HINTS: Final = (
    ("run", "unexpected extra argument", "Name the driver with --agent, as in --agent cruise."),
    (
        "run",
        "No such option: --protocol",
        "A run is recorded once and scored under any protocol: jaywalk score RUN --protocol NAME.",
    ),
    (
        "score",
        "unexpected extra argument",
        "It scores one run; 'jaywalk compare RUN RUN' compares several.",
    ),
)


class LazyVerb(TyperCommand):
    """A verb in the list of verbs; using it imports its file."""

    def __init__(self, name: str) -> None:
        super().__init__(name, help=VERBS[name][1], rich_markup_mode="rich")

    @cached_property
    def loaded(self) -> Any:
        """The command or group of commands itself."""
        file, _, attribute = VERBS[str(self.name)][0].partition(":")
        target = getattr(import_module(f"jaywalk.cli.{file}"), attribute)
        holder = typer.Typer(**_STYLE)
        holder.callback()(lambda: None)
        if isinstance(target, typer.Typer):
            holder.add_typer(target, name=self.name)
        else:
            holder.command(self.name)(target)
        group: Any = typer.main.get_command(holder)
        command = group.commands[self.name]
        add_output_options(command)
        return command

    def make_context(self, *words: Any, **more: Any) -> Any:
        """Read the verb's own options; the context holds the loaded command."""
        try:
            return self.loaded.make_context(*words, **more)
        except Exception as problem:
            message = getattr(problem, "message", "")
            for verb, part, hint in _HINTS:
                if verb == self.name and part in str(message):
                    problem.message = f"{str(message).rstrip('.')}. {hint}"  # type: ignore[attr-defined]
            raise


class Verbs(TyperGroup):
    """All verbs, each loaded when it is used."""

    def __init__(self, **more: Any) -> None:
        super().__init__(**more)
        for verb in VERBS:
            self.add_command(LazyVerb(verb))


app = typer.Typer(
    name="jaywalk",
    cls=Verbs,
    help="Tests driving systems around people, on a CARLA-protocol world that needs no GPU.",
    no_args_is_help=True,
    **_STYLE,
)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"jaywalk {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: bool = typer.Option(
        False, "--version", callback=_show_version, is_eager=True, help="Print the version."
    ),
) -> None:
    """Options of the command itself."""


def main() -> None:
    """Run the command; expected errors are one line on stderr."""
    verb = sys.argv[1] if len(sys.argv) > 1 else ""
    try:
        with heartbeat(verb) if verb in VERBS and verb not in _PATIENT else nullcontext():
            app()
    except JaywalkError as problem:
        _leave(str(problem), problem.exit_code)
    except ModuleNotFoundError as problem:
        extra = missing_extra(problem)
        if extra is None or os.environ.get(_DEBUG):
            raise
        _leave(str(extra), extra.exit_code)
    except BrokenPipeError:
        # Whoever read our output has seen enough, as with any other command.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except (OSError, sqlite3.Error, RecursionError, MemoryError) as problem:
        if os.environ.get(_DEBUG):
            raise
        _leave(_plain_words(problem), _MISSING)


_PATIENT: Final = ("serve", "record")  # silence is normal while they wait
_DEBUG: Final = "JAYWALK_DEBUG"
_MISSING: Final = 3
_FIXES: Final = {
    errno.ENOSPC: "The disk is full. Free some space, or give another folder",
    errno.EDQUOT: "Your disk quota is used up. Free some space, or give another folder",
    errno.EROFS: "The disk can only be read. Give another folder",
    errno.EACCES: "Permission is missing. Change it, or give another folder",
    errno.EMFILE: "Too many files are open. Raise the limit with 'ulimit -n'",
    errno.ENAMETOOLONG: "A file name is too long. Give a shorter one",
}


def _plain_words(problem: BaseException) -> str:
    """What went wrong and what to do about it, for failures that can come from anywhere."""
    if isinstance(problem, MemoryError):
        words = "Memory is used up. Give less at a time (fewer runs, fewer workers)"
    elif isinstance(problem, RecursionError):
        words = "The input is nested too deeply to be read. Check the file you gave"
    elif isinstance(problem, sqlite3.Error):
        full = "full" in str(problem)
        fix = "Free some space" if full else "See that nobody else uses it and the disk is sound"
        words = f"The run's state (run.sqlite) cannot be used: {problem}. {fix}, then run it again"
    else:
        number = int(getattr(problem, "errno", None) or 0)
        words = _FIXES.get(number, f"A file cannot be used: {problem}. Check it and the folder")
        place = getattr(problem, "filename", None)
        words += f" (at '{place}')" if place and number in _FIXES else ""
    return f"{words}. Set {_DEBUG}=1 to see where it happened."


def _leave(message: str, code: int) -> NoReturn:
    sys.stderr.write(f"jaywalk: {printable(message)}\n")
    sys.exit(code)
