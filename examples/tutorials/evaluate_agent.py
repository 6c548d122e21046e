"""Evaluate a Leaderboard agent: drive it, score it by the Leaderboard's rules, write a report.

python examples/tutorials/evaluate_agent.py --out /tmp/agent
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

import jaywalk

AGENT = Path(__file__).with_name("gnss_agent.py")
PROTOCOL = "leaderboard-2.1"


def main() -> None:
    """Drive, score, report."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--out", type=Path, default=Path("tutorial-agent"))
    options.add_argument("--subset", default="9,12", help="routes of the suite smoke")
    given = options.parse_args()
    run = jaywalk.drive("smoke", AGENT, subset=given.subset, out=given.out / "run")
    scores = run.scores(PROTOCOL)
    scores.write_json(given.out / "scores.json")
    run.figure("scores", protocol=PROTOCOL).savefig(given.out / "scores.pdf")
    page = ["report", run.folder, "--protocol", PROTOCOL, "-o", given.out / "report.html"]
    subprocess.run([sys.executable, "-m", "jaywalk", *map(str, page)], check=True)
    wanted = ["driving_score", "route_completion", "infraction_penalty"]
    for name, value, low, high in (
        scores.filter(kind="mean").select("metric", "value", "low", "high").rows()
    ):
        if name in wanted:
            print(f"{name}: {value:.2f} [{low:.2f}, {high:.2f}]")  # noqa: T201


if __name__ == "__main__":
    main()
