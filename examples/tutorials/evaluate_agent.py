"""Evaluate a Leaderboard agent: drive it, score it by the Leaderboard's rules, write a report.

python examples/tutorials/evaluate_agent.py --out /tmp/agent
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path

AGENT = Path(__file__).with_name("gnss_agent.py")


def jaywalk(*words: object) -> str:
    """Run a command of Jaywalk, as ``jaywalk WORDS`` in a shell, and return what it prints."""
    command = [sys.executable, "-m", "jaywalk", *map(str, words)]
    print("jaywalk", *words, flush=True)  # noqa: T201
    return subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE).stdout


def main() -> None:
    """Drive, score, report."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--out", type=Path, default=Path("tutorial-agent"))
    options.add_argument("--subset", default="9,12", help="routes of the suite smoke")
    given = options.parse_args()
    run, page = given.out / "run", given.out / "report.html"
    jaywalk("run", "smoke", "--agent", AGENT, "--subset", given.subset, "--out", run)
    scores = json.loads(jaywalk("score", run, "--protocol", "leaderboard-2.1", "--json"))
    (given.out / "scores.json").write_text(json.dumps(scores, indent=1))
    jaywalk("report", run, "--protocol", "leaderboard-2.1", "-o", page)
    for name, value in scores["metrics"].items():
        if name in ("driving_score", "route_completion", "infraction_penalty"):
            print(f"{name}: {value['value']:.2f}")  # noqa: T201


if __name__ == "__main__":
    main()
