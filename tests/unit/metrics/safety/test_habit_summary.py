"""Runs of habit in pooled figures: hits, injuries, unavoidable ones, what was foreseen."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hand_records_safety import STEP_S, Scene, straight

from jaywalk.metrics.driving.aggregate import aggregate, as_json
from jaywalk.metrics.driving.run_score import score_run
from jaywalk.metrics.safety._collisions import serious_injury_risk
from jaywalk.metrics.safety.foresight import irs_of, read_foresight
from jaywalk.metrics.safety.habit_summary import is_habit, summarise_habit
from jaywalk.record.tracks import load_tracks
from jaywalk.report._habit_section import habit_view
from jaywalk.report.scored_runs import ScoredRun

SPEED = 10.0
HIT_S = 4.75


def tell(scene: Scene, at_s: float, actor: int, kind: str = "note", **detail: object) -> None:
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


def foresee(scene: Scene, actor: int, side_m: float, off_m: float) -> None:
    """Forecasts of somebody who stands, twice a second, off to the right by some metres."""
    for tick in range(0, 60, 10):
        row = {
            "tick": tick,
            "actor": actor,
            "source": "cv-v1",
            "mode": 0,
            "frame": "world",
            "weight": 1.0,
            "time_s": [1.0, 2.0],
            "x_m": [50.0, 50.0],
            "y_m": [side_m + off_m] * 2,
            "var_xx_m2": [0.04, 0.04],
            "var_xy_m2": [0.0, 0.0],
            "var_yy_m2": [0.04, 0.04],
        }
        scene.rows.append(("forecasts", row))


def write(folder: Path, name: str, begins_s: float, **parameters: str) -> None:
    """An ego at 10 m/s hits somebody at 50 m; another one stands beside the road."""
    scene = Scene(seconds=6.0, route=[(0.0, 0.0), (100.0, 0.0)])
    scene.episode = {
        "episode_id": f"{name}-s1",
        "suite": "jaywalk/habit-v1",
        "seed": 1,
        "parameters": {"posed": 2, **parameters},
    }
    scene.add("vehicle", straight(0.0, 0.0, 0.0, SPEED))
    there = scene.add("walker", straight(50.0, 0.0, 90.0, 0.0))
    aside = scene.add("walker", straight(50.0, 8.0, 90.0, 0.0))
    for actor, side in ((there, "left"), (aside, "right")):
        tell(
            scene,
            0.0,
            actor,
            what="role",
            intended="crossing",
            subcategory="walk",
            side=side,
            place="kerb",
            age="adult",
            clip=f"walk-{actor}",
        )
        tell(scene, begins_s, actor, kind="trigger")
    foresee(scene, there, 0.0, 0.5)
    foresee(scene, aside, 8.0, 0.0)
    scene.contacts.append(
        {
            "tick": round(HIT_S / STEP_S),
            "end_tick": round(5.0 / STEP_S),
            "actor": 0,
            "other": there,
            "other_type_id": "walker.pedestrian.0001",
            "speed_mps": SPEED,
            "other_speed_mps": 0.0,
            "closing_mps": SPEED,
            "x_m": 50.0,
            "y_m": 0.0,
        }
    )
    scene.write(folder / "episodes" / f"{name}-s1")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two routes: one hit could have been avoided, the other began 0.4 s before."""
    root = tmp_path_factory.mktemp("habit") / "run"
    write(root, "habit-001", 1.0)
    write(root, "habit-002", HIT_S - 0.4)
    return root


def test_hits_injuries_and_the_unavoidable_are_pooled_over_the_run(folder: Path) -> None:
    run = score_run(folder)
    assert is_habit(run)
    assert [one.counts["unavoidable_person"] for one in run.episodes] == [0, 1]
    assert [one.counts["collisions_person"] for one in run.episodes] == [1, 1]
    found = summarise_habit(run, folder, resamples=200)
    km = sum(one.metrics["driven_km"] for one in run.episodes)
    risk = serious_injury_risk(SPEED)
    figures = found.figures
    assert figures["collisions_per_km"].value == pytest.approx(2.0 / km)
    assert figures["unavoidable_per_km"].value == pytest.approx(1.0 / km)
    assert figures["avoidable_per_km"].value == pytest.approx(1.0 / km)
    assert figures["pmais3_percent"].value == pytest.approx(100.0 * risk)
    assert figures["injuries_per_km"].value == pytest.approx(2.0 * risk / km)
    assert figures["ade_m"].value == pytest.approx(0.25, abs=1e-3)
    told = found.as_dict()
    assert (told["hits"], told["unavoidable_hits"]) == (2, 1)
    assert set(told["irs_by"]) == {"class", "side"}
    json.dumps(told)


