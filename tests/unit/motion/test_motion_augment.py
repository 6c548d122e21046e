"""Augmentation: what changes, what stays, marks and splits."""

import numpy as np
import pytest
from synthetic_motion import still, walking
from typer.testing import CliRunner

from jaywalk.cli.main import app
from jaywalk.core.errors import UsageError
from jaywalk.geometry.rotation import angle_between_rad, from_rotvec, rotate
from jaywalk.metrics.motion._gait import path_speed_mps
from jaywalk.motion.augment import (
    WAYS,
    augment,
    augment_library,
    change_speed,
    change_style,
    split_of,
    warp_time,
)
from jaywalk.motion.clip import mirror
from jaywalk.motion.foot_lock import balls_m
from jaywalk.motion.library.building import DEFAULT_POLICIES, on_rigs
from jaywalk.motion.library.reading import open_library
from jaywalk.motion.library.writing import LibraryWriter
from jaywalk.motion.smpl import JOINTS


@pytest.fixture
def walk():
    return walking(seconds=5.0, speed_mps=1.2, turn_rps=0.1, name="000007")


def test_speed(walk):
    fast = change_speed(walk, 1.25)
    assert fast.duration_s == pytest.approx(walk.duration_s / 1.25, abs=0.05)
    assert path_speed_mps(fast) == pytest.approx(1.25 * path_speed_mps(walk), rel=0.02)
    assert np.allclose(fast.root_m[4], walk.root_m[5])  # 4 x 1.25 frames
    assert np.allclose(change_speed(walk, 1.0).root_m, walk.root_m)
    with pytest.raises(UsageError, match="positive"):
        change_speed(walk, 0.0)


def test_warp_keeps_the_ends_and_the_path(walk):
    warped = warp_time(walk, [0.2, -0.1, 0.05])
    assert warped.frames == walk.frames
    assert np.allclose(warped.root_m[[0, -1]], walk.root_m[[0, -1]])
    assert not np.allclose(warped.root_m[50], walk.root_m[50], atol=0.02)
    # every place of the warped walk lies on the old path
    gap = np.linalg.norm(warped.root_m[:, None] - walk.root_m, axis=2).min(axis=1)
    assert gap.max() < 0.05
    assert (np.diff(warped.root_m[:, 2]) > 0.0).all()
    with pytest.raises(UsageError, match="too strong"):
        warp_time(walk, [0.6, 0.6])


def test_style_leaves_the_feet_alone(walk):
    bent = change_style(walk, swing=1.0, lean_rad=0.3, arms_rad=0.2)
    assert np.allclose(balls_m(bent), balls_m(walk), atol=1e-9)
    up = np.array([0.0, 1.0, 0.0])
    spine = rotate(bent.turned()[:, JOINTS.index("spine3")], up)
    before = rotate(walk.turned()[:, JOINTS.index("spine3")], up)
    tilt = np.arccos(np.clip((spine * before).sum(axis=1), -1.0, 1.0))
    assert tilt == pytest.approx(0.3, abs=1e-6)
    wave = still(frames=41)
    turns = wave.rotations.copy()
    angle = 0.5 * np.sin(np.arange(41) / 40.0 * 2.0 * np.pi)
    turns[:, 16] = from_rotvec(angle[:, None] * np.array([0.0, 0.0, 1.0]))
    wave = wave.with_poses(turns, wave.root_m)
    half = change_style(wave, swing=0.5, lean_rad=0.0, arms_rad=0.0)
    swing = angle_between_rad(half.rotations[10, 16], half.rotations[30, 16])
    assert swing == pytest.approx(0.5, abs=0.01)


def test_copies_are_marked_and_reproducible(walk):
    copy = augment(walk, ["mirror", "warp", "style"], seed=3)
    again = augment(walk, ["mirror", "warp", "style"], seed=3)
    assert copy.content_hash() == again.content_hash()
    assert copy.name == again.name
    assert copy.name.startswith("M000007+warp")
    assert copy.base_name == walk.base_name == "000007"
    assert copy.augmented.split()[0] == "mirror"
    other = augment(walk, ["warp"], seed=4)
    assert other.content_hash() != augment(walk, ["warp"], seed=3).content_hash()
    plain = augment(walk, ["mirror"], seed=3)
    assert plain.name == "M000007"
    assert np.array_equal(plain.rotations, mirror(walk).rotations)
    for ways in ([], ["shrink"]):
        with pytest.raises(UsageError, match="expected some of"):
            augment(walk, ways, seed=0)
    with pytest.raises(UsageError, match="copy already"):
        augment(copy, ["warp"], seed=0)


def test_splits_go_by_base(walk):
    names = [f"{i:06d}" for i in range(2000)]
    share = np.mean([split_of(name, 0.3) == "test" for name in names])
    assert share == pytest.approx(0.3, abs=0.04)
    assert split_of(augment(walk, list(WAYS), 1).base_name, 0.5) == split_of("000007", 0.5)
    with pytest.raises(UsageError, match="0 to 1"):
        split_of("a", 1.5)


def test_libraries(tmp_path, walk):
    motions = [walk, mirror(walk), *(walking(seconds=2.5, name=f"{i:06d}") for i in range(20, 26))]
    with LibraryWriter(tmp_path / "lib", DEFAULT_POLICIES, {}) as writer:
        for motion in motions:
            writer.add(motion, on_rigs(motion, DEFAULT_POLICIES))
    library = open_library(tmp_path / "lib")
    with pytest.raises(UsageError, match="another folder"):
        augment_library(library, tmp_path / "lib")
    words = ["motion", "augment", tmp_path / "lib", "--out", tmp_path / "more", "--test-share", 0.4]
    done = CliRunner().invoke(app, [str(word) for word in words])
    assert done.exit_code == 0, done.output
    more = open_library(tmp_path / "more")
    assert set(library.names) <= set(more.names)
    assert len(more) > len(library)
    for base, how in zip(more.columns["base"], more.columns["augmented"], strict=True):
        if how:
            assert split_of(base, 0.4) == "train"
    assert any(split_of(base, 0.4) == "test" for base in more.columns["base"])
    name = next(n for n in more.names if "+" in n)
    assert more.motion(name).augmented
    assert more.motion(name).base_name in library.columns["base"]
