"""Facts that scenario types and suites state about themselves, and who else repeats them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import pytest

from jaywalk.core.errors import RegistryError
from jaywalk.metrics.driving.bench2drive import OWN_TYPES
from jaywalk.metrics.driving.criteria._scripted import Span
from jaywalk.metrics.generalization.split import CATEGORIES, published_split
from jaywalk.scenarios.base import Parameters, Scenario
from jaywalk.scenarios.catalogue import (
    FAIL2DRIVE,
    JAYWALK,
    LEADERBOARD,
    PARTNER_WORDS,
    SAME_LANE,
    SCENARIOS,
    Placing,
    Shift,
    scenario,
    shift_classes,
    type_named,
)
from jaywalk.scenarios.formats.public_form import as_public, own_types
from jaywalk.scenarios.formats.route_xml import RouteFile, format_routes, parse_routes
from jaywalk.scenarios.obstacles._two_ways import OnLaneTwoWays
from jaywalk.scenarios.parameter_fields import ahead, side
from jaywalk.scenarios.suite import SUITES, load_suite
from jaywalk.scenarios.toolbox.form import authored_of
from jaywalk.scenarios.toolbox.partners import partner_document
from jaywalk.scenarios.toolbox.routes import check_on_road, document_of, route_of
from jaywalk.scenarios.toolbox.templates import TemplateRequest, scenario_template
from jaywalk.scenarios.toolbox.text import parse_text
from jaywalk.suites.fail2drive import class_of

THEIRS = "rocks/fallen-rock-v1"


@pytest.fixture
def own_type(monkeypatch):
    """A type that another package adds, for the length of a test."""
    assert "Accident" in SCENARIOS  # now all of ours are registered
    monkeypatch.setattr(SCENARIOS, "_specs", dict(SCENARIOS._specs))

    @dataclass(frozen=True, slots=True, kw_only=True)
    class RockParameters(Parameters):
        """A rock on the lane."""

        distance: float = ahead(40.0)
        direction: str = side()

    @scenario(
        THEIRS,
        "a rock lies on the lane",
        street=SAME_LANE,
        placing=Placing(),
        shifts=(Shift(name="Rocks", caption="a rock"),),
        base="ParkedObstacle",
        parameter_words={"distance": "m from the trigger to the rock"},
    )
    @dataclass(slots=True, kw_only=True)
    class FallenRock(Scenario):
        """A rock."""

        parameters_type: ClassVar[type[Parameters]] = RockParameters

        def tick(self, moment):
            """It lies there."""
            return True

    return FallenRock


def test_another_package_adds_a_type_to_the_toolbox_and_to_route_files(own_type):
    text = scenario_template(TemplateRequest(name="rock", type="Rocks"))
    assert "# a rock lies on the lane." in text
    assert "m from the trigger to the rock" in text
    file = authored_of(parse_text(text, "rock.toml"), "rock.toml")
    assert file.scenarios[0].type == THEIRS
    check_on_road(file)
    route = route_of(file)
    again = parse_routes(format_routes(RouteFile(routes=(route,))), "rock.xml").routes[0]
    assert document_of(again, "rock")["scenario"][0]["type"] == THEIRS
    assert own_types(as_public(again)) == (THEIRS,)  # public evaluators do not know it
    base, shifted, _ = partner_document(parse_text(text, "rock.toml"), "rock.toml")
    assert base["scenario"][0]["type"] == "ParkedObstacle"
    assert shifted["shift"] == "Rocks"
    assert "Rocks" not in shift_classes()  # it is none of Fail2Drive's


def test_a_second_class_cannot_take_the_name(own_type):
    with pytest.raises(RegistryError, match="'rocks/fallen-rock-v1' is registered twice"):
        scenario(THEIRS, "another rock")(type("Other", (Scenario,), {}))


def test_every_type_states_complete_facts():
    for spec in SCENARIOS:
        assert spec.benchmark in (JAYWALK, LEADERBOARD, FAIL2DRIVE), spec.name
        assert spec.summary
        assert not spec.base or spec.base in SCENARIOS, spec.name
        assert not spec.public_type or spec.public_type in SCENARIOS, spec.name
        assert spec.rng_type in SCENARIOS, spec.name
        if spec.partners:
            assert tuple(spec.partners) == PARTNER_WORDS
            assert all(not base or base in SCENARIOS for base in spec.partners.values())
        for name in (*spec.base_without, *spec.parameter_words):
            assert name in spec.parameters_type.__dataclass_fields__, (spec.name, name)
        assert ("wrong_lane" in spec.suspends) == issubclass(spec.load(), OnLaneTwoWays)
        assert ("blocked" in spec.suspends) == (spec.load().timeout_s < math.inf)


def test_a_shift_and_its_partner_draw_from_the_same_streams():
    for spec in SCENARIOS:
        if spec.base:
            assert spec.rng_type == spec.base, spec.name


def test_the_scorer_suspends_the_criteria_that_a_type_states():
    for spec in SCENARIOS:
        if spec.benchmark == JAYWALK:  # their records always note it
            continue
        span = Span(name="s", type=spec.name, first_tick=0, last_tick=None)
        stated = ("blocked" in spec.suspends, "wrong_lane" in spec.suspends)
        assert (span.rests_blocked_test, span.rests_wrong_lane_test) == stated, spec.name


def test_the_published_split_has_the_stated_classes_numbers_and_categories():
    shifts = shift_classes()
    assert len(shifts) == 17
    for number, route in published_split().items():
        assert class_of(number) == route.class_name
    for category, names in CATEGORIES.items():
        assert {name for name, one in shifts.items() if one.category == category} == set(names)
    assert all(one.caption for one in shifts.values())


def test_results_of_our_types_count_for_the_public_type_that_plays_the_same():
    for ours, public in OWN_TYPES.items():
        assert SCENARIOS.get(public).summary == f"public type, like {ours}-v1"


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("BadParking", "BadParkingObstacle"),
        ("RightOfWay", "NormalVehicleRunningRedLight"),
        ("Wall", "RoadBlocked"),
        ("Accident", "Accident"),
        ("nothing", "nothing"),
    ],
)
def test_a_class_of_shift_names_its_first_type(name, kind):
    assert type_named(name) == kind


@pytest.mark.parametrize("name", [spec.name for spec in SUITES])
def test_suites_state_what_they_hold(name):
    spec, suite = SUITES.get(name), load_suite(name)
    assert suite.name == spec.id
    assert len(suite.routes) == spec.routes
    assert tuple(sorted({item.route.town for item in suite.routes})) == spec.towns
    assert {item.wet_grip for item in suite.routes} == {spec.wet_grip}
