"""How large a `static.prop.mesh` is: its box follows from the mesh path.

The Leaderboard family parks cars this way (at scale 0.9). Half extents of the parked-car meshes
were measured in the simulator and published with Fail2Drive's tool box; they include mirrors, so
they are wider than the boxes of the driven models. Other paths are recognised by the name of a prop
or of a vehicle in them.
"""

from __future__ import annotations

import re
from typing import Final

from jaywalk.core.errors import UsageError
from jaywalk.server.world.blueprint_types import LABEL_CAR, Body, Vector3
from jaywalk.server.world.prop_blueprints import (
    DEFAULT_MESH_HALF_EXTENTS_M,
    NOVEL_PROPS,
    PROPS,
    TREES,
    prop_body,
)
from jaywalk.server.world.vehicle_blueprints import VEHICLES, vehicle_body

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


def mesh_body(mesh_path: str, scale: float = 1.0, mass_kg: float = 0.0) -> Body:
    """The body of `static.prop.mesh` with this mesh.

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
    return Body(
        half_extents_m=(x, y, z),
        centre_m=(scale * body.centre_m[0], scale * body.centre_m[1], z),
        mass_kg=mass_kg if mass_kg > 0.0 else body.mass_kg * scale**3,
        labels=body.labels,
    )


def _known_body(mesh_path: str) -> Body:
    path = _letters(mesh_path)
    for word, (vehicle, extents) in _PARKED.items():
        if word in path and ("parked" in path or "vehicle" in path or "car" in path):
            return Body(
                half_extents_m=extents,
                centre_m=(0.0, 0.0, extents[2]),
                mass_kg=vehicle_body(vehicle).mass_kg,
                labels=(LABEL_CAR,),
            )
    asset = _letters(mesh_path.rsplit("/", 1)[-1].split(".", 1)[0])
    found = _named_prop(asset)
    return found if found is not None else _named_vehicle(asset)


def _named_prop(asset: str) -> Body | None:
    """The prop whose name is the longest one found in the asset's name."""
    best: tuple[str, Vector3] | None = None
    for name, extents in (*PROPS, *TREES, *NOVEL_PROPS):
        word = _letters(name)
        longer = best is None or len(word) > len(_letters(best[0]))
        if len(word) >= _SHORTEST_WORD and word in asset and longer:
            best = (name, extents)
    return prop_body(*best) if best is not None else None


def _named_vehicle(asset: str) -> Body:
    # Newest first: "charger_2020" must win over "charger".
    for spec in sorted(VEHICLES, key=lambda row: -len(row.name)):
        model = _letters(spec.name.split(".", 1)[1])
        if len(model) >= _SHORTEST_WORD and model in asset:
            return vehicle_body(spec.name)
    return prop_body("mesh", DEFAULT_MESH_HALF_EXTENTS_M)


def _letters(text: str) -> str:
    """Lower-case letters and digits only: paths and ids spell names differently."""
    return re.sub(r"[^a-z0-9]", "", text.lower())
