"""Bench2Drive's efficiency, smoothness and abilities of our own runs."""

import json
import math

import numpy as np
import pytest
from driving_scenes import LANE_Y, cruise, light, write_drive
from score_cards import card, run
from typer.testing import CliRunner

from jaywalk.cli.main import app
from jaywalk.metrics.driving._smoothness import EgoMotion, metric_info, right_of, smoothness
from jaywalk.metrics.driving.bench2drive import ABILITIES, OWN_TYPES, run_abilities
from jaywalk.metrics.driving.criteria._track import forward_of
from jaywalk.metrics.driving.export import export_run
from jaywalk.metrics.driving.penalties import mean_speed_percent
from jaywalk.metrics.driving.protocols import score_episode
from jaywalk.metrics.driving.run_score import score_run
from jaywalk.record.episode import RecordedRoute
from jaywalk.scenarios.catalogue import SCENARIOS

FULL = cruise(0.0, 101.5, 8.0)
TOOL_SAYS = 0.6  # efficiency_smoothness_benchmark.py of Bench2Drive 0.0.4 on the drive wavy()


def motion(along, across=0.0, turning_dps=0.0, yaw_deg=0.0):
    """An ego with these accelerations in its own frame."""
    along = np.asarray(along, np.float64)
    n = len(along)
    rotation = np.zeros((n, 3))
    rotation[:, 1] = yaw_deg
    forward, right = forward_of(rotation), right_of(rotation)
    zero = np.zeros((n, 3))
    turning = zero.copy()
    turning[:, 2] = turning_dps
    return EgoMotion(
        acceleration_mps2=along[:, None] * forward + np.broadcast_to(across, n)[:, None] * right,
        angular_velocity_dps=turning,
        forward=forward,
        right=right,
        place_m=zero,
        rotation_deg=rotation,
    )


def wavy(n=407):
    """Accelerations and turning that leave the bounds now and then."""
    k = np.arange(n)
    return motion(
        1.6 * np.sin(k / 17.0) + 0.9 * np.sin(k / 3.1),
        across=3.0 * np.sin(k / 41.0) * np.cos(k / 11.0),
        turning_dps=0.6 * np.sin(k / 29.0) + 0.5 * np.sin(k / 101.0),
        yaw_deg=k * 0.7,
    )


@pytest.mark.parametrize(
    ("drive", "expected"),
    [
        (motion(np.zeros(200)), 1.0),  # Standing still is perfectly smooth.
        (motion(np.full(40, 2.3)), 1.0),
        (motion(np.full(40, 2.5)), 0.0),
        (motion(np.full(40, -4.0)), 1.0),
        (motion(np.full(40, -4.1)), 0.0),
        (motion(np.zeros(40), across=4.8, yaw_deg=30.0), 1.0),
        (motion(np.zeros(40), across=-5.0, yaw_deg=30.0), 0.0),
        (motion(np.zeros(40), turning_dps=0.9), 1.0),  # Degrees against a limit in radians.
        (motion(np.zeros(40), turning_dps=1.0), 0.0),
        (motion(-2.0 + 0.40 * np.arange(10)), 1.0),  # 4.0 m/s3, samples taken as 0.1 s apart
        (motion(-2.0 + 0.43 * np.arange(10)), 0.0),
        (motion(np.r_[np.zeros(40), np.full(20, 3.0)]), 2 / 3),
        (motion(np.r_[np.zeros(40), np.full(19, 3.0)]), 1.0),  # a short rest is dropped
        (motion(np.zeros(3)), 1.0),
    ],
)
def test_smoothness_by_hand(drive, expected):
    assert smoothness(drive) == pytest.approx(expected)


def test_smoothness_is_undefined_without_enough_known_samples():
    assert math.isnan(smoothness(motion(np.zeros(2))))
    assert math.isnan(smoothness(motion(np.r_[np.zeros(30), np.nan])))


def fitted(values, deriv=0):
    """Least-squares parabolas over seven samples; those at the ends serve the last three."""
    out = np.empty(len(values))
    for k in range(len(values)):
        first = min(max(k - 3, 0), len(values) - 7)
        line = np.polyfit(np.arange(first, first + 7) * 0.1, values[first : first + 7], 2)
        out[k] = np.polyval(np.polyder(line, deriv), k * 0.1)
    return out


