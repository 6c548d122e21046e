"""The jaywalk command: collects the verbs and turns our errors into one line and an exit code."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from importlib import import_module
from typing import Any, Final

import typer

from jaywalk import __version__
from jaywalk.core.errors import JaywalkError

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
        sys.stderr.write(f"jaywalk: {problem}\n")
        sys.exit(problem.exit_code)
