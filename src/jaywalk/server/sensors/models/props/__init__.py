"""Static props as sensors see them. A model fills the box of its actor exactly."""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from jaywalk.server.sensors._mesh import LEVELS, Look, Model
from jaywalk.server.sensors.models.props import _garden as garden
from jaywalk.server.sensors.models.props import _goods as goods
from jaywalk.server.sensors.models.props import _road as road
from jaywalk.server.sensors.models.scenery import _furniture as street
from jaywalk.server.sensors.models.scenery._furniture import Half, Maker
from jaywalk.server.sensors.models.shown import ActorLook, Body
from jaywalk.server.sensors.models.vehicles._surfaces import Surfaces, fitted

__all__ = ["prop_look"]

_PREFIX: Final = "static.prop."
_ENDING: Final = re.compile(r"_?\d+$|lb$")  # of one of several kinds
_PAINT_SLOT: Final = 0
_MAKERS: Final[dict[str, Maker]] = {
    "advertisement": goods.advertisement,
    "atm": goods.machine,
    "barbeque": garden.barbecue,
    "barrel": goods.barrel,
    "bench": street.bench,
    "bin": goods.wheelie_bin,
    "box": goods.carton,
    "briefcase": goods.case,
    "busstop": street.shelter,
    "chainbarrier": road.chain_barrier,
    "chainbarrierend": road.chain_barrier,
    "clothcontainer": goods.clothes_container,
    "constructioncone": road.cone,
    "container": goods.skip_container,
    "creasedbox": goods.carton,
    "dirtdebris": road.debris,
    "doghouse": garden.hut,
    "foodcart": goods.stall,
    "fountain": garden.fountain,
    "glasscontainer": goods.clothes_container,
    "gnome": garden.gnome,
    "guitarcase": goods.case,
    "haybale": goods.hay,
    "kiosk": street.kiosk,
    "mailbox": street.mailbox,
    "plantpot": garden.pot,
    "plasticbag": goods.bag,
    "plasticchair": garden.chair,
    "plastictable": garden.table,
    "pram": goods.pram,
    "shoppingbag": goods.bag,
    "shoppingcart": goods.trolley,
    "shoppingtrolley": goods.case,
    "slide": garden.slide,
    "streetbarrier": road.barrier,
    "streetsign": road.street_sign,
    "swing": garden.swing,
    "swingcouch": garden.swing_couch,
    "table": garden.table,
    "trafficcone": road.cone,
    "trafficwarning": road.warning_trailer,
    "trampoline": garden.trampoline,
    "trashbag": goods.bag,
    "trashcan": goods.wheelie_bin,
    "travelcase": goods.case,
    "vendingmachine": goods.vending,
    "warningaccident": road.accident_sign,
    "warningconstruction": road.work_sign,
}


def prop_look(body: Body) -> ActorLook | None:
    """Return the look of a prop; None: it is drawn as a solid."""
    name = _ENDING.sub("", body.type_id.removeprefix(_PREFIX))
    if not body.type_id.startswith(_PREFIX) or name not in _MAKERS:
        return None
    return ActorLook(Look(_model(name, body.half_m, body.centre_m)))


@cache
def _model(name: str, half_m: Half, centre_m: Half) -> Model:
    x, y, z = half_m
    # A bus stop lies along y in some catalogues: its model is turned.
    turned = name == "busstop" and y > x
    size = (y, x, z) if turned else half_m
    levels = []
    for level in range(LEVELS):
        out = Surfaces()
        _MAKERS[name](out, size, level)
        mesh = out.mesh()
        if turned:
            mesh = mesh._replace(
                points_m=mesh.points_m[:, [1, 0, 2]] * (-1.0, 1.0, 1.0),
                normals=mesh.normals[..., [1, 0, 2]] * (-1.0, 1.0, 1.0),
            )
        low = (centre_m[0] - x, centre_m[1] - y, centre_m[2] - z)
        high = (centre_m[0] + x, centre_m[1] + y, centre_m[2] + z)
        levels.append(fitted(mesh, low, high))
    return Model(tuple(levels))
