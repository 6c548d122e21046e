"""Libraries: building with broken files, reading back, searching, the commands."""

import json

import numpy as np
import pytest
from synthetic_motion import still, walking
from typer.testing import CliRunner

from jaywalk.cli.main import app
from jaywalk.core.errors import DataError, UsageError
from jaywalk.geometry.rotation import angle_between_rad
from jaywalk.metrics.motion.library_check import check_library
from jaywalk.motion.carla_rigs import RIG_NAMES
from jaywalk.motion.clip import mirror, mirror_caption
from jaywalk.motion.library.building import DEFAULT_POLICIES, Sources, build_library, clean, on_rigs
from jaywalk.motion.library.reading import open_library
from jaywalk.motion.library.search import library_stats, search, stem
from jaywalk.motion.library.writing import LibraryWriter


def write_library(folder, motions):
    with LibraryWriter(folder, DEFAULT_POLICIES, {}) as writer:
        for motion in motions:
            writer.add(motion, on_rigs(motion, DEFAULT_POLICIES))
    return folder


def save_joints(path, motion):
    path.parent.mkdir(parents=True, exist_ok=True)
    np.save(path, motion.joints_m())


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    """Three good clips and three broken files, in HumanML3D's layout."""
    data = tmp_path_factory.mktemp("data")
    save_joints(data / "new_joints/000001.npy", walking(name="000001"))
    save_joints(data / "new_joints/M000001.npy", mirror(walking(turn_rps=0.2)))
    save_joints(data / "new_joints/000002.npy", still(frames=60))
    (data / "new_joints/000003.npy").write_bytes(b"\x93NUMPY broken")
    np.save(data / "new_joints/000004.npy", np.zeros((5, 5)))
    np.save(data / "new_joints/000005.npy", np.zeros((50, 22, 3)))
    (data / "texts").mkdir()
    (data / "texts/000001.txt").write_text("a person limps forward#a/DET#0.0#0.0\n")
    (data / "texts/000002.txt").write_text("someone stands still#a/DET#0.0#0.0\n")
    out = tmp_path_factory.mktemp("library") / "lib"
    problems = build_library(Sources(humanml3d=data), out)
    assert [p.name for p in problems] == ["000003.npy", "000004.npy", "000005.npy"]
    return out


def test_broken_files_are_reported_and_the_rest_is_built(library):
    lib = open_library(library)
    assert lib.names == ["000001", "000002", "M000001"]
    named = [p["name"] for p in lib.meta["problems"]]
    assert named == ["000003.npy", "000004.npy", "000005.npy"]
    assert all(p["reason"] for p in lib.meta["problems"])
    assert lib.columns["base"] == ["000001", "000002", "000001"]
    assert lib.columns["class"] == ["crossing", "not_crossing", "crossing"]
    assert lib.columns["caption"][0] == "a person limps forward"
    assert all("AMASS" in text for text in lib.columns["licence"])


def test_clips_come_back_as_written(tmp_path):
    motion = clean(walking(turn_rps=0.3, scale=1.05), foot_lock=True)
    lib = open_library(write_library(tmp_path / "lib", [still(frames=30), motion]))
    back = lib.motion("walk")
    assert back.frames == motion.frames
    assert np.rad2deg(angle_between_rad(back.rotations, motion.rotations)).max() < 1e-4
    assert np.abs(back.root_m - motion.root_m).max() < 1e-6
    assert back.body_scale == motion.body_scale
    assert lib.columns["hash"][1] == motion.content_hash()
    for rig, wanted in on_rigs(motion, DEFAULT_POLICIES).items():
        posed = lib.on_rig("walk", rig)
        assert posed.policy is wanted.policy
        assert np.abs(posed.joints_m() - wanted.joints_m()).max() < 1e-5


def test_wrong_use_is_told(tmp_path, library):
    with pytest.raises(UsageError, match=r"no clip 'x' in .* Known: 000001"):
        open_library(library).motion("x")
    with pytest.raises(DataError, match="not a complete motion library"):
        open_library(tmp_path)
    with pytest.raises(UsageError, match="no source"):
        build_library(Sources(), tmp_path / "out")
    (tmp_path / "other.txt").write_text("x")
    with pytest.raises(UsageError, match="other files"):
        write_library(tmp_path, [])
    copy = write_library(tmp_path / "lib", [still()])
    (copy / "man_turns.f32").write_bytes(b"123")
    with pytest.raises(DataError, match=r"man_turns\.f32"):
        open_library(copy)
    for text in ("[]", '{"version": 1, "clips": 7}', "{"):
        (copy / "library.json").write_text(text)
        with pytest.raises(DataError, match="lib"):
            open_library(copy)


