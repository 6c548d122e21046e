"""Libraries sampled from the model: reproducible, of their class, on their feet, cached."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from typer.testing import CliRunner

from jaywalk.cli.main import app
from jaywalk.core.errors import PrerequisiteError, UsageError
from jaywalk.geometry.rotation import angle_between_rad
from jaywalk.metrics.motion._diversity import collect_windows, distinct_share, likeness, space_of
from jaywalk.metrics.motion.judgement import clip_figures, judge
from jaywalk.motion import default_library
from jaywalk.motion.library.building import DEFAULT_POLICIES, on_rigs
from jaywalk.motion.library.classes import classify
from jaywalk.motion.library.reading import open_library
from jaywalk.motion.library.writing import LibraryWriter
from jaywalk.motion.synthesis import default as default_module
from jaywalk.motion.synthesis.model_file import default_model
from jaywalk.motion.synthesis.sampling import (
    HABIT_MIX,
    behaviour_key,
    counts,
    sample,
    sample_clip,
    sample_library,
)


@pytest.fixture(scope="module")
def motions():
    return list(sample(default_model(), 80, 5))


def run(*words):
    return CliRunner().invoke(app, ["motion", *map(str, words)])


def test_every_behaviour_has_its_share():
    for clips in (80, 400, 1000):
        number = counts(HABIT_MIX, clips)
        assert sum(number.values()) == clips
        assert set(number) == {behaviour_key(b) for b in HABIT_MIX.behaviours}
    assert min(counts(HABIT_MIX, 400).values()) >= 4


def test_clips_are_reproducible_and_distinct(motions):
    again = list(sample(default_model(), 10, 6))
    assert [m.content_hash() for m in again] == [
        m.content_hash() for m in sample(default_model(), 10, 6)
    ]
    hashes = {m.content_hash() for m in (*motions, *again)}
    assert len(hashes) == 90
    assert len({m.name for m in motions}) == 80


@pytest.mark.parametrize(
    ("key", "frames", "end_m", "wrist_m"),
    [
        ("crossing-walk", 147, [0.4376, 0.7034, 6.4452], [0.3724, 0.6874, 3.0786]),
        ("attempting-turnback", 144, [0.5437, 0.7213, -0.0900], [0.2016, 0.7247, 1.5234]),
        ("notcrossing-phone", 161, [0.0379, 0.9339, 0.0016], [0.2651, 0.9175, -0.0409]),
    ],
)
def test_golden_clips(key, frames, end_m, wrist_m):
    """The same on every machine, to a few millimetres; change SAMPLER_VERSION if on purpose."""
    behaviour = next(b for b in HABIT_MIX.behaviours if behaviour_key(b) == key)
    motion = sample_clip(default_model(), behaviour, 0, 1)
    assert motion.frames == frames
    assert motion.root_m[-1] == pytest.approx(end_m, abs=0.005)
    assert motion.joints_m()[frames // 2, 20] == pytest.approx(wrist_m, abs=0.005)


def test_clips_are_of_their_class_and_varied(motions):
    assert all(str(classify(m)) == m.label for m in motions)
    steps = [angle_between_rad(m.rotations[1:], m.rotations[:-1]).max() for m in motions]
    assert np.rad2deg(max(steps)) < 48.1  # knees do not snap
    kinds = Counter(m.label for m in motions)
    assert kinds["crossing"] >= 30
    assert kinds["attempting"] >= 15
    assert kinds["not_crossing"] >= 24
    speeds = [clip_figures(m)["speed_mps"] for m in motions if m.label == "crossing"]
    assert min(speeds) < 0.7
    assert max(speeds) > 1.9
    scales = [m.body_scale for m in motions]
    assert min(scales) < 0.85 < 1.1 < max(scales)
    words = " ".join(m.caption for m in motions)
    for word in ("phone", "look", "weight", "hesitates", "stumbles", "limps", "old", "child"):
        assert word in words, word
    assert all("mocap.cs.cmu.edu" in m.licence for m in motions)


def test_clips_pass_the_gates(motions):
    rows = [clip_figures(m) for m in motions]

    def figure(key):
        return np.array([row[key] for row in rows])

    assert figure("penetration_m").max() < 0.005
    assert np.median(figure("foot_skating_ratio")) < 0.11
    assert np.percentile(figure("foot_skating_ratio"), 95) < 0.22
    assert np.median(figure("stance_slip_mps")) < 0.05
    assert np.percentile(figure("stance_slip_mps"), 95) < 0.12
    assert np.percentile(figure("joint_step_deg"), 95) < 50.0
    staying = np.array([m.label == "not_crossing" for m in motions])
    assert np.median(figure("jitter_mps3")[staying]) < 12.0
    assert np.median(figure("jitter_mps3")[~staying]) < 55.0


def test_copies_do_not_count_as_variety(motions):
    some = motions[::2]
    names = [m.name for m in some]
    real = collect_windows(some, names)
    space = space_of(real)
    assert distinct_share(real, real, space) > 0.9
    rng = np.random.default_rng(0)
    copies = [
        replace(m, root_m=m.root_m + rng.normal(0.0, 1e-4, m.root_m.shape)) for m in some[:10]
    ] * 2
    twice = collect_windows(copies, [f"copy{i}" for i in range(20)])
    assert distinct_share(twice, real, space) == 0.0
    found = likeness(real, real, space)
    assert found.frechet == pytest.approx(0.0, abs=1e-6)
    assert found.coverage == 1.0
    few = likeness(collect_windows(some[:5], names[:5]), real, space)
    assert few.coverage < 0.5
    with pytest.raises(UsageError, match="windows"):
        space_of(collect_windows(some[:2], names[:2]))


def write(folder, motions):
    with LibraryWriter(folder, DEFAULT_POLICIES, {}) as writer:
        for motion in motions:
            writer.add(motion, on_rigs(motion, DEFAULT_POLICIES))
    return folder


def test_judging(motions, tmp_path):
    """Half of the motions pose as captures, of subjects 7 and 9."""
    real = [
        replace(m, source=f"cmu/{('07', '09')[i % 2]}_{i:02d}.bvh[1:9]")
        for i, m in enumerate(motions[::2])
    ]
    write(tmp_path / "real", real)
    write(tmp_path / "made", motions[1::2])
    result = judge(open_library(tmp_path / "made"), open_library(tmp_path / "real"), ["07"])
    assert set(result) == {"crossing", "attempting", "not_crossing", "all"}
    every = result["all"]
    assert every["held out"]["clips"] + every["training"]["clips"] == 40
    assert every["generated"]["clips"] == 40
    assert every["generated"]["distinct"] > 0.8
    assert every["generated"]["nearest_training"] > 0.0
    assert 0.0 < every["generated"]["likeness"]["coverage"] <= 1.0
    with pytest.raises(UsageError, match="held-out"):
        judge(open_library(tmp_path / "made"), open_library(tmp_path / "real"), ["50"])
    told = run("model", "judge", tmp_path / "made", tmp_path / "real", "--held-out", "07")
    assert "frechet" in told.stdout


def test_sample_command_writes_the_same_bytes(tmp_path):
    for name in ("a", "b"):
        done = run("model", "sample", "--n", 8, "--seed", 3, "--out", tmp_path / name)
        assert done.exit_code == 0, done.output
    for file in sorted((tmp_path / "a").iterdir()):
        assert file.read_bytes() == (tmp_path / "b" / file.name).read_bytes(), file.name
    lib = open_library(tmp_path / "a")
    assert len(lib) == 8
    assert lib.meta["generated"]["seed"] == 3
    assert "NSF" in lib.meta["generated"]["acknowledgement"]


def test_train_command_says_what_is_missing(tmp_path):
    done = run("model", "train", "--bvh", tmp_path, "--out", tmp_path / "m.npz")
    assert done.exit_code != 0
    assert isinstance(done.exception, UsageError | SystemExit)


def test_default_library_is_made_once(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(default_module, "CLIPS", 6)
    told = []
    lib = default_library(say=told.append)
    assert len(lib) == 6
    assert "once" in told[0]
    made = (lib.folder / "library.json").stat().st_mtime_ns
    again = default_library(say=told.append)
    assert again.folder == lib.folder
    assert (lib.folder / "library.json").stat().st_mtime_ns == made
    assert [p.name for p in lib.folder.parent.iterdir()] == [lib.folder.name]
    (lib.folder / "man_turns.f32").write_bytes(b"broken")
    assert len(default_library()) == 6
    monkeypatch.setattr(default_module, "CLIPS", 7)
    assert default_library().folder != lib.folder


def test_unwritable_cache_is_told(tmp_path, monkeypatch):
    (tmp_path / "jaywalk").write_text("a file where a folder should be")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(default_module, "CLIPS", 6)
    with pytest.raises(PrerequisiteError, match="XDG_CACHE_HOME"):
        default_library()


def test_sample_library_reports_progress(tmp_path):
    told = []
    sample_library(default_model(), tmp_path / "lib", clips=3, seed=1, say=told.append)
    assert len(open_library(tmp_path / "lib")) == 3
