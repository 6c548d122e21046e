"""The contact sheet of pairs from the driver's place."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from PIL import Image

from jaywalk.checks.sheets import draw_driver_sheet, first_of_each_class
from jaywalk.core.errors import UsageError
from jaywalk.runner.driver_view import SIZE_PX, Photo, _middle, _seen
from jaywalk.scenarios.suite import load_suite


def photo(item, colour, lamps="") -> Photo:
    pixels = np.full((SIZE_PX[1], SIZE_PX[0], 3), colour, np.uint8)
    return Photo(item=item, pixels=pixels, along_m=0.0, elapsed_s=0.0, score=1.0, lamps=lamps)


def test_base_is_above_shift_and_classes_are_in_order(tmp_path):
    items = first_of_each_class(load_suite("fail2drive"))
    walls = [item for item in items if item.pair.startswith("Wall_")]
    parked = [item for item in items if item.pair.startswith("BadParking_")]
    pairs = [
        (photo(walls[0], (0, 0, 250)), photo(walls[1], (250, 0, 250))),
        (photo(parked[0], (0, 250, 0)), photo(parked[1], (250, 0, 0), "hazard lights on")),
    ]
    path = tmp_path / "new" / "sheet.png"
    draw_driver_sheet(pairs, path)
    sheet = np.asarray(Image.open(path).convert("RGB")).astype(int)
    places = []
    for colour in ((0, 250, 0), (250, 0, 0), (0, 0, 250), (250, 0, 250)):
        rows, columns = np.nonzero((np.abs(sheet - colour) < 3).all(axis=-1))
        places.append((rows.mean(), columns.mean()))
    (base_y, base_x), (shift_y, shift_x), (wall_y, wall_x), (last_y, _) = places
    assert base_y < shift_y
    assert base_x == pytest.approx(shift_x, abs=10.0)
    assert wall_x > base_x
    assert wall_y == pytest.approx(base_y, abs=10.0)
    assert last_y == pytest.approx(shift_y, abs=10.0)


def test_a_sheet_is_a_png(tmp_path):
    with pytest.raises(UsageError, match=r"ends in .png"):
        draw_driver_sheet([], tmp_path / "sheet.jpg")


def test_things_are_found_in_a_picture_of_instances():
    pixels = np.zeros((4, 6, 4), np.uint8)
    pixels[1, 2, :2] = (1, 44)  # 256 + 44: actor 300
    pixels[2, 3:5, :2] = (0, 44)  # actor 44
    mask = SimpleNamespace(raw_data=pixels.tobytes(), height=4, width=6)
    seen, ids = _seen(mask, {300, 301, 65536 + 44})
    assert ids == [300, 65536 + 44]
    assert sorted(zip(*np.nonzero(seen), strict=True)) == [(1, 2), (2, 3), (2, 4)]
    assert _middle(seen) == (3, 1)
    assert _seen(mask, set())[1] == []
    assert _middle(np.zeros((2, 2), np.bool_)) is None
