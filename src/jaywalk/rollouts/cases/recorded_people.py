"""Tracks of the people in runs, grouped by role, and tracks from CSV files.

A CSV file holds tracks of people and vehicles: clip, track, kind, t_s, x_m, y_m.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import jaywalk.record
from jaywalk.core.errors import DataError, PrerequisiteError
from jaywalk.core.files import open_file
from jaywalk.geometry.frames import carla_to_right_handed
from jaywalk.metrics.realism.people.behaviour import PeopleSet, PersonTrack
from jaywalk.record import columns as c
from jaywalk.record.queries import contact_rows
from jaywalk.record.reader import Record
from jaywalk.record.tracks import read_tracks

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
    tracks: dict[str, list[PersonTrack]] = {"person": [], "vehicle": []}
    ordered = table.drop_nulls(_COLUMNS).sort("t_s")
    groups = ordered.partition_by("clip", "track", "kind", maintain_order=True, as_dict=True)
    for (clip, _, kind), rows in groups.items():
        if len(rows) >= 2:
            tracks[_KINDS[str(kind)]].append(
                PersonTrack(
                    clip=str(clip),
                    time_s=rows["t_s"].to_numpy(),
                    xy_m=rows.select("x_m", "y_m").to_numpy(),
                )
            )
    return PeopleSet(
        name=path.stem, people=tuple(tracks["person"]), vehicles=tuple(tracks["vehicle"])
    )


_ROLES = {"habit": "posed"}
_EVERY_S = 0.1


def run_people(runs: Iterable[Path]) -> dict[str, PeopleSet]:
    """Return the people of some runs by suite, role and intended class, with all vehicles.

    Roles: ``ambient`` (the crowd), ``posed`` (people of the suite who move by clips),
    ``scenario`` (controlled by a scenario), or any other role name. A person's track ends before
    their first contact.
    """
    people: dict[str, list[PersonTrack]] = {}
    vehicles: dict[str, list[PersonTrack]] = {}
    for run in runs:
        folders = list(jaywalk.record.find_records(run))
        if not folders:
            raise PrerequisiteError(f"'{run}' holds no record; give the folder of a run.")
        for folder in folders:
            record = jaywalk.record.open(folder)
            clip = f"{run.resolve().name}/{folder.name}"
            for group, tracks in _episode(record, clip).items():
                if group == "vehicle":
                    vehicles[clip] = tracks
                else:
                    people.setdefault(group, []).extend(tracks)
    if not people:
        raise PrerequisiteError("None of the runs has people; run with --people N.")
    return {
        group: PeopleSet(
            name=group,
            people=tuple(tracks),
            vehicles=tuple(
                v for clip in dict.fromkeys(t.clip for t in tracks) for v in vehicles.get(clip, ())
            ),
        )
        for group, tracks in sorted(people.items())
    }


def _episode(record: Record, clip: str) -> dict[str, list[PersonTrack]]:
    tracks = read_tracks(record, only=pl.col(c.KIND).is_in(["walker", "vehicle"]))
    step_s = float(np.median(tracks.delta_s)) if len(tracks.tick) else _EVERY_S
    every = max(round(_EVERY_S / max(step_s, 1e-3)), 1)
    contact_tick = _first_contacts(record)
    by_group: dict[str, list[PersonTrack]] = {}
    for body, row in enumerate(tracks.bodies.iter_rows(named=True)):
        seen = tracks.seen(body)
        tick = tracks.tick[seen]
        kept = tick % every == 0
        if row[c.KIND] == "walker" and row[c.ACTOR] in contact_tick:
            kept &= tick < contact_tick[row[c.ACTOR]]
        if np.count_nonzero(kept) >= 2:
            group = "vehicle" if row[c.KIND] == "vehicle" else _group(record, row)
            place = carla_to_right_handed(tracks.values(body, c.X_M, c.Y_M)[kept])
            track = PersonTrack(clip=clip, time_s=tracks.time_s[seen[kept]], xy_m=place)
            by_group.setdefault(group, []).append(track)
    return by_group


def _group(record: Record, row: dict[str, Any]) -> str:
    suite = (record.episode.suite or "run").rsplit("/", 1)[-1].split("-v")[0]
    role = _ROLES.get(row["role_name"] or "", row["role_name"] or "walker")
    intended = row["intended_class"]
    return f"{suite} {role}" + (f" {intended}" if intended else "")


def _first_contacts(record: Record) -> dict[int, int]:
    first: dict[int, int] = {}
    for tick, *both in contact_rows(record).select(c.TICK, c.ACTOR, c.OTHER).iter_rows():
        for actor in both:
            if actor is not None:
                first.setdefault(int(actor), int(tick))
    return first
