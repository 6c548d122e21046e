"""Blueprints of static props, triggers, the walker controller and the empty actor.

Half extents were measured in the simulator (0.9.15) and published with Fail2Drive's tool box. A
second dump (Scenic's table for 0.9.15 and 0.9.16) agrees. The trees exist in 0.9.16 only. The order
was recovered from printed libraries; `blueprints.py` explains how. Masses, the `size` word, the
semantic labels and the colours (red, green, blue) of props without a picture are our own choice.

The box of a `static.prop.mesh` follows from its mesh path. The Leaderboard family parks cars this
way (at scale 0.9). Half extents of the parked-car meshes have the same source as those of the
props. They include mirrors, so they are wider than the boxes of the driven models. Other paths are
recognised by the name of a prop or a vehicle that they contain.
"""

from __future__ import annotations

import re
from typing import Final

from jaywalk.core.carla_enums import AttributeType, SemanticTag
from jaywalk.core.errors import UsageError
from jaywalk.server.world._blueprint_types import (
    Attribute,
    Blueprint,
    BodyShape,
    Dialect,
    Vector3,
    common_attributes,
    fixed,
    variation,
)
from jaywalk.server.world._tables import Kind
from jaywalk.server.world._vehicle_blueprints import VEHICLES, vehicle_body
from jaywalk.server.world.textures import Colour

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
    "advertisement": (196, 198, 200),
    "atm": _BLUE,
    "ball": (220, 52, 40),
    "barbeque": (52, 52, 54),
    "barrel": _BLUE,
    "bench": _WOOD,
    "bin": _GREEN,
    "box": _CARTON,
    "briefcase": (92, 62, 40),
    "busstop": (120, 146, 160),
    "chainbarrier": _RED,
    "clothcontainer": (200, 188, 60),
    "constructioncone": _ORANGE,
    "container": (64, 110, 92),
    "creasedbox": _CARTON,
    "dirtdebris": _EARTH,
    "doghouse": _WOOD,
    "foodcart": (214, 66, 58),
    "glasscontainer": _GREEN,
    "gnome": (196, 48, 52),
    "guitarcase": (44, 40, 40),
    "haybale": _STRAW,
    "ironplank": _STEEL,
    "kiosk": (70, 110, 84),
    "mailbox": (214, 176, 44),
    "maptable": _WOOD,
    "pergola": _WOOD,
    "pram": (52, 70, 110),
    "plantpot": _CLAY,
    "plasticbag": (226, 226, 222),
    "plasticchair": (232, 232, 228),
    "plastictable": (232, 232, 228),
    "platformgarbage": (104, 96, 84),
    "shoppingbag": (206, 92, 110),
    "shoppingcart": _STEEL,
    "shoppingtrolley": (150, 52, 74),
    "slide": (228, 178, 48),
    "streetbarrier": (222, 62, 44),
    "swing": (60, 110, 170),
    "swingcouch": (176, 120, 84),
    "table": _WOOD,
    "trafficcone": _ORANGE,
    "trafficwarning": (238, 150, 34),
    "trampoline": (46, 74, 132),
    "trashbag": (40, 42, 46),
    "trashcan": (76, 90, 78),
    "travelcase": (62, 84, 130),
    "vendingmachine": (190, 36, 44),
    "warningaccident": _RED,
    "warningconstruction": (240, 176, 40),
    "wateringcan": _GREEN,
}


def prop_colour(type_id: str) -> Colour:
    """Return the colour of a prop by its id; a number at the end marks one of several kinds."""
    name = type_id.removeprefix("static.prop.")
    return _COLOURS.get(_ENDING.sub("", name), GREY)


