"""``jaywalk run`` with made-up episodes: the command line is the real one."""

import os
import sys
from functools import partial
from pathlib import Path

import typer

import jaywalk.runner.job
from jaywalk.cli.run import run
from jaywalk.core.errors import JaywalkError

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))  # workers import fake_episodes
    jaywalk.runner.job.RunRequest = partial(jaywalk.runner.job.RunRequest, module="fake_episodes")
    app = typer.Typer()
    app.command()(run)
    try:
        app()
    except JaywalkError as problem:
        sys.stderr.write(f"jaywalk: {problem}\n")
        sys.stderr.flush()
        os._exit(problem.exit_code)
