"""Replays: the right frames with the right pixels, and what a Rerun recording is given."""

import subprocess
import sys
from importlib.util import find_spec
from types import ModuleType

import av
import numpy as np
import polars as pl
import pytest
import typer
from matplotlib.image import imread
from scipy.spatial.transform import Rotation
from street_episode import HIT_TICK, LANE_Y_M, PARKED_X_M, PERSON_X_M, ego_x, write_street
from typer.testing import CliRunner

from jaywalk.cli.replay import replay
from jaywalk.core.errors import DataError, PrerequisiteError, UsageError
from jaywalk.geometry.rotation import rotation_matrix_carla
from jaywalk.report import rerun_file
from jaywalk.report._scene import read_scene
from jaywalk.report.replay import film_rows, find_episode, write_film, write_still

BLUE, PINK = (0x1D, 0x6F, 0xB8), (0xE1, 0x1D, 0x74)
ROAD, WHITE = (0xAA, 0xB0, 0xB8), (0xF4, 0xF4, 0xF2)
PER_M = 16  # pixels of a metre in a frame
SHORT_TICKS = 24


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    write_street(folder, "whole-s1")
    write_street(folder, "short-s1", ticks=SHORT_TICKS, agent={"name": "blind"})
    return folder


def pixel(picture, focus_x, x, y):
    """Colour at a place of the world, the camera being above the ego."""
    row = round(360 + (y - LANE_Y_M) * PER_M)
    column = round(640 + (x - focus_x) * PER_M)
    return tuple(int(v) for v in np.round(picture[row, column, :3] * 255.0))


def test_a_picture_shows_everybody_in_place(run, tmp_path):
    out = tmp_path / "still.png"
    time_s, words = write_still(find_episode(run, "whole-s1"), out, None)
    assert time_s == pytest.approx((HIT_TICK - 1) * 0.05)
    assert words.startswith("contact at")
    picture = imread(out)
    assert picture.shape == (720, 1280, 3) or picture.shape == (720, 1280, 4)
    eye = ego_x(HIT_TICK - 1)
    assert pixel(picture, eye, eye - 1.0, LANE_Y_M + 0.4) == BLUE
    assert pixel(picture, eye, eye + 8.0, LANE_Y_M - 1.2) == ROAD
    close = write_still(find_episode(run, "whole-s1"), out, 7.9)
    assert close == (7.9, "7.9 s")
    eye = ego_x(158)
    assert pixel(imread(out), eye, PARKED_X_M, LANE_Y_M) == WHITE
    write_still(find_episode(run, "whole-s1"), out, 2.0)
    eye = ego_x(40)
    assert pixel(imread(out), eye, PERSON_X_M, 5.0) == PINK


def test_a_film_has_a_frame_for_every_tick(run, tmp_path):
    out = tmp_path / "film.mp4"
    record = find_episode(run, "short-s1")
    told = []
    assert write_film(record, out, told.append) == SHORT_TICKS
    assert told[-1] == 1.0
    with av.open(str(out)) as film:
        (stream,) = film.streams.video
        frames = [frame.to_ndarray(format="rgb24") for frame in film.decode(stream)]
        assert stream.average_rate == 20
        assert (stream.width, stream.height) == (1280, 720)
    assert len(frames) == SHORT_TICKS
    for picture in (frames[0], frames[-1]):  # the camera stays with the ego
        assert np.abs(picture[366, 620].astype(int) - BLUE).max() < 12
    assert np.abs(frames[0].astype(int) - frames[-1]).mean() > 0.2


def test_fast_records_are_thinned_to_twenty_frames_a_second(run):
    time_s = read_scene(find_episode(run, "whole-s1")).time_s
    assert film_rows(time_s / 5.0) == list(range(0, 160, 5))  # 100 ticks a second
    assert film_rows(time_s * 2.0) == list(range(160))  # 10 a second: all of them


def test_unknown_episodes_and_times_are_told(run, tmp_path):
    with pytest.raises(UsageError, match=r"no episode 'x'\. Known: short-s1, whole-s1"):
        find_episode(run, "x")
    with pytest.raises(DataError, match="no recorded episode"):
        find_episode(tmp_path, "x")
    record = find_episode(run, "whole-s1")
    with pytest.raises(UsageError, match="--at 99 is outside"):
        write_still(record, tmp_path / "x.png", 99.0)
    (tmp_path / "file").touch()
    with pytest.raises(PrerequisiteError, match="Cannot write"):
        write_still(record, tmp_path / "file" / "x.png", 1.0)
    with pytest.raises(PrerequisiteError, match="Cannot write"):
        write_film(record, tmp_path / "file" / "x.mp4", lambda share: None)