PROPS: Final[tuple[tuple[str, Vector3], ...]] = (
    ("atm", (0.357, 0.437, 1.138)),
    ("barbeque", (0.473, 0.249, 0.632)),
    ("barrel", (0.230, 0.236, 0.403)),
    ("bench01", (0.772, 0.368, 0.485)),
    ("bench02", (0.782, 0.272, 0.255)),
    ("bench03", (0.792, 0.256, 0.256)),
    ("bike helmet", (0.093, 0.139, 0.086)),
    ("bin", (0.274, 0.319, 0.530)),
    ("box01", (0.326, 0.326, 0.346)),
    ("box02", (0.324, 0.324, 0.324)),
    ("box03", (0.330, 0.335, 0.324)),
    ("briefcase", (0.272, 0.091, 0.216)),
    ("brokentile01", (0.067, 0.088, 0.003)),
    ("brokentile02", (0.105, 0.076, 0.004)),
    ("brokentile03", (0.077, 0.072, 0.004)),
    ("brokentile04", (0.065, 0.063, 0.005)),
    ("busstop", (1.938, 0.947, 1.369)),
    ("vendingmachine", (0.436, 0.551, 1.054)),
    ("chainbarrier", (0.747, 0.119, 0.444)),
    ("chainbarrierend", (0.119, 0.119, 0.444)),
    ("clothcontainer", (0.620, 0.943, 0.905)),
    ("clothesline", (3.326, 0.559, 1.030)),
    ("colacan", (0.034, 0.036, 0.055)),
    ("constructioncone", (0.172, 0.172, 0.293)),
    ("container", (0.966, 0.506, 0.857)),
    ("creasedbox01", (0.404, 0.356, 0.059)),
    ("creasedbox02", (0.817, 0.356, 0.106)),
    ("creasedbox03", (0.834, 0.356, 0.011)),
    ("dirtdebris01", (0.929, 0.757, 0.074)),
    ("dirtdebris02", (0.929, 0.757, 0.074)),
    ("dirtdebris03", (0.929, 0.757, 0.094)),
    ("garbage01", (0.027, 0.027, 0.043)),
    ("garbage02", (0.027, 0.027, 0.005)),
    ("garbage03", (0.030, 0.030, 0.040)),
    ("garbage04", (0.029, 0.028, 0.034)),
    ("garbage05", (0.116, 0.116, 0.029)),
    ("garbage06", (0.183, 0.107, 0.038)),
    ("gardenlamp", (0.149, 0.141, 0.324)),
    ("glasscontainer", (0.977, 1.004, 0.894)),
    ("gnome", (0.183, 0.188, 0.441)),
    ("guitarcase", (0.621, 0.063, 0.247)),
    ("ironplank", (0.726, 0.587, 0.010)),
    ("kiosk_01", (0.813, 0.827, 1.623)),
    ("mailbox", (0.263, 0.219, 0.579)),
    ("maptable", (0.787, 0.309, 0.591)),
    ("mobile", (0.040, 0.004, 0.083)),
    ("motorhelmet", (0.100, 0.130, 0.129)),
    ("fountain", (4.201, 4.201, 3.462)),
    ("pergola", (2.515, 2.543, 1.771)),
    ("plantpot01", (0.545, 0.238, 0.279)),
    ("plantpot02", (0.526, 0.215, 0.243)),
    ("plantpot03", (0.526, 0.215, 0.243)),
    ("plantpot04", (2.484, 0.368, 0.062)),
    ("plantpot05", (0.200, 0.200, 0.140)),
    ("plantpot06", (0.797, 0.797, 0.425)),
    ("plantpot07", (0.247, 0.238, 0.279)),
    ("plantpot08", (0.265, 0.265, 0.244)),
    ("plasticbag", (0.155, 0.201, 0.276)),
    ("warningaccident", (0.653, 0.528, 0.930)),
    ("plasticchair", (0.365, 0.375, 0.636)),
    ("plastictable", (1.241, 1.241, 1.240)),
    ("platformgarbage01", (1.817, 0.856, 0.166)),
    ("shoppingcart", (0.335, 0.604, 0.540)),
    ("shoppingbag", (0.237, 0.122, 0.300)),
    ("shoppingtrolley", (0.253, 0.166, 0.547)),
    ("slide", (0.471, 2.061, 0.988)),
    ("streetbarrier", (0.607, 0.186, 0.535)),
    ("streetsign", (0.532, 0.063, 1.077)),
    ("streetsign01", (1.235, 0.151, 1.939)),
    ("streetsign04", (0.585, 0.062, 1.386)),
    ("streetfountain", (0.143, 0.335, 0.630)),
    ("swing", (2.053, 0.788, 1.286)),
    ("swingcouch", (0.679, 1.181, 1.125)),
    ("doghouse", (0.540, 0.636, 0.547)),
    ("table", (1.078, 1.076, 0.423)),
    ("trafficcone01", (0.441, 0.441, 0.567)),
    ("trafficcone02", (0.228, 0.197, 0.591)),
    ("trafficwarning", (1.187, 1.435, 1.785)),
    ("trampoline", (2.066, 2.066, 1.401)),
    ("trashbag", (0.189, 0.215, 0.351)),
    ("trashcan01", (0.318, 0.284, 0.424)),
    ("trashcan02", (0.262, 0.257, 0.523)),
    ("trashcan03", (0.315, 0.273, 0.467)),
    ("trashcan04", (0.394, 0.290, 0.508)),
    ("travelcase", (0.284, 0.164, 0.631)),
    ("wateringcan", (0.035, 0.097, 0.067)),
    ("calibrator", (0.774, 0.345, 0.101)),
    ("advertisement", (0.775, 0.143, 1.221)),
    ("purse", (0.080, 0.166, 0.293)),
    ("trashcan05", (0.394, 0.290, 0.508)),
    ("warningconstruction", (0.653, 0.528, 0.930)),
    ("foodcart", (1.142, 2.319, 1.787)),
    ("haybale", (0.624, 0.597, 0.597)),
    ("haybalelb", (0.624, 0.597, 0.597)),
    ("busstoplb", (0.947, 1.938, 1.369)),
)

