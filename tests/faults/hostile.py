"""One million hostile frames and every attack at full size, beside a bystander; prints JSON.

python tests/faults/hostile.py [--frames 1000000] [--only NAME ...] [--limit-s 120]

For each attack: the bystander's slowest tick, the most processor time that the server used during
one, the server's resident memory before, at its peak and after, and the size of its log. On a busy
machine the processor time is the steadier figure. Everything stays on this host.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))

import attacks
from live_server import LiveServer, live_server


def measure(
    server: LiveServer, name: str, attack: Callable[[int], Any], limit_s: float = 300.0
) -> dict[str, Any]:
    """Run one attack beside a bystander. An attack past its limit is ended and reported.

    The attacker is a process of its own: what its packing costs must not delay the bystander.
    """
    fork = multiprocessing.get_context("fork")
    go, answers = fork.Event(), fork.SimpleQueue()

    def act() -> None:
        go.wait()
        answers.put(str(attack(server.port))[:300])

    worker = fork.Process(target=act, daemon=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of threads at a fork: the child uses none of them
        worker.start()
    kind = attacks.Pinger if name in attacks.TICK_THEMSELVES else attacks.Bystander
    bystander = kind(server, timeout_s=limit_s)
    bystander.start()
    time.sleep(0.5)
    began = time.perf_counter()
    with attacks.MemoryWatch(server) as memory:
        go.set()
        worker.join(limit_s)
        time.sleep(0.3)
    took_s = time.perf_counter() - began
    frozen = worker.is_alive()
    said = "" if answers.empty() else answers.get()
    if frozen:
        worker.kill()
        bystander.stop.set()
    else:
        bystander.finish()
    return {
        "attack": name,
        "took_s": round(took_s, 2),
        "bystander_ticks": bystander.ticks,
        "bystander_worst_s": round(took_s if frozen else bystander.slowest_s, 3),
        "bystander_worst_cpu_s": round(bystander.most_cpu_s, 3),
        "bystander_problem": bystander.problem,
        "rss_before_mb": round(memory.before_mb),
        "rss_peak_mb": round(memory.peak_mb),
        "rss_after_mb": round(server.resident_mb()) if server.alive else None,
        "log_bytes": server.log_bytes(),
        "frozen_past_limit": frozen,
        "said": said,
        "alive": server.alive,
    }


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--frames", type=int, default=1_000_000)
    parser.add_argument("--only", nargs="*", default=list(attacks.ATTACKS))
    parser.add_argument("--limit-s", type=float, default=300.0)
    options = parser.parse_args()
    for name in options.only:  # a server each, so that memory and delays are the attack's own
        with live_server("--town", "Harbour") as server:
            result = measure(server, name, attacks.ATTACKS[name], options.limit_s)
            print(json.dumps(result), flush=True)
    if options.frames:
        with live_server("--town", "Harbour") as server:
            result = measure(
                server,
                "hostile_frames",
                lambda port: attacks.hostile_frames(port, options.frames),
                3600.0,
            )
            print(json.dumps(result | {"frames": options.frames}), flush=True)


if __name__ == "__main__":
    main()