def test_one_definition_of_every_rate(folder: Path) -> None:
    """Score, rates and the habit table say the same value with the same interval."""
    run = score_run(folder)
    found, people = aggregate(run), summarise_habit(run, folder).figures
    told = as_json(found)
    same = [
        (found.metrics["collisions_person_per_km"], people["collisions_per_km"]),
        (found.metrics["collisions_person_per_km"], found.rates_per_km["collisions_person"]),
        (found.metrics["pmais3_mean"].scaled(100.0), people["pmais3_percent"]),
        (found.metrics["serious_injuries_per_km"], people["injuries_per_km"]),
        (found.metrics["forecast_ade_m"], people["ade_m"]),
        (found.metrics["success"].scaled(100.0), found.success),
    ]
    for one, other in same:
        assert (one.value, one.low, one.high) == pytest.approx((other.value, other.low, other.high))
    rate = told["rates_per_km"]["collisions_person"]
    assert told["metrics"]["collisions_person_per_km"]["value"] == rate["value"]
    assert (told["clusters"], told["few_clusters"], rate["few_clusters"]) == (2, True, True)


def test_what_was_foreseen_in_the_zone_and_beside_the_truth(folder: Path) -> None:
    import jaywalk.record

    record = jaywalk.record.open(folder / "episodes" / "habit-001-s1")
    tracks = load_tracks(record)
    assert tracks is not None
    samples = read_foresight(record, tracks, "habit-001")
    by_side = {side: rows for (side,), rows in samples.group_by("side")}
    # the zone reaches 3 s ahead of the front: who stands at 50 m is in it from some time on
    assert by_side["left"]["inside"].to_list().count(True) > 0
    assert not by_side["right"]["inside"].any()
    assert np.allclose(by_side["left"]["right_m"], 0.5, atol=1e-3)  # y is to the right
    assert np.allclose(by_side["left"]["ahead_m"], 0.0, atol=1e-3)
    inside = by_side["left"].filter(by_side["left"]["inside"])
    assert inside["in_roi"].min() > 0.99
    assert by_side["right"]["in_roi"].max() < 1e-6
    assert (
        irs_of(samples, 2.0, resamples=0).n_positive
        == inside.filter(inside["horizon_s"] == 2.0).height
    )


def test_the_section_of_the_page(folder: Path) -> None:
    view = habit_view([ScoredRun(score=score_run(folder), folder=folder)], ["driver"])
    assert view is not None
    (table,) = view.tables
    assert table["title"].startswith("Table 1")
    assert [row["label"] for row in table["rows"]] == ["driver"]
    assert [row["label"] for row in table["paper"]] == ["InterFuser", "TransFuser", "BEVDriver"]
    assert [motion["hits"] for motion in view.motions] == [2]
    assert (len(view.unavoidable), view.avoidable) == (1, 1)
    assert [figure.name for figure in view.figures][:2] == [
        "forecast-bias",
        "forecast-error-by-side",
    ]


def test_rows_of_the_paper_stand_beside_scripted_people_only(tmp_path: Path, folder: Path) -> None:
    write(tmp_path / "v3", "habit-001", 1.0, people_model="reactive-1")
    runs = [ScoredRun(score=score_run(one), folder=one) for one in (tmp_path / "v3", folder)]
    alone = habit_view(runs[:1], ["reactive"])
    both = habit_view(runs, ["reactive", "scripted"])
    assert alone is not None
    assert both is not None
    assert alone.tables[0]["paper"] == []
    assert len(both.tables[0]["paper"]) == 3
    about = [row["about"] for row in both.tables[0]["rows"]]
    assert about[0].endswith("people react")
    assert not about[1].endswith("people react")
