"""Playing clips: the clip exactly, joins without pops or sliding feet, turning, looping."""

import math

import numpy as np
import pytest
from synthetic_motion import still, walking

from jaywalk.core.errors import UsageError
from jaywalk.geometry.rotation import angle_between_rad
from jaywalk.motion.carla_rigs import RIG_NAMES, load_rig
from jaywalk.motion.library.building import DEFAULT_POLICIES, on_rigs
from jaywalk.motion.library.reading import open_library
from jaywalk.motion.library.writing import LibraryWriter
from jaywalk.motion.playback.bank import ClipBank
from jaywalk.motion.playback.players import Cue, Players
from jaywalk.motion.retarget import RigClip, RootPolicy

STEP_S = 0.05


@pytest.fixture(scope="module")
def bank(tmp_path_factory):
    folder = tmp_path_factory.mktemp("playing") / "lib"
    arms = {"left_shoulder": [0.0, 0.0, -1.2], "right_shoulder": [0.0, 0.0, 1.2]}
    with LibraryWriter(folder, DEFAULT_POLICIES, {}) as writer:
        for motion in (
            walking(name="walk", seconds=5.0),
            walking(name="curve", seconds=6.0, turn_rps=0.25),
            still(name="stand", frames=60, **arms),
        ):
            writer.add(motion, on_rigs(motion, DEFAULT_POLICIES))
    return ClipBank(open_library(folder))


def play(players, row, seconds):
    """Shown rig motion of one person."""
    rows, actor, hips, turns = players.rows, [], [], []
    for _ in range(round(seconds / STEP_S)):
        players.advance(STEP_S)
        rows = players.rows
        actor.append((rows.x_m[row], rows.y_m[row], 0.0, rows.yaw_rad[row]))
        hips.append(rows.hips_m[row].copy())
        turns.append(rows.turns[row].copy())
    return RigClip(
        rig=RIG_NAMES[rows.rig[row]],
        policy=RootPolicy.KEEP,
        actor=np.array(actor),
        hips_m=np.array(hips),
        turns=np.array(turns),
        rate_hz=1.0 / STEP_S,
    )


def steps_deg(posed):
    return np.rad2deg(angle_between_rad(posed.turns[1:], posed.turns[:-1]))


def standing_slip_mps(posed):
    """Speeds of the lower ball of the foot where it is on the ground in both frames."""
    rig = load_rig(posed.rig)
    bones = [rig.bone_index[f"crl_toe__{side}"] for side in "LR"]
    balls = posed.joints_m()[:, bones]
    speed = np.linalg.norm(np.diff(balls[..., :2], axis=0), axis=-1) / STEP_S
    height = np.maximum(balls[1:, :, 2], balls[:-1, :, 2]) - rig.rest_mesh[bones, 2]
    lower = np.take_along_axis(speed, height.argmin(axis=1)[:, None], axis=1)[:, 0]
    return lower[height.min(axis=1) < 0.013]


@pytest.mark.parametrize("rig", RIG_NAMES)
def test_a_clip_is_played_exactly_and_rigidly_placed(bank, rig):
    source = bank.library.on_rig("curve", rig)
    players = Players(bank)
    yaw = 2.1
    row = players.add(rig, x_m=10.0, y_m=-4.0, yaw_rad=0.0)
    players.play(row, Cue(clip="curve", heading_rad=yaw, enter_s=0.0))
    shown = play(players, row, source.actor.shape[0] * STEP_S - STEP_S)
    assert angle_between_rad(shown.turns, source.turns[1:]).max() < 1e-9
    assert np.abs(shown.hips_m - source.hips_m[1:]).max() < 1e-12
    turn = yaw - source.actor[0, 3]
    cos, sin = math.cos(turn), math.sin(turn)
    moved = source.actor[1:, :2] - source.actor[0, :2]
    wanted = moved @ np.array([[cos, sin], [-sin, cos]]) + [10.0, -4.0]
    assert np.abs(shown.actor[:, :2] - wanted).max() < 1e-9
    assert np.abs(shown.actor[:, 3] - source.actor[1:, 3] - turn).max() < 1e-9


def test_the_way_leads_where_the_cue_says(bank):
    players = Players(bank)
    row = players.add("man", x_m=0.0, y_m=0.0, yaw_rad=0.0)
    players.play(row, Cue(clip="curve", towards_rad=-0.7, enter_s=0.0))
    shown = play(players, row, 6.0)
    assert math.atan2(shown.actor[-1, 1], shown.actor[-1, 0]) == pytest.approx(-0.7, abs=1e-6)


