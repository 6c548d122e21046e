"""The suite smoke as files: what is in it, and that the author's text gives exactly these files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from jaywalk.core.errors import RegistryError, UsageError
from jaywalk.scenarios.base import read_parameters, trigger_along_m
from jaywalk.scenarios.catalogue import SCENARIOS
from jaywalk.scenarios.formats.route_xml import format_routes, read_routes
from jaywalk.scenarios.suite import load_suite
from jaywalk.suites import smoke as smoke_routes
from jaywalk.town.routes import RoutePlanner
from jaywalk.town.town import load_town
from suite_author import smoke as author_smoke

SUITE = load_suite("smoke")


@pytest.fixture(scope="module")
def planners() -> dict[str, RoutePlanner]:
    return {
        name: RoutePlanner(load_town(name).carla_map) for name in ("Harbour", "Orchard", "Ridge")
    }


def test_twelve_routes_in_three_towns():
    assert SUITE.name == "jaywalk/smoke-v3"
    towns = [item.route.town for item in SUITE.routes]
    assert {town: towns.count(town) for town in towns} == {"Harbour": 4, "Orchard": 5, "Ridge": 3}
    assert len({item.id for item in SUITE.routes}) == 12
    assert all(item.vehicles == 10 and item.people == 0 for item in SUITE.routes)
    assert all(item.traffic_speed == (0.65, 0.75) for item in SUITE.routes)
    assert all(len(item.route.weathers) == 2 for item in SUITE.routes)


def test_every_first_scenario_once_and_the_open_road_twice():
    types = [spec.type for item in SUITE.routes for spec in item.route.scenarios]
    ours = {entry.name for entry in SCENARIOS if entry.name.startswith("jaywalk/")}
    everyday = {"child-after-ball", "dog-walker", "pram", "wheelchair", "group-of-children"}
    others = {"crosswalk-group", *everyday}
    assert set(types) == ours - {f"jaywalk/{name}-v1" for name in others}
    assert types.count("jaywalk/open-road-v1") == 2
    assert len(types) == 12


def test_routes_plan_and_triggers_lie_on_them(planners):
    for item in SUITE.routes:
        points = [point.position_m for point in item.route.keypoints]
        dense = planners[item.route.town].plan(points)
        assert 90.0 <= dense.along_m[-1] <= 250.0, item.id
        (spec,) = item.route.scenarios
        along = trigger_along_m(spec.trigger, dense, item.id)
        assert 5.0 < along < dense.along_m[-1] - 40.0
        parameters = read_parameters(spec, SCENARIOS.get(spec.type).parameters_type)
        distance = getattr(parameters, "distance", 0.0)
        if spec.type.startswith("jaywalk/construction") or "parked" in spec.type:
            at = along + distance
            near = np.abs(dense.along_m - at) < 12.0
            assert not dense.in_junction[near].any(), item.id
            assert at < dense.along_m[-1] - 20.0


def test_the_files_are_what_the_author_writes(planners, tmp_path: Path):
    author_smoke.main(tmp_path)
    written = sorted(tmp_path.glob("*.xml"))
    shipped = sorted(smoke_routes.FOLDER.glob("*.xml"))
    assert [path.name for path in written] == [path.name for path in shipped]
    for new, old in zip(written, shipped, strict=True):
        assert new.read_text() == old.read_text()
        assert format_routes(read_routes(old)) == old.read_text()


def test_smoke_has_no_variants():
    with pytest.raises(UsageError, match="no variant 'crowded'"):
        load_suite("smoke", "crowded")
    with pytest.raises(RegistryError, match="smoke"):
        load_suite("smok")
