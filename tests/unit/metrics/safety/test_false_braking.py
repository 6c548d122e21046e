"""Braking for people: what counts, what is false, what else explains it."""

import math

import numpy as np
import pytest
from hand_records_safety import Scene, profile, straight, through

from jaywalk.core.errors import UsageError
from jaywalk.metrics.safety._braking import BrakingThresholds, find_braking
from jaywalk.metrics.safety._false_braking import (
    CUT_OFF,
    NO_PERSON,
    FalseBrakingRules,
    judge_braking,
    sensitivity,
    with_thresholds,
)
from jaywalk.record.reactions import PersonDecision
from jaywalk.record.tracks import load_tracks

# From 10 m/s at 4 s down to 4 m/s at 6 s (front at 42.4 m at the onset), then on.
SLOWING = ((0.0, 10.0), (4.0, 10.0), (6.0, 4.0), (8.0, 4.0), (11.0, 10.0), (99.0, 10.0))


def drive(knots=SLOWING, seconds=14.0):
    scene = Scene(seconds=seconds)
    scene.add("vehicle", profile(0.0, 0.0, 0.0, knots))
    return scene


def judge(scene, tmp_path, rules=None):
    record = scene.write(tmp_path / "episode")
    return judge_braking(record, load_tracks(record), rules)


def only(scene, tmp_path, rules=None):
    (one,) = judge(scene, tmp_path, rules).judged
    return one


# -- events ----------------------------------------------------------------------------------------


def events(scene, tmp_path, thresholds=None):
    record = scene.write(tmp_path / "episode")
    return find_braking(record, load_tracks(record), thresholds)


def test_an_event_by_loss_of_speed(tmp_path):
    (event,) = events(drive(), tmp_path)
    assert event.start * 0.05 == pytest.approx(4.25, abs=0.15)
    assert event.end * 0.05 == pytest.approx(6.2, abs=0.15)
    assert event.hardest_mps2 == pytest.approx(3.0, abs=0.05)
    assert event.lost_mps == pytest.approx(5.4, abs=0.5)


@pytest.mark.parametrize(("loss", "count"), [(2.1, 1), (1.9, 0)])
def test_the_onset_is_a_threshold(tmp_path, loss, count):
    end = 4.0 + 6.0 / loss
    knots = [(0, 10), (4, 10), (end, 4), (99, 4)]
    assert len(events(drive(knots), tmp_path)) == count


@pytest.mark.parametrize(("command", "count"), [(0.35, 1), (0.25, 0)])
def test_a_command_is_an_onset_too(tmp_path, command, count):
    scene = drive([(0, 10), (4, 10), (8, 4.0), (99, 4)])  # 1.5 m/s2: below the onset by speed
    scene.brake = lambda t: command if 4.0 <= t < 6.0 else 0.0
    found = events(scene, tmp_path)
    assert len(found) == count
    if found:
        assert found[0].start == 80
        # Released when both are: the loss of speed stays above 0.5 m/s2 until 8 s.
        assert found[0].end * 0.05 == pytest.approx(8.2, abs=0.2)


def test_what_the_agent_asked_for_goes_before_what_the_car_got(tmp_path):
    scene = drive([(0, 10), (4, 10), (8, 4.0), (99, 4)])
    scene.brake = lambda t: 0.0
    scene.rows += [
        ("ego", {"tick": tick, "command_brake": 0.5 if 85 <= tick < 95 else 0.0})
        for tick in range(281)
    ]
    assert [event.start for event in events(scene, tmp_path)] == [85]


@pytest.mark.parametrize(("pause_s", "count"), [(0.8, 1), (1.6, 2)])
def test_close_events_are_one(tmp_path, pause_s, count):
    scene = drive([(0, 15), (99, 15)], seconds=12.0)
    times = [4.0, 5.0, 5.0 + pause_s, 6.0 + pause_s]
    scene.bodies[0] = (
        "vehicle",
        profile(0, 0, 0, [(0, 15), (4, 15), (5, 11), (5 + pause_s, 11), (6 + pause_s, 7), (99, 7)]),
    )
    found = events(scene, tmp_path, BrakingThresholds(over_s=0.05))
    assert len(found) == count
    assert found[0].start * 0.05 == pytest.approx(times[0], abs=0.15)


