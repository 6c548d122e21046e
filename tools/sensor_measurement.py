"""Turn the output of ``jaywalk bench sensors --json`` into ``docs/measurements/sensors-cost.json``.

jaywalk bench sensors --json > bench.json
python tools/sensor_measurement.py bench.json --commit COMMIT --date YYYY-MM-DD [--note TEXT]
make docs-tables

Run it with the code that was measured: the file gets the digest of these sources.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from jaywalk.core.source_digest import sources_digest

OUT: Final = Path(__file__).resolve().parents[1] / "docs/measurements/sensors-cost.json"
COLUMNS: Final = (
    "sensors",
    "server CPU ms per tick, one core",
    "two cores",
    "ticks/s, one core",
    "two cores",
    "aim",
)
_BARE: Final = "no sensor"
# What two idle cores allow, by the name of a value and the rig.
_ROOM: Final = {
    "most-one": "RGB 1024x512",
    "most-six-small": "six RGB 900x256",
    "most-six-large": "six RGB 1600x900",
}


def measurement(
    bench: dict[str, Any], *, commit: str, code: str, date: str, note: str = ""
) -> dict[str, Any]:
    """Return the content of the file.

    Args:
        bench: What the bench printed.
        commit: Commit that was measured.
        code: Digest of its sources.
        date: Day of the measurement.
        note: Anything else that a reader needs to know about the machine.
    """
    rigs = {(rig["name"], rig["cores"]): rig for rig in bench["rigs"]}
    names = dict.fromkeys(name for name, _ in rigs if name != _BARE)
    rows = []
    for name in names:
        costs = [rigs.get((name, cores)) for cores in (1, 2)]
        aim = bench["aims"].get(name)
        rows.append(
            [
                name,
                *(
                    "-" if cost is None else f"{cost['server_cpu_ms_per_tick']:.0f}"
                    for cost in costs
                ),
                *("-" if cost is None else f"{cost['ticks_per_s']:.1f}" for cost in costs),
                "" if aim is None else f"{aim['at_least']:g}",
            ]
        )
    room = {
        key: f"{2000.0 / rigs[name, 2]['server_cpu_ms_per_tick']:.2g}"
        for key, name in _ROOM.items()
        if (name, 2) in rigs
    }
    return {
        "format": "jaywalk-measurement-1",
        "command": "jaywalk bench sensors --json",
        "commit": commit,
        "code": code,
        "date": date,
        **({"note": note} if note else {}),
        "columns": list(COLUMNS),
        "rows": rows,
        "values": {
            "memory": f"{bench['rss_mb']:.0f} MB",
            "memory-aim": f"{bench['memory_aim']['at_most']:g} MB",
            "calibration-before": f"{bench['calibration_ms']:.1f} ms",
            "calibration-after": f"{bench['calibration_after_ms']:.1f} ms",
            **room,
        },
    }


def _cell(cost: dict[str, Any], key: str, digits: int) -> str:
    return f"{cost[key]:.{digits}f}" if cost else "-"


def main(arguments: Sequence[str]) -> int:
    """Read the bench's output and write the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("bench", type=Path)
    parser.add_argument("--commit", required=True)
    parser.add_argument("--date", required=True)
    parser.add_argument("--note", default="")
    parser.add_argument("-o", "--out", type=Path, default=OUT)
    options = parser.parse_args(arguments)
    facts = measurement(
        json.loads(options.bench.read_text(encoding="utf-8")),
        commit=options.commit,
        code=sources_digest(),
        date=options.date,
        note=options.note,
    )
    options.out.write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")
    sys.stdout.write(f"{options.out} written; run 'make docs-tables'\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
