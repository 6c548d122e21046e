"""Materials of surfaces: colour, gloss, light of their own and texture, as tables for kernels.

A corner of a mesh names its material by number. New materials go to the end, one line each: stored
meshes keep their numbers. Colours are sRGB. A material with a slot takes its colour from the
instance that shows it, and the colour of the table where the instance sets none.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray


class Texture(IntEnum):
    """Procedural textures; ``uv`` of a mesh is in metres for all of them."""

    NONE = 0
    ASPHALT = 1
    PAVING = 2
    KERB = 3
    GRASS = 4
    GRAVEL = 5
    PLASTER = 6
    BRICK = 7
    CONCRETE = 8
    ROOF_TILES = 9
    ROOF_FLAT = 10
    BARK = 11
    LEAVES = 12  # cut out: alpha below one half shows what is behind
    HEDGE = 13
    FABRIC = 14
    DENIM = 15
    FUR = 16
    WOOD = 17
    METAL = 18
    WATER = 19
    CLOUDS = 20


class Slot(IntEnum):
    """Colours that an instance may set; NONE: the colour of the table."""

    NONE = -1
    PAINT = 0
    PAINT_2 = 1
    SKIN = 2
    HAIR = 3
    TOP = 4
    BOTTOM = 5
    SHOES = 6
    BAG = 7


SLOTS: Final = 8


class Lamp(IntEnum):
    """Lamp of a vehicle that lights a material up; NONE: never, ALWAYS: by day and night."""

    NONE = 0
    HEAD = 1
    TAIL = 2
    BRAKE = 3
    BLINKER_LEFT = 4
    BLINKER_RIGHT = 5
    REVERSE = 6
    BEACON = 7
    ALWAYS = 8
    SIGNAL = 9  # a lit traffic light


class Material(IntEnum):
    """What a surface is made of."""

    PAINT = 0
    PAINT_2 = 1
    GLASS = 2
    RUBBER = 3
    RIM = 4
    CHROME = 5
    PLASTIC = 6
    PLATE = 7
    HEAD_LAMP = 8
    TAIL_LAMP = 9
    BRAKE_LAMP = 10
    BLINKER_LEFT = 11
    BLINKER_RIGHT = 12
    REVERSE_LAMP = 13
    BEACON = 14
    SKIN = 15
    HAIR = 16
    TOP = 17
    BOTTOM = 18
    SHOES = 19
    BAG = 20
    FUR = 21
    HORN = 22
    BARK = 23
    LEAVES = 24
    HEDGE = 25
    WOOD = 26
    METAL = 27
    CONCRETE = 28
    ORANGE = 29
    WHITE = 30
    RED = 31
    YELLOW = 32
    SIGN_FACE = 33
    EYE = 34
    LIPS = 35
    INTERIOR = 36
    BLACK = 37
    GREY = 38
    BLUE = 39
    GREEN = 40
    DENIM = 41
    FABRIC = 42
    REFLECTOR = 43
    HOOF = 44
    NOSE = 45
    SCREEN = 46
    GRASS = 47
    BRICK = 48
    PLASTER = 49
    CLOTH = 50
    SIGNAL_RED = 51
    SIGNAL_AMBER = 52
    SIGNAL_GREEN = 53
    LENS_RED = 54
    LENS_AMBER = 55
    LENS_GREEN = 56
    EARTH = 57
    STRAW = 58
    CARTON = 59
    GREENERY = 60
    FUR_2 = 61


class _Facts(NamedTuple):
    color: tuple[int, int, int]
    gloss: float  # share of light that a surface seen straight on mirrors
    roughness: float  # 0 mirror .. 1 dull
    texture: Texture = Texture.NONE
    slot: Slot = Slot.NONE
    lamp: Lamp = Lamp.NONE


_FACTS: Final[dict[Material, _Facts]] = {
    Material.PAINT: _Facts((150, 152, 156), 0.05, 0.22, slot=Slot.PAINT),
    Material.PAINT_2: _Facts((60, 62, 66), 0.05, 0.25, slot=Slot.PAINT_2),
    Material.GLASS: _Facts((18, 22, 26), 0.08, 0.05),
    Material.RUBBER: _Facts((26, 26, 27), 0.03, 0.9),
    Material.RIM: _Facts((158, 160, 164), 0.35, 0.35),
    Material.CHROME: _Facts((190, 192, 196), 0.6, 0.12),
    Material.PLASTIC: _Facts((38, 39, 41), 0.04, 0.55),
    Material.PLATE: _Facts((232, 232, 226), 0.04, 0.6),
    Material.HEAD_LAMP: _Facts((206, 212, 218), 0.10, 0.08, lamp=Lamp.HEAD),
    Material.TAIL_LAMP: _Facts((140, 14, 16), 0.06, 0.15, lamp=Lamp.TAIL),
    Material.BRAKE_LAMP: _Facts((150, 12, 14), 0.06, 0.15, lamp=Lamp.BRAKE),
    Material.BLINKER_LEFT: _Facts((196, 110, 28), 0.06, 0.15, lamp=Lamp.BLINKER_LEFT),
    Material.BLINKER_RIGHT: _Facts((196, 110, 28), 0.06, 0.15, lamp=Lamp.BLINKER_RIGHT),
    Material.REVERSE_LAMP: _Facts((214, 214, 212), 0.08, 0.12, lamp=Lamp.REVERSE),
    Material.BEACON: _Facts((30, 60, 170), 0.08, 0.12, lamp=Lamp.BEACON),
    Material.SKIN: _Facts((204, 156, 128), 0.03, 0.6, slot=Slot.SKIN),
    Material.HAIR: _Facts((62, 44, 32), 0.04, 0.5, slot=Slot.HAIR),
    Material.TOP: _Facts((120, 60, 60), 0.02, 0.95, Texture.FABRIC, Slot.TOP),
    Material.BOTTOM: _Facts((48, 58, 84), 0.02, 0.95, Texture.DENIM, Slot.BOTTOM),
    Material.SHOES: _Facts((42, 38, 36), 0.04, 0.6, slot=Slot.SHOES),
    Material.BAG: _Facts((70, 52, 40), 0.03, 0.7, Texture.FABRIC, Slot.BAG),
    Material.FUR: _Facts((128, 98, 70), 0.02, 0.95, Texture.FUR, Slot.PAINT),
    Material.HORN: _Facts((190, 178, 150), 0.04, 0.5),
    Material.BARK: _Facts((98, 80, 62), 0.02, 1.0, Texture.BARK),
    Material.LEAVES: _Facts((70, 108, 44), 0.03, 0.8, Texture.LEAVES, Slot.PAINT),
    Material.HEDGE: _Facts((62, 98, 44), 0.03, 0.85, Texture.HEDGE, Slot.PAINT),
    Material.WOOD: _Facts((140, 106, 70), 0.03, 0.8, Texture.WOOD),
    Material.METAL: _Facts((140, 144, 148), 0.25, 0.45, Texture.METAL),
    Material.CONCRETE: _Facts((166, 162, 154), 0.02, 0.95, Texture.CONCRETE),
    Material.ORANGE: _Facts((236, 92, 22), 0.03, 0.6),
    Material.WHITE: _Facts((236, 236, 232), 0.03, 0.6),
    Material.RED: _Facts((196, 26, 28), 0.03, 0.6),
    Material.YELLOW: _Facts((240, 196, 36), 0.03, 0.6),
    Material.SIGN_FACE: _Facts((240, 240, 238), 0.03, 0.7),
    Material.EYE: _Facts((28, 24, 22), 0.08, 0.1),
    Material.LIPS: _Facts((170, 92, 84), 0.04, 0.5),
    Material.INTERIOR: _Facts((34, 33, 33), 0.02, 0.95),
    Material.BLACK: _Facts((22, 22, 23), 0.03, 0.6),
    Material.GREY: _Facts((128, 130, 132), 0.03, 0.6),
    Material.BLUE: _Facts((28, 74, 158), 0.03, 0.6),
    Material.GREEN: _Facts((36, 118, 62), 0.03, 0.6),
    Material.DENIM: _Facts((58, 74, 110), 0.02, 0.95, Texture.DENIM),
    Material.FABRIC: _Facts((150, 144, 134), 0.02, 0.95, Texture.FABRIC),
    Material.REFLECTOR: _Facts((226, 228, 214), 0.10, 0.3),
    Material.HOOF: _Facts((46, 40, 36), 0.03, 0.7),
    Material.NOSE: _Facts((38, 32, 31), 0.06, 0.4),
    Material.SCREEN: _Facts((120, 160, 210), 0.06, 0.1, lamp=Lamp.ALWAYS),
    Material.GRASS: _Facts((96, 124, 62), 0.02, 1.0, Texture.GRASS),
    Material.BRICK: _Facts((150, 84, 66), 0.02, 0.95, Texture.BRICK),
    Material.PLASTER: _Facts((214, 204, 184), 0.02, 0.95, Texture.PLASTER),
    Material.CLOTH: _Facts((110, 60, 60), 0.02, 0.95, Texture.FABRIC, Slot.PAINT),
    Material.SIGNAL_RED: _Facts((255, 40, 28), 0.02, 0.6, lamp=Lamp.SIGNAL),
    Material.SIGNAL_AMBER: _Facts((255, 176, 24), 0.02, 0.6, lamp=Lamp.SIGNAL),
    Material.SIGNAL_GREEN: _Facts((30, 255, 130), 0.02, 0.6, lamp=Lamp.SIGNAL),
    Material.LENS_RED: _Facts((58, 12, 12), 0.05, 0.3),
    Material.LENS_AMBER: _Facts((58, 42, 12), 0.05, 0.3),
    Material.LENS_GREEN: _Facts((10, 46, 36), 0.05, 0.3),
    Material.EARTH: _Facts((106, 84, 62), 0.02, 1.0, Texture.GRAVEL),
    Material.STRAW: _Facts((204, 168, 84), 0.02, 0.95, Texture.FUR),
    Material.CARTON: _Facts((178, 140, 96), 0.02, 0.9, Texture.PLASTER),
    Material.GREENERY: _Facts((70, 104, 46), 0.03, 0.85, Texture.HEDGE),
    Material.FUR_2: _Facts((210, 200, 186), 0.02, 0.95, Texture.FUR, Slot.PAINT_2),
}


def _table() -> list[_Facts]:
    return [_FACTS[material] for material in Material]


MATERIAL_COLORS: Final[NDArray[np.uint8]] = np.array([f.color for f in _table()], np.uint8)
MATERIAL_GLOSS: Final = np.array([f.gloss for f in _table()], np.float32)
MATERIAL_ROUGHNESS: Final = np.array([f.roughness for f in _table()], np.float32)
MATERIAL_TEXTURE: Final = np.array([f.texture for f in _table()], np.uint8)
MATERIAL_SLOT: Final = np.array([f.slot for f in _table()], np.int8)
MATERIAL_LAMP: Final = np.array([f.lamp for f in _table()], np.uint8)
