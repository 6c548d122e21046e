"""Builds the towns' files from their plans."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Final

from jaywalk.town.author.harbour import harbour
from jaywalk.town.author.netconvert import build_network
from jaywalk.town.author.opendrive_writer import draw, write_opendrive
from jaywalk.town.author.orchard import orchard
from jaywalk.town.author.plan import TownPlan
from jaywalk.town.author.ridge import ridge
from jaywalk.town.author.sumo_network import read_network

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
    """Write the OpenDRIVE file of one town; returns the files written."""
    text = build_opendrive(PLANS[name]())
    path = folder / f"{name}.xodr.gz"
    write_gzip(path, text.encode())
    return [path]
