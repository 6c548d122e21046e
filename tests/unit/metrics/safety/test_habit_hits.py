"""Who was hit, whether that could be helped and where it began: episodes made by hand."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import numpy as np
import polars as pl
import pytest
from hand_records_safety import STEP_S, Scene, straight

from jaywalk.metrics.safety.person_hits import (
    BrakingRules,
    find_person_hits,
    read_stories,
    weather_of,
)
from jaywalk.record import Record
from jaywalk.record import columns as c
from jaywalk.record.episode import Server

SPEED = 10.0
PLACE_M = 50.0


def event(scene: Scene, at_s: float, actor: int, kind: str = "note", **detail: object) -> None:
    number = 100 + sum(table == "events" for table, _ in scene.rows)
    tick = round(at_s / STEP_S)
    row = {
        "event": number,
        "tick": tick,
        "end_tick": tick,
        "kind": kind,
        "source": "scenario",
        "name": "habit",
        "actor": actor,
        "detail_json": json.dumps(detail),
    }
    scene.rows.append(("events", row))


def episode(folder: Path, begins_s: float) -> Record:
    """An ego at 10 m/s that never brakes; somebody at 50 m who begins at a time, hit at 4.75 s."""
    scene = Scene(seconds=6.0)
    scene.add("vehicle", straight(0.0, 0.0, 0.0, SPEED))
    person = scene.add("walker", straight(PLACE_M, 0.0, 90.0, 0.0))
    event(
        scene,
        0.0,
        person,
        what="role",
        intended="crossing",
        subcategory="walk",
        side="left",
        place="kerb",
        age="adult",
        clip="walk-1",
    )
    event(scene, begins_s, person, kind="trigger")
    event(scene, begins_s + 0.5, person, what="enters the road")
    scene.contacts.append(
        {
            "tick": round(4.75 / STEP_S),
            "end_tick": round(5.0 / STEP_S),
            "actor": 0,
            "other": person,
            "other_type_id": "walker.pedestrian.0001",
            "speed_mps": SPEED,
            "other_speed_mps": 0.0,
            "closing_mps": SPEED,
            "x_m": PLACE_M,
            "y_m": 0.0,
        }
    )
    return scene.write(folder / f"{begins_s}")


def test_unavoidable_means_begun_inside_the_braking_distance(tmp_path: Path) -> None:
    rules = BrakingRules(braking_mps2=8.0, delay_s=0.15)
    needs_m = SPEED * 0.15 + SPEED**2 / 16.0  # 7.75 m, 0.775 s before the hit
    late, early = 4.75 - needs_m / SPEED + 0.1, 4.75 - needs_m / SPEED - 0.1
    (hit,) = find_person_hits(episode(tmp_path, late), rules)
    assert hit.unavoidable
    (hit,) = find_person_hits(episode(tmp_path, early), rules)
    assert not hit.unavoidable
    assert hit.began_s == pytest.approx(needs_m / SPEED, abs=2 * STEP_S)
    assert hit.group("class") == "crossing"
    assert hit.group("side") == "left"
    assert hit.group("speed") == "9-12 m/s"


def test_wet_roads_lengthen_the_braking_distance() -> None:
    rules = BrakingRules()
    dry, wet = (rules.distance_m(np.array([10.0]), w)[0] for w in (0.0, 1.0))
    assert wet - 1.5 == pytest.approx((dry - 1.5) / 0.65)


@pytest.mark.parametrize(("settings", "slippery"), [({}, 0.9), ({"wet_grip": False}, 0.0)])
def test_rain_makes_the_road_slippery_only_if_the_record_says_so(
    tmp_path: Path, settings: dict[str, bool], slippery: float
) -> None:
    written = episode(tmp_path, 2.0)
    row = dict.fromkeys(c.WEATHER_FIELDS, 0.0) | {"precipitation": 80.0, "wetness": 90.0}
    rain = SimpleNamespace(
        weather=pl.LazyFrame([{c.TICK: 0, **row}]),
        episode=written.episode.model_copy(update={"server": Server(settings=settings)}),
    )
    assert weather_of(cast(Record, rain)) == ("rain", slippery)


def test_stories_tell_what_people_really_did(tmp_path: Path) -> None:
    (story,) = read_stories(episode(tmp_path, 2.0)).values()
    assert (story.intended, story.did) == ("crossing", "attempting")  # never got across
    assert story.trigger_tick == 40
    assert story.entered_before(100) == 50
    assert story.entered_before(45) is None
