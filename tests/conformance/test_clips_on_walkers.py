"""Clips of a library played on walkers of the server: what comes back over the wire."""

from __future__ import annotations

from collections.abc import Iterator

import carla
import numpy as np
import pytest
from live_server import LiveServer
from scene import DELTA_S, Scene
from synthetic_motion import still, walking

from jaywalk.actors import PosedPeople
from jaywalk.actors.posed.clip_trial import play_clips, spawn_walker
from jaywalk.client.bones import BoneLine
from jaywalk.forecasting._record_sight import facing
from jaywalk.geometry.rotation import angle_between_rad, transforms_from_rotators
from jaywalk.motion.carla_rigs import RIG_NAMES, load_rig
from jaywalk.motion.library.building import DEFAULT_POLICIES, on_rigs
from jaywalk.motion.library.reading import open_library
from jaywalk.motion.library.writing import LibraryWriter
from jaywalk.motion.playback.bank import ClipBank
from jaywalk.motion.playback.players import Cue

_LOOKS_LEFT_RAD = 0.6


@pytest.fixture(scope="module")
def bank(tmp_path_factory: pytest.TempPathFactory) -> ClipBank:
    folder = tmp_path_factory.mktemp("clips") / "lib"
    raised = still(
        name="left hand", frames=60, left_shoulder=[0.0, 0.0, 1.3], head=[0.0, _LOOKS_LEFT_RAD, 0.0]
    )
    with LibraryWriter(folder, DEFAULT_POLICIES, {}) as writer:
        for motion in (walking(name="left turn", seconds=4.0, turn_rps=0.5), raised):
            writer.add(motion, on_rigs(motion, DEFAULT_POLICIES))
    return ClipBank(open_library(folder))


@pytest.fixture(scope="module")
def line(harbour: LiveServer) -> Iterator[BoneLine]:
    line = BoneLine(harbour.host, harbour.port)
    yield line
    line.close()


@pytest.mark.parametrize("rig", RIG_NAMES)
def test_bones_and_way_come_back_as_played(
    scene: Scene, line: BoneLine, bank: ClipBank, rig: str
) -> None:
    cue = Cue(clip="left turn", enter_s=0.0)
    seen = play_clips(scene.client, line, scene.world, bank, rig, [cue], 3.0)
    posed = bank.library.on_rig("left turn", rig)
    frames = slice(2, 2 + len(seen.actor))  # the first tick is not reported
    played = posed.poses()[frames]
    shown = np.stack([transforms_from_rotators(tick) for tick in seen.relative])
    assert np.rad2deg(angle_between_rad(shown[..., 3:], played[..., 3:])).max() < 0.01
    assert np.abs(shown[..., :3] - played[..., :3]).max() < 1e-5
    # rigid placement: the same turning, and the same way seen from the first frame
    assert np.abs(np.diff(seen.actor[:, 3]) - np.diff(posed.actor[frames, 3])).max() < 1e-4
    turn = seen.actor[0, 3] - posed.actor[frames][0, 3]
    cos, sin = np.cos(turn), np.sin(turn)
    way = (posed.actor[frames, :2] - posed.actor[frames][0, :2]) @ [[cos, sin], [-sin, cos]]
    assert np.abs(seen.actor[:, :2] - seen.actor[0, :2] - way).max() < 1e-3
    speed = np.gradient(seen.actor[:, :2], DELTA_S, axis=0)
    assert np.abs(seen.velocity_mps[1:-1, :2] - speed[1:-1]).max() < 0.1
    # a turn to the left is a falling yaw in CARLA's axes
    assert seen.actor[-1, 3] - seen.actor[0, 3] == pytest.approx(-0.5 * 2.9, abs=0.1)


def test_the_left_hand_is_the_one_on_the_left(scene: Scene, line: BoneLine, bank: ClipBank) -> None:
    cue = Cue(clip="left hand")
    seen = play_clips(scene.client, line, scene.world, bank, "woman", [cue], 0.5)
    bones = dict(zip(load_rig("woman").bones, seen.bones_m[-1], strict=True))
    assert bones["crl_hand__L"][2] > bones["crl_Head__C"][2] - 0.1 > bones["crl_hand__R"][2]
    ahead = np.array([np.cos(seen.actor[-1, 3]), np.sin(seen.actor[-1, 3])])
    aside = (bones["crl_hand__L"] - bones["crl_hips__C"])[:2]
    assert ahead[0] * aside[1] - ahead[1] * aside[0] < 0.0  # right of ahead is positive in CARLA
    # so does the face, by the eyes, and what is reckoned from the clip says the same
    rest = load_rig("woman").rest_mesh[:, :3]
    names = load_rig("woman").bone_index
    eyes = (bones["crl_eye__L"] - bones["crl_eye__R"])[:2]
    leftward = rest[names["crl_eye__L"]] - rest[names["crl_eye__R"]]  # mesh: x left, y ahead
    aside_rad = np.arctan2(leftward[1], leftward[0])
    yaw = np.arctan2(eyes[1], eyes[0]) + np.pi / 2 + aside_rad - seen.actor[-1, 3]
    assert np.arctan2(np.sin(yaw), np.cos(yaw)) == pytest.approx(-_LOOKS_LEFT_RAD, abs=0.01)
    posed = bank.library.on_rig("left hand", "woman")
    told = facing(posed).head_rad[0] - posed.actor[0, 3]
    assert told == pytest.approx(-_LOOKS_LEFT_RAD, abs=0.01)


def test_who_is_knocked_over_is_let_go(scene: Scene, line: BoneLine, bank: ClipBank) -> None:
    lane = scene.straight_lane(80.0)
    start = lane.transform
    start.location.z += 0.2
    car = scene.spawn("vehicle.lincoln.mkz_2020", start, settle=10)
    place = lane.next(15.0)[0].transform
    place.location.z += 1.0
    person = spawn_walker(scene.world, "man", place)
    scene.spawned.append(person)
    scene.tick(5)
    people = PosedPeople(scene.client, line, bank)
    people.take(person, Cue(clip="left hand", loop=True))
    way = start.get_forward_vector()
    car.set_target_velocity(carla.Vector3D(way.x * 9.0, way.y * 9.0, 0.0))
    car.apply_control(carla.VehicleControl(throttle=0.5))
    for _ in range(60):
        people.step(scene.world.get_snapshot())
        scene.tick()
    assert not people.is_controlled(person.id)
    head = {b.name: b.world.location.z for b in person.get_bones().bone_transforms}["crl_Head__C"]
    ground = lane.next(15.0)[0].transform.location.z
    assert head < ground + 0.6  # lying, not standing in its last pose
