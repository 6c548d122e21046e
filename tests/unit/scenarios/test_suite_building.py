"""Suites built for a town: routes that can be driven, the same ones every time."""

import numpy as np
import pytest
from typer.testing import CliRunner

from jaywalk.cli.main import app
from jaywalk.core.errors import DataError, RegistryError, UsageError
from jaywalk.runner.selection import find_suite, override
from jaywalk.scenarios.formats.route_xml import read_routes, write_routes
from jaywalk.suites.building import BuildRequest, build_suite
from jaywalk.town.routes import RoutePlanner
from jaywalk.town.town import load_town


@pytest.fixture(scope="module")
def town():
    return load_town("Harbour")


def test_random_routes_have_their_length_and_are_reproducible(town):
    request = BuildRequest(town=town, routes=3, seed=5, length_m=600.0, people=7)
    file = build_suite("random", request)
    assert build_suite("random", request) == file
    assert build_suite("random", BuildRequest(town=town, routes=3, seed=6, length_m=600.0)) != file
    planner = RoutePlanner(town.carla_map)
    starts = set()
    for route in file.routes:
        dense = planner.plan([keypoint.position_m for keypoint in route.keypoints])
        assert 595.0 < dense.along_m[-1] < 680.0  # up to a junction's length more
        assert np.hypot(*np.diff(dense.position_m[:, :2], axis=0).T).max() < 9.0
        assert not dense.in_junction[-1]
        starts.add(route.keypoints[0].position_m)
    assert len(starts) == 3


def test_who_is_about_stands_in_the_file(town, tmp_path):
    path = tmp_path / "r.xml"
    request = BuildRequest(town=town, routes=1, length_m=200.0, vehicles=4)
    write_routes(path, build_suite("random", request))
    assert read_routes(path).routes[0].town == "Harbour"
    suite = find_suite(str(path))
    assert [(one.vehicles, one.people) for one in suite.routes] == [(4, 20)]
    assert override(suite, people=0).routes[0].people == 0
    path.write_text(path.read_text().replace('"4"', '"many"'))
    with pytest.raises(DataError, match="vehicles is 'many', expected a whole number"):
        find_suite(str(path))


@pytest.mark.parametrize(
    ("kind", "options", "error", "said"),
    [
        ("rando", {}, RegistryError, "Did you mean 'random'"),
        ("random", {"length_m": 3.0}, UsageError, "expected at least 50 m"),
        ("random", {"routes": 0}, UsageError, "expected at least 1"),
    ],
)
def test_wrong_requests(town, kind, options, error, said):
    with pytest.raises(error, match=said):
        build_suite(kind, BuildRequest(town=town, **{"routes": 1, **options}))


def test_the_verb_writes_a_file_and_says_what_is_next(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = ["suite", "build", "random", "--town", "Harbour", "--routes", "1", "--length", "150"]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    assert "random-Harbour-s1.xml: 1 routes in Harbour" in done.output
    assert "next: jaywalk run random-Harbour-s1.xml --agent expert" in done.output
    both = CliRunner().invoke(app, [*words, "--xodr", "x.xodr"])
    assert isinstance(both.exception, UsageError)