def test_dabs_and_holding_are_no_events(tmp_path):
    scene = drive([(0, 10), (4, 10), (4.1, 9.7), (99, 9.7)])
    scene.brake = lambda t: 0.5 if 4.0 <= t < 4.1 else 0.0
    assert events(scene, tmp_path) == []
    still = drive([(0, 0), (99, 0)])
    still.brake = lambda t: 1.0
    assert events(still, tmp_path / "still") == []


# -- verdicts --------------------------------------------------------------------------------------


def test_braking_with_nobody_near_does_not_count(tmp_path):
    scene = drive()
    scene.add("walker", straight(60.0, 12.0, 0.0, 0.0))
    scene.add("walker", straight(30.0, 1.5, 0.0, 0.0))  # behind
    found = judge(scene, tmp_path)
    assert [one.explained_by for one in found.judged] == [NO_PERSON]
    assert (found.events, found.false_events) == (0, 0)
    assert math.isnan(found.rate)


@pytest.mark.parametrize(("aside_m", "counts"), [(4.3, True), (4.7, False)])
def test_a_person_standing_beside_is_a_plausible_cause(tmp_path, aside_m, counts):
    """Half width 1.0, margin 0.3, radius 0.2, beside 3.0: up to 4.5 m from the middle."""
    scene = drive()
    person = scene.add("walker", straight(60.0, aside_m, 180.0, 0.0))
    one = only(scene, tmp_path)
    assert one.counts is counts
    assert one.is_false is counts  # it stands: nobody came
    assert one.person == (person if counts else -1)


@pytest.mark.parametrize(("enters_s", "is_false"), [(7.5, False), (9.5, True)])
def test_a_person_who_comes_within_the_horizon_justifies_it(tmp_path, enters_s, is_false):
    """The onset is at about 4.25 s, the horizon 4 s; the corridor's edge is 1.5 m aside."""
    scene = drive()
    scene.add("walker", straight(70.0, -3.0, 90.0, 1.5, start_s=enters_s - 1.0))
    one = only(scene, tmp_path)
    assert one.counts
    assert one.is_false is is_false


def test_a_person_who_walks_up_and_stops_short_makes_it_false(tmp_path):
    scene = drive()
    scene.add("walker", through([(0, 60, -9.0), (5, 60, -1.8), (14, 60, -1.8)]))
    assert only(scene, tmp_path).is_false


def test_a_person_heading_for_the_corridor_is_plausible_from_farther(tmp_path):
    scene = drive()
    scene.add("walker", through([(0, 60, -13.0), (4.5, 60, -6.5), (5.5, 60, -5.5), (14, 60, -5.5)]))
    assert only(scene, tmp_path).is_false
    away = drive()
    away.add("walker", through([(0, 60, -1.9), (4.5, 60, -6.5), (14, 60, -15.0)]))
    assert only(away, tmp_path / "away").explained_by == NO_PERSON


def test_somebody_who_steps_behind_the_ego_does_not_justify_it(tmp_path):
    scene = drive()
    scene.add("walker", straight(46.0, -2.5, 90.0, 1.5, start_s=6.2))  # the front is at 57 then
    assert only(scene, tmp_path).is_false


def test_a_record_that_ends_too_soon_gives_no_verdict(tmp_path):
    scene = drive(seconds=7.0)
    scene.add("walker", straight(60.0, 3.0, 180.0, 0.0))
    assert only(scene, tmp_path).explained_by == CUT_OFF
    scene.add("walker", straight(70.0, 0.0, 180.0, 0.0))  # in the way at once: justified
    one = only(scene, tmp_path / "justified")
    assert one.counts
    assert not one.is_false


def with_person(knots=SLOWING, seconds=14.0):
    scene = drive(knots, seconds)
    scene.add("walker", straight(60.0, 3.0, 180.0, 0.0))
    return scene


@pytest.mark.parametrize(("state", "why"), [(0, "red light"), (1, "red light"), (2, "")])
def test_a_red_light_explains_it(tmp_path, state, why):
    scene = with_person()
    scene.add_light(62.0, 0.0, 0.0, [(0.0, state)])
    assert only(scene, tmp_path).explained_by == why