def test_smoothness_agrees_with_least_squares_and_with_their_tool():
    drive = wavy()
    ahead, right = drive.forward[:, :2], drive.right[:, :2]
    flat = drive.acceleration_mps2[:, :2]
    good = []
    for k in range(0, len(drive) - 19, 20):
        part = slice(k, k + 20)
        along = fitted((flat[part] * ahead[part]).sum(axis=1))
        across = fitted((flat[part] * right[part]).sum(axis=1))
        size = fitted(np.hypot(*flat[part].T))
        turning = fitted(drive.angular_velocity_dps[part, 2])
        good.append(
            along.min() > -4.05
            and along.max() < 2.4
            and np.abs(across).max() < 4.89
            and np.abs(fitted(size, 1)).max() < 8.37
            and np.abs(fitted(along, 1)).max() < 4.13
            and np.abs(turning).max() < 0.95
        )
    assert 0 < sum(good) < len(good) == 20
    assert smoothness(drive) == pytest.approx(np.mean(good))
    assert smoothness(drive) == pytest.approx(TOOL_SAYS)


def test_efficiency_leaves_out_standing_traffic():
    assert mean_speed_percent([80.0, 120.0, 1000.01]) == 100.0
    assert mean_speed_percent([1000.0]) == 1000.0
    assert math.isnan(mean_speed_percent([4000.0]))
    assert math.isnan(mean_speed_percent([]))


def test_a_record_gets_efficiency_and_smoothness_from_bench2drive_only(tmp_path):
    record = write_drive(tmp_path, FULL, traffic_mps=10.0)
    found = score_episode(record, "bench2drive").metrics
    # 8 of 10 m/s in every section.
    assert found["efficiency"] == pytest.approx(80.0, abs=0.5)
    assert found["smoothness"] == 1.0
    assert "efficiency" not in score_episode(record, "leaderboard-2.0").metrics


def drive(kind, route, *, success, obeyed=False):
    detail = {"scenario_types": [kind] if kind else [], "signs_obeyed": obeyed}
    return card(route, success=success, protocol="bench2drive", detail=detail)


def test_abilities_of_a_run_by_hand():
    found = run_abilities(
        run(
            drive("Accident", "a", success=True),
            drive("jaywalk/construction-v1", "b", success=False),
            drive("PedestrianCrossing", "c", success=False, obeyed=True),
            drive("jaywalk/hard-brake-v2", "d", success=True),
            drive("T_Junction", "e", success=False),
            drive("InvadingTurn", "f", success=True),
            drive("ParkingExit", "g", success=True),
            drive("", "h", success=True),
            drive("jaywalk/open-road-v1", "i", success=True),
            protocol="bench2drive",
        )
    )
    assert found["n"] == {
        "Overtaking": 2,
        "Merging": 1,
        "Emergency_Brake": 2,
        "Give_Way": 1,
        "Traffic_Signs": 2,
    }
    # The person at the junction was hit, but behind the first junction, passed lawfully.
    assert found["abilities"] == pytest.approx(
        {
            "Overtaking": 50.0,
            "Merging": 100.0,
            "Emergency_Brake": 50.0,
            "Give_Way": 100.0,
            "Traffic_Signs": 50.0,
            "mean": 70.0,
        }
    )
    assert found["types_of_no_ability"] == ["jaywalk/open-road-v1", "no scenario"]
    for name, (low, high) in found["intervals"].items():
        assert low <= found["abilities"][name] <= high
        assert low < high


def test_abilities_without_drives_are_unknown_and_other_protocols_have_none():
    found = run_abilities(run(drive("Accident", "a", success=True), protocol="bench2drive"))
    assert math.isnan(found["abilities"]["Merging"])
    assert math.isnan(found["abilities"]["mean"])
    assert run_abilities(run(card("a"))) is None


def test_our_types_are_those_the_catalogue_calls_alike():
    known = set().union(*ABILITIES.values())
    listed = {entry.name: entry.summary for entry in SCENARIOS}
    for own, public in OWN_TYPES.items():
        assert public in known
        assert f"like {own}-v1" in listed[public]
        assert f"{own}-v1" in listed


