"""The weather along a route."""

from __future__ import annotations

from typing import Any

import pytest

from jaywalk.runner.live_episode import RouteWeather
from jaywalk.scenarios.formats.route_xml import parse_routes


class _World:
    def __init__(self) -> None:
        self.set: list[Any] = []

    def set_weather(self, weather: Any) -> None:
        self.set.append(weather)


def _points(text: str) -> Any:
    file = (
        f'<routes><route id="1" town="Harbour">{text}<waypoints><position x="0" y="0" z="0"/>'
        '<position x="9" y="0" z="0"/></waypoints><scenarios/></route></routes>'
    )
    return parse_routes(file, "test").routes[0].weathers


def test_between_two_points_it_changes_with_the_way() -> None:
    points = _points(
        '<weathers><weather route_percentage="0" cloudiness="0"/>'
        '<weather route_percentage="50" cloudiness="80"/>'
        '<weather route_percentage="100" cloudiness="80"/></weathers>'
    )
    weather, world = RouteWeather(points), _World()
    seen = [weather.advance(world, share / 1000) for share in range(0, 1001)]
    changes = [w.cloudiness for w in seen if w is not None]
    assert changes[0] == 0.0
    assert changes[-1] == 80.0
    assert changes == sorted(changes)
    assert 90 <= len(changes) <= 101
    assert changes[25] == pytest.approx(40.0, abs=2.0)


def test_a_constant_weather_is_set_once() -> None:
    points = _points(
        '<weathers><weather route_percentage="0" wetness="30"/>'
        '<weather route_percentage="100" wetness="30"/></weathers>'
    )
    weather, world = RouteWeather(points), _World()
    assert weather.advance(world, 0.0).wetness == 30.0
    assert all(weather.advance(world, k / 10) is None for k in range(11))
    assert len(world.set) == 1


def test_a_silent_file_means_the_leaderboards_fair_weather() -> None:
    weather, world = RouteWeather(None), _World()
    set_ = weather.advance(world, 0.0)
    assert (set_.sun_altitude_angle, set_.cloudiness) == (70.0, 50.0)
