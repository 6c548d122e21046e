"""The suite habit as it is loaded: routes, weathers, variants, who people are."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from jaywalk.actors.posed._roles import draw_roles
from jaywalk.actors.posed.repertoire import ambient_of, manner_of, read_repertoire
from jaywalk.core.errors import UsageError
from jaywalk.motion import default_library
from jaywalk.runner.selection import find_suite, override
from jaywalk.scenarios.formats.weathers import WEATHERS, weather_name
from jaywalk.scenarios.suite import load_suite


def test_the_suite_has_110_routes_over_three_towns_and_twelve_weathers() -> None:
    suite = load_suite("habit")
    assert len(suite.routes) == 110
    assert len({one.id for one in suite.routes}) == 110
    towns = Counter(one.route.town for one in suite.routes)
    assert towns == {"Harbour": 37, "Orchard": 37, "Ridge": 36}
    names = Counter(weather_name((one.route.weathers or ())[0].values) for one in suite.routes)
    assert set(names) == set(WEATHERS)
    assert min(names.values()) >= 9
    assert {(one.vehicles, one.posed, one.people) for one in suite.routes} == {(30, 20, 10)}


@pytest.mark.parametrize(
    ("variant", "name"), [("night", "clear-night"), ("rain", "rain"), ("rain,night", "rain-night")]
)
def test_weather_variants_change_every_route(variant: str, name: str) -> None:
    for one in load_suite("habit", variant).routes:
        assert {weather_name(point.values) for point in one.route.weathers or ()} == {name}


def test_other_routes_get_the_suites_people_and_the_variants_weather(tmp_path: Path) -> None:
    path = tmp_path / "mine.xml"
    path.write_text(
        '<routes><route id="7" town="Harbour"><waypoints><position x="0" y="0" z="0"/>'
        '<position x="9" y="0" z="0"/></waypoints></route></routes>'
    )
    suite = find_suite("habit", "night,left", str(path))
    (one,) = suite.routes
    assert (one.vehicles, one.posed, one.people) == (30, 20, 10)
    assert suite.variant == "night,left"
    assert weather_name((one.route.weathers or ())[0].values) == "clear-night"


def test_unknown_variants_are_refused() -> None:
    for wrong in ("sideways", "left,right"):
        with pytest.raises(UsageError, match="--variant"):
            load_suite("habit", wrong)


def test_people_override_keeps_the_shares() -> None:
    one = override(load_suite("habit"), people=12).routes[0]
    assert (one.posed, one.people) == (8, 4)


def test_roles_are_drawn_by_class_and_do_not_depend_on_the_order_of_draws() -> None:
    repertoire = read_repertoire(default_library())
    roles = draw_roles(5, 20, manner_of(""), repertoire)
    assert roles == draw_roles(5, 20, manner_of(""), repertoire)
    assert Counter(role.intended for role in roles) == {
        "crossing": 8,
        "attempting": 3,
        "not_crossing": 9,
    }
    assert len({role.clip for role in roles}) > 12, "people are diverse"
    idle = draw_roles(5, 20, manner_of("idle"), repertoire)
    assert {role.intended for role in idle} == {"not_crossing"}
    assert all(role.child for role in draw_roles(5, 20, manner_of("children"), repertoire))
    assert manner_of("left").side == ambient_of("left").side == "left"
    assert ambient_of("idle").not_crossing == 1.0


def test_most_who_cross_just_walk_and_the_others_are_diverse() -> None:
    repertoire = read_repertoire(default_library())
    speeds = {use.name: use.speed_mps for use in repertoire.crossing}
    roles = [role for seed in range(40) for role in draw_roles(seed, 20, manner_of(""), repertoire)]
    crossing = [role for role in roles if role.intended == "crossing"]
    kinds = Counter(role.kind for role in crossing)
    assert kinds.most_common(1)[0][0] == "walk"
    assert {"run", "limp", "hop", "stumble", "pause", "stroll"} <= set(kinds)
    walked = sorted(speeds[role.carry or role.clip] for role in crossing if not role.child)
    assert 1.15 < walked[len(walked) // 2] < 1.45  # of recorded people 1.3