def test_rotations_are_mirrored_as_places_are():
    angles = [(3.0, 40.0, -5.0), (-20.0, 170.0, 80.0), (0.0, -90.0, 0.0)]
    rows = pl.DataFrame(angles, schema=["pitch_deg", "yaw_deg", "roll_deg"], orient="row")
    mirror = np.diag([1.0, -1.0, 1.0])
    found = Rotation.from_quat(rerun_file.right_handed_quaternions(rows)).as_matrix()
    for angle, matrix in zip(angles, found, strict=True):
        assert matrix == pytest.approx(mirror @ rotation_matrix_carla(*angle) @ mirror, abs=1e-9)


class FakeStream:
    """Writes down what it is given."""

    def __init__(self, *_, **__):
        self.columns, self.logged = {}, []

    def save(self, path):
        self.path = path

    def log(self, name, value, static=False):
        self.logged.append((name, value))

    def send_columns(self, name, times, columns):
        self.columns[name] = times[0], columns

    def set_time(self, *_, **__):
        pass

    flush = disconnect = set_time


@pytest.fixture
def fake_rerun(monkeypatch):
    module, streams = ModuleType("rerun"), []

    class Archetype:
        def __init__(self, *args, **values):
            self.values = values

        @staticmethod
        def columns(**values):
            return values

    def start(*args, **values):
        streams.append(FakeStream())
        return streams[-1]

    module.RecordingStream = start
    module.TimeColumn = lambda name, duration: duration
    module.ViewCoordinates = Archetype
    Archetype.RIGHT_HAND_Z_UP = None
    for name in (
        "Boxes3D",
        "Clear",
        "LineStrips3D",
        "Points3D",
        "Scalars",
        "TextLog",
        "Transform3D",
    ):
        setattr(module, name, Archetype)
    monkeypatch.setitem(sys.modules, "rerun", module)
    return streams


def test_a_recording_is_given_everybody_right_handed(run, tmp_path, fake_rerun):
    record = find_episode(run, "whole-s1")
    assert rerun_file.write_rerun(record, tmp_path / "x.rrd") == 3
    (stream,) = fake_rerun
    times, values = stream.columns["world/ego"]
    assert times == pytest.approx(0.05 * np.arange(160))
    want = np.column_stack([ego_x(np.arange(160)), np.full(160, -LANE_Y_M), np.zeros(160)])
    assert values["translation"] == pytest.approx(want, abs=1e-4)
    assert set(stream.columns) >= {"world/vehicle/1", "world/walker/2", "series/speed_mps"}
    names = [name for name, _ in stream.logged]
    assert names.count("world/contacts") == 1
    assert names.count("world/lights/0") == 2
    assert "world/ground/road" in names


@pytest.mark.skipif(find_spec("rerun") is None, reason="needs rerun-sdk (extra viz)")
def test_a_real_recording_verifies(run, tmp_path):
    out = tmp_path / "x.rrd"
    rerun_file.write_rerun(find_episode(run, "whole-s1"), out)
    assert out.read_bytes()[:3] == b"RRF"
    words = [sys.executable, "-m", "rerun_cli", "rrd"]
    verified = subprocess.run(
        [*words, "verify", str(out)], capture_output=True, text=True, check=False, timeout=300
    )
    assert verified.returncode == 0, verified.stderr
    told = subprocess.run(
        [*words, "stats", str(out)], capture_output=True, text=True, check=True, timeout=300
    ).stdout
    assert "/world/ego" in told


def test_without_rerun_the_fix_is_told(run, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "rerun", None)
    with pytest.raises(PrerequisiteError, match=r"pip install 'jaywalk\[viz\]'"):
        rerun_file.write_rerun(find_episode(run, "short-s1"), tmp_path / "x.rrd")
    monkeypatch.setitem(sys.modules, "rerun", ModuleType("rerun"))
    with pytest.raises(PrerequisiteError, match="too old"):
        rerun_file.import_rerun()


def test_the_command(run, tmp_path):
    app = typer.Typer()
    app.command()(replay)
    out = tmp_path / "x.png"
    done = CliRunner().invoke(app, [str(run), "short-s1", "--png", str(out), "--time", "0.5"])
    assert done.exit_code == 0, done.output
    assert done.stdout.splitlines()[0] == f"{out} (0.5 s)"
    assert out.is_file()
    assert isinstance(CliRunner().invoke(app, [str(run), "short-s1"]).exception, UsageError)
    wrong = CliRunner().invoke(app, [str(run), "short-s1", "--mp4", "x.mp4", "--time", "1"])
    assert isinstance(wrong.exception, UsageError)
