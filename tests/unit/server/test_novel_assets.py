"""The animals' sizes and gaits, and the pictures on props."""

from __future__ import annotations

import numpy as np
import pytest

from jaywalk.server.world._prop_blueprints import GREY, NOVEL_PROPS, prop_colour
from jaywalk.server.world.blueprints import find
from jaywalk.server.world.textures import TEXTURED, texture
from jaywalk.server.world.walker_blueprints import ANIMALS, feet_m, gait_of, stride_m


def test_seventeen_animals_with_the_three_known_giants():
    assert [animal.number for animal in ANIMALS] == list(range(1001, 1018))
    assert len({animal.species for animal in ANIMALS}) == 17
    large = sorted(ANIMALS, key=lambda animal: -animal.mass_kg)[:3]
    assert {animal.number for animal in large} == {1003, 1007, 1014}
    for animal in ANIMALS:
        body = find(animal.blueprint).body
        assert [2.0 * half for half in body.half_extents_m] == pytest.approx(animal.size_m)
        length, width, height = animal.size_m
        assert width < length
        assert 3.0 < animal.mass_kg / (length * width * height) < 400.0  # kg per m3 of its box


@pytest.mark.parametrize("animal", ANIMALS, ids=lambda animal: animal.species)
def test_a_standing_foot_does_not_slide(animal):
    speed = animal.walk_mps
    step = 0.02 * stride_m(animal, speed)
    slides, lifted, stood = [], 0, 0
    for k in range(50):
        now, then = (feet_m(animal, along, speed) for along in (k * step, (k + 1) * step))
        on_ground = (now[:, 2] == 0.0) & (then[:, 2] == 0.0)
        moved = then[on_ground, 0] + step - now[on_ground, 0]
        slides += np.abs(moved[np.abs(moved) < 0.5 * step]).tolist()
        lifted += int((now[:, 2] > 0.0).sum())
        stood += int((now[:, 2] == 0.0).sum())
    reach = min(stride_m(animal, speed), 2.2 * animal.leg_m) / stride_m(animal, speed)
    assert max(slides) <= (1.0 - reach) * step + 1e-9
    assert stood > lifted > 0


def test_gaits_follow_the_speed_and_the_legs():
    by_name = {animal.species: animal for animal in ANIMALS}
    assert gait_of(by_name["horse"], 0.0) == "stand"
    assert [gait_of(by_name["horse"], speed) for speed in (1.5, 3.5, 9.0)] == [
        "walk",
        "trot",
        "gallop",
    ]
    assert gait_of(by_name["cat"], 2.0) == "gallop"  # what a horse walks
    assert gait_of(by_name["duck"], 2.0) == "walk"
    assert stride_m(by_name["horse"], 1.7) > stride_m(by_name["dog"], 1.7)


def test_every_novel_prop_has_its_picture_in_its_proportions():
    plain = {"ball", "pram"}  # drawn in one colour
    assert {name for name, _ in NOVEL_PROPS} == set(TEXTURED) | plain
    for name, (half_x, half_y, _) in NOVEL_PROPS:
        if name in plain:
            continue
        pixels = texture(name)
        assert pixels is not None
        assert pixels.dtype == np.uint8
        rows, columns, _ = pixels.shape
        assert columns / rows == pytest.approx(half_x / half_y, rel=0.03)
        assert (pixels[..., 3] > 0).mean() > 0.15
    assert texture("barrel") is None


def test_a_red_light_is_red_above_and_dark_below():
    pixels = texture("ampel").astype(int)
    rows, columns, _ = pixels.shape
    top, bottom = pixels[int(0.19 * rows), columns // 2], pixels[int(0.81 * rows), columns // 2]
    assert top[0] > 200
    assert top[0] > 3 * top[1]
    assert bottom[:3].max() < 70


def test_props_without_a_picture_have_a_colour_by_their_kind():
    assert prop_colour("static.prop.trafficcone01") == prop_colour("static.prop.trafficcone02")
    assert prop_colour("static.prop.haybalelb") == prop_colour("static.prop.haybale") != GREY
    red, green, blue = prop_colour("static.prop.constructioncone")
    assert red > 2 * green > 2 * blue
    assert prop_colour("static.prop.mesh") == GREY
