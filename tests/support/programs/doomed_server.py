"""Runs an episode whose agent kills the server: FOLDER -> one JSON line with what the runner said.

The wheel may abort a process that holds a client of a dead server, when the process ends; our
workers therefore end without clearing up, and so does this program.
"""

import json
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from short_plans import short_plan, write_driver

from jaywalk.core.errors import InfrastructureError
from jaywalk.runner._episode import run_episode
from jaywalk.runner.session import SimulatorSession

folder = Path(sys.argv[1])
world = SimulatorSession.embedded()
pid = world.server_pid
kill = f"import os, signal; moment.elapsed_s > 1.0 and os.kill({pid}, signal.SIGKILL)"
world.client.set_timeout(3.0)
said = ""
try:
    run_episode(short_plan(world, write_driver(folder, kill)), world, folder / "run")
except InfrastructureError as problem:
    said = str(problem)
world.close()
print(json.dumps({"said": said, "pid": pid}), flush=True)
os._exit(0)
