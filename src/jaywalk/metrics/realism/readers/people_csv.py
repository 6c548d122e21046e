"""Tracks of people and vehicles as one CSV file: clip, track, kind, t_s, x_m, y_m."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from jaywalk.core.errors import DataError
from jaywalk.core.files import open_file
from jaywalk.metrics.realism.people.tracks import PeopleSet, Track

_COLUMNS = ("clip", "track", "kind", "t_s", "x_m", "y_m")
_KINDS = {"person": "person", "ped": "person", "vehicle": "vehicle", "veh": "vehicle"}


def read_people_csv(path: Path) -> PeopleSet:
    """Read people and vehicles; ``kind`` is person (or ped) or vehicle (or veh)."""
    types = {"clip": pl.String, "track": pl.String, "kind": pl.String}
    try:
        open_file(path, "a CSV file").close()
        table = pl.read_csv(
            path, schema_overrides={**types, **dict.fromkeys(_COLUMNS[3:], pl.Float64)}
        )
    except (OSError, pl.exceptions.PolarsError) as problem:
        raise DataError(f"Cannot read '{path}' as a CSV file: {problem}.") from problem
    missing = [name for name in _COLUMNS if name not in table.columns]
    if missing:
        raise DataError(f"'{path}' lacks the columns {missing}; expected {list(_COLUMNS)}.")
    unknown = set(table["kind"].unique().to_list()) - set(_KINDS)
    if unknown:
        raise DataError(f"'{path}' has kinds {sorted(map(str, unknown))}; expected {list(_KINDS)}.")
    tracks: dict[str, list[Track]] = {"person": [], "vehicle": []}
    ordered = table.drop_nulls(_COLUMNS).sort("t_s")
    groups = ordered.partition_by("clip", "track", "kind", maintain_order=True, as_dict=True)
    for (clip, _, kind), rows in groups.items():
        if len(rows) >= 2:
            tracks[_KINDS[str(kind)]].append(
                Track(
                    clip=str(clip),
                    time_s=rows["t_s"].to_numpy(),
                    xy_m=rows.select("x_m", "y_m").to_numpy(),
                )
            )
    return PeopleSet(
        name=path.stem, people=tuple(tracks["person"]), vehicles=tuple(tracks["vehicle"])
    )
