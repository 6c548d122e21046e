"""The benchmark of reacting people on a short run."""

from __future__ import annotations

import pytest

from jaywalk_bench.people import AIM_US, bench_people


def test_people_of_the_benchmark_cross_among_vehicles() -> None:
    result = bench_people(people=12, vehicles=6, ticks=400, repeats=1)
    facts = result.as_dict()
    assert 0.0 < result.us_per_person_and_tick < 1e5
    per_tick_us = result.us_per_person_and_tick * result.people
    assert result.ms_per_tick * 1000.0 == pytest.approx(per_tick_us)
    assert 0.05 < result.share_on_road < 0.8
    assert result.share_near_vehicle > 0.5
    assert facts["aims"]["us_per_person_and_tick"]["at_most"] == AIM_US
    assert facts["calibration_ms"] > 0.0
