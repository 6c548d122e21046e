"""Lamps painted on the solids of vehicles, from the bits of CARLA's light state.

Lamps are not solids of their own, so LiDAR rays hit the same body whether lamps are on or off.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from jaywalk.core.carla_enums import VehicleLight
from jaywalk.server.sensors._solids import BUS_WINDOWS, GLASS, HULL, kernel

FRONT: Final = 0  # parts of a box
BACK: Final = 1
_ROOF: Final = 4
_BEAMS: Final = int(VehicleLight.POSITION | VehicleLight.LOW_BEAM | VehicleLight.HIGH_BEAM)
_BRAKE: Final = int(VehicleLight.BRAKE)
_RIGHT: Final = int(VehicleLight.RIGHT_BLINKER)
_LEFT: Final = int(VehicleLight.LEFT_BLINKER)
_REVERSE: Final = int(VehicleLight.REVERSE)
_SPECIAL: Final = int(VehicleLight.SPECIAL1 | VehicleLight.SPECIAL2)
# Looks, each off and on; ``COLORS`` has them in this order.
NO_LAMP: Final = -1
_RED, _RED_DIM, _RED_ON, _AMBER, _AMBER_ON, _WHITE, _WHITE_ON, _BLUE_ON = range(8)
COLORS: Final = np.array(
    [
        [96, 16, 18],
        [190, 24, 24],
        [255, 40, 32],
        [150, 92, 30],
        [255, 168, 20],
        [196, 200, 204],
        [255, 252, 236],
        [40, 90, 255],
    ],
    np.uint8,
)
# Lamps lie between these shares of the half width, blinkers outside, and of the hull's height.
_INNER, _BLINKER, _OUTER = 0.58, 0.82, 0.97
_HULL_LOW, _HULL_HIGH = 0.52, 0.92
_BUS_LOW, _BUS_HIGH = 0.08, 0.24
_BAR: Final = 0.86  # blue lights shine above this share of the height
_BAR_LONG: Final = 0.2  # and on this share of the roof


@kernel
def lamp_at(
    form: NDArray[np.float64],
    pattern: int,
    flags: int,
    k: int,
    part: int,
    place: tuple[float, float, float],
) -> int:
    """The look (a row of ``COLORS``) of the lamp at a point of a vehicle's body, or NO_LAMP.

    Args:
        form: Of the solids.
        pattern: Of the solid: HULL, GLASS or BUS_WINDOWS.
        flags: Lamps that are on.
        k: The solid.
        part: Side of the box.
        place: The point, in the world.
    """
    px, py, pz = place[0] - form[k, 0], place[1] - form[k, 1], place[2] - form[k, 2]
    if pattern != HULL and flags & _SPECIAL:
        up = form[k, 9] * px + form[k, 10] * py + form[k, 11] * pz
        if part < _ROOF and up > (2.0 * _BAR - 1.0) * form[k, 14]:
            return _BLUE_ON
        ahead = form[k, 3] * px + form[k, 4] * py + form[k, 5] * pz
        if part == _ROOF and abs(ahead) < _BAR_LONG * form[k, 12]:
            return _BLUE_ON
    if part > BACK or pattern == GLASS:
        return NO_LAMP
    right = (form[k, 6] * px + form[k, 7] * py + form[k, 8] * pz) / form[k, 13]
    if not _INNER < abs(right) < _OUTER:
        return NO_LAMP
    share = 0.5 + 0.5 * (form[k, 9] * px + form[k, 10] * py + form[k, 11] * pz) / form[k, 14]
    low, high = (_BUS_LOW, _BUS_HIGH) if pattern == BUS_WINDOWS else (_HULL_LOW, _HULL_HIGH)
    if not low < share < high:
        return NO_LAMP
    if abs(right) > _BLINKER:
        return _AMBER_ON if flags & (_RIGHT if right > 0.0 else _LEFT) else _AMBER
    if part == FRONT:
        return _WHITE_ON if flags & _BEAMS else _WHITE
    if flags & _BRAKE:
        return _RED_ON
    if flags & _REVERSE:
        return _WHITE_ON
    return _RED_DIM if flags & _BEAMS else _RED


@kernel
def shines(look: int) -> bool:
    """True for lamps that are on: they are as bright at night."""
    return look in (_RED_DIM, _RED_ON, _AMBER_ON, _WHITE_ON, _BLUE_ON)