# The junction begins at x = 200: point 201 of a route of 251, and eight more to have passed it.
THROUGH = np.column_stack([np.arange(0.0, 251.0), np.full(251, LANE_Y), np.zeros(251)])


@pytest.mark.parametrize(("last_x", "obeyed"), [(212.0, True), (206.0, False)])
def test_the_first_junction_is_passed_or_not(tmp_path, last_x, obeyed):
    record = write_drive(tmp_path, cruise(0.0, last_x, 8.0), line=THROUGH)
    assert score_episode(record, "bench2drive").detail["signs_obeyed"] is obeyed


def test_without_a_junction_nothing_is_forgiven(tmp_path):
    record = write_drive(tmp_path, cruise(0.0, 90.0, 8.0))
    assert score_episode(record, "bench2drive").detail["signs_obeyed"] is False


def test_the_first_junction_is_not_passed_lawfully_over_a_red_light(tmp_path):
    record = write_drive(
        tmp_path, cruise(0.0, 230.0, 8.0), line=THROUGH, lights=[light(195.0, [(0, 0)])]
    )
    found = score_episode(record, "bench2drive")
    assert found.counts["red_light"] == 1
    assert found.detail["signs_obeyed"] is False


@pytest.fixture
def two_routes(tmp_path):
    for number in (24, 25):
        write_drive(
            tmp_path / "run",
            FULL,
            traffic_mps=10.0,
            episode_id=f"route-{number}-s1",
            scenario=f"route-{number}",
            town="Hand",
            route=RecordedRoute(
                route_id=str(number),
                dense=True,
                scenarios=({"type": "ParkingExit", "name": "ParkingExit_1"},),
            ),
        )
    return tmp_path / "run"


def test_the_score_of_a_run_has_all_of_it(two_routes):
    command = ["score", str(two_routes), "--protocol", "bench2drive"]
    done = CliRunner().invoke(app, [*command, "--json"])
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert found["metrics"]["efficiency"]["value"] == pytest.approx(80.0, abs=0.5)
    assert found["metrics"]["smoothness"]["value"] == 1.0
    assert found["bench2drive"]["abilities"]["Merging"] == 100.0
    assert found["bench2drive"]["abilities"]["mean"] is None
    text = CliRunner().invoke(app, command).stdout
    assert "efficiency" in text
    assert "Emergency_Brake" in text


def test_the_export_writes_the_motion_their_tool_reads(two_routes, tmp_path):
    scored = score_run(two_routes, "bench2drive")
    out = tmp_path / "out" / "mine.json"
    paths = export_run(scored, "bench2drive", out, records=two_routes)
    saved = [one["save_name"] for one in json.loads(out.read_text())["_checkpoint"]["records"]]
    assert paths == [
        out,
        *(out.parent / "mine_metric_info" / name / "metric_info.json" for name in saved),
    ]
    found = json.loads(paths[1].read_text())
    first, last = (scored.episodes[0].detail[name] for name in ("first_tick", "end_tick"))
    assert list(found) == [str(k) for k in range(last - first + 1)]
    assert found["3"].keys() == {
        "acceleration",
        "angular_velocity",
        "forward_vector",
        "right_vector",
        "location",
        "rotation",
    }
    assert found["0"]["forward_vector"] == pytest.approx([1.0, 0.0, 0.0])
    assert found["0"]["right_vector"] == pytest.approx([0.0, 1.0, 0.0])
    assert found["0"]["location"] == pytest.approx(FULL[0].tolist(), abs=1e-3)


def test_vectors_of_a_rotation_are_square():
    rotation = np.array([[5.0, 40.0, -3.0], [0.0, 180.0, 0.0]])
    forward, right = forward_of(rotation), right_of(rotation)
    np.testing.assert_allclose((forward * right).sum(axis=1), 0.0, atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(right, axis=1), 1.0)
    assert right[1] == pytest.approx([0.0, -1.0, 0.0], abs=1e-12)
    assert metric_info(wavy(3))["2"]["rotation"] == [0.0, 0.0, 1.4]
