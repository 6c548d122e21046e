"""The jaywalk command: collects the verbs and turns our errors into one line and an exit code."""

from __future__ import annotations

import errno
import os
import sqlite3
import sys
from collections.abc import Iterable
from importlib import import_module
from typing import Any, Final, NoReturn

import typer

from jaywalk import __version__
from jaywalk.core.errors import JaywalkError
from jaywalk.core.text import printable

# Verb -> file of this folder and the command or group of commands in it.
VERBS: Final = {
    "demo": "demo:demo",
    "serve": "serve:serve",
    "run": "run:run",
    "check": "check:check",
    "new": "new:app",
    "record": "record:record",
    "score": "score:score",
    "compare": "compare:compare",
    "report": "report:report",
    "replay": "replay:replay",
    "export": "export:export",
    "suite": "suite:app",
    "scenario": "scenario:app",
    "leaderboard": "leaderboard:app",
    "baseline": "baseline:app",
    "town": "town:app",
    "list": "listing:list_things",
    "doctor": "doctor:doctor",
    "behaviour": "behaviour:app",
    "predict": "predict:app",
    "realism": "realism:app",
    "motion": "motion:app",
    "pairs": "pairs:app",
    "bench": "bench:app",
}


def build_app(verbs: Iterable[str] = VERBS) -> typer.Typer:
    """The command with these verbs; importing a verb's file is what costs time."""
    app = typer.Typer(
        name="jaywalk",
        help="Tests driving systems around people, on a CARLA-protocol world that needs no GPU.",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode="rich",
    )
    app.callback()(_options)
    for verb in verbs:
        file, _, attribute = VERBS[verb].partition(":")
        target = getattr(import_module(f"jaywalk.cli.{file}"), attribute)
        if isinstance(target, typer.Typer):
            app.add_typer(target, name=verb)
        else:
            app.command(verb)(target)
    return app


def __getattr__(name: str) -> Any:
    """``app`` with every verb, built when asked for."""
    if name == "app":
        return build_app()
    raise AttributeError(name)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"jaywalk {__version__}")
        raise typer.Exit


def _options(
    version: bool = typer.Option(
        False, "--version", callback=_show_version, is_eager=True, help="Print the version."
    ),
) -> None:
    """Options of the command itself."""


def main() -> None:
    """Run the command; expected errors are one line on stderr."""
    verb = next((word for word in sys.argv[1:] if not word.startswith("-")), "")
    try:
        build_app([verb] if verb in VERBS else VERBS)()
    except JaywalkError as problem:
        _leave(str(problem), problem.exit_code)
    except BrokenPipeError:
        # Whoever read our output has seen enough, as with any other command.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except (OSError, sqlite3.Error, RecursionError, MemoryError) as problem:
        if os.environ.get(_DEBUG):
            raise
        _leave(_plain_words(problem), _MISSING)


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
