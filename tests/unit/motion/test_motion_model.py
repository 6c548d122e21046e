"""The generative model: numbers, cycles, file, synthesis."""

from dataclasses import replace

import numpy as np
import pytest
from synthetic_motion import walking

from jaywalk.core.errors import DataError, UsageError
from jaywalk.geometry.rotation import multiply, rotate
from jaywalk.metrics.motion._gait import gait_figures, path_speed_mps
from jaywalk.motion.clip import mirror
from jaywalk.motion.foot_lock import balls_m
from jaywalk.motion.smpl import BALL_HEIGHT_M, BODY_OFFSETS_M
from jaywalk.motion.synthesis._cycles import (
    CHANNELS,
    SAMPLES,
    TWIN_SIGN,
    TWIN_SOURCE,
    evaluate,
    find_cycles,
    fit,
    twin,
)
from jaywalk.motion.synthesis._draws import Draws
from jaywalk.motion.synthesis._gait_fit import channel_weights, cycle_terms, fit_gait
from jaywalk.motion.synthesis._gait_model import StyleRequest, draw_style, plainness
from jaywalk.motion.synthesis._layer import Layer, arm_rotations
from jaywalk.motion.synthesis._people import Age, draw_role
from jaywalk.motion.synthesis._plans import nothing
from jaywalk.motion.synthesis._pose_channels import to_rotations
from jaywalk.motion.synthesis._programme import HoldBlock, Leap, Shuffle, Turn, WalkBlock
from jaywalk.motion.synthesis._standing import cosine_curve, cosine_terms
from jaywalk.motion.synthesis._synthesis import generate
from jaywalk.motion.synthesis.model_file import default_model, load_model, save_model


def made(blocks, *, speed=1.2, age=Age.ADULT, number=0, acting=nothing, scale=None):
    model = default_model()
    role = draw_role(model, age, speed, Draws(5, "who", number), plain=True)
    person = role.person if scale is None else replace(role.person, body_scale=scale)
    return generate(model, person, blocks, acting, (3, "test", number), name="x")


def test_draws_are_fixed_and_have_the_right_moments():
    draws = Draws(1, "a")
    assert draws.uniforms(3).tolist() == Draws(1, "a").uniforms(3).tolist()
    assert Draws(1, "a").uniform() == pytest.approx(0.0369365858, abs=1e-9)
    normals = draws.normals(20001)
    assert len(normals) == 20001
    assert abs(normals.mean()) < 0.03
    assert normals.std() == pytest.approx(1.0, abs=0.02)
    picks = [draws.pick(np.array([1.0, 0.0, 3.0])) for _ in range(2000)]
    assert np.bincount(picks, minlength=3)[1] == 0
    assert np.mean(np.array(picks) == 2) == pytest.approx(0.75, abs=0.04)
    shares = np.array([draws.shares(1.5, 2) for _ in range(3000)])
    assert np.allclose(shares.sum(axis=1), 1.0)
    assert shares.mean(axis=0) == pytest.approx([1.5 / 3.5, 1 / 3.5, 1 / 3.5], abs=0.02)


