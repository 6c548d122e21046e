"""Real captures: CMU clips that HABIT chose, end to end."""

import tarfile
from pathlib import Path

import numpy as np
import pytest

from jaywalk.metrics.motion._gait import gait_figures
from jaywalk.metrics.motion.library_check import check_library
from jaywalk.motion.clip import Clip
from jaywalk.motion.library.building import Sources, build_library, clean, read_all
from jaywalk.motion.library.classes import CLASSES, agreement, displacement_m, parse_class
from jaywalk.motion.library.reading import open_library
from jaywalk.motion.sources import _cmu_bvh
from jaywalk.motion.sources._cmu_bvh import read_cmu, true_rate_hz
from jaywalk.motion.sources._joint_guess import guess_mapping
from jaywalk.motion.sources._mapped import mapped_clip
from jaywalk.motion.sources.motion_files import read_motion

FOLDER = Path(__file__).parents[4] / "shared" / "data" / "cmu_bvh"
pytestmark = [
    pytest.mark.data,
    pytest.mark.slow,
    pytest.mark.skipif(
        not (FOLDER / "cmu_bvh_subset.tar.xz").exists(), reason="needs ../shared/data/cmu_bvh"
    ),
]


@pytest.fixture(scope="module")
def captures(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cmu")
    with tarfile.open(FOLDER / "cmu_bvh_subset.tar.xz") as tar:
        tar.extractall(folder, filter="data")
    return folder


def test_a_sample_end_to_end(captures, tmp_path):
    lines = (FOLDER / "habit_clips.csv").read_text(encoding="utf-8").splitlines()
    (tmp_path / "clips.csv").write_text("\n".join([lines[0], *lines[1::40]]) + "\n")
    problems = build_library(Sources(bvh=captures, clips=tmp_path / "clips.csv"), tmp_path / "lib")
    assert problems == []
    total = check_library(open_library(tmp_path / "lib"))["total"]
    assert total["clips"] == len(lines[1::40])
    assert total["fk_error_deg_max"] < 1e-3
    assert total["bone_length_std_m"] < 1e-6
    assert total["stance_slip_mps"]["added_max"]["man"] < 0.02
    assert total["stance_slip_mps"]["added_max"]["woman"] < 0.02
    assert total["penetration_m"] < 0.005


def test_plain_walks_have_a_human_gait(captures):
    """Subject 35 walks: units and rates are right if speed and cadence are human."""
    walks = [clean(read_cmu(captures / f"35_{n}.bvh"), foot_lock=True) for n in ("02", "04", "05")]
    figures = [gait_figures(walk) for walk in walks]
    assert all(f is not None for f in figures)
    assert np.mean([f.speed_mps for f in figures]) == pytest.approx(1.25, abs=0.2)
    assert np.mean([f.cadence_hz for f in figures]) == pytest.approx(1.85, abs=0.25)


def test_classes_agree_with_habit(captures):
    sources = Sources(bvh=captures, clips=FOLDER / "habit_clips.csv")
    motions = [found for found in read_all(sources) if isinstance(found, Clip)]
    assert len(motions) == 460
    moved = np.array([displacement_m(motion) for motion in motions])
    labels = np.array([CLASSES.index(parse_class(motion.label)) for motion in motions])
    bases = [motion.base_name for motion in motions]
    score = agreement(moved, labels, bases, splits=100, seed=0)
    assert score.accuracy >= 0.84
    assert score.macro_recall >= 0.75


def test_a_model_can_be_trained(captures, tmp_path):
    """On a third of the files; sampling from it gives people on their feet."""
    from jaywalk.metrics.motion.judgement import clip_figures
    from jaywalk.motion.synthesis.model_file import load_model, save_model
    from jaywalk.motion.synthesis.sampling import sample
    from jaywalk.motion.synthesis.training import train, training_files

    files = training_files(captures, FOLDER / "habit_clips.csv", ["35", "07"])
    assert not [path for path in files if path.stem.startswith(("35_", "07_"))]
    told = []
    (tmp_path / "99_01.bvh").write_text("broken")
    model = train([*files[::3], tmp_path / "99_01.bvh"], say=told.append)
    assert any("99_01" in line for line in told)
    save_model(model, tmp_path / "model.npz")
    assert (tmp_path / "model.npz").stat().st_size < 100_000
    figures = [clip_figures(motion) for motion in sample(load_model(tmp_path / "model.npz"), 12, 1)]
    assert max(row["penetration_m"] for row in figures) < 0.005
    assert np.median([row["stance_slip_mps"] for row in figures]) < 0.06


@pytest.mark.parametrize("archive", ["cmu_bvh_subset.tar.xz", "cmu_bvh_everyday.tar.xz"])
def test_a_guessed_mapping_gives_what_the_reader_for_cmu_gives(archive, tmp_path, monkeypatch):
    """Names, unit, axes and the added T-pose are found; the true rate cannot be."""
    monkeypatch.setattr(_cmu_bvh, "HIP_BIAS_M", 0.0)
    with tarfile.open(FOLDER / archive) as tar:
        members = [one for one in tar.getmembers() if one.name.endswith(".bvh")][::30]
        tar.extractall(tmp_path, members=members, filter="data")
    assert len(members) >= 7
    for path in sorted(tmp_path.rglob("*.bvh")):
        motion = read_motion(path)
        guess = guess_mapping(motion)
        assert guess.doubts == ()
        assert guess.mapping.unit_m == _cmu_bvh.UNIT_M
        assert guess.mapping.rest == "first"
        assert 1.5 < guess.height_m < 2.1
        clip = mapped_clip(motion, guess.mapping, name="x", where=str(path), source="")
        truth = read_cmu(path)
        places = clip.joints_m()[:: round(true_rate_hz(path.stem) / 20.0)][: truth.frames]
        assert np.abs(places - truth.joints_m()).max() < 0.06
