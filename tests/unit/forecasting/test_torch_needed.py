"""Without torch, the modules that train fail with an import error that names the extra."""

import sys
from importlib import import_module

import pytest

from jaywalk.core.errors import PrerequisiteError

MODULE = "jaywalk.forecasting.torch_needed"


def test_missing_torch_is_a_prerequisite_and_an_import_error(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.delitem(sys.modules, MODULE, raising=False)
    with pytest.raises(PrerequisiteError, match=r"pip install 'jaywalk\[train\]'") as error:
        import_module(MODULE)
    assert isinstance(error.value, ModuleNotFoundError)
    assert error.value.name == "torch"
    assert error.value.exit_code == 3
