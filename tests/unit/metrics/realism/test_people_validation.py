"""Measures of the validation of people, on records whose answers are known."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hand_records_safety import Scene, straight
from street_episode import write_street

from jaywalk.core.errors import DataError
from jaywalk.record.tracks import EpisodeTracks, read_tracks, tenth_ticks
from studies._people_measures import (
    Measured,
    first_step,
    looks_at_ego,
    overlaps,
    touch_of,
    walk_of,
)
from studies.people_validation import LOOKS, TABLES, main, table_rows


def tracks_of(scene: Scene, folder: Path) -> EpisodeTracks:
    record = scene.write(folder / "episodes" / "one")
    tick = tenth_ticks(record).tick
    return read_tracks(record, only=pl.col("kind").is_in(["vehicle", "walker"]), tick=tick)


def test_two_who_walk_through_each_other_overlap_once(tmp_path: Path) -> None:
    scene = Scene(seconds=10.0)
    scene.add("vehicle", straight(0.0, 50.0, 0.0, 0.0))
    scene.add("walker", straight(0.0, 0.0, 0.0, 1.0))
    scene.add("walker", straight(10.0, 0.0, 180.0, 1.0))  # they meet at 5 s
    scene.add("walker", straight(0.0, 0.5, 0.0, 1.0))  # abreast: 0.5 m apart, radii of 0.2 m
    tracks = tracks_of(scene, tmp_path)
    count, minutes = overlaps(tracks, {})
    assert count == 1
    assert minutes == pytest.approx(3 * 101 / 600.0)
    # Somebody who was hit at 3 s lies there and counts no longer.
    count, minutes = overlaps(tracks, {1: 60})
    assert count == 0
    assert minutes == pytest.approx((2 * 101 + 30) / 600.0)
    walk = walk_of(tracks, 1, 60)
    assert walk is not None
    assert len(walk.xy_m) == 30


@pytest.mark.parametrize(("off_deg", "looks"), [(24.0, True), (-24.0, True), (26.0, False)])
def test_a_look_is_a_head_within_25_degrees(tmp_path: Path, off_deg: float, looks: bool) -> None:
    scene = Scene(seconds=2.0)
    scene.add("vehicle", straight(30.0, 40.0, 0.0, 0.0))
    scene.add("walker", straight(0.0, 0.0, 0.0, 0.0))
    tracks = tracks_of(scene, tmp_path)
    bearing = math.atan2(40.0, 30.0)
    head = np.full(len(tracks.tick), bearing + math.radians(off_deg) + 2.0 * math.pi)
    assert set(looks_at_ego(tracks, 1, head).tolist()) == {looks}
    assert not looks_at_ego(tracks, 1, np.full(len(head), np.nan)).any()


def test_what_people_did_before_the_first_step() -> None:
    looks = np.zeros(60, bool)
    looks[22:28] = True  # 2.8 to 2.2 s before row 50
    looks[38:40] = True  # 1.2 to 1.0 s before
    place = np.zeros((60, 2))
    place[39:, 0] = np.arange(21) * 0.14
    step = first_step("e", looks, place, 50)
    assert step.looked == (False, True, True)
    assert step.look_share == pytest.approx(0.1)
    assert step.walks
    assert not first_step("e", looks, np.zeros((60, 2)), 50).walks
    assert first_step("e", looks, place, 49).looked == (True, True, True)


@pytest.mark.parametrize(("place_m", "at_side"), [((0.0, 1.3), True), ((2.5, 0.0), False)])
def test_sides_and_fronts(tmp_path: Path, place_m: tuple[float, float], at_side: bool) -> None:
    """The ego heads along y; its half length is 2.4 m."""
    scene = Scene(seconds=2.0)
    scene.add("vehicle", straight(0.0, 0.0, 90.0, 0.0))
    along, aside = place_m
    scene.add("walker", straight(-aside, along, 0.0, 0.0))
    touch = touch_of("e", tracks_of(scene, tmp_path), 0, 1, 5, 0)
    assert touch.at_side is at_side
    assert touch.with_ego
    assert not touch.oblivious


def test_no_runs_give_no_figures() -> None:
    for rows in TABLES.values():
        for row in table_rows(rows, Measured(), Measured()):
            assert len(row) == 5
            assert not any("nan" in cell for cell in row)


def test_the_script_measures_runs_and_refuses_the_wrong_people(tmp_path: Path) -> None:
    write_street(tmp_path / "v2", "habit-001-s1")
    write_street(tmp_path / "v3", "habit-001-s1", parameters={"people_model": "reactive-1"})
    runs = ["--scripted", str(tmp_path / "v2"), "--reactive", str(tmp_path / "v3")]
    out = tmp_path / "out.json"
    main([*runs, "--no-motion", "--out", str(out)])
    facts = json.loads(out.read_text())
    assert facts["format"] == "jaywalk-measurement-1"
    assert facts["commit"]
    assert [row[0] for row in facts["tables"]["looks"]["rows"]] == [row[0] for row in LOOKS]
    assert str(tmp_path) not in out.read_text()
    with pytest.raises(DataError, match=r"people_model 'scripted'; expected reactive people"):
        main(["--scripted", str(tmp_path / "v2"), "--reactive", str(tmp_path / "v2"), "--out", "x"])
