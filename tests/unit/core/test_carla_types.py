"""typings/carla against the installed wheel."""

import ast
from pathlib import Path

import carla
import pytest

STUBS = Path(__file__).parents[3] / "typings/carla"


def declared(file, module):
    for part in ast.parse((STUBS / file).read_text()).body:
        if isinstance(part, ast.ClassDef):
            names = [one.name for one in part.body if isinstance(one, ast.FunctionDef)]
            names += [one.target.id for one in part.body if isinstance(one, ast.AnnAssign)]
            yield pytest.param(getattr(module, part.name, None), names, id=part.name)


CLASSES = [*declared("__init__.pyi", carla), *declared("command.pyi", carla.command)]


@pytest.mark.parametrize(("real", "names"), CLASSES)
def test_every_declared_name_is_in_the_wheel(real, names):
    assert real is not None
    assert [name for name in names if not hasattr(real, name)] == []


def test_the_stub_covers_the_classes_that_we_use_most():
    assert len(CLASSES) > 25