@pytest.mark.parametrize(
    ("at", "why"),
    [((95.0, 0.0, 0.0), ""), ((62.0, 3.5, 0.0), ""), ((62.0, 0.0, 180.0), "")],
)
def test_a_red_light_far_away_or_of_another_lane_does_not(tmp_path, at, why):
    scene = with_person()
    scene.add_light(*at, [(0.0, 0)])
    assert only(scene, tmp_path).explained_by == why


def test_a_stop_sign_explains_it(tmp_path):
    scene = with_person()
    scene.add_stop_sign(62.0, 0.0, 0.0)
    assert only(scene, tmp_path).explained_by == "stop sign"


@pytest.mark.parametrize(
    ("x", "y", "speed", "why"),
    [
        (58.0, 0.0, 9.0, "vehicle"),  # 13 m ahead of the front: near
        (90.0, 0.0, 11.0, ""),  # far, and faster
        (60.0, 3.5, 0.0, ""),  # in the next lane
        (75.0, 0.0, 0.0, "vehicle"),  # 30 m ahead, standing: 3 s
    ],
)
def test_a_vehicle_explains_it_if_near_or_approached(tmp_path, x, y, speed, why):
    """``x`` is where it is at 4 s, when the ego's front is at 42.4."""
    scene = with_person()
    scene.add("vehicle", straight(x - 4.0 * speed, y, 0.0, speed))
    assert only(scene, tmp_path).explained_by == why


def test_a_crossing_vehicle_and_an_obstacle_explain_it(tmp_path):
    scene = with_person()
    scene.add("vehicle", straight(66.0, -20.0, 90.0, 5.0, start_s=2.0))
    assert only(scene, tmp_path).explained_by == "vehicle"
    scene = with_person()
    scene.add("prop", straight(66.0, 0.8, 0.0, 0.0))
    assert only(scene, tmp_path / "prop").explained_by == "obstacle"


def test_the_goal_a_bend_and_a_limit_explain_it(tmp_path):
    scene = with_person()
    scene.route = [(float(x), 0.0) for x in range(0, 61)]
    assert only(scene, tmp_path / "goal").explained_by == "end of the route"
    scene = with_person()
    scene.limit_kmh = lambda t: 50.0 if t < 6.0 else 15.0
    assert only(scene, tmp_path / "limit").explained_by == "speed limit"


def test_a_bend_explains_it(tmp_path):
    straight_on = profile(0.0, 0.0, 0.0, SLOWING)

    def bending(t):
        """Straight until x = 50, then a circle of 12 m."""
        way, _, _ = straight_on(t)
        if way <= 50.0:
            return way, 0.0, 0.0
        angle = (way - 50.0) / 12.0
        return 50.0 + 12.0 * np.sin(angle), 12.0 * (1.0 - np.cos(angle)), np.degrees(angle)

    scene = drive()
    scene.bodies[0] = ("vehicle", bending)
    scene.add("walker", straight(55.0, -3.0, 180.0, 0.0))
    assert only(scene, tmp_path).explained_by == "bend"


def test_an_ego_that_stops_for_good_is_judged_along_its_route(tmp_path):
    """The route bends; somebody stands in the bend, then where the road would go straight."""
    knots = [(0, 10), (4, 10), (7, 0), (99, 0)]
    scene = drive(knots, seconds=20.0)
    bend = [(50.0 + 10 * np.sin(a), 10.0 * (1 - np.cos(a))) for a in np.linspace(0, 1.5, 16)]
    scene.route = [(float(x), 0.0) for x in range(50)] + bend
    scene.route += [(60.0, 10.0 + k) for k in range(60)]
    inside = scene.add("walker", straight(60.0, 14.0, 180.0, 0.0))
    rules = with_thresholds(FalseBrakingRules(), {"lateral_mps2": 99.0})
    one = only(scene, tmp_path, rules)
    assert (one.person, one.is_false) == (inside, False)
    scene.bodies[inside] = ("walker", straight(76.0, 0.0, 180.0, 0.0))
    assert only(scene, tmp_path / "straight", rules).explained_by == NO_PERSON


