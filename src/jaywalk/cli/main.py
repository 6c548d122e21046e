"""The jaywalk command: collects the verbs and turns our errors into one line and an exit code."""

from __future__ import annotations

import sys

import typer

from jaywalk import __version__
from jaywalk.cli import bench, demo, doctor, listing, predict, serve, town
from jaywalk.core.errors import JaywalkError

app = typer.Typer(
    name="jaywalk",
    help="Tests driving systems around people, on a CARLA-protocol world that needs no GPU.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)
app.command("demo")(demo.demo)
app.command("serve")(serve.serve)
app.add_typer(town.app, name="town")
app.command("list")(listing.list_things)
app.command("doctor")(doctor.doctor)
app.add_typer(bench.app, name="bench")
app.add_typer(predict.app, name="predict")


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
    try:
        app()
    except JaywalkError as problem:
        sys.stderr.write(f"jaywalk: {problem}\n")
        sys.exit(problem.exit_code)
