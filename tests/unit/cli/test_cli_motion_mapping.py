"""``jaywalk motion build`` and ``motion map`` with motion capture of any skeleton."""

import json

import pytest
from tests.support.bvh_files import CONVENTIONS, write_convention
from tests.support.synthetic_motion import walking

from jaywalk.motion.library.reading import open_library
from jaywalk.motion.smpl import JOINTS

STRANGE = {joint: f"b{k:02d}" for k, joint in enumerate(JOINTS)}


@pytest.fixture
def run(monkeypatch, capsys):
    from jaywalk.cli.main import main

    def call(*words):
        monkeypatch.setattr("sys.argv", ["jaywalk", *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            main()
        code = ended.value.code or 0
        said = capsys.readouterr()
        return code, said.out, said.err

    return call


def takes(folder, names=CONVENTIONS["xsens"]):
    for take in ("run 01", "run-02"):
        write_convention(folder / f"{take}.bvh", walking(seconds=2.0), names)
    return folder


def test_a_certain_guess_is_shown_and_used(run, tmp_path):
    code, out, err = run(
        "motion", "build", "--bvh", takes(tmp_path / "in"), "--out", tmp_path / "lib",
        "--licence", "own capture",
    )  # fmt: skip
    assert code == 0
    assert "left_elbow\tLeftElbow\tits name" in out
    assert "unit cm (body height 1.70 m), 20 Hz, the rest pose of the file" in err
    library = open_library(tmp_path / "lib")
    assert library.names == ["run-01", "run-02"]
    assert library.columns["licence"] == ["own capture"] * 2


def test_an_uncertain_guess_needs_somebody_or_yes_or_a_file(run, tmp_path):
    folder = takes(tmp_path / "in", STRANGE)
    code, out, err = run("motion", "build", "--bvh", folder, "--out", tmp_path / "lib")
    assert code == 2
    assert "b18\tthe skeleton's shape" in out
    assert "Give --yes to accept the table above" in err
    assert "-o mapping.toml" in err
    assert not (tmp_path / "lib").exists()
    assert run("motion", "build", "--bvh", folder, "--out", tmp_path / "a", "--yes")[0] == 0
    mapping = tmp_path / "mapping.toml"
    code, out, _ = run("motion", "map", folder / "run-02.bvh", "-o", mapping)
    assert code == 0
    assert f"next: jaywalk motion build --files {folder}/run-02.bvh --mapping {mapping}" in out
    words = ("motion", "build", "--bvh", folder, "--mapping", mapping, "--out", tmp_path / "b")
    assert run(*words)[0] == 0
    assert open_library(tmp_path / "b").names == open_library(tmp_path / "a").names


@pytest.mark.parametrize(("answer", "code"), [("y\n", 0), ("n\n", 2)])
def test_on_a_terminal_it_asks(run, tmp_path, monkeypatch, answer, code):
    import io

    terminal = io.StringIO(answer)
    terminal.isatty = lambda: True
    monkeypatch.setattr("sys.stdin", terminal)
    folder = takes(tmp_path / "in")
    assert run("motion", "build", "--bvh", folder, "--out", tmp_path / "lib")[0] == code
    assert (tmp_path / "lib").exists() == (code == 0)


def test_the_guess_as_json(run, tmp_path):
    code, out, _ = run("motion", "map", takes(tmp_path) / "run 01.bvh", "--json")
    found = json.loads(out)
    assert code == 0
    assert found["joints"] == CONVENTIONS["xsens"]
    assert (found["up"], found["unit_m"], found["rest"], found["doubts"]) == ("y", 0.01, "file", [])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("map", "nowhere.bvh"), "is no file"),
        (("map", "{in}/run-02.bvh", "-o", "m.txt"), "expected a name with .toml"),
        (("map", "{in}/run-02.bvh", "-o", "{in}/run-02.bvh"), "exists"),
        (("build", "--bvh", "nowhere", "--out", "{tmp}/l"), "does not exist"),
        (("build", "--mapping", "m.toml", "--out", "{tmp}/l"), "give --files too"),
        (("build", "--bvh", "{in}", "--mapping", "m.txt", "--out", "{tmp}/l"), "with .toml"),
        (("build", "--bvh", "{in}", "--out", "{in}"), "holds other files"),
    ],
)
def test_mistakes(run, tmp_path, words, said):
    takes(tmp_path / "in")
    filled = [word.format(**{"in": tmp_path / "in", "tmp": tmp_path}) for word in words]
    code, _, err = run("motion", *filled)
    assert code in (2, 3)
    assert said in err


def test_missing_joints_end_before_anything_is_written(run, tmp_path):
    folder = tmp_path / "in"
    write_convention(
        folder / "a.bvh", walking(seconds=2.0), CONVENTIONS["xsens"],
        drop=("left_elbow", "left_wrist"),
    )  # fmt: skip
    code, _, err = run("motion", "build", "--bvh", folder, "--out", tmp_path / "lib", "--yes")
    assert code != 0
    assert "no joint for left_elbow, left_wrist" in err
    assert not (tmp_path / "lib").exists()