@pytest.mark.parametrize("rig", ["woman", "boy"])
def test_standing_passes_into_walking_without_pops_or_sliding(bank, rig):
    players = Players(bank)
    row = players.add(rig, x_m=0.0, y_m=0.0, yaw_rad=0.3)
    players.play(row, Cue(clip="stand", loop=True))
    before = play(players, row, 1.0)
    players.play(row, Cue(clip="walk", towards_rad=1.5, loop=True))
    shown = play(players, row, 12.0)
    whole = RigClip(
        rig=rig,
        policy=RootPolicy.KEEP,
        rate_hz=20.0,
        actor=np.concatenate([before.actor, shown.actor]),
        hips_m=np.concatenate([before.hips_m, shown.hips_m]),
        turns=np.concatenate([before.turns, shown.turns]),
    )
    own = steps_deg(bank.library.on_rig("walk", rig)).max()
    assert steps_deg(whole).max() < max(30.0, own + 10.0)
    joints = whole.joints_m()
    assert np.linalg.norm(np.diff(joints, axis=0), axis=-1).max() < 6.0 * STEP_S
    assert standing_slip_mps(whole).mean() < 0.05
    # it walked for most of twelve seconds, that way, through several joins of the loop
    gone = shown.actor[-1, :2] - shown.actor[0, :2]
    ratio = load_rig(rig).leg_length_m / 0.777 if rig == "boy" else 1.0
    assert np.linalg.norm(gone) == pytest.approx(1.2 * ratio * 11.7, rel=0.06)
    assert math.atan2(gone[1], gone[0]) == pytest.approx(1.5, abs=0.1)
    low = joints[:, [load_rig(rig).bone_index[f"crl_toe__{s}"] for s in "LR"], 2].min()
    assert low > load_rig(rig).rest_mesh[load_rig(rig).bone_index["crl_toe__L"], 2] - 0.02


def test_a_join_may_begin_within_a_join(bank):
    players = Players(bank)
    row = players.add("man", x_m=0.0, y_m=0.0, yaw_rad=0.0)
    players.play(row, Cue(clip="stand", loop=True))
    parts = [play(players, row, 0.5)]
    for name in ("walk", "stand", "curve"):
        players.play(row, Cue(clip=name, loop=True))
        parts.append(play(players, row, 0.15))
    parts.append(play(players, row, 2.0))
    turns = np.concatenate([part.turns for part in parts])
    assert np.rad2deg(angle_between_rad(turns[1:], turns[:-1])).max() < 40.0
    actor = np.concatenate([part.actor for part in parts])
    assert np.linalg.norm(np.diff(actor[:, :2], axis=0), axis=1).max() < 2.0 * STEP_S


def test_clips_follow_each_other_and_the_last_is_held(bank):
    players = Players(bank)
    row = players.add("girl", x_m=0.0, y_m=0.0, yaw_rad=0.0)
    players.play(row, Cue(clip="walk"), [Cue(clip="curve"), Cue(clip="stand")])
    seen = []
    for _ in range(400):
        players.advance(STEP_S)
        now = players.playing(row)
        if not seen or seen[-1] != now.clip:
            seen.append(now.clip)
    assert seen == ["walk", "curve", "stand"]
    assert now.ended
    assert now.phase == pytest.approx(1.0)
    assert players.rows.speed_mps[row] == 0.0


def test_steering_bends_the_way_and_pace_changes_the_speed(bank):
    players = Players(bank)
    rows = [players.add("man", x_m=0.0, y_m=0.0, yaw_rad=0.0) for _ in range(2)]
    for row in rows:
        players.play(row, Cue(clip="walk", heading_rad=0.0, loop=True))
    players.steer(rows[0], 0.4)
    players.pace(rows[1], 0.5)
    first, second = play(players, rows[0], 2.0), players.rows
    assert first.actor[-1, 3] - first.actor[0, 3] == pytest.approx(0.4 * 1.95, abs=0.05)
    assert second.x_m[rows[1]] == pytest.approx(0.5 * 1.2 * 2.0, rel=0.1)


def test_wrong_cues_are_named(bank):
    players = Players(bank)
    with pytest.raises(UsageError, match="unknown rig 'dog'"):
        players.add("dog", x_m=0.0, y_m=0.0, yaw_rad=0.0)
    row = players.add("man", x_m=0.0, y_m=0.0, yaw_rad=0.0)
    with pytest.raises(UsageError, match="no clip 'fly'"):
        players.play(row, Cue(clip="fly"))
    with pytest.raises(UsageError, match="rate 0"):
        players.play(row, Cue(clip="walk", rate=0.0))
