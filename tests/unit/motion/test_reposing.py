"""Poses made again from clip, phase, weight and way are those that were shown."""

import itertools

import numpy as np
import pytest
from synthetic_motion import still, walking

from jaywalk.geometry.rotation import angle_between_rad
from jaywalk.motion.library.building import DEFAULT_POLICIES, on_rigs
from jaywalk.motion.library.reading import library_digest, open_library
from jaywalk.motion.library.writing import LibraryWriter
from jaywalk.motion.playback.bank import ClipBank
from jaywalk.motion.playback.players import Cue, Players
from jaywalk.motion.playback.reposing import Played, repose

STEP_S = 0.05


def write(folder, seconds=5.0):
    arms = {"left_shoulder": [0.0, 0.0, -1.2], "right_shoulder": [0.0, 0.0, 1.2]}
    with LibraryWriter(folder, DEFAULT_POLICIES, {}) as writer:
        for motion in (
            walking(name="walk", seconds=seconds),
            walking(name="curve", seconds=6.0, turn_rps=0.25),
            still(name="stand", frames=60, **arms),
        ):
            writer.add(motion, on_rigs(motion, DEFAULT_POLICIES))
    return folder


@pytest.fixture(scope="module")
def bank(tmp_path_factory):
    return ClipBank(open_library(write(tmp_path_factory.mktemp("reposing") / "lib")))


@pytest.mark.parametrize("rig", ["man", "girl"])
def test_joins_loops_turns_and_held_feet_come_out_as_shown(bank, rig):
    players = Players(bank)
    row = players.add(rig, x_m=3.0, y_m=-2.0, yaw_rad=0.4)
    players.play(row, Cue(clip="stand", loop=True))
    shown, told, way = [], [], []
    for tick in range(300):
        if tick == 40:  # stand, then walk off to the side, for longer than the clip
            players.play(row, Cue(clip="walk", towards_rad=1.8, loop=True, holds=False))
        if tick == 46:  # a join within a join
            players.play(row, Cue(clip="curve", towards_rad=1.8), [Cue(clip="walk", loop=True)])
        if tick == 230:
            players.pace(row, 0.6)
            players.steer(row, 0.8)
        if tick == 260:
            players.steer(row, 0.0)
            players.play(row, Cue(clip="stand", loop=True))
        players.advance(STEP_S)
        told.append(players.phases()[row])
        rows = players.rows
        way.append((rows.x_m[row], rows.y_m[row], 0.0, rows.yaw_rad[row]))
        shown.append((rows.turns[row].copy(), rows.hips_m[row].copy()))
    clips, phases, weights = zip(*told, strict=True)
    again = repose(
        bank,
        Played(
            rig=rig,
            clip=clips,
            actor=np.array(way),
            delta_s=STEP_S,
            phase=np.array(phases, np.float32).astype(float),
            weight=np.array(weights, np.float32).astype(float),
        ),
    )
    off = np.rad2deg(angle_between_rad(again.turns, np.array([turns for turns, _ in shown])))
    assert set(clips) == {"stand", "walk", "curve"}
    assert sum(a != b for a, b in itertools.pairwise(clips)) >= 4
    assert off.max() < 0.5  # degrees; a skipped join is off by tens
    assert np.abs(again.hips_m - np.array([hips for _, hips in shown])).max() < 0.002


def test_phases_of_everybody_are_those_of_each(bank):
    players = Players(bank)
    rows = [players.add("man", x_m=k, y_m=0.0, yaw_rad=0.0) for k in range(3)]
    players.play(rows[0], Cue(clip="walk", loop=True))
    players.play(rows[1], Cue(clip="stand", loop=True))
    for tick in range(30):
        if tick == 25:
            players.play(rows[1], Cue(clip="walk"))
        players.advance(STEP_S)
    for row, (clip, phase, weight) in zip(rows, players.phases(), strict=True):
        now = players.playing(row)
        assert (clip, phase, weight) == (now.clip, now.phase, now.weight)


def test_a_library_is_known_by_its_content(tmp_path):
    one, same = write(tmp_path / "one"), write(tmp_path / "elsewhere" / "same")
    other = write(tmp_path / "other", seconds=4.0)
    assert library_digest(one) == library_digest(same)
    assert library_digest(one) != library_digest(other)
