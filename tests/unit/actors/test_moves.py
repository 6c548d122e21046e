"""Moves of reacting people with clips of the everyday library: how they are chosen and played."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pytest
from test_reactions import make_model, open_ground

from jaywalk.actors.posed._activities import Activity, PersonState
from jaywalk.actors.posed._gaits import Gaits
from jaywalk.actors.posed._reacting import ReactiveActivities
from jaywalk.actors.posed._walking import PathWalk
from jaywalk.actors.posed.control import PosedPeople
from jaywalk.actors.posed.repertoire import Repertoire, read_repertoire
from jaywalk.actors.reactive.traits import COMMITTED, EVADES, ON_ROAD
from jaywalk.motion.playback.bank import ClipBank
from jaywalk.motion.playback.players import Cue
from jaywalk.motion.synthesis.default import everyday_library

STEP_S = 0.05
PERSON = 7


@pytest.fixture(scope="module")
def library() -> tuple[ClipBank, Repertoire]:
    kept = everyday_library()
    return ClipBank(kept), read_repertoire(kept)


@pytest.fixture
def scene(library: tuple[ClipBank, Repertoire]) -> ReactiveActivities:
    """One person at the origin who faces up the y axis, with nothing around."""
    bank, repertoire = library
    posed = PosedPeople(None, None, bank)
    posed.players.add("man", x_m=0.0, y_m=0.0, yaw_rad=0.5 * math.pi)
    posed.ids, posed._row = [PERSON], {PERSON: 0}
    posed._z_m = np.zeros(1)
    gait = repertoire.ordinary[0].name
    role = SimpleNamespace(
        number=0,
        intended="crossing",
        child=False,
        clip=gait,
        carry="",
        idle=repertoire.idle[0].name,
        strolls=False,
    )
    placed = SimpleNamespace(
        actor_id=PERSON,
        role=role,
        a_m=(0.0, 0.0),
        b_m=(0.0, 10.0),
        yaw_rad=0.5 * math.pi,
        along_m=50.0,
        z_m=0.0,
    )
    posed.players.play(0, Cue(clip=role.idle, heading_rad=0.5 * math.pi, loop=True))
    crossings = SimpleNamespace(
        a=np.zeros((0, 2)),
        b=np.zeros((0, 2)),
        crosswalk=np.zeros(0, np.int64),
        lights=np.zeros((0, 4), np.int64),
    )
    around = (np.zeros(0, np.int64), np.zeros((0, 8)), np.zeros((0, 6)), np.zeros((0, 4)))
    company = SimpleNamespace(leader=np.array([-1]), approach_m=np.array([5.0]))
    return ReactiveActivities(
        people=[PersonState(placed=placed)],
        posed=posed,
        nearby=SimpleNamespace(
            view=SimpleNamespace(around=lambda _: around, vehicle_ids=[], vehicle_roles=[]),
            look=lambda *_: None,
            around=lambda *_: None,
        ),
        network=SimpleNamespace(grid=open_ground(), crossings=crossings),
        repertoire=repertoire,
        seed=1,
        delta_s=STEP_S,
        events=[],
        model=make_model(1),
        company=company,
        lights=SimpleNamespace(read=lambda _: None),
        route_m=np.array([(-50.0, 5.0), (0.0, 5.0), (50.0, 5.0)]),
        route_along_m=np.array([0.0, 50.0, 100.0]),
    )


def play_on(scene: ReactiveActivities, seconds: float) -> np.ndarray:
    """Places (ticks, 2) of the person while nothing is decided."""
    rows, places = scene.posed.players.rows, []
    for _ in range(round(seconds / STEP_S)):
        scene.posed.players.advance(STEP_S)
        places.append((float(rows.x_m[0]), float(rows.y_m[0])))
    return np.array(places)


def walking(scene: ReactiveActivities) -> PersonState:
    """Let the person walk up the y axis at a steady pace."""
    person = scene.people[0]
    walk = PathWalk(path=np.array([(0.0, 0.0), (0.0, 40.0)]))
    scene._walk_along(person, walk, person.placed.role.clip, "")
    play_on(scene, 3.0)
    return person


def moment() -> SimpleNamespace:
    return SimpleNamespace(elapsed_s=0.0, snapshot=None, ego_id=99)


def test_people_who_stay_are_active_and_face_the_road(scene: ReactiveActivities) -> None:
    scene._perceive(moment())
    rows = scene.model.rows
    assert rows.active[0]
    assert rows.stays[0]
    assert (rows.aim_x[0], rows.aim_y[0]) == (0.0, 5.0)
    assert scene.reactions()["ids"].tolist() == [PERSON]


def test_a_walk_begins_with_a_start_and_goes_on(scene: ReactiveActivities) -> None:
    person = scene.people[0]
    walk = PathWalk(path=np.array([(0.0, 0.0), (0.0, 40.0)]))
    scene._start(person, walk, person.placed.role.clip)
    assert "-start-" in scene.posed.playing(PERSON).clip
    places = play_on(scene, 5.0)
    assert np.hypot(*places[3]) < 0.12  # people lean before they lift a foot
    assert scene.posed.playing(PERSON).clip == person.placed.role.clip
    assert places[-1, 1] > 3.0


def test_a_walk_ends_with_a_stop_within_its_room(scene: ReactiveActivities) -> None:
    person = walking(scene)
    here = play_on(scene, STEP_S)[-1]
    for _ in range(10):
        scene._come_to_stop(person, 2.0, urgent=False)
        if person.activity is Activity.WAITING:
            break
        play_on(scene, STEP_S)
    assert person.activity is Activity.WAITING
    places = play_on(scene, 4.0)
    assert np.hypot(*(places[-1] - here)) < 1.5
    assert np.hypot(*(places[-1] - places[-20])) < 0.06  # stands
    assert scene.posed.playing(PERSON).clip == person.placed.role.idle


@pytest.mark.parametrize("course", [-0.5 * math.pi, 0.0, math.pi])
def test_people_evade_along_the_course_and_do_not_set_off(
    scene: ReactiveActivities, course: float
) -> None:
    """A person who stands on the road and has to leave it backwards or aside does not go on."""
    person = scene.people[0]
    person.walk = PathWalk(path=np.array([(0.0, 0.0), (0.0, 40.0)]))
    person.activity, person.on_road = Activity.WAITING, True
    rows = scene.model.rows
    rows.where[0], rows.decision[0], rows.speed[0], rows.course[0] = ON_ROAD, EVADES, 2.5, course
    scene._stopped_s[0] = 10.0
    scene._wait(person, moment())
    assert person.activity is Activity.EVADING
    assert "-evade-" in scene.posed.playing(PERSON).clip
    gone = play_on(scene, 1.3)[-1]
    along = gone @ np.array([math.cos(course), math.sin(course)])
    assert along > 0.2
    assert along > 0.6 * np.hypot(*gone)
    play_on(scene, 1.0)
    rows.decision[0] = COMMITTED
    scene._finish_move(person, moment())
    assert person.activity is Activity.WAITING


def test_a_half_turn_comes_before_a_way_back(scene: ReactiveActivities) -> None:
    person = walking(scene)
    x, y = play_on(scene, STEP_S)[-1]
    back = PathWalk(path=np.array([(x, y), (x, y - 30.0)]))
    scene._turn_to(person, back, person.placed.role.clip)
    assert "-turnaway-" in scene.posed.playing(PERSON).clip
    assert person.activity is Activity.TURNING
    play_on(scene, 4.0)
    scene._finish_move(person, moment())
    assert person.activity is Activity.WALKING
    yaw = float(scene.posed.players.rows.yaw_rad[0])
    assert math.cos(yaw + 0.5 * math.pi) > 0.8


@pytest.mark.parametrize("far_m", [0.5, 0.9])
def test_steps_back_are_about_as_long_as_needed(
    library: tuple[ClipBank, Repertoire], far_m: float
) -> None:
    bank, repertoire = library
    gaits = Gaits.of(repertoire, SimpleNamespace(players=SimpleNamespace(bank=bank)))
    step = gaits.step_back(False, "man", 3, far_m)
    assert step is not None
    way = bank.way(bank.index(step.clip, "man"))
    ahead = np.array([math.cos(way[0, 3]), math.sin(way[0, 3])])
    gone = (way[-1, :2] - way[0, :2]) @ ahead
    assert gone == pytest.approx(-far_m, abs=0.1)
