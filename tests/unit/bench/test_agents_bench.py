"""The arithmetic of ``jaywalk bench agents``."""

import json

import numpy as np
import pytest

from jaywalk.core.errors import RegistryError
from jaywalk_bench.agents import AgentsBenchmark, _summed, bench_agents


def test_costs_and_aims():
    spent = np.concatenate([np.full(98, 2.0), [3.0, 5.0]])
    expert = _summed("expert", spent, 0.25, (30, 29))
    result = AgentsBenchmark(calibration_ms=20.0, town="Harbour", agents=(expert,))
    (told,) = json.loads(json.dumps(result.as_dict(), allow_nan=False))["agents"]
    assert told["ms_per_decision"] == pytest.approx(2.04)
    assert (told["median_ms"], told["setup_ms"], told["decisions"]) == (2.0, 250.0, 100)
    assert (told["vehicles"], told["people"]) == (30, 29)
    assert (told["aim_ms"], told["met"]) == (2.5, True)
    slow = _summed("expert", spent + 1.0, 0.25, (30, 30)).as_dict()
    assert slow["met"] is False
    assert _summed("timid", spent, 0.25, (30, 30)).as_dict()["met"] is None


def test_unknown_drivers_are_named_before_a_server_starts():
    with pytest.raises(RegistryError, match="Did you mean 'expert'"):
        bench_agents(["exprt"])