TREES: Final[tuple[tuple[str, Vector3], ...]] = (
    ("aporosatree", (6.479, 6.292, 7.817)),
    ("coconutpalm", (4.302, 4.443, 10.157)),
    ("cypresstree", (2.305, 2.314, 7.839)),
)
# Pictures and walls that Fail2Drive adds: plates lying flat, with the origin in their middle. The
# patch of asphalt, under which the word STOP vanishes, and the ball and the pram are ours.
NOVEL_PROPS: Final[tuple[tuple[str, Vector3], ...]] = (
    ("ampel", (0.279, 0.5, 0.005)),
    ("asphaltpatch", (1.3, 1.2, 0.005)),
    ("autobahn", (3.333, 2.5, 0.2)),
    ("ball", (0.11, 0.11, 0.11)),
    ("brickwall", (2.0, 1.5, 0.15)),
    ("dirt", (0.4455, 0.4455, 0.005)),
    ("graffiti", (0.385, 0.1875, 0.005)),
    ("pram", (0.45, 0.28, 0.52)),
    ("schild", (0.5, 0.5, 0.005)),
    ("screenshot1", (4.0, 2.0, 0.25)),
    ("screenshot2", (4.0, 2.0, 0.25)),
    ("smiley", (0.1, 0.1, 0.005)),
    ("snow", (0.4455, 0.4455, 0.005)),
    ("stickers", (0.4455, 0.4455, 0.005)),
    ("walkingkid", (0.295, 0.5, 0.005)),
    ("walkingkidlarge", (0.591, 1.0, 0.005)),
)

_MASSES_KG: Final = {
    "advertisement": 250.0,
    "atm": 400.0,
    "ball": 0.4,
    "barrel": 20.0,
    "bin": 30.0,
    "brickwall": 4000.0,
    "busstop": 1200.0,
    "busstoplb": 1200.0,
    "constructioncone": 4.0,
    "container": 250.0,
    "foodcart": 700.0,
    "fountain": 9000.0,
    "haybale": 220.0,
    "haybalelb": 220.0,
    "kiosk_01": 900.0,
    "pram": 18.0,
    "streetbarrier": 25.0,
    "trafficcone01": 5.0,
    "trafficcone02": 5.0,
    "trafficwarning": 900.0,
    "vendingmachine": 300.0,
    "warningaccident": 20.0,
    "warningconstruction": 20.0,
}
_FIXED: Final = frozenset(
    {
        "advertisement",
        "atm",
        "autobahn",
        "brickwall",
        "busstop",
        "busstoplb",
        "chainbarrier",
        "chainbarrierend",
        "clothesline",
        "fountain",
        "kiosk_01",
        "pergola",
        "screenshot1",
        "screenshot2",
        "slide",
        "streetfountain",
        "swing",
    }
)
_SIGNS: Final = frozenset({"streetsign", "streetsign01", "streetsign04"})
_DENSITY_KG_M3: Final = 80.0  # of a box around a hollow thing
_SIZE_WORDS: Final = ((0.3, "tiny"), (0.8, "small"), (2.0, "medium"), (4.0, "big"))
# Actors without a shape still get a box: clients choke on empty ones.
_POINT: Final[Vector3] = (0.01, 0.01, 0.01)
DEFAULT_MESH_HALF_EXTENTS_M: Final[Vector3] = (0.5, 0.5, 0.5)


