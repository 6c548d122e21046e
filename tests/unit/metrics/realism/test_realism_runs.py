"""Runs of ours as scenes: frames, map, windows, rollouts without a server, people by role."""

import json

import numpy as np
import pytest
import shapely
from street_episode import EGO, PARKED, PERSON, ego_x, person_y, write_street
from typer.testing import CliRunner

import jaywalk.record
from jaywalk.cli.main import app
from jaywalk.core.errors import DataError, PrerequisiteError, UsageError
from jaywalk.metrics.realism.jaywalk_score.score import score_jaywalk1
from jaywalk.record.run import RunFolder
from jaywalk.rollouts.cases._recorded import recorded_scenes, run_scenes
from jaywalk.rollouts.cases._road_map import road_map
from jaywalk.rollouts.cases.recorded_people import run_people
from jaywalk.rollouts.inputs import read_case_set
from jaywalk.town.town import load_town


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "street-cruise"
    for seed in (1, 2):
        write_street(folder, f"r1-s{seed}", ticks=240, suite="jaywalk/street-v1")
    return folder


def test_a_window_of_a_record_is_the_record(run):
    (one,) = recorded_scenes(jaywalk.record.open(run / "episodes" / "r1-s1"))
    scene = one.scene
    assert scene.name == f"r1-s1-t{one.current_tick}"
    assert scene.object_id.tolist() == [EGO, PARKED, PERSON]
    assert scene.object_type.tolist() == [1, 1, 2]
    assert scene.sdc_index == 0
    assert scene.valid.all()
    np.testing.assert_allclose(scene.x_m[0], [ego_x(t) for t in one.ticks], atol=1e-4)
    # Left-handed metres become right-handed ones.
    np.testing.assert_allclose(scene.y_m[2], [-person_y(t) for t in one.ticks], atol=1e-4)
    assert np.diff(one.ticks).tolist() == [2] * 90
    assert one.ticks[0] >= 0
    assert one.ticks[-1] < 240


def test_the_road_lies_to_the_left_of_its_edges(run):
    (one,) = recorded_scenes(jaywalk.record.open(run / "episodes" / "r1-s1"))
    edges = one.scene.road_edges
    rings = [
        edges.points_m[a:b, :2] for a, b in zip(edges.offsets, edges.offsets[1:], strict=False)
    ]
    assert len(rings) == 1
    road = shapely.Polygon(rings[0])
    assert road.exterior.is_ccw
    assert road.bounds == pytest.approx((0.0, -3.5, 200.0, 3.5), abs=0.1)
    lanes = one.scene.lanes
    ways = {round(float(lanes.lines.points_m[lanes.lines.offsets[i], 1]), 2) for i in range(2)}
    assert ways == {-1.75, 1.75}


def test_edges_of_a_town_keep_its_lanes_on_the_road():
    town = road_map(load_town("Orchard"))
    road = shapely.union_all([shapely.Polygon(e[:, :2]) for e in town.edges if _ccw(e)])
    islands = shapely.union_all([shapely.Polygon(e[:, :2]) for e in town.edges if not _ccw(e)])
    points = shapely.points(town.lanes.points_m[:, :2])
    assert shapely.covers(road.buffer(0.2), points).all()
    assert not shapely.contains(islands.buffer(-0.2), points).any()
    assert all(town.successors)


def _ccw(edge):
    return shapely.LinearRing(edge[:, :2]).is_ccw


def test_windows_are_spread_and_a_time_can_be_asked_for(run):
    record = jaywalk.record.open(run / "episodes" / "r1-s1")
    currents = [one.current_tick for one in recorded_scenes(record, count=3)]
    assert currents == sorted(set(currents))
    assert len(currents) == 3
    assert recorded_scenes(record, at_s=2.0)[0].current_tick == 40
    with pytest.raises(DataError, match="no window at 9 s"):
        recorded_scenes(record, at_s=9.0)
    near = recorded_scenes(record, at_s=2.0, range_m=40.0)[0].scene
    assert near.object_id.tolist() == [EGO, PERSON]


def test_a_run_without_rollouts_is_scored_with_lane_followers(run):
    read = read_case_set(run)
    assert (read.policy, read.made_here, len(read.cases)) == ("lanes", True, 2)
    with pytest.raises(PrerequisiteError, match=r"rollout .*street-cruise --policy traffic"):
        read_case_set(run, policy="traffic")
    with pytest.raises(UsageError, match="is not a run"):
        read_case_set(run / "files", policy="traffic")


def test_a_short_run_cannot_be_scored(tmp_path):
    write_street(tmp_path / "run", "r1-s1", ticks=100)
    assert RunFolder(tmp_path / "run").is_run
    with pytest.raises(DataError, match=r"9\.1 s"):
        run_scenes(tmp_path / "run")


def call(*words):
    found = CliRunner().invoke(app, ["realism", *map(str, words)])
    if found.exception and not isinstance(found.exception, SystemExit):
        raise found.exception
    return found


def test_rollouts_of_a_run_are_made_scored_and_resumed(run):
    made = call("rollout", run, "--policy", "lanes", "--n", 3, "--json")
    values = json.loads(made.stdout)
    assert (values["scenes"], values["kept"], values["rollouts"]) == (2, 0, 3)
    folder = run / "realism" / "lanes"
    files = sorted(p.name for p in folder.glob("*.npz"))
    before = [(folder / name).read_bytes() for name in files]
    (folder / files[0]).unlink()
    again = json.loads(call("rollout", run, "--policy", "lanes", "--n", 3, "--json").stdout)
    assert again["kept"] == 1
    assert [(folder / name).read_bytes() for name in files] == before
    score = json.loads(call("score", run, "--config", "2025", "--per-scenario", "--json").stdout)
    assert score["policy"] == "lanes"
    assert {
        "config",
        "metametric",
        "likelihoods",
        "buckets",
        "ade_m",
        "min_ade_m",
        "rates",
        "n_scenarios",
        "n_agents",
        "scenarios",
    } <= set(score)
    assert (score["n_scenarios"], score["n_agents"]) == (2, 6)
    assert score["scenarios"][0]["n_rollouts"] == 3
    call("rollout", run, "--policy", "random", "--n", 3)
    with pytest.raises(UsageError, match="choose one with --policy"):
        read_case_set(run)
    assert read_case_set(run, policy="random").policy == "random"


def test_a_driver_needs_a_run(tmp_path, run):
    folder = run / "realism" / "lanes"
    with pytest.raises(UsageError, match="needs a Jaywalk run"):
        call("rollout", folder, "--policy", "expert", "--out", tmp_path / "x")
    with pytest.raises(UsageError, match="Unknown policy 'fast'"):
        call("rollout", folder, "--policy", "fast", "--out", tmp_path / "x")


def test_the_better_score_takes_a_run(run):
    found = score_jaywalk1(read_case_set(run, policy="lanes").cases)
    # The ego drives into the person in the log: lane followers brake.
    assert found.safety["collision"].logged_rate > found.safety["collision"].rate


def test_people_of_a_run_by_role(run):
    groups = run_people([run])
    assert len(groups) == 1
    ((name, people),) = groups.items()
    assert name.startswith("street ")
    assert (len(people.people), len(people.vehicles)) == (2, 4)
    # Hit at tick 94: later nobody walks.
    assert people.people[0].time_s[-1] < 94 * 0.05
