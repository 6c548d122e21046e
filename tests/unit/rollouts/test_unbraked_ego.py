"""People before an ego that does not brake, against cases whose answer is known."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from street_episode import EGO, LANE_Y_M, SPEED_MPS
from test_true_probabilities import street

from jaywalk.actors.reactive.traits import ATTENTIVE, OBLIVIOUS
from jaywalk.record import open as open_record
from jaywalk.record.tracks import COS, SIN, VX, VY, X, Y
from jaywalk.rollouts.people.continuing import Follower
from jaywalk.rollouts.people.recorded import RecordedPeople, read_reacting_people
from jaywalk.rollouts.people.unbraked import differs, replay_braking, unbraked

STOPS = 70  # tick, 3.5 s: the ego is at x = 45 m, 15 m before the person


def people_of(folder: Path, attention: int, *, stops: bool) -> RecordedPeople:
    people = read_reacting_people(open_record(street(folder, attention=attention, sets_off_m=3.6)))
    people.traits.bold_s[:] = 0.0
    place = people.place_m(0)
    body = people.body
    people.tracks.pose[body[0], :, [X, Y]] = np.repeat(place[0][:, None], 160, axis=1)
    if stops:
        pose = people.tracks.pose[EGO]
        pose[STOPS + 1 :, [X, Y]] = pose[STOPS, [X, Y]]
        pose[STOPS + 1 :, [VX, VY]] = 0.0
    return people


def follow(people: RecordedPeople) -> Follower:
    follower = Follower.of(people)
    for _ in range(STOPS):
        follower.step()
    return follower


def test_an_ego_that_keeps_its_speed_is_the_unbraked_one(tmp_path: Path) -> None:
    people = people_of(tmp_path, ATTENTIVE, stops=False)
    assert unbraked(people, 30, 60) == pytest.approx(people.tracks.pose[EGO, 30:90], abs=1e-4)
    assert not differs(follow(people), 0, 2.0)


def test_the_unbraked_ego_goes_straight_on_past_its_way(tmp_path: Path) -> None:
    people = people_of(tmp_path, ATTENTIVE, stops=True)
    poses = unbraked(people, STOPS, 40)
    expected = 45.0 + SPEED_MPS * 0.05 * np.arange(40)
    assert poses[:, X] == pytest.approx(expected, abs=1e-3)
    assert poses[:, Y] == pytest.approx(np.full(40, LANE_Y_M), abs=1e-6)
    assert (poses[:, COS] == 1.0).all()
    assert not poses[:, SIN].any()
    assert poses[:, VX] == pytest.approx(np.full(40, SPEED_MPS))
    # The record itself is as before.
    assert people.tracks.pose[EGO, -1, X] == pytest.approx(45.0)


@pytest.mark.parametrize(("attention", "changes"), [(ATTENTIVE, True), (OBLIVIOUS, False)])
def test_a_car_that_stops_changes_the_mind_of_those_who_look(
    tmp_path: Path, attention: int, changes: bool
) -> None:
    people = people_of(tmp_path, attention, stops=True)
    assert differs(follow(people), 0, 2.0) is changes


def test_an_episode_without_needless_braking(tmp_path: Path) -> None:
    found = replay_braking(open_record(street(tmp_path, attention=ATTENTIVE)))
    assert found.needless == ()
