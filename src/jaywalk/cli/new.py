"""``jaywalk new``: a working beginning, written into the current folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from jaywalk.cli.output import finish

app = typer.Typer(help="Write a working agent to begin with.", no_args_is_help=True)


@app.callback()
def _group() -> None:
    """A group, so that other things can be written some day."""


@app.command()
def agent(
    name: Annotated[str, typer.Argument(help="Its name, as in my_agent.")],
    remote: Annotated[
        bool, typer.Option("--remote", help="One that serves in a Python of its own.")
    ] = False,
) -> None:
    """Write NAME.py, a working agent, and test_NAME.py into the current folder.

    Nothing is overwritten.

    Example: jaywalk new agent my_agent

    Example: jaywalk new agent my_agent --remote
    """
    from jaywalk.agents.template import write_agent

    path, test = write_agent(Path.cwd(), name, remote=remote)
    lines = [f"wrote {path.name} and {test.name}", f"test: pytest {test.name}"]
    if remote:
        lines.append(f"serve: python {path.name}  # in its own environment, with jaywalk_agent")
        finish(lines, "jaywalk check --agent ws://127.0.0.1:8765")
    else:
        finish(lines, f"jaywalk check --agent {path.name}")
