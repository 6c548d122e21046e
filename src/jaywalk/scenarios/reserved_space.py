"""Space that scenarios will occupy, computed without changing the world.

The two routes of a counterfactual pair must have the same background, though only one of them has
the shift. So both keep their background off the space that either of them needs: the scenarios of
both are set up in a stand-in world that spawns nothing, and report the lanes they close and the
places of their actors. Both routes set up the same scenarios in the same order, so both get the
same result. In pairs the background also keeps off all lanes beside the route.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any, Final

import carla
import numpy as np
from numpy.typing import NDArray

from jaywalk.geometry.pose import yaw_rad
from jaywalk.scenarios.base import ScenarioContext, make_scenario
from jaywalk.scenarios.formats.route_xml import ScenarioElement
from jaywalk.town.routes import DenseRoute

_MOST_LANES: Final = 6  # to either side


def lanes_beside(world_map: Any, route: DenseRoute) -> NDArray[np.float64]:
    """Return points (n, 4: x, y, z, yaw in radians) of the route and all driving lanes beside it.

    The result depends on the route alone, so both routes of a counterfactual pair close the same
    lanes, whatever their scenarios are: a difference between them can affect only the ego.
    """
    rows = [
        (*place, yaw)
        for place, yaw in zip(route.position_m.tolist(), route.yaw_rad.tolist(), strict=True)
    ]
    for place in route.position_m[~route.in_junction].tolist():
        lane = world_map.get_waypoint(carla.Location(*place))
        for to_right in (True, False):
            rows += _beside(lane, to_right)
    return np.array(rows, dtype=np.float64)


def _beside(lane: Any, to_right: bool) -> list[tuple[float, float, float, float]]:
    poses, current = [], lane
    for _ in range(_MOST_LANES):
        same_way = current.lane_id * lane.lane_id > 0  # left and right swap across the middle
        current = current.get_right_lane() if to_right == same_way else current.get_left_lane()
        if current is None:
            break
        if current.lane_type == carla.LaneType.Driving:
            pose = current.transform
            spot = pose.location
            poses.append((spot.x, spot.y, spot.z, yaw_rad(pose)))
    return poses


# More than half a lorry plus half a car: a car this far away never overlaps an object of a
# scenario, so the server refuses it in neither route or in both.
APART_M: Final = 9.0
_FURNITURE: Final = "traffic."  # lights and signs: the same in both routes
_HALF_M: Final = (1.0, 0.5, 0.5)  # half size of a stand-in, for scenarios that ask for it
_HERO: Final = {"role_name": "hero"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ReservedSpace:
    """Lanes and places reserved for scenarios. Frame: CARLA's left-handed metres."""

    paths: tuple[NDArray[np.float64], ...] = ()  # closed lanes (n, 4): x, y, z, yaw in radians
    spots_m: tuple[tuple[float, float], ...] = ()  # positions of their actors at the start

    def circles(self, radius_m: float = APART_M) -> list[tuple[float, float, float]]:
        """Circles (x, y, radius) in which no background actor may start."""
        return [(x, y, radius_m) for x, y in self.spots_m]


def find_reserved_space(
    elements: Sequence[ScenarioElement], context: ScenarioContext
) -> ReservedSpace:
    """Set up scenarios in a world in which nothing is spawned, and return the space they need.

    Raises:
        DataError: A scenario does not fit on the route.
        RegistryError: A scenario type is unknown.
    """
    spots: list[tuple[float, float]] = []
    client: Any = _Client(spots)
    world: Any = _World(context.world, client)
    dry_run = replace(context, client=client, world=world, traffic=None)
    paths: list[NDArray[np.float64]] = []
    for element in elements:
        scenario = make_scenario(element, dry_run)
        scenario.setup()
        paths += scenario.closed()
    return ReservedSpace(paths=tuple(paths), spots_m=tuple(spots))


def _stand_in(number: int, **more: Any) -> Any:
    """Return a stand-in for an actor; its methods have no effect."""
    box = carla.BoundingBox(carla.Location(), carla.Vector3D(*_HALF_M))
    return SimpleNamespace(
        id=number, bounding_box=box, set_transform=lambda pose: None, is_alive=True, **more
    )


@dataclass(slots=True)
class _Client:
    """Stand-in client that notes the poses of spawned actors; every place is free."""

    spots: list[tuple[float, float]]
    made: int = 0

    def note(self, pose: Any) -> int:
        self.spots.append((float(pose.location.x), float(pose.location.y)))
        self.made += 1
        return self.made

    def apply_batch_sync(self, commands: Sequence[Any], _tick: bool = False) -> list[Any]:
        return [
            SimpleNamespace(
                error="",
                actor_id=self.note(command.transform)
                if isinstance(command, carla.command.SpawnActor)
                else 0,
            )
            for command in commands
        ]

    def apply_batch(self, commands: Sequence[Any], _tick: bool = False) -> None:
        pass


class _Actors(list[Any]):
    """List of actors with the client's ``filter``."""

    def filter(self, pattern: str) -> _Actors:
        prefix = pattern.rstrip("*")
        return _Actors(actor for actor in self if actor.type_id.startswith(prefix))


@dataclass(slots=True)
class _World:
    """Stand-in world with the town and an ego; it cannot be changed.

    It offers only the calls that a scenario may make in ``setup``; any other call is an error.
    """

    real: Any
    client: _Client
    hero: Any = field(
        default_factory=lambda: _stand_in(0, type_id="vehicle.hero", attributes=_HERO)
    )

    def get_map(self) -> Any:
        return self.real.get_map()

    def get_blueprint_library(self) -> Any:
        return self.real.get_blueprint_library()

    def get_traffic_lights_in_junction(self, number: int) -> Any:
        return self.real.get_traffic_lights_in_junction(number)

    def get_level_bbs(self, label: Any) -> Any:
        return self.real.get_level_bbs(label)

    def get_actors(self) -> _Actors:
        town = [actor for actor in self.real.get_actors() if actor.type_id.startswith(_FURNITURE)]
        return _Actors([*town, self.hero])

    def try_spawn_actor(self, model: Any, pose: Any, *_: Any, **__: Any) -> Any:
        return _stand_in(self.client.note(pose), type_id=str(model.id), attributes={})

    spawn_actor = try_spawn_actor
