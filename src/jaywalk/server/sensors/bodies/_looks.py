"""Appearance of a person: shape, hair, clothes and things on the body.

The same blueprint, attributes and draw give the same appearance in every process. Skin, hair and
face belong to the blueprint; clothes, shape and bags to the draw.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from jaywalk.core.seeds import stream
from jaywalk.core.walker_attributes import CARRIES
from jaywalk.server.sensors._materials import SLOTS, Slot

Color = tuple[int, int, int]
_T = TypeVar("_T")

#: Things that a walker's attribute ``carries`` may name, separated by spaces.
THINGS: Final = (
    "phone",
    "bag",
    "rucksack",
    "umbrella",
    "stick",
    "pram",
    "cart",
    "wheelchair",
    "suitcase",
    "leash",
)
_SKIN: Final[tuple[Color, ...]] = (
    (236, 196, 172),
    (224, 178, 150),
    (210, 160, 128),
    (186, 134, 100),
    (150, 102, 74),
    (112, 74, 54),
    (84, 56, 42),
)
_SKIN_SHARES: Final = (0.22, 0.24, 0.18, 0.13, 0.10, 0.08, 0.05)
_HAIR: Final[tuple[Color, ...]] = (
    (28, 24, 22),
    (52, 36, 26),
    (86, 58, 36),
    (132, 92, 52),
    (186, 150, 92),
    (124, 54, 30),
)
_GREY_HAIR: Final[tuple[Color, ...]] = ((150, 148, 146), (196, 194, 190), (224, 222, 218))
_CLOTHES: Final[tuple[Color, ...]] = (
    (32, 34, 40),
    (44, 54, 84),
    (84, 88, 94),
    (136, 140, 144),
    (222, 220, 214),
    (146, 40, 44),
    (58, 92, 62),
    (44, 92, 142),
    (176, 146, 106),
    (204, 162, 52),
    (118, 66, 116),
    (206, 110, 78),
    (104, 80, 62),
    (120, 158, 180),
)
_TROUSERS: Final[tuple[Color, ...]] = (
    (38, 46, 72),
    (62, 82, 122),
    (30, 31, 34),
    (78, 80, 84),
    (156, 138, 108),
    (104, 112, 88),
    (190, 182, 164),
)
_SHOES: Final[tuple[Color, ...]] = (
    (28, 26, 26),
    (70, 48, 34),
    (226, 224, 220),
    (96, 98, 104),
    (142, 44, 44),
)
_BAGS: Final[tuple[Color, ...]] = (
    (34, 36, 42),
    (92, 62, 40),
    (140, 44, 48),
    (50, 84, 110),
    (120, 120, 96),
)
_POLICE: Final = frozenset({"walker.pedestrian.0030", "walker.pedestrian.0032"})
_TOPS: Final = ("shirt", "tshirt", "jacket", "coat", "hoodie", "vest")
_TOP_SHARES: Final = {
    "male": (0.26, 0.24, 0.24, 0.10, 0.12, 0.04),
    "female": (0.26, 0.24, 0.20, 0.20, 0.08, 0.02),
    "child": (0.18, 0.36, 0.20, 0.06, 0.18, 0.02),
}
_BOTTOMS: Final = ("trousers", "shorts", "skirt")
_BOTTOM_SHARES: Final = {
    "male": (0.86, 0.14, 0.0),
    "female": (0.66, 0.08, 0.26),
    "child": (0.66, 0.34, 0.0),
}
_STYLES: Final = ("short", "medium", "long", "bun", "bald", "cap", "beanie", "hood", "scarf")
_STYLE_SHARES: Final = {
    "male": (0.56, 0.08, 0.02, 0.0, 0.12, 0.12, 0.06, 0.04, 0.0),
    "female": (0.10, 0.24, 0.34, 0.14, 0.0, 0.04, 0.05, 0.02, 0.07),
    "child": (0.40, 0.26, 0.12, 0.0, 0.0, 0.14, 0.04, 0.04, 0.0),
}
_RUCKSACK_SHARE: Final = 0.14
_BAG_SHARE: Final = {"male": 0.06, "female": 0.24, "child": 0.0}


@dataclass(frozen=True, slots=True, kw_only=True)
class Looks:
    """Appearance of one person.

    Attributes:
        rig: Name of the rig, see ``jaywalk.motion.carla_rigs``.
        sex: ``male`` or ``female``.
        age: ``child``, ``adult`` or ``elderly``.
        girth: Factor on the widths of trunk and limbs.
        shoulders: Factor on the width of the shoulders.
        waist_m: Height by which the waistline of the clothes is moved.
        hair: Style of the hair, or the hat.
        top: Kind of clothes on the trunk.
        bottom: Kind of clothes on the legs.
        beard: Whether there is one.
        carries: Things on the body or in the hands.
        colors: (SLOTS, 3) colours of the slots of materials.
    """

    rig: str
    sex: str
    age: str
    girth: float = 1.0
    shoulders: float = 1.0
    waist_m: float = 0.0
    hair: str = "short"
    top: str = "shirt"
    bottom: str = "trousers"
    beard: bool = False
    carries: tuple[str, ...] = ()
    colors: NDArray[np.uint8] = field(
        default_factory=lambda: np.full((SLOTS, 3), 128, np.uint8), compare=False
    )


def rig_name(sex: str, age: str) -> str:
    """Return the name of the rig of a sex and age."""
    if age == "child":
        return "girl" if sex == "female" else "boy"
    return "woman" if sex == "female" else "man"


def carried(text: str) -> tuple[str, ...]:
    """Return the known things that an attribute names, in the order of ``THINGS``."""
    words = text.split()
    return tuple(thing for thing in THINGS if thing in words)


def draw_looks(blueprint_id: str, attributes: Mapping[str, str], draw: int) -> Looks:
    """Return the appearance of a walker.

    Args:
        blueprint_id: As in ``walker.pedestrian.0007``.
        attributes: ``gender``, ``age`` and ``carries`` count.
        draw: A number of the actor that stays the same when the episode is repeated.
    """
    sex = "female" if attributes.get("gender") == "female" else "male"
    age = attributes.get("age", "adult")
    age = age if age in ("child", "elderly") else "adult"
    group = "child" if age == "child" else sex
    own = stream(0, "looks", blueprint_id)
    day = stream(0, "looks", blueprint_id, draw)
    skin = _pick(own, _SKIN, _SKIN_SHARES)
    grey = age == "elderly" or (age == "adult" and own.random() < 0.08)
    hair = _pick(own, _GREY_HAIR if grey else _HAIR)
    beard = sex == "male" and age != "child" and own.random() < 0.22
    style = _pick(day, _STYLES, _STYLE_SHARES[group])
    if age == "child" and sex == "male" and style == "long":
        style = "short"
    top = _pick(day, _TOPS, _TOP_SHARES[group])
    bottom = _pick(day, _BOTTOMS, _BOTTOM_SHARES[group])
    if age == "elderly":
        bottom = "trousers" if bottom == "shorts" else bottom
    colors = np.full((SLOTS, 3), 128, np.uint8)
    for slot, palette in (
        (Slot.PAINT, _CLOTHES),
        (Slot.PAINT_2, _CLOTHES),
        (Slot.TOP, _CLOTHES),
        (Slot.BOTTOM, _TROUSERS),
        (Slot.SHOES, _SHOES),
        (Slot.BAG, _BAGS),
    ):
        colors[slot] = _shade(day, _pick(day, palette))
    colors[Slot.SKIN], colors[Slot.HAIR] = skin, hair
    girth = float(np.clip(day.normal(1.0, 0.07), 0.88, 1.2))
    shoulders = float(np.clip(day.normal(1.0, 0.04), 0.92, 1.08))
    waist_m = float(day.uniform(-0.02, 0.03))
    bag_draw, sack_draw = day.random(2)
    things = list(carried(attributes.get(CARRIES, "")))
    if attributes.get("use_wheelchair") == "true":
        bag_draw = sack_draw = 1.0
    if "rucksack" not in things and sack_draw < _RUCKSACK_SHARE and age != "elderly":
        things.append("rucksack")
    if not {"bag", "rucksack"} & set(things) and bag_draw < _BAG_SHARE[group]:
        things.append("bag")
    if blueprint_id in _POLICE:
        top, bottom, style = "jacket", "trousers", "cap"
        for slot in (Slot.TOP, Slot.BOTTOM, Slot.PAINT):
            colors[slot] = (26, 32, 52)
        things = [thing for thing in things if thing not in ("bag", "rucksack")]
    return Looks(
        rig=rig_name(sex, age),
        sex=sex,
        age=age,
        girth=girth,
        shoulders=shoulders,
        waist_m=waist_m,
        hair=style,
        top=top,
        bottom=bottom,
        beard=beard,
        carries=tuple(thing for thing in THINGS if thing in things),
        colors=colors,
    )


def _pick(
    random: np.random.Generator, items: Sequence[_T], shares: Sequence[float] | None = None
) -> _T:
    if shares is None:
        return items[int(random.random() * len(items))]
    edges = np.cumsum(shares)
    at = int(np.searchsorted(edges, random.random() * float(edges[-1]), side="right"))
    return items[min(at, len(items) - 1)]


def _shade(random: np.random.Generator, color: Color) -> Color:
    """Return a colour somewhat lighter or darker."""
    scale = float(random.uniform(0.82, 1.15))
    red, green, blue = (min(round(scale * value), 255) for value in color)
    return red, green, blue