def prop_blueprints(dialect: Dialect) -> tuple[Blueprint, ...]:
    """Return the props of the simulator, without `static.prop.mesh`."""
    trees = TREES if dialect == "0.9.16" else ()
    return (
        *(_prop(name, extents, dialect) for name, extents in PROPS),
        *(_prop(name, extents, dialect, only_0_9_16=True) for name, extents in trees),
    )


def novel_prop_blueprints(dialect: Dialect) -> tuple[Blueprint, ...]:
    """Return the props that Fail2Drive adds."""
    return tuple(_prop(name, extents, dialect, novel=True) for name, extents in NOVEL_PROPS)


def other_blueprints(dialect: Dialect) -> tuple[Blueprint, ...]:
    """Return the blueprints after the props: controller, friction trigger, mesh, empty actor."""
    controller, trigger = "controller.ai.walker", "static.trigger.friction"
    mesh, empty = "static.prop.mesh", "util.actor.empty"
    return (
        _shapeless(controller, common_attributes(controller, dialect)),
        _shapeless(trigger, (*common_attributes(trigger, dialect), *_trigger_attributes())),
        Blueprint(
            id=mesh,
            kind=Kind.PROP,
            attributes=(*common_attributes(mesh, dialect), *_mesh_attributes()),
            body=prop_body("mesh", DEFAULT_MESH_HALF_EXTENTS_M),
        ),
        _shapeless(empty, common_attributes(empty, dialect)),
    )


def prop_body(name: str, half_extents_m: Vector3, *, centred: bool = False) -> BodyShape:
    """The body of a prop that stands on its origin (or has the origin in its middle)."""
    x, y, z = half_extents_m
    guess_kg = min(max(8.0 * x * y * z * _DENSITY_KG_M3, 0.05), 5000.0)
    return BodyShape(
        half_extents_m=half_extents_m,
        centre_m=(0.0, 0.0, 0.0 if centred else z),
        mass_kg=_MASSES_KG.get(name, guess_kg),
        labels=(_label(name),),
    )


def _label(name: str) -> int:
    if any(name == tree for tree, _ in TREES):
        return SemanticTag.VEGETATION
    if name in _SIGNS:
        return SemanticTag.TRAFFIC_SIGN
    return SemanticTag.STATIC if name in _FIXED else SemanticTag.DYNAMIC


def _prop(
    name: str,
    half_extents_m: Vector3,
    dialect: Dialect,
    *,
    only_0_9_16: bool = False,
    novel: bool = False,
) -> Blueprint:
    blueprint_id = f"static.prop.{name}"
    return Blueprint(
        id=blueprint_id,
        kind=Kind.PROP,
        attributes=(
            *common_attributes(blueprint_id, dialect, ("prop",)),
            fixed("size", AttributeType.STRING, _size_word(half_extents_m)),
        ),
        body=prop_body(name, half_extents_m, centred=novel),
        only_0_9_16=only_0_9_16,
        novel=novel,
    )


def _size_word(half_extents_m: Vector3) -> str:
    longest_m = 2.0 * max(half_extents_m)
    return next((word for limit_m, word in _SIZE_WORDS if longest_m < limit_m), "huge")


def _shapeless(name: str, attributes: tuple[Attribute, ...]) -> Blueprint:
    body = BodyShape(
        half_extents_m=_POINT, centre_m=(0.0, 0.0, 0.0), mass_kg=1.0, labels=(SemanticTag.NONE,)
    )
    return Blueprint(id=name, kind=Kind.OTHER, attributes=attributes, body=body)


def _trigger_attributes() -> tuple[Attribute, ...]:
    # The simulator sends the odd "f"; C programs ignore it.
    axes = (variation(f"extent_{axis}", AttributeType.FLOAT, "1.0f") for axis in "xyz")
    return (variation("friction", AttributeType.FLOAT, "3.5f"), *axes)


