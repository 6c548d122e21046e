"""Everything about a town that people on foot need; built once a town, shared by all episodes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from jaywalk.scenarios.crowd_crossings import Crossings, find_crossings
from jaywalk.scenarios.crowd_places import Places, find_places
from jaywalk.scenarios.crowd_solids import Solids, read_solids
from jaywalk.scenarios.lane_network import LaneNetwork
from jaywalk.scenarios.traffic import network_of
from jaywalk.town.ground import Ground
from jaywalk.town.town import Town, town_from_opendrive
from jaywalk.town.walk_search import name_blocks
from jaywalk.town.walkways import WalkGrid, build_walk_grid


@dataclass(frozen=True, slots=True, kw_only=True)
class WalkNetwork:
    """Where people walk, stand and cross. Frame: CARLA's left-handed metres."""

    grid: WalkGrid
    ground: Ground
    places: Places
    crossings: Crossings
    solids: Solids


def walk_network_of(
    world: Any, town: Town | None = None, lanes: LaneNetwork | None = None
) -> WalkNetwork:
    """The walk network of a server's world; takes seconds, so keep it per town.

    Args:
        world: A ``carla.World``.
        town: The town when it is known already; else it is made of the server's map.
        lanes: The traffic's lanes when they are known already.
    """
    if town is None:
        town = town_from_opendrive(world.get_map().to_opendrive())
    solids = read_solids(world, town.ground)
    grid = build_walk_grid(town.strips, town.crosswalks, solids.all, town.ground)
    blocks = name_blocks(grid)
    crossings = find_crossings(
        grid, blocks, town.strips, town.crosswalks, lanes or network_of(world, town)
    )
    places = find_places(grid, blocks, town.ground, town.strips, crossings, solids)
    return WalkNetwork(
        grid=grid, ground=town.ground, places=places, crossings=crossings, solids=solids
    )
