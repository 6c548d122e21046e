"""The stamp of a kernel: over what it stands on, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from jaywalk.core import kernels


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "jaywalk"
    (folder / "room").mkdir(parents=True)
    (folder / "room" / "__init__.py").write_text("")
    (folder / "top.py").write_text(
        "from jaywalk.room.callee import (\n    add,  # one\n    take,\n)\nimport jaywalk.plain\n"
    )
    (folder / "plain.py").write_text("")
    (folder / "room" / "callee.py").write_text("from jaywalk.room import table as t\n")
    (folder / "room" / "table.py").write_text("WIDTH = 3\n")
    (folder / "other.py").write_text("def lazy():\n    from jaywalk.room import table\n")
    monkeypatch.setattr(kernels, "_PACKAGE", folder)
    return folder


def _stamp(file: Path) -> str:
    kernels._read.cache_clear()
    kernels.source_stamp.cache_clear()
    return kernels.source_stamp(file)[0]


@pytest.mark.parametrize("edited", ["top.py", "plain.py", "room/callee.py", "room/table.py"])
def test_an_edit_of_what_it_stands_on_changes_the_stamp(package: Path, edited: str) -> None:
    before = _stamp(package / "top.py")
    with (package / edited).open("a") as file:
        file.write("# edited\n")
    assert _stamp(package / "top.py") != before


def test_an_edit_elsewhere_does_not(package: Path) -> None:
    before = _stamp(package / "top.py")
    (package / "other.py").write_text("")
    assert _stamp(package / "top.py") == before


def test_an_import_inside_a_function_freezes_nothing(package: Path) -> None:
    before = _stamp(package / "other.py")
    (package / "room" / "table.py").write_text("WIDTH = 4\n")
    assert _stamp(package / "other.py") == before


def test_the_camera_stands_on_its_solids_but_not_on_scores() -> None:
    kernels._read.cache_clear()
    folder = kernels._PACKAGE / "server" / "sensors"
    assert folder / "_solids.py" in kernels._read(folder / "_shading.py")[1]
    assert not any("metrics" in file.parts for file in kernels._read(folder / "_shading.py")[1])