def test_harmonics_and_twins():
    rng = np.random.default_rng(0)
    terms = rng.normal(size=(11, CHANNELS))
    phase = np.arange(SAMPLES) / SAMPLES
    samples = evaluate(np.repeat(terms[None], SAMPLES, axis=0), phase)
    assert np.allclose(fit(samples), terms, atol=1e-12)
    assert np.allclose(twin(twin(terms)), terms)
    # by hand: exchange sides, change signs, and begin half a cycle later
    mirrored = np.roll(samples[:, TWIN_SOURCE] * TWIN_SIGN, SAMPLES // 2, axis=0)
    assert np.allclose(fit(mirrored), twin(terms), atol=1e-12)
    curve = np.cumsum(rng.normal(size=(90, 4)), axis=0)
    smooth = cosine_curve(cosine_terms(curve), 90)
    assert np.allclose(cosine_curve(cosine_terms(smooth), 90), smooth, atol=1e-9)


def test_cycles_of_a_known_walk():
    walk = walking(seconds=8.0, speed_mps=1.2, turn_rps=0.1, rate_hz=60.0)
    cycles = find_cycles(walk)
    assert len(cycles) >= 5
    inner = cycles[1:-1]
    assert np.median([c.period_s for c in inner]) == pytest.approx(1.0, abs=0.02)
    assert np.median([c.speed_mps for c in inner]) == pytest.approx(1.2, abs=0.04)
    assert np.median([c.right_share for c in inner]) == pytest.approx(0.5, abs=0.03)
    assert np.median([c.turn_rad for c in inner]) == pytest.approx(0.1, abs=0.02)


def test_axes_are_their_own_mirror_images_or_the_opposite():
    walks = [
        walking(seconds=6.0, speed_mps=v, turn_rps=t, rate_hz=60.0)
        for v in (0.8, 1.1, 1.5)
        for t in (-0.2, 0.0, 0.3)
    ]
    cycles = [cycle for walk in walks for cycle in find_cycles(walk)]
    fitted = fit_gait(cycles)
    model = fitted.model
    weights = np.tile(channel_weights(), 11)
    terms = np.stack([cycle_terms(cycle, fitted.means) for cycle in cycles])
    axes = model.axes * weights
    codes = ((terms.reshape(len(cycles), -1) - model.mean) * weights) @ axes.T
    twins = ((twin(terms).reshape(len(cycles), -1) - model.mean) * weights) @ axes.T
    strong = np.abs(codes).max(axis=0) > 1e-3
    assert np.allclose(twins[:, strong], (codes * model.signs[:-2])[:, strong], atol=1e-6)
    # a twin is what the mirrored walk shows
    other = find_cycles(mirror(walks[2]))
    assert np.median([c.turn_rad for c in other]) == pytest.approx(-0.3, abs=0.05)


def test_the_shipped_model():
    model = default_model()
    assert "mocap.cs.cmu.edu" in model.facts["acknowledgement"]
    assert "EIA-0196217" in model.facts["acknowledgement"]
    assert model.facts["subjects"] == 67
    assert len(model.gait.codes.residuals) == 2 * model.facts["cycles"]
    plain = plainness(model.gait.codes)
    assert plain.min() >= 0.0
    assert plain.max() <= 1.0
    style = draw_style(model.gait, StyleRequest(speed_mps=1.2, run=False), Draws(1, "s"))
    again = draw_style(model.gait, StyleRequest(speed_mps=1.2, run=False), Draws(1, "s"))
    assert np.array_equal(style, again)


def test_model_files(tmp_path):
    model = default_model()
    file = tmp_path / "model.npz"
    half = len(model.gait.codes.residuals) // 2
    codes = model.gait.codes
    once = replace(
        codes,
        **{
            key: getattr(codes, key)[:half]
            for key in ("residuals", "log_speed", "turn_rad", "runs", "sequence", "looks")
        },
    )
    save_model(replace(model, gait=replace(model.gait, codes=once)), file)
    assert file.stat().st_size < 200_000
    back = load_model(file)
    assert np.allclose(back.gait.axes, model.gait.axes, atol=1e-6)
    assert np.array_equal(back.gait.codes.runs, codes.runs)
    assert back.facts == model.facts
    save_model(replace(model, gait=replace(model.gait, codes=once)), tmp_path / "again.npz")
    assert file.read_bytes() == (tmp_path / "again.npz").read_bytes()
    for broken in (b"", b"PK not really", file.read_bytes()[:5000]):
        (tmp_path / "broken.npz").write_bytes(broken)
        with pytest.raises(DataError, match=r"broken\.npz"):
            load_model(tmp_path / "broken.npz")
    np.savez(tmp_path / "pickle.npz", facts=np.array([{"version": 1}], dtype=object))
    with pytest.raises(DataError, match=r"pickle\.npz"):
        load_model(tmp_path / "pickle.npz")
    with pytest.raises(DataError, match="No such file"):
        load_model(tmp_path / "none.npz")


@pytest.mark.parametrize("side", [0, 1])
def test_hands_reach_where_they_should(side):
    sign = 1.0 if side == 0 else -1.0
    for place in ([0.1, 0.2, 0.3], [-0.1, -0.3, 0.25], [0.0, -0.4, 0.1]):
        upper, fore = arm_rotations(side, np.array([place]), np.array([0.5, -1.0, -0.2]))
        elbow = rotate(upper, BODY_OFFSETS_M[18 + side])
        wrist = elbow + rotate(multiply(upper, fore), BODY_OFFSETS_M[20 + side])
        wanted = np.array(place) * [sign, 1.0, 1.0]
        assert np.linalg.norm(wrist[0] - wanted) < 0.05  # bones are not quite straight at rest


def test_layers_lead_joints():
    means = default_model().means
    layer = Layer(4, means)
    layer.reach(0, np.array([0.0, -0.2, 0.3]), np.array([0.5, -1.0, 0.0]), np.ones(4))
    rotations = to_rotations(layer.apply(np.zeros((4, 66))), means)
    wanted, _ = arm_rotations(0, np.array([[0.0, -0.2, 0.3]]), np.array([0.5, -1.0, 0.0]))
    assert np.allclose(np.abs((rotations[0, 16] * wanted[0]).sum()), 1.0, atol=1e-9)
    layer.look(np.full(4, 0.5), np.zeros(4))
    turned = layer.turn(rotations)
    assert np.allclose(turned[:, 1], rotations[:, 1])
    assert not np.allclose(turned[:, 15], rotations[:, 15])


@pytest.mark.parametrize("speed", [0.5, 0.9, 1.3, 1.7, 3.0])
def test_people_keep_the_speed_asked_for(speed):
    blocks = (WalkBlock(seconds=6.0, speed_mps=speed, starts=False, stops=False),)
    for number in range(3):
        motion = made(blocks, speed=speed, number=number).motion
        assert path_speed_mps(motion) == pytest.approx(speed, rel=0.13)
        figures = gait_figures(motion)
        assert figures is not None
        assert figures.cadence_hz == pytest.approx(
            1.77 * speed**0.5 if speed < 1.9 else 2.54 * speed**0.14, rel=0.45
        )
    assert figures.flight == 0.0 if speed < 1.5 else True
    if speed > 2.0:
        assert figures.flight > 0.1


def test_feet_stand_still():
    blocks = (HoldBlock(seconds=1.0), WalkBlock(seconds=4.0, speed_mps=1.2), HoldBlock(seconds=1.0))
    result = made(blocks)
    motion = result.motion
    balls = balls_m(motion)
    low = motion.body_scale * BALL_HEIGHT_M
    assert balls[..., 1].min() > low - 1e-6
    before = balls[:15]
    assert np.ptp(before, axis=0).max() < 2e-4
    assert result.lowered_m < 0.10
    # the first swing does not go backward
    for side in range(2):
        assert balls[:, side, 2].min() > balls[0, side, 2] - 0.04


def test_turns_go_the_right_way():
    turn = Turn(at_s=1.0, seconds=2.2, angle_rad=np.pi / 2)
    blocks = (WalkBlock(seconds=5.0, speed_mps=1.1, starts=False, stops=False, turns=(turn,)),)
    end = made(blocks).motion.root_m[-1]
    assert end[0] > 1.0  # +x is left
    step = Shuffle(at_s=0.5, seconds=1.0, left_m=0.3)
    aside = made((HoldBlock(seconds=2.5, shuffles=(step,)),)).motion.root_m[-1]
    assert aside[0] == pytest.approx(0.3, abs=0.06)
    backward = (HoldBlock(seconds=0.5), WalkBlock(seconds=2.0, speed_mps=0.5, backward=True))
    assert made(backward).motion.root_m[-1, 2] < -0.5


def test_jumps_obey_gravity():
    leap = Leap(at_s=0.5, height_m=0.2, dip_m=0.12)
    motion = made((HoldBlock(seconds=3.0, leaps=(leap,)),), scale=1.0).motion
    clear = balls_m(motion)[..., 1].min(axis=1) > BALL_HEIGHT_M + 0.02
    assert clear.sum() / 20.0 == pytest.approx(2.0 * np.sqrt(2.0 * 0.2 / 9.81), abs=0.13)


def test_children_step_faster():
    blocks = (WalkBlock(seconds=6.0, speed_mps=1.1, starts=False, stops=False),)
    adult = gait_figures(made(blocks, scale=1.1).motion)
    child = gait_figures(made(blocks, scale=0.66).motion)
    assert child.cadence_hz > 1.2 * adult.cadence_hz
    assert child.step_length_m < 0.85 * adult.step_length_m


def test_too_small_libraries_are_refused():
    from jaywalk.motion.synthesis.sampling import sample

    with pytest.raises(UsageError, match="at least"):
        next(sample(default_model(), 2, 1))
