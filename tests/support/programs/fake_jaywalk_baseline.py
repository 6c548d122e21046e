"""``jaywalk baseline`` with made-up episodes: the command line is the real one."""

import os
import sys
from pathlib import Path

import jaywalk.runner.local
from jaywalk.cli.baseline import app
from jaywalk.core.errors import JaywalkError
from jaywalk.record.episode import Code

if __name__ == "__main__":
    jaywalk.runner.local.WORKER_PROGRAM = (str(Path(__file__).with_name("fake_worker.py")),)
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
