"""One hit once, whose it was, and how bad."""

import math

import numpy as np
import pytest
from hand_records_safety import Scene, profile, straight
from scipy.special import expit

from jaywalk.metrics.safety._collisions import (
    expected_injuries,
    find_collisions,
    serious_injury_risk,
)
from jaywalk.record._contacts import find_contacts
from jaywalk.record.tracks import load_tracks


def drive(speed=8.0, seconds=20.0):
    scene = Scene(seconds=seconds)
    scene.add("vehicle", straight(0.0, 0.0, 0.0, speed))
    scene.add("walker", straight(50.0, 0.0, 90.0, 0.0))
    scene.add("vehicle", straight(80.0, 0.0, 0.0, 0.0))
    return scene


def contact(from_s, to_s, other, **more):
    row = {
        "tick": round(from_s / 0.05),
        "end_tick": round(to_s / 0.05),
        "other": other,
        "x_m": 1.0,
        "y_m": 2.0,
        "speed_mps": 8.0,
        "other_speed_mps": 0.5,
        "closing_mps": 7.0,
        "normal_x": -1.0,
        "normal_y": 0.0,
    }
    return row | more


def hits(scene, tmp_path):
    record = scene.write(tmp_path / "episode")
    return find_collisions(record, load_tracks(record))


def test_pushing_the_same_person_is_one_hit(tmp_path):
    scene = drive()
    scene.contacts = [contact(5.0, 5.4, 1), contact(7.0, 9.0, 1), contact(13.5, 13.6, 1)]
    (hit,) = hits(scene, tmp_path)
    assert (hit.tick, hit.end_tick, hit.what, hit.side) == (100, 272, "person", "front")
    assert not hit.ego_stood


def test_hitting_again_later_is_a_second_hit(tmp_path):
    scene = drive()
    scene.contacts = [contact(5.0, 5.4, 1), contact(10.5, 10.6, 1)]
    assert len(hits(scene, tmp_path)) == 2
    scene.contacts = [contact(5.0, 5.4, 1), contact(10.3, 10.6, 1)]
    (tmp_path / "again").mkdir()
    assert len(hits(scene, tmp_path / "again")) == 1


def test_different_bodies_are_different_hits(tmp_path):
    scene = drive()
    scene.type_id[1] = "walker.animal.1003"
    scene.contacts = [
        contact(5.0, 5.4, 1),
        contact(5.2, 5.4, 2, normal_x=0.0, normal_y=1.0),
        contact(5.3, 5.4, None, other_type_id="static.building", speed_mps=None),
        contact(6.0, 6.1, None, other_type_id="static.building"),
        contact(6.0, 6.1, None, other_type_id="static.pole"),
        contact(6.0, 6.1, None, other_type_id="static.sidewalk"),
    ]
    found = hits(scene, tmp_path)
    assert [hit.what for hit in found] == ["animal", "vehicle", "static", "static"]
    assert [hit.side for hit in found] == ["front", "side", "front", "front"]
    assert found[1].message == (
        "Was hit in the side by vehicle 2 (vehicle.lincoln.mkz_2020) at 8.0 m/s, the other at 0.5"
    )
    assert found[3].message == "Hit static.pole at 8.0 m/s"
    assert found[2].speed_mps == pytest.approx(8.0, abs=0.01)  # from the states
    assert all(math.isnan(hit.injury_risk) for hit in found)


def test_contacts_are_found_whoever_is_named_first(tmp_path):
    scene = drive()
    scene.contacts = [
        contact(5.0, 5.4, 0, actor=2, speed_mps=1.0, other_speed_mps=8.0, normal_x=1.0),
        contact(6.0, 6.4, 2, actor=1),  # the ego has no part in this
    ]
    (hit,) = hits(scene, tmp_path)
    assert (hit.other, hit.what, hit.speed_mps, hit.side) == (2, "vehicle", 8.0, "front")
    assert hit.other_type_id == "vehicle.lincoln.mkz_2020"


@pytest.mark.parametrize(("stops_s", "stood"), [(3.5, True), (4.5, False)])
def test_an_ego_that_stood_did_not_hit(tmp_path, stops_s, stood):
    scene = Scene(seconds=10.0)
    scene.add("vehicle", profile(0.0, 0.0, 0.0, [(0, 5), (stops_s, 0), (10, 0)]))
    scene.add("walker", straight(5.0, 0.0, 180.0, 1.0))
    scene.contacts = [contact(5.0, 6.0, 1, speed_mps=0.0, other_speed_mps=1.0, closing_mps=1.0)]
    (hit,) = hits(scene, tmp_path)
    assert hit.ego_stood is stood
    assert math.isnan(hit.injury_risk) is stood
    assert ("ran into the standing ego at 1.0 m/s" in hit.message) is stood


