"""``jaywalk run`` with made-up episodes: the command line is the real one."""

import os
import sys
from pathlib import Path

import typer

import jaywalk.runner.local
from jaywalk.cli.run import run
from jaywalk.core.errors import JaywalkError

if __name__ == "__main__":
    jaywalk.runner.local.WORKER_PROGRAM = (str(Path(__file__).with_name("fake_worker.py")),)
    app = typer.Typer()
    app.command()(run)
    try:
        app()
    except JaywalkError as problem:
        sys.stderr.write(f"jaywalk: {problem}\n")
        sys.stderr.flush()
        os._exit(problem.exit_code)
