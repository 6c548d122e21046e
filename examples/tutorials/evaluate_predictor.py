"""Evaluate a predictor: compare your own file with two predictors that come with Jaywalk.

python examples/tutorials/evaluate_predictor.py --out /tmp/predictor
"""

from __future__ import annotations

import argparse
import json
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import numpy as np

from jaywalk.cli.main import app

MINE = Path(__file__).with_name("slowing_predictor.py")
DECAY_S = 3.0


def write_people(path: Path, people: int) -> None:
    """Write people who slow down, in the text format of ETH and UCY: frame, person, x, y."""
    random, rows = np.random.default_rng(3), []
    for person in range(people):
        start, velocity = random.uniform(0.0, 20.0, 2), random.uniform(-1.5, 1.5, 2)
        for step in range(20):
            way_s = -DECAY_S * np.expm1(-0.4 * step / DECAY_S)
            x, y = start + way_s * velocity + random.normal(0.0, 0.02, 2)
            rows.append(f"{10 * step}\t{person}\t{x:.4f}\t{y:.4f}")
    path.write_text("\n".join(rows) + "\n")


def main() -> None:
    """Make data, evaluate, print the error by horizon."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--out", type=Path, default=Path("tutorial-predictor"))
    options.add_argument("--people", type=int, default=60)
    options.add_argument("--resamples", type=int, default=1000)
    given = options.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    data = given.out / "people.txt"
    write_people(data, given.people)
    names = (str(MINE), "constant-velocity", "stand-still")
    words = ["predict", "eval", str(data), "--in-sample", "--resamples", str(given.resamples)]
    for name in names:
        words += ["--predictor", name]
    with redirect_stdout(StringIO()) as printed:
        app([*words, "--json"], standalone_mode=False)
    (given.out / "scores.json").write_text(printed.getvalue())
    for name, scores in json.loads(printed.getvalue())["predictors"].items():
        errors = ", ".join(
            f"{at['fde']['value']:.2f} m at {at['horizon_s']:.0f} s" for at in scores
        )
        print(f"{name}: {errors}")  # noqa: T201


if __name__ == "__main__":
    main()
