"""A worker process of the runner with made-up episodes."""

import sys
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))
    from fake_episodes import SimulatorSession, run_episode

    from jaywalk.runner._worker import main

    main(int(sys.argv[1]), int(sys.argv[2]), SimulatorSession, run_episode)