def test_setting_off_into_somebody_is_a_hit(tmp_path):
    scene = Scene(seconds=10.0)
    scene.add("vehicle", profile(0.0, 0.0, 0.0, [(0, 0), (5.5, 0), (7.5, 5.0), (10, 5)]))
    scene.add("walker", straight(2.7, 0.0, 180.0, 0.0))
    scene.contacts = [contact(5.0, 7.0, 1, speed_mps=0.0)]
    (hit,) = hits(scene, tmp_path)
    assert not hit.ego_stood


def test_a_real_contact_is_found_and_judged(tmp_path):
    """Contacts by the record's own geometry, no row made by hand."""
    scene = drive(speed=8.0, seconds=8.0)
    record = scene.write(tmp_path / "episode")
    found = find_contacts(
        record.ticks.collect(), record.actors.collect(), record.states, ego=0, ego_only=True
    )
    scene.contacts = [hit.as_row("walker.pedestrian.0001") for hit in found]
    (hit,) = hits(scene, tmp_path / "with")
    assert hit.time_s == pytest.approx((50.0 - 0.2 - 2.4) / 8.0, abs=0.06)
    assert hit.speed_mps == pytest.approx(8.0, abs=0.01)
    assert hit.closing_mps == pytest.approx(8.0, abs=0.01)
    mean, total = expected_injuries([hit])
    assert mean == total == pytest.approx(expit(0.288 * 8.0 - 3.164), abs=1e-4)


def test_injury_risk_is_the_published_curve():
    speeds = np.array([0.0, 5.0, 7.0, 11.0, 20.0])
    risks = [serious_injury_risk(v) for v in speeds]
    assert risks == pytest.approx(expit(-3.164 + 0.288 * speeds), rel=1e-12)
    assert np.round(risks[:4], 3).tolist() == [0.041, 0.151, 0.241, 0.501]
    assert math.isnan(serious_injury_risk(math.nan))


def test_nobody_hit_nobody_hurt():
    mean, total = expected_injuries([])
    assert math.isnan(mean)
    assert total == 0.0


@pytest.mark.parametrize(
    ("speed", "normal", "walked"),
    [
        (1.5, (0.0, 1.0), True),  # a person walks into the side of a car at walking pace
        (1.5, (-1.0, 0.0), False),  # its front hits them, however slowly
        (4.0, (0.0, 1.0), False),  # faster than walking: the curve stays
        (1.5, (1.0, 0.0), True),  # they walk into its rear while it drives away
        (-1.5, (1.0, 0.0), False),  # it reverses into them
    ],
)
def test_the_frontal_injury_curve_is_for_frontal_hits(tmp_path, speed, normal, walked):
    scene = drive(speed=speed)
    scene.contacts = [
        contact(5.0, 5.4, 1, speed_mps=abs(speed), normal_x=normal[0], normal_y=normal[1])
    ]
    (hit,) = hits(scene, tmp_path)
    assert hit.what == "person"
    assert hit.walked_into == walked
    if walked:
        assert math.isnan(hit.injury_risk)
        assert expected_injuries([hit])[1] == 0.0
    else:
        assert hit.injury_risk == pytest.approx(serious_injury_risk(abs(speed)))


def test_who_walks_into_the_side_and_then_is_run_over_was_hit(tmp_path):
    scene = drive(speed=1.5)
    side = contact(5.0, 5.4, 1, speed_mps=1.5, normal_x=0.0, normal_y=1.0)
    front = contact(7.0, 7.4, 1, speed_mps=6.0, normal_x=-1.0, normal_y=0.0)
    scene.contacts = [side, front]
    (hit,) = hits(scene, tmp_path / "run-over")
    assert (hit.walked_into, hit.side, hit.time_s) == (False, "front", pytest.approx(7.0))
    assert hit.injury_risk == pytest.approx(serious_injury_risk(6.0))
    scene.contacts = [contact(3.0, 3.4, 1, speed_mps=6.0, normal_x=-1.0, normal_y=0.0), side]
    (hit,) = hits(scene, tmp_path / "pushed-aside")
    assert (hit.walked_into, hit.time_s) == (False, pytest.approx(3.0))
    assert hit.injury_risk == pytest.approx(serious_injury_risk(6.0))
