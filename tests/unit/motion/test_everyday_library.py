"""The model of everyday people: actions found in captures, packed, played by other people."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from jaywalk.core.errors import DataError, UsageError
from jaywalk.geometry.rotation import angle_between_rad
from jaywalk.metrics.motion.judgement import clip_figures
from jaywalk.motion import packaged_library
from jaywalk.motion.clip import Clip, resample
from jaywalk.motion.heading import heading_rad
from jaywalk.motion.library.classes import classify
from jaywalk.motion.library.reading import EVERYDAY
from jaywalk.motion.smpl import (
    BODY_OFFSETS_M,
    PARENTS,
    global_rotations,
    joint_positions,
)
from jaywalk.motion.synthesis._action_model import decoded, fit_actions
from jaywalk.motion.synthesis._actions import Action, ActionKind, find_actions, read_descriptions
from jaywalk.motion.synthesis._draws import Draws
from jaywalk.motion.synthesis._people import Age, draw_role
from jaywalk.motion.synthesis._plans import nothing
from jaywalk.motion.synthesis._programme import HoldBlock, Turn, WalkBlock
from jaywalk.motion.synthesis._synthesis import generate
from jaywalk.motion.synthesis.model_file import (
    default_model,
    everyday_model,
    load_model,
    save_model,
)
from jaywalk.motion.synthesis.sampling import (
    EVERYDAY_MIX,
    HABIT_MIX,
    behaviour_key,
    counts,
    mix_of,
    sample_clip,
)

ACTING = [one for one in EVERYDAY_MIX.behaviours if one.action is not None]


def capture(blocks, name="35_01", seed=3) -> Clip:
    """A motion with a known programme, as a capture on the body of scale 1."""
    model = default_model()
    role = draw_role(model, Age.ADULT, 1.1, Draws(seed, "test"), plain=True)
    person = replace(role.person, body_scale=1.0)
    made = generate(model, person, blocks, nothing, (seed, "test", 0), name=name)
    return resample(made.motion, 60.0)


def found(motion, text="walk") -> dict[ActionKind, list[Action]]:
    actions = find_actions([motion], {motion.name: text})
    return {kind: [one for one in actions if one.kind is kind] for kind in ActionKind}


def test_starts_stops_and_waits_are_found_where_they_are() -> None:
    motion = capture(
        (HoldBlock(seconds=4.0), WalkBlock(seconds=4.0, speed_mps=1.2), HoldBlock(seconds=3.5))
    )
    actions = found(motion)
    (start,) = actions[ActionKind.START]
    (stop,) = actions[ActionKind.STOP]
    assert start.first < 4.0 * 60.0 < start.end
    assert stop.first < 8.2 * 60.0 < stop.end
    waits = actions[ActionKind.WAIT]
    assert len(waits) == 2
    assert waits[0].end <= 4.1 * 60.0
    assert waits[1].first >= 8.0 * 60.0
    assert not actions[ActionKind.STEP_BACK]
    talk = found(motion, "conversation - explain with hand gestures")
    assert len(talk[ActionKind.CONVERSE]) == 2
    assert not talk[ActionKind.WAIT]
    assert not any(found(motion, "salsa dance").values())


def test_steps_back_and_turns_are_found() -> None:
    back = WalkBlock(seconds=1.4, speed_mps=0.6, backward=True)
    motion = capture((HoldBlock(seconds=1.5), back, HoldBlock(seconds=1.5)))
    steps = found(motion)[ActionKind.STEP_BACK]
    assert steps
    assert steps[0].first < 1.9 * 60.0 < steps[0].end
    turn = Turn(at_s=1.6, seconds=2.0, angle_rad=np.pi)
    walk = WalkBlock(seconds=5.0, speed_mps=0.5, turns=(turn,))
    motion = capture((HoldBlock(seconds=1.0), walk, HoldBlock(seconds=1.0)))
    (around,) = found(motion)[ActionKind.TURN_BACK]
    yaw = heading_rad(motion)
    assert abs(yaw[around.end - 1] - yaw[around.first]) > 2.0


def test_descriptions(tmp_path) -> None:
    (tmp_path / "index.txt").write_text("Subject #1\n\n01_02\twalk, stop\n01_03  run\n")
    assert read_descriptions(tmp_path / "index.txt") == {"01_02": "walk, stop", "01_03": "run"}
    (tmp_path / "index.csv").write_text('sequence,description\n01_02,"walk, stop"\n')
    assert read_descriptions(tmp_path / "index.csv") == {"01_02": "walk, stop"}
    (tmp_path / "no.txt").write_text("nothing\n")
    with pytest.raises(DataError, match="no line like"):
        read_descriptions(tmp_path / "no.txt")


def joints(rotations, root):
    turned = global_rotations(np.ascontiguousarray(rotations), PARENTS)
    return joint_positions(turned, np.ascontiguousarray(root), BODY_OFFSETS_M, PARENTS)


def test_packed_actions_are_near_the_captured_ones() -> None:
    motions = [
        capture(
            (HoldBlock(seconds=4.0), WalkBlock(seconds=4.0, speed_mps=1.2), HoldBlock(seconds=3.5)),
            seed=seed,
        )
        for seed in range(1, 5)
    ]
    actions = find_actions(motions, {})
    means = default_model().means
    bank = fit_actions(actions, means)
    gaps = []
    for number, action in enumerate(actions):
        cut = slice(action.first, action.end)
        rotations, root, _ = decoded(*bank.frames(number, action.end - action.first), means)
        motion = action.motion
        real = joints(motion.rotations[cut], motion.root_m[cut])
        made = joints(rotations, root)
        # the packed action begins at the origin, in its own heading
        gaps.append(np.abs(made[..., 1] - real[..., 1]).mean())
        way = np.linalg.norm(real[-1, 0, [0, 2]] - real[0, 0, [0, 2]])
        assert np.linalg.norm(made[-1, 0, [0, 2]] - made[0, 0, [0, 2]]) == pytest.approx(
            way, abs=0.06
        )
    assert max(gaps) < 0.02
    with pytest.raises(DataError, match="at least"):
        fit_actions(actions[:3], means)


def test_the_everyday_model_is_small_and_says_what_it_holds(tmp_path) -> None:
    model = everyday_model()
    assert model.actions is not None
    for kind in ActionKind:
        assert len(model.actions.of_kind(kind)) >= 8, kind
    assert model.facts["sequences"] == 509
    assert "mocap.cs.cmu.edu" in model.facts["acknowledgement"]
    save_model(model, tmp_path / "again.npz")
    assert (tmp_path / "again.npz").stat().st_size < 300_000
    again = load_model(tmp_path / "again.npz")
    assert again.actions is not None
    assert again.actions.kinds == model.actions.kinds
    assert np.allclose(again.actions.poses, model.actions.poses)
    assert np.allclose(again.actions.paths, model.actions.paths)
    assert default_model().actions is None


@pytest.mark.parametrize("change", ["terms", "kinds", "seconds"])
def test_a_broken_bank_is_refused(tmp_path, change) -> None:
    save_model(everyday_model(), tmp_path / "model.npz")
    arrays = dict(np.load(tmp_path / "model.npz"))
    name = f"actions.{change}"
    arrays[name] = arrays[name].copy()
    arrays[name][0] = {"terms": 3, "kinds": 200, "seconds": -1.0}[change]
    np.savez(tmp_path / "broken.npz", **arrays)
    with pytest.raises(DataError, match="is not a motion model"):
        load_model(tmp_path / "broken.npz")


def test_the_first_library_keeps_its_behaviours() -> None:
    assert mix_of(default_model()) is HABIT_MIX
    assert not any(one.action for one in HABIT_MIX.behaviours)
    assert mix_of(everyday_model()) is EVERYDAY_MIX
    keys = [behaviour_key(one) for one in EVERYDAY_MIX.behaviours]
    assert len(set(keys)) == len(keys)
    number = counts(EVERYDAY_MIX, 560)
    assert sum(number.values()) == 560
    assert number["notcrossing-wait"] >= 60


@pytest.mark.parametrize("behaviour", ACTING, ids=lambda one: one.name)
def test_clips_of_actions(behaviour) -> None:
    model = everyday_model()
    clips = [sample_clip(model, behaviour, number, 7) for number in range(3)]
    again = sample_clip(model, behaviour, 1, 7)
    assert again.content_hash() == clips[1].content_hash()
    assert len({clip.content_hash() for clip in clips}) == 3
    for clip in clips:
        assert classify(clip) is behaviour.kind
        figures = clip_figures(clip)
        assert figures["penetration_m"] < 0.005
        assert figures["stance_slip_mps"] < 0.15
        assert np.rad2deg(angle_between_rad(clip.rotations[1:], clip.rotations[:-1]).max()) < 48.1
        assert "mocap.cs.cmu.edu" in clip.licence


def test_waiting_people_stay_where_they_are_and_differ() -> None:
    model = everyday_model()
    wait = next(one for one in ACTING if one.action is ActionKind.WAIT)
    clips = [sample_clip(model, wait, number, 20) for number in range(12)]
    for clip in clips:
        ends = clip.root_m[-1] - clip.root_m[0]
        assert np.hypot(ends[0], ends[2]) < 0.03
        assert abs(heading_rad(clip)[-1] - heading_rad(clip)[0]) < 0.35
    hands = np.array([c.joints_m()[:, [20, 21]].mean(axis=0) / c.body_scale for c in clips])
    gaps = np.linalg.norm(hands[:, None] - hands[None], axis=-1).mean(axis=-1)
    assert np.median(gaps[np.triu_indices(12, 1)]) > 0.12


def test_steps_back_lead_back_and_stops_end_standing() -> None:
    model = everyday_model()
    kinds = {one.action: one for one in ACTING}
    for number in range(3):
        back = sample_clip(model, kinds[ActionKind.STEP_BACK], number, 5)
        assert back.root_m[-1, 2] < -0.1  # a clip begins facing +z
        stop = sample_clip(model, kinds[ActionKind.STOP], number, 5)
        speed = np.linalg.norm(np.gradient(stop.root_m[:, [0, 2]], axis=0), axis=1) * stop.rate_hz
        assert speed[:8].mean() > 0.5
        assert speed[-4:].mean() < 0.3
        start = sample_clip(model, kinds[ActionKind.START], number, 5)
        speed = np.linalg.norm(np.gradient(start.root_m[:, [0, 2]], axis=0), axis=1) * start.rate_hz
        assert speed[:6].mean() < 0.3
        assert speed[-8:].mean() > 0.5


def test_packaged_libraries_have_names() -> None:
    assert EVERYDAY == "everyday-1"  # records name it: another library has another version
    with pytest.raises(UsageError, match="everyday-1"):
        packaged_library("everyday-0")
