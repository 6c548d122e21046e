"""Forecasts and plans as foreign agents say them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from jaywalk.agents.adapters._observation import AnswerError, read_forecasts, read_plan
from jaywalk_agent import Forecast, Plan


class _Snapshot:
    def find(self, key: int) -> Any:
        place = SimpleNamespace(x=10.0 * key, y=0.0, z=0.0)
        return SimpleNamespace(get_transform=lambda: SimpleNamespace(location=place))


def _read(*said: Any) -> Any:
    return read_forecasts(list(said), "me", _Snapshot(), lambda: [1, 2, 3])


def test_objects_and_maps() -> None:
    mean = np.zeros((2, 3, 2))
    first, second = _read(
        Forecast(time_s=[1, 2, 3], mean_m=mean, actor_id=5, source="net 2"),
        {
            "actor_id": 6,
            "time_s": [1, 2, 3],
            "mean_m": mean.tolist(),
            "weight": [0.9, 0.1],
            "covariance_m2": np.tile(np.eye(2), (2, 3, 1, 1)),
        },
    )
    assert (first.actor_id, first.source, first.covariance_m2) == (5, "net 2", None)
    assert first.weight.tolist() == [0.5, 0.5]
    assert (second.source, second.weight.tolist()) == ("me", [0.9, 0.1])
    assert second.covariance_m2.shape == (2, 3, 2, 2)


def test_who_is_meant_by_a_place() -> None:
    one = {"time_s": [1.0], "mean_m": [[[0.0, 0.0]]]}
    found = _read({**one, "position_m": [20.5, 1.0]}, {**one, "position_m": [25.0, 0.0]})
    assert [forecast.actor_id for forecast in found] == [2]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"mean_m": [[1.0, 2.0]]}, r"forecasts\[0\]: mean_m has shape \(1, 2\), expected"),
        ({"mean_m": None}, "mean_m is missing"),
        ({"time_s": ["soon"]}, "no plain numbers"),
        ({"weight": [0.5, 0.5]}, r"weight has shape \(2,\), expected \(1\)"),
        ({"mean_m": [[[np.nan, 0.0]]]}, "not finite"),
        ({"actor_id": None}, "position_m is missing"),
    ],
)
def test_wrong_forms_are_named(change: dict[str, Any], words: str) -> None:
    one = {"actor_id": 1, "time_s": [1.0], "mean_m": [[[0.0, 0.0]]], **change}
    with pytest.raises(AnswerError, match=words):
        _read(one)


def test_plans() -> None:
    assert read_plan(None) is None
    assert read_plan([(1, 2), (3, 4)]).path_m.shape == (2, 2)
    assert read_plan(Plan(path_m=np.zeros((2, 2)), time_s=[0, 1])).time_s.tolist() == [0.0, 1.0]
    assert read_plan({"path_m": np.zeros((2, 2))}).time_s is None
    with pytest.raises(AnswerError, match="plan: path_m"):
        read_plan([1.0, 2.0])