def _mesh_attributes() -> tuple[Attribute, ...]:
    return (
        variation("mesh_path", AttributeType.STRING, ""),
        variation("mass", AttributeType.FLOAT, ""),
        variation("scale", AttributeType.FLOAT, "1.0f"),
    )


_PARKED: Final[dict[str, tuple[str, Vector3]]] = {
    # word in the path: (vehicle whose mass counts, half extents of the mesh)
    "charger": ("dodge.charger_2020", (2.504, 1.049, 0.767)),
    "fordcrown": ("ford.crown", (2.683, 0.973, 0.787)),
    "lincoln": ("lincoln.mkz_2020", (2.446, 1.115, 0.761)),
    "mercedesccc": ("mercedes.coupe_2020", (2.337, 1.001, 0.726)),
    "mini2021": ("mini.cooper_s_2021", (2.276, 1.093, 0.884)),
    "nissanpatrol2021": ("nissan.patrol_2021", (2.783, 1.218, 1.023)),
    "teslam3": ("tesla.model3", (2.396, 1.082, 0.744)),
    "volkswagent2": ("volkswagen.t2_2021", (2.221, 0.939, 0.994)),
}
_SHORTEST_WORD: Final = 3  # "bin" is a word; two letters would match by chance


def mesh_body(mesh_path: str, scale: float = 1.0, mass_kg: float = 0.0) -> BodyShape:
    """Return the body of `static.prop.mesh` with a mesh path.

    Args:
        mesh_path: The asset path, e.g. ".../ParkedVehicles/Mini2021/SM_Mini2021_parked".
        scale: The `scale` attribute.
        mass_kg: The `mass` attribute; 0 takes the mass of the thing the mesh shows.

    Returns:
        Its body, standing on its origin; a one-metre box if the path says nothing we know.

    Raises:
        UsageError: The scale is not a positive number.
    """
    if not 0.0 < scale < float("inf"):
        raise UsageError(f"static.prop.mesh: scale is {scale}, expected a number above 0")
    body = _known_body(mesh_path)
    x, y, z = (scale * extent for extent in body.half_extents_m)
    return BodyShape(
        half_extents_m=(x, y, z),
        centre_m=(scale * body.centre_m[0], scale * body.centre_m[1], z),
        mass_kg=mass_kg if mass_kg > 0.0 else body.mass_kg * scale**3,
        labels=body.labels,
    )


def _known_body(mesh_path: str) -> BodyShape:
    path = _letters(mesh_path)
    for word, (vehicle, extents) in _PARKED.items():
        if word in path and ("parked" in path or "vehicle" in path or "car" in path):
            return BodyShape(
                half_extents_m=extents,
                centre_m=(0.0, 0.0, extents[2]),
                mass_kg=vehicle_body(vehicle).mass_kg,
                labels=(SemanticTag.CAR,),
            )
    asset = _letters(mesh_path.rsplit("/", 1)[-1].split(".", 1)[0])
    prop = _named_prop(asset)
    return prop if prop is not None else _named_vehicle(asset)


def _named_prop(asset: str) -> BodyShape | None:
    """Return the prop with the longest name that occurs in the asset's name."""
    best: tuple[str, Vector3] | None = None
    for name, extents in (*PROPS, *TREES, *NOVEL_PROPS):
        word = _letters(name)
        longer = best is None or len(word) > len(_letters(best[0]))
        if len(word) >= _SHORTEST_WORD and word in asset and longer:
            best = (name, extents)
    return prop_body(*best) if best is not None else None


def _named_vehicle(asset: str) -> BodyShape:
    # Newest first: "charger_2020" must win over "charger".
    for spec in sorted(VEHICLES, key=lambda row: -len(row.name)):
        model = _letters(spec.name.split(".", 1)[1])
        if len(model) >= _SHORTEST_WORD and model in asset:
            return vehicle_body(spec.name)
    return prop_body("mesh", DEFAULT_MESH_HALF_EXTENTS_M)


def _letters(text: str) -> str:
    """Lower-case letters and digits only: paths and ids spell names differently."""
    return re.sub(r"[^a-z0-9]", "", text.lower())