def going_around(seconds=16.0):
    """Slows down from 10 m/s, then goes around what is at x = 62, y = 0; the route goes through."""
    scene = drive(seconds=seconds)
    scene.route = [(float(x), 0.0) for x in range(0, 200)]
    along = profile(0.0, 0.0, 0.0, SLOWING)

    def motion(t):
        x, _, _ = along(t)
        bow = np.exp(-(((x - 62.0) / 7.0) ** 2))
        slope = -3.6 * bow * -2.0 * (x - 62.0) / 49.0
        return x, -3.6 * bow, np.degrees(np.arctan(slope))

    scene.bodies[0] = ("vehicle", motion)
    return scene


def test_what_the_ego_went_around_was_in_its_way(tmp_path):
    rules = with_thresholds(FalseBrakingRules(), {"lateral_mps2": 99.0})
    person = going_around()
    person.add("walker", straight(62.0, 0.3, 0.0, 0.0))
    one = only(person, tmp_path / "person", rules)
    assert (one.counts, one.is_false) == (True, False)
    obstacle = going_around()
    obstacle.add("walker", straight(62.0, 3.0, 0.0, 0.0))
    obstacle.add("prop", straight(62.0, 0.3, 0.0, 0.0))
    assert only(obstacle, tmp_path / "obstacle", rules).explained_by == "obstacle"


# -- sensitivity -----------------------------------------------------------------------------------


def test_sensitivity_shows_the_rate_under_other_thresholds(tmp_path):
    scene = drive()
    scene.add("walker", straight(70.0, -3.0, 90.0, 1.5, start_s=8.0))  # enters at about 9 s
    record = scene.write(tmp_path / "episode")
    rows = sensitivity(record, {"horizon_s": (3.0, 6.0), "onset_mps2": (2.0, 4.0)})
    found = {tuple(row.thresholds.values()): (row.events, row.false_events) for row in rows}
    assert found == {(3.0, 2.0): (1, 1), (3.0, 4.0): (0, 0), (6.0, 2.0): (1, 0), (6.0, 4.0): (0, 0)}
    assert rows[0].rate == 1.0
    assert math.isnan(rows[1].rate)
    assert len(sensitivity(record)) == 81


def test_unknown_thresholds_are_refused():
    changed = with_thresholds(FalseBrakingRules(), {"onset_command": 0.5, "spare_m": 1.0})
    assert (changed.braking.onset_command, changed.other.spare_m) == (0.5, 1.0)
    with pytest.raises(UsageError, match="not a threshold"):
        with_thresholds(FalseBrakingRules(), {"onset": 1.0})
    with pytest.raises(UsageError, match="group"):
        with_thresholds(FalseBrakingRules(), {"braking": 1.0})


# -- people who react ------------------------------------------------------------------------------


def reacting(tmp_path, *, decides_s, before=PersonDecision.WANTS, perceived=0, model="reactive-1"):
    """Somebody beside the road who wants to cross and then waits; the onset is at about 4.25 s."""
    scene = drive()
    scene.episode = {"parameters": {"people_model": model} if model else {}}
    person = scene.add("walker", straight(60.0, 4.0, 180.0, 0.0))
    scene.reactions[person] = lambda t: {
        "decision": before if t < decides_s - 1e-6 else PersonDecision.WAITS,
        "perceived_actor": perceived,
    }
    return judge(scene, tmp_path)


@pytest.mark.parametrize(
    ("options", "changed"),
    [
        ({"decides_s": 5.0}, True),
        ({"decides_s": 6.0}, True),
        ({"decides_s": 6.7}, False),  # more than 2 s after the onset
        ({"decides_s": 3.5}, False),  # before the braking
        ({"decides_s": 5.0, "before": PersonDecision.YIELDS}, False),  # did not want to cross
        ({"decides_s": 5.0, "perceived": 1}, False),  # judged another gap
    ],
)
def test_braking_that_changes_a_decision_is_not_needless(tmp_path, options, changed):
    found = reacting(tmp_path, **options)
    (one,) = found.judged
    assert one.is_false  # the present figure stays as it is
    assert found.rate == 1.0
    assert one.changed_mind is changed
    assert found.rate_with_reactions == (0.0 if changed else 1.0)


@pytest.mark.parametrize("model", ["", "scripted-1"])
def test_records_without_reactions_have_no_such_figure(tmp_path, model):
    found = reacting(tmp_path, decides_s=5.0, model=model)
    assert found.rate == 1.0
    assert found.judged[0].changed_mind is None
    assert math.isnan(found.rate_with_reactions)
