"""Exported result files say the same as the scores they come from."""

import json

import numpy as np
import pytest
from driving_scenes import LANE_Y, cruise, stand, write_drive
from typer.testing import CliRunner

from jaywalk.cli.main import app
from jaywalk.core.errors import UsageError
from jaywalk.metrics.driving.aggregate import aggregate
from jaywalk.metrics.driving.export import export_run, number_episodes
from jaywalk.metrics.driving.results import read_results
from jaywalk.metrics.driving.results_score import score_results
from jaywalk.metrics.driving.run_score import score_run
from jaywalk.record.episode import RecordedRoute


@pytest.fixture
def run(tmp_path):
    """Three routes of Fail2Drive: one faultless, one with faults, one blocked."""
    folder = tmp_path / "mine"
    full = cruise(0.0, 103.0, 3.0, 0.5)  # 1.5 m a tick: the protocols look 2 m ahead
    outside = full.copy()
    outside[20:30, 1] = 9.0
    hit = [{"tick": 9, "other": 10, "other_type_id": "walker.pedestrian.0001"}]
    stuck = np.vstack([full[:30], stand((45.0, LANE_Y, 0.0), 181.0, 0.5)])
    for number, places, contacts in ((75, full, []), (1075, outside, hit), (3, stuck, [])):
        write_drive(
            folder,
            places,
            step_s=0.5,
            traffic_mps=4.0,
            contacts=contacts,
            others=[{}],
            episode_id=f"route-{number}-s1",
            scenario=f"route-{number}",
            route=RecordedRoute(route_id=str(number), dense=True),
            town="Hand",
        )
    return folder


@pytest.mark.parametrize("protocol", ["leaderboard-2.0", "leaderboard-2.1", "bench2drive"])
def test_our_own_reader_reads_the_same_scores(run, tmp_path, protocol):
    scored = score_run(run, protocol)
    form = protocol.split("-", maxsplit=1)[0]
    (path,) = export_run(scored, form, tmp_path / "out.json")
    back = read_results(path).records
    assert len(back) == 3
    for record, (score, number, _) in zip(back, number_episodes(scored.episodes), strict=True):
        assert record.number == number
        assert record.status == score.status
        assert record.driving_score == pytest.approx(score.metrics["driving_score"], abs=1e-6)
        assert record.penalty == pytest.approx(score.metrics["infraction_penalty"], abs=1e-6)
        assert record.completion_percent == score.metrics["route_completion"]
        assert record.count == len(score.infractions)
    again = score_results(path, protocol)
    ours = aggregate(scored).metrics["driving_score"].value
    total = 220 if form == "bench2drive" else 3
    assert again["ds"] == pytest.approx(3 * ours / total, abs=1e-5)
    assert not again["disagreements"]


@pytest.mark.parametrize("layout", ["parser", "named"])
def test_both_layouts_of_fail2drive(run, tmp_path, layout):
    scored = score_run(run, "fail2drive")
    paths = export_run(scored, "fail2drive", tmp_path / "out", layout=layout)
    names = sorted(path.relative_to(tmp_path / "out").as_posix() for path in paths)
    assert (
        names
        == {
            "parser": ["1/res/0003_res.json", "1/res/0075_res.json", "1/res/1075_res.json"],
            "named": [
                "1/Base_Animals_0075.json",
                "1/Base_BadParking_0003.json",
                "1/Generalization_Animals_1075.json",
            ],
        }[layout]
    )
    again = score_results(tmp_path / "out", "fail2drive")
    assert (again["base"]["n"], again["generalization"]["n"]) == (2, 1)
    by_id = {one.episode_id: one for one in scored.episodes}
    hit = by_id["route-1075-s1"]
    assert again["generalization"]["ds"] == pytest.approx(hit.metrics["driving_score"])
    assert again["generalization"]["sr"] == 100.0 * hit.success == 0.0


