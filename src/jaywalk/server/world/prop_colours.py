"""Colours of props that have no picture, as red, green, blue. All of our own choosing."""

from __future__ import annotations

import re
from typing import Final

from jaywalk.server.world.canvas import Colour

_ENDING: Final = re.compile(r"_?\d+$|lb$")  # the Leaderboard's own copies end in lb
GREY: Final[Colour] = (128, 128, 128)
_ORANGE: Final[Colour] = (232, 104, 28)
_RED: Final[Colour] = (186, 44, 40)
_WOOD: Final[Colour] = (146, 102, 62)
_STRAW: Final[Colour] = (204, 168, 84)
_EARTH: Final[Colour] = (112, 88, 64)
_CARTON: Final[Colour] = (178, 140, 96)
_GREEN: Final[Colour] = (58, 104, 66)
_BLUE: Final[Colour] = (52, 92, 150)
_STEEL: Final[Colour] = (150, 154, 158)
_CLAY: Final[Colour] = (172, 98, 66)
_COLOURS: Final[dict[str, Colour]] = {
    "advertisement": (196, 198, 200), "atm": _BLUE, "barbeque": (52, 52, 54), "barrel": _BLUE,
    "bench": _WOOD, "bin": _GREEN, "box": _CARTON, "briefcase": (92, 62, 40),
    "busstop": (120, 146, 160), "chainbarrier": _RED, "clothcontainer": (200, 188, 60),
    "constructioncone": _ORANGE, "container": (64, 110, 92), "creasedbox": _CARTON,
    "dirtdebris": _EARTH, "doghouse": _WOOD, "foodcart": (214, 66, 58), "glasscontainer": _GREEN,
    "gnome": (196, 48, 52), "guitarcase": (44, 40, 40), "haybale": _STRAW, "ironplank": _STEEL,
    "kiosk": (70, 110, 84), "mailbox": (214, 176, 44), "maptable": _WOOD, "pergola": _WOOD,
    "plantpot": _CLAY, "plasticbag": (226, 226, 222), "plasticchair": (232, 232, 228),
    "plastictable": (232, 232, 228), "platformgarbage": (104, 96, 84),
    "shoppingbag": (206, 92, 110), "shoppingcart": _STEEL, "shoppingtrolley": (150, 52, 74),
    "slide": (228, 178, 48),
    "streetbarrier": (222, 62, 44), "swing": (60, 110, 170), "swingcouch": (176, 120, 84),
    "table": _WOOD, "trafficcone": _ORANGE, "trafficwarning": (238, 150, 34),
    "trampoline": (46, 74, 132), "trashbag": (40, 42, 46), "trashcan": (76, 90, 78),
    "travelcase": (62, 84, 130), "vendingmachine": (190, 36, 44), "warningaccident": _RED,
    "warningconstruction": (240, 176, 40), "wateringcan": _GREEN,
}  # fmt: skip


def prop_colour(type_id: str) -> Colour:
    """Colour of a prop by its id; what ends in a number is one of several kinds."""
    name = type_id.removeprefix("static.prop.")
    return _COLOURS.get(_ENDING.sub("", name), GREY)
