"""Danger of a scenario to a driver: only the scenario's own actors count."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from hand_records_safety import Scene, straight

from jaywalk.checks.danger import ScenarioDanger, in_words, scenario_danger, worst_of
from jaywalk.metrics.driving.summary import EpisodeScore, Infraction

_HIT = {
    "x_m": 30.0,
    "y_m": 0.0,
    "speed_mps": 9.5,
    "other_speed_mps": 0.0,
    "closing_mps": 9.4,
    "normal_x": -1.0,
    "normal_y": 0.0,
}


def _score(*infractions: tuple[str, int]) -> EpisodeScore:
    return EpisodeScore(
        episode_id="a",
        protocol="fail2drive",
        suite="s",
        scenario="x",
        seed=1,
        agent="blind",
        status="",
        success=False,
        metrics={},
        infractions=tuple(
            Infraction(kind=kind, tick=tick, time_s=0.05 * tick, x_m=0.0, y_m=0.0, message="")
            for kind, tick in infractions
        ),
    )


def _scene(*, speed: float = 10.0, ahead_m: float = 60.0, kind: str = "prop") -> Scene:
    scene = Scene(seconds=3.0)
    scene.add("vehicle", straight(0.0, 0.0, 0.0, speed))
    body = scene.add(kind, straight(ahead_m, 0.0, 0.0, 0.0))
    scene.half[body] = (0.5, 0.5, 0.5)
    scene.role[body] = "scenario"
    return scene


@pytest.mark.parametrize(
    ("ahead_m", "level"), [(45.0, "near miss"), (55.0, "slight"), (90.0, "none")]
)
def test_time_to_collision_counts(tmp_path: Path, ahead_m: float, level: str) -> None:
    danger = scenario_danger(_scene(ahead_m=ahead_m).write(tmp_path / "e"), _score())
    # After 3 s at 10 m/s; 2.4 m are the front of the car and 0.5 m half the box.
    assert danger.min_ttc_s == pytest.approx((ahead_m - 30.0 - 2.4 - 0.5) / 10.0, abs=0.01)
    assert danger.level == level
    assert math.isnan(danger.impact_mps)


def test_background_actors_do_not_count(tmp_path: Path) -> None:
    scene = _scene(ahead_m=90.0)
    near = scene.add("prop", straight(40.0, 0.0, 0.0, 0.0))
    scene.role[near] = "background"
    scene.contacts.append({"tick": 59, "end_tick": 60, "other": near, **_HIT})
    danger = scenario_danger(scene.write(tmp_path / "e"), _score())
    assert (danger.level, danger.hit) == ("none", "")
    assert "a careless driver (blind) is not affected" in in_words(danger, "blind")


@pytest.mark.parametrize(
    ("kind", "level", "what"),
    [("prop", "collision", "an object"), ("walker", "person hit", "a person")],
)
def test_a_contact_has_an_impact_speed(tmp_path: Path, kind: str, level: str, what: str) -> None:
    scene = _scene(ahead_m=31.0, kind=kind)
    scene.contacts.append({"tick": 57, "end_tick": 60, "other": 1, **_HIT})
    danger = scenario_danger(scene.write(tmp_path / "e"), _score())
    assert (danger.level, danger.min_ttc_s) == (level, 0.0)
    assert danger.impact_mps == pytest.approx(9.4, abs=0.01)
    assert in_words(danger, "blind").endswith(f"hits {what} at 9.4 m/s")
    assert danger.as_dict()["person_hit"] is (kind == "walker")


def test_without_actors_infractions_while_it_is_active_count(tmp_path: Path) -> None:
    scene = Scene(seconds=3.0)
    scene.add("vehicle", straight(0.0, 0.0, 0.0, 5.0))
    for kind, tick in (("scenario_start", 10), ("scenario_end", 40)):
        scene.contacts.append({"kind": kind, "tick": tick, "source": "scenario"})
    record = scene.write(tmp_path / "e")
    assert scenario_danger(record, _score(("red_light", 5))).level == "none"
    assert scenario_danger(record, _score(("min_speed_infractions", 20))).level == "none"
    danger = scenario_danger(record, _score(("red_light", 20)))
    assert danger.infractions == ("red_light",)
    assert in_words(danger, "blind") == "danger: infraction; a careless driver (blind): red light"


def test_the_worst_counts() -> None:
    miss = ScenarioDanger(min_ttc_s=0.4)
    hits = [ScenarioDanger(min_ttc_s=0.0, impact_mps=v, hit="vehicle") for v in (3.0, 7.0)]
    assert worst_of([miss, *hits]).impact_mps == 7.0
    assert worst_of([miss, ScenarioDanger(min_ttc_s=9.0)]) is miss