def test_the_summary_of_a_file(run, tmp_path):
    scored = score_run(run, "leaderboard-2.0")
    (path,) = export_run(scored, "leaderboard", tmp_path)
    value = json.loads(path.read_text())
    assert path.name == "results.json"
    assert (value["entry_status"], value["eligible"]) == ("Finished", True)
    checkpoint = value["_checkpoint"]
    assert checkpoint["progress"] == [3, 3]
    summary = checkpoint["global_record"]
    assert summary["status"] == "Failed"
    assert [entry[0] for entry in summary["meta"]["exceptions"]] == ["RouteScenario_3_rep0"]
    means = [record["scores"]["score_composed"] for record in checkpoint["records"]]
    assert summary["scores_mean"]["score_composed"] == pytest.approx(np.mean(means), abs=1e-6)
    assert summary["scores_std_dev"]["score_composed"] == pytest.approx(
        np.std(means, ddof=1), abs=1e-3
    )
    km = sum(r["meta"]["route_length"] * r["scores"]["score_route"] for r in checkpoint["records"])
    assert summary["infractions"]["collisions_pedestrian"] == pytest.approx(1e5 / km, abs=1e-3)
    text = checkpoint["records"][2]["infractions"]["outside_route_lanes"][0]
    metres = float(text.split(" ")[8])
    assert summary["infractions"]["outside_route_lanes"] == round(metres / 1000.0, 3)
    assert len(value["values"]) == len(value["labels"]) == 15
    assert checkpoint["records"][0]["scores"]["score_route"] != 100  # the blocked one comes first
    assert isinstance(checkpoint["records"][1]["scores"]["score_route"], int)


def test_missing_routes_leave_the_summary_open(run, tmp_path):
    from dataclasses import replace

    scored = replace(score_run(run, "leaderboard-2.0"), expected=4, missing=("x",))
    (path,) = export_run(scored, "leaderboard", tmp_path / "out.json")
    value = json.loads(path.read_text())
    assert value["_checkpoint"]["progress"] == [3, 4]
    assert value["_checkpoint"]["global_record"] == {}
    assert value["entry_status"] == "Started"


def test_fail2drive_takes_its_own_routes_alone(tmp_path):
    write_drive(
        tmp_path / "r", cruise(0.0, 20.0, 8.0), route=RecordedRoute(route_id="24757", dense=True)
    )
    scored = score_run(tmp_path / "r", "fail2drive")
    with pytest.raises(UsageError, match="no route of Fail2Drive"):
        export_run(scored, "fail2drive", tmp_path / "out")


def test_seeds_become_repetitions(tmp_path):
    for seed in (2, 1):
        write_drive(
            tmp_path / "r",
            cruise(0.0, 20.0, 8.0),
            episode_id=f"kerb-s{seed}",
            scenario="kerb",
            seed=seed,
            route=RecordedRoute(route_id="kerb", dense=True),
        )
    found = number_episodes(score_run(tmp_path / "r", "leaderboard-2.0").episodes)
    assert [(one.episode_id, number, rep) for one, number, rep in found] == [
        ("kerb-s1", 0, 0),
        ("kerb-s2", 0, 1),
    ]


def test_the_command(run, tmp_path):
    out = tmp_path / "out" / "b2d.json"
    done = CliRunner().invoke(
        app, ["export", str(run), "--format", "bench2drive", "--out", str(out)]
    )
    assert done.exit_code == 0
    assert done.stdout.splitlines()[-1] == (
        f"next: jaywalk score --results {out} --protocol bench2drive"
    )
    record = json.loads(out.read_text())["_checkpoint"]["records"][0]
    assert record["town_name"] == "Hand"
    wrong = ["export", str(run), "--format", "bench2drive", "--out", str(out)]
    done = CliRunner().invoke(app, [*wrong, "--protocol", "leaderboard-2.0"])
    assert isinstance(done.exception, UsageError)


def test_a_record_that_cannot_be_read_is_missing(run):
    (place,) = run.rglob("route-1075-s1")
    (place / "states.parquet").write_bytes(b"x")
    scored = score_run(run, "fail2drive")
    assert (scored.expected, scored.missing) == (3, ("route-1075-s1",))
    assert not scored.is_complete
