"""Loads an OpenDRIVE text with CARLA's native parser in a process of its own.

The native parser can abort on a broken file; run as ``python -m jaywalk.town.probe`` with the text
on standard input, only this process dies. Prints one JSON object.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from typing import Any

from jaywalk.core.errors import DataError, JaywalkError

_TIMEOUT_S = 120.0


def probe(text: str) -> dict[str, Any]:
    """Facts that only CARLA's parser knows; :class:`DataError` when it refuses or dies."""
    command = [sys.executable, "-m", "jaywalk.town.probe"]
    try:
        done = subprocess.run(  # our own module, no shell
            command, input=text.encode(), capture_output=True, timeout=_TIMEOUT_S, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise DataError(f"CARLA's parser did not finish within {_TIMEOUT_S:.0f} s.") from error
    if done.returncode != 0:
        lines = done.stderr.decode(errors="replace").strip().splitlines()
        reason = lines[-1] if lines else "no message"
        how = f"signal {-done.returncode}" if done.returncode < 0 else f"exit {done.returncode}"
        raise DataError(f"CARLA's parser died on this file ({how}): {reason}")
    answer: dict[str, Any] = json.loads(done.stdout.decode().splitlines()[-1])
    if "error" in answer:
        raise DataError(str(answer["error"]))
    return answer


def _facts(text: str) -> dict[str, Any]:
    from jaywalk.town.opendrive import native_map
    from jaywalk.town.town import Town

    start = time.perf_counter()  # reported as the load time; decides nothing
    native_map("check", text)
    load_s = time.perf_counter() - start
    town = Town(name="check", opendrive=text)
    kinds = [sign.type_id for sign in town.signs]
    return {
        "load_s": round(load_s, 3),
        "crosswalks": len(town.crosswalks),
        "spawn_points": len(town.spawn_points),
        "lights": len(town.lights),
        "lights_without_lane": [x.signal_id for x in town.lights if not len(x.stops)],
        "signs_without_lane": [x.signal_id for x in town.signs if not len(x.stops)],
        "stop": kinds.count("traffic.stop"),
        "yield": kinds.count("traffic.yield"),
        "speed": sum(kind.startswith("traffic.speed") for kind in kinds),
        "dead_ends": _dead_ends(town),
    }


def _dead_ends(town: Any) -> int:
    """Driving lanes outside junctions from whose end no lane goes on."""
    ends = 0
    for strip in town.strips:
        if strip.kind != "driving" or strip.in_junction:
            continue
        forward = strip.lane.lane_id < 0
        section = strip.road.sections[-1 if forward else 0]
        if strip.section is not section:
            continue
        s_m = strip.s_m[-1] - 0.05 if forward else strip.s_m[0] + 0.05
        waypoint = town.carla_map.get_waypoint_xodr(strip.road.road_id, strip.lane.lane_id, s_m)
        if waypoint is None or strip.width_m.max() < 1.0:
            continue
        ends += not waypoint.next(0.5)
    return ends


def _main() -> None:
    text = sys.stdin.buffer.read().decode()
    try:
        answer = _facts(text)
    except (JaywalkError, RuntimeError) as error:
        answer = {"error": str(error)}
    sys.stdout.write(json.dumps(answer) + "\n")


if __name__ == "__main__":
    _main()
