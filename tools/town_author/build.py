"""Builds the towns' files from their plans."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Final

import carla

from jaywalk.town.scenery import generate_scenery, save_scenery
from town_author.harbour import harbour
from town_author.netconvert import build_network, read_network
from town_author.opendrive_writer import draw, write_opendrive
from town_author.orchard import orchard
from town_author.plan import TownPlan
from town_author.ridge import ridge

PLANS: Final[dict[str, Callable[[], TownPlan]]] = {
    "harbour": harbour,
    "orchard": orchard,
    "ridge": ridge,
}
SCENERY_SEED: Final = 2025


def build_opendrive(plan: TownPlan) -> str:
    """The OpenDRIVE text of a plan; runs netconvert."""
    return write_opendrive(draw(plan, read_network(build_network(plan))))


def write_gzip(path: Path, data: bytes) -> None:
    """Write compressed bytes that depend on nothing but ``data``."""
    path.write_bytes(gzip.compress(data, compresslevel=9, mtime=0))


def build_town(name: str, folder: Path) -> list[Path]:
    """Write the OpenDRIVE and the scenery file of one town; returns the files written."""
    plan = PLANS[name]()
    text = build_opendrive(plan)
    road_path, scenery_path = folder / f"{name}.xodr.gz", folder / f"{name}.scenery.json.gz"
    write_gzip(road_path, text.encode())
    carla_map = carla.Map(plan.name, text)
    save_scenery(scenery_path, generate_scenery(carla_map, text, SCENERY_SEED, plan.scenery_style))
    return [road_path, scenery_path]
