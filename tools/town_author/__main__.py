"""``PYTHONPATH=tools python -m town_author --out FOLDER`` writes the files of our towns."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from jaywalk.core.errors import JaywalkError
from town_author.build import PLANS, build_town


def main() -> int:
    """Build the towns that were asked for; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="PYTHONPATH=tools python -m town_author", description=__doc__
    )
    parser.add_argument("--out", type=Path, required=True, help="folder for the files")
    parser.add_argument("--town", choices=sorted(PLANS), action="append", help="default: all")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    try:
        for name in arguments.town or sorted(PLANS):
            for path in build_town(name, arguments.out):
                sys.stdout.write(f"{path} ({path.stat().st_size / 1000:.0f} KB)\n")
    except JaywalkError as error:
        sys.stderr.write(f"{error}\n")
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main())
