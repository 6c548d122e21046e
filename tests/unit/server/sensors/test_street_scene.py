"""Scenes of the pictures in the docs: their actors stand on the ground."""

from __future__ import annotations

import pytest

from jaywalk.town.ground import surface_height
from jaywalk.town.town import load_town
from studies.street_scene import Street, facing_crosswalk, weather


@pytest.fixture(scope="module")
def street() -> Street:
    town = load_town("Harbour")
    return Street(town, facing_crosswalk(town, 9))


@pytest.mark.parametrize("walker", [5, 10])
def test_a_standing_person_touches_the_ground_with_a_foot(street: Street, walker: int) -> None:
    """Toes of adult and child are at most 6 cm above the surface, and not below it."""
    number = street.put_person(walker, (0.0, 1.0), 90.0, "notcrossing-wait-0003", 20)
    bones = street.bones_m(number)
    x, y, z = min((bones[f"crl_toeEnd__{side}"] for side in "LR"), key=lambda bone: bone[2])
    ground = surface_height(load_town("Harbour").ground, float(x), float(y), float(z))
    assert -0.02 < z - ground < 0.06


def test_a_place_is_ahead_and_to_the_right(street: Street) -> None:
    """Three ahead and four to the right are five metres from the start."""
    here, there = street.place(0.0, 0.0), street.place(3.0, 4.0)
    assert (there[0] - here[0]) ** 2 + (there[1] - here[1]) ** 2 == pytest.approx(25.0)


def test_weather_refuses_unknown_names() -> None:
    """A typing error is no clear day."""
    assert weather(fog=35.0)[6] == 35.0
    with pytest.raises(ValueError, match="'fogg'"):
        weather(fogg=35.0)
