"""Measures one scene in a process of its own: the Traffic Manager may hang and must be killable.

Called by :mod:`jaywalk_bench.server` as
``python -m jaywalk_bench SCENE PORT SERVER_PID TICKS TM_PORT``; prints one line of JSON.
"""

from __future__ import annotations

import json
import os
import sys

import psutil

from jaywalk_bench.scenes import SCENES, measure_scene


def main(name: str, port: str, server_pid: str, ticks: str, tm_port: str) -> None:
    """Measure and print."""
    process = psutil.Process(int(server_pid))
    scene = next(scene for scene in SCENES if scene.name == name)

    def server_cpu_s() -> float:
        times = process.cpu_times()
        return float(times.user + times.system)

    measured = measure_scene(scene, int(port), server_cpu_s, int(ticks), int(tm_port))
    sys.stdout.write(json.dumps(measured.as_dict()) + "\n")
    sys.stdout.flush()
    # The Traffic Manager's threads may be asleep for ever: leave without joining them.
    os._exit(0)


if __name__ == "__main__":
    main(*sys.argv[1:])
