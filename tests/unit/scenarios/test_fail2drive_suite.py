"""The suite of pairs: counts, what the halves share, and what blocks a street."""

from __future__ import annotations

from collections import Counter
from types import SimpleNamespace

import pytest

from jaywalk.core.errors import UsageError
from jaywalk.metrics.generalization.split import published_split
from jaywalk.scenarios.base import read_parameters
from jaywalk.scenarios.catalogue import SCENARIOS
from jaywalk.scenarios.parameter_fields import PlacedObject, format_object, parse_object
from jaywalk.scenarios.suite import load_suite
from suite_author.fail2drive import BLOCKS
from suite_author.fail2drive_plans import all_pairs


@pytest.fixture(scope="module")
def suite():
    return load_suite("fail2drive")


def test_two_hundred_routes_with_the_papers_counts(suite):
    assert len(suite.routes) == 200
    published = Counter((route.split, route.class_name) for route in published_split().values())
    words = {"Base": "base", "Generalization": "generalization"}
    ours = Counter((words[one.id.split("_")[0]], one.id.split("_")[1]) for one in suite.routes)
    assert ours == published
    assert Counter(one.route.town for one in suite.routes).keys() == {"Harbour", "Orchard", "Ridge"}


def test_both_halves_share_everything_but_the_shift(suite):
    by_id = {one.route.id: one for one in suite.routes}
    for number in range(100):
        base, shift = by_id[str(number)], by_id[str(number + 1000)]
        assert base.pair == shift.pair
        assert (base.vehicles, base.people) == (shift.vehicles, shift.people)
        assert base.route.keypoints == shift.route.keypoints
        assert base.route.weathers == shift.route.weathers
        assert base.route.town == shift.route.town
        assert base.route.scenarios != shift.route.scenarios
        if base.route.scenarios and shift.route.scenarios:
            first, second = (one.route.scenarios[0] for one in (base, shift))
            if "green" not in first.name:
                assert first.trigger == second.trigger
        green = [[s for s in one.route.scenarios if "green" in s.name] for one in (base, shift)]
        assert [s.elements for s in green[0]] == [s.elements for s in green[1]]


@pytest.mark.parametrize(
    ("shift", "differs"),
    [
        ("Animals", {"walker"}),
        ("PedestrianOtherBlocker", {"blocker_model", "blocker_z"}),
        ("ImageOnObject", {"image", "offset_x", "offset_y", "offset_z"}),
        ("ObscuredStop", {"prop", "offset_y", "offset_z"}),
        ("RightOfWay", {"vehicle"}),
        ("HardBrake", set()),
    ],
)
def test_a_shift_changes_one_thing(suite, shift, differs):
    """Both halves give the same values to whatever is not the shift."""
    halves = [one for one in suite.routes if one.id.split("_")[1] == shift]
    by_pair = {one.pair: [] for one in halves}
    for one in halves:
        by_pair[one.pair].append(
            {node.tag: node.attributes for node in one.route.scenarios[0].elements}
        )
    for base, shifted in by_pair.values():
        other = {tag for tag in {*base, *shifted} if base.get(tag) != shifted.get(tag)}
        assert other <= differs


def test_every_scenario_is_known_and_its_parameters_fit(suite):
    for one in suite.routes:
        for spec in one.route.scenarios:
            read_parameters(spec, SCENARIOS.get(spec.type).parameters_type)


def test_shifts_draw_from_their_partners_streams():
    for pair in all_pairs():
        if not pair.base or not pair.shift:
            continue
        first, second = pair.base[0], pair.shift[0]
        kinds = [SCENARIOS.get(scene.type).load() for scene in (first, second)]
        if first.type != second.type and "Custom" not in second.type:
            assert kinds[1].rng_type == first.type


def test_layouts_draw_from_the_streams_of_what_they_are_compared_with():
    """Else other cars come towards the ego in one half than in the other."""
    compared = 0
    for pair in all_pairs():
        if not pair.base or not pair.shift or pair.shift[0].type != "CustomObstacleTwoWays":
            continue
        kind = SCENARIOS.get("CustomObstacleTwoWays").load()
        overlay = pair.shift[0].parameters["baseline_overlay"]
        layout = SimpleNamespace(
            parameters=SimpleNamespace(baseline_overlay=overlay), rng_type=kind.rng_type
        )
        assert kind.resolve_rng_type(layout) == pair.base[0].type
        compared += 1
    assert compared == 7


def test_variants_are_the_halves():
    assert [len(load_suite("fail2drive", half).routes) for half in ("base", "shift")] == [100, 100]
    with pytest.raises(UsageError, match="'night'"):
        load_suite("fail2drive", "night")


@pytest.mark.parametrize("name", ["haybales", "barriers", "brick_wall", "first_picture"])
@pytest.mark.parametrize(("left_m", "right_m"), [(4.2, 1.4), (4.8, 4.0), (9.0, 3.5)])
def test_no_car_fits_between_what_blocks_a_street(name, left_m, right_m):
    across = {
        "static.prop.haybale": 0.55,
        "static.prop.streetbarrier": 0.6,
        "static.prop.brickwall": 2.0,
        "static.prop.screenshot1": 4.0,
        "static.prop.trafficwarning": 0.0,
    }  # half width across the street, at least
    spans = sorted(
        (thing.y - across[thing.id], thing.y + across[thing.id])
        for thing in BLOCKS[name](left_m, right_m)
        if across[thing.id]
    )
    edge = -left_m
    for low, high in spans:
        assert low - edge < 1.5  # the ego is 2.1 m wide with its mirrors
        edge = max(edge, high)
    assert right_m - edge < 1.5


def test_objects_survive_their_text():
    thing = PlacedObject(id="static.prop.bin", x=1.5, y=-0.25, roll=-90.0)
    assert parse_object(format_object(thing), "here") == thing
