"""``jaywalk baseline`` with made-up episodes: the command line is the real one."""

import os
import sys
from functools import partial
from pathlib import Path

import jaywalk.runner.job
from jaywalk.cli.baseline import app
from jaywalk.core.errors import JaywalkError
from jaywalk.record.episode import Code

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))  # workers import fake_episodes
    jaywalk.runner.job.RunRequest = partial(jaywalk.runner.job.RunRequest, module="fake_episodes")
    import jaywalk.runner.baselines

    # Made-up records name no code versions.
    jaywalk.runner.baselines._record_differences = lambda code, mine: (
        [] if code == Code() else ["made up"]
    )
    try:
        app()
    except JaywalkError as problem:
        sys.stderr.write(f"jaywalk: {problem}\n")
        sys.stderr.flush()
        os._exit(problem.exit_code)