def test_frames_stay_on_disk_until_a_clip_is_asked_for(tmp_path):
    motion = still(frames=4)
    rigs = on_rigs(motion, DEFAULT_POLICIES)
    from dataclasses import replace

    with LibraryWriter(tmp_path / "lib", DEFAULT_POLICIES, {}) as writer:
        for i in range(300):
            writer.add(replace(motion, name=f"{i:06d}", caption="walks about" * 5), rigs)
    lib = open_library(tmp_path / "lib")
    assert len(lib) == 300
    for column in lib._frames.values():
        assert isinstance(column, np.memmap) or not column.flags.owndata
    assert lib.on_rig("000123", "boy").turns.shape[0] == 4


def test_check_has_the_promised_fields(library):
    result = check_library(open_library(library))
    fields = {
        "fk_error_deg_max",
        "bone_length_std_m",
        "foot_skating_ratio",
        "stance_slip_mps",
        "penetration_m",
        "jitter_mps3",
        "duration_s",
        "speed_mps",
        "class",
    }
    assert fields <= set(result["total"])
    for clip in result["clips"]:
        assert fields <= set(clip)
        assert clip["fk_error_deg_max"] < 1e-3
        assert clip["bone_length_std_m"] < 1e-6
        assert set(clip["stance_slip_mps"]["retargeted"]) == set(RIG_NAMES)
    walk = result["clips"][0]
    assert walk["speed_mps"] == pytest.approx(1.2, rel=0.03)
    added = walk["stance_slip_mps"]["retargeted"]["man"] - walk["stance_slip_mps"]["source"]
    assert added < 0.02


def run(*words):
    return CliRunner().invoke(app, ["motion", *map(str, words)])


def test_commands(library, tmp_path):
    found = json.loads(run("search", library, "limping", "--json").stdout)
    assert [row["name"] for row in found] == ["000001"]
    checked = json.loads(run("check", library, "--json", "--clip", "000001").stdout)
    assert len(checked["clips"]) == 1
    classed = json.loads(run("classify", library, "--json").stdout)
    assert classed["clips"][1]["class"] == "not_crossing"
    assert classed["agreement"] is None
    assert run("stats", library, "-o", tmp_path / "figures").exit_code == 0
    assert {f.name for f in (tmp_path / "figures").iterdir()} == {
        "paths.png",
        "words.png",
        "tags.png",
        "stats.json",
    }
    assert run("show", library, "000002", "-o", tmp_path / "a.gif", "--rig", "girl").exit_code == 0
    assert (tmp_path / "a.gif").read_bytes()[:3] == b"GIF"


def test_build_command_reports_broken_files(tmp_path):
    (tmp_path / "in").mkdir()
    np.savez(
        tmp_path / "in/good.npz",
        poses=np.tile([np.pi / 2, *np.zeros(155)], (60, 1)),
        trans=np.tile([0.0, 0.0, 1.2], (60, 1)),
        mocap_framerate=60.0,
    )
    (tmp_path / "in/bad.npz").write_bytes(b"PK not really")
    done = run("build", "--amass", tmp_path / "in", "--out", tmp_path / "lib")
    assert done.exit_code == 4
    assert "1 clips, 1 left out" in done.stdout
    assert "bad.npz" in done.stderr
    lib = open_library(tmp_path / "lib")
    assert lib.names == ["good"]
    assert lib.motion("good").frames == 20


def test_stats(library):
    stats = library_stats(open_library(library))
    assert stats["clips"] == 3
    assert stats["base_clips"] == 2
    crossing = stats["classes"]["crossing"]
    assert crossing["path_mean_m"][5][0] > 4.5
    assert crossing["path_mean_m"][10] is None
    assert stats["classes"]["not_crossing"]["tags"] == {"stand": 1}


def test_search_ignores_endings():
    assert {stem(w) for w in ("walk", "walks", "walking", "walked")} == {"walk"}
    assert stem("stepping") == stem("steps")
    captions = ["a man limps across the road", "a woman walks", "limping slowly", "waves"]
    assert [place for place, _ in search(captions, "limping across")] == [0, 2]


def test_mirrored_captions():
    assert mirror_caption("Left arm, turns clockwise") == "Right arm, turns counterclockwise"
    assert mirror_caption("turns counter-clockwise right") == "turns clockwise left"


def test_an_interrupted_build_may_be_repeated_in_its_folder(tmp_path):
    out = tmp_path / "lib"
    writer = LibraryWriter(out, DEFAULT_POLICIES, {})
    writer.add(still(), on_rigs(still(), DEFAULT_POLICIES))
    writer.__exit__(KeyboardInterrupt, KeyboardInterrupt(), None)
    with pytest.raises(DataError, match="not a complete motion library"):
        open_library(out)
    assert open_library(write_library(out, [still(), walking()])).names == ["still", "walk"]
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/notes.txt").write_text("keep")
    with pytest.raises(UsageError, match="holds other files"):
        LibraryWriter(tmp_path / "mine", DEFAULT_POLICIES, {})
