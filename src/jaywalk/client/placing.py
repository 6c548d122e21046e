"""Blueprints by pattern, poses relative to a route, and actors spawned there."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Final

import carla
import numpy as np

from jaywalk.core.errors import DataError
from jaywalk.town.routes import DenseRoute


def pick_model(
    library: carla.BlueprintLibrary, pattern: str, random: np.random.Generator, where: str
) -> str:
    """Return a blueprint id; a pattern with ``*`` draws among its matches in order of their ids.

    An empty pattern draws among all vehicles except bicycles and emergency vehicles.

    Raises:
        DataError: No blueprint matches.
    """
    models = library.filter(pattern) if pattern else _civil_vehicles(library)
    names = sorted(str(model.id) for model in models)
    if not names:
        raise DataError(f"{where}: the server has no blueprint '{pattern}'.")
    return names[int(random.integers(len(names)))] if len(names) > 1 else names[0]


def ordinary_cars(library: carla.BlueprintLibrary) -> list[Any]:
    """Return cars without a special purpose, in order of their ids."""
    cars = [model for model in library.filter("vehicle.*") if _kind(model) == ("car", "")]
    return sorted(cars, key=lambda model: str(model.id))


def _civil_vehicles(library: carla.BlueprintLibrary) -> list[Any]:
    kinds = [(model, *_kind(model)) for model in library.filter("vehicle.*")]
    return [model for model, base, special in kinds if base != "bicycle" and special != "emergency"]


def _kind(model: Any) -> tuple[str, str]:
    """Return the base type and the special type of a blueprint; empty where it has none."""
    base, special = (
        str(model.get_attribute(name).as_str()) if model.has_attribute(name) else ""
        for name in ("base_type", "special_type")
    )
    return base, special


DROP_M: Final = 0.3  # actors are spawned this much above the road


def place_on_route(
    route: DenseRoute,
    along_m: float,
    right_m: float = 0.0,
    up_m: float = DROP_M,
    turn_deg: float = 0.0,
) -> Any:
    """Return the transform at ``along_m`` on the route, moved right and turned clockwise."""
    at = min(max(along_m, 0.0), route.path.length_m)
    x, y, z = route.path.point_at(at)
    yaw_deg = float(route.rotation_deg[route.path.vertex_at(at), 1])
    yaw = np.deg2rad(yaw_deg)
    return carla.Transform(
        carla.Location(
            x - right_m * float(np.sin(yaw)), y + right_m * float(np.cos(yaw)), z + up_m
        ),
        carla.Rotation(yaw=yaw_deg + turn_deg),
    )


def spawn_all(
    client: carla.Client,
    world: carla.World,
    actors: list[tuple[str, Any]],
    where: str,
    *,
    role: str = "scenario",
) -> list[int]:
    """Spawn (blueprint id, transform) pairs and return their ids; any failure is an error."""
    library = world.get_blueprint_library()
    commands = []
    for name, pose in actors:
        try:
            model = library.find(name)
        except IndexError as error:
            raise no_blueprint(library, name, where) from error
        if model.has_attribute("role_name"):
            model.set_attribute("role_name", role)
        commands.append(carla.command.SpawnActor(model, pose))
    answers = client.apply_batch_sync(commands)
    ids = [answer.actor_id for answer in answers if not answer.error]
    for answer, (name, pose) in zip(answers, actors, strict=True):
        if answer.error:
            client.apply_batch_sync([carla.command.DestroyActor(actor) for actor in ids])
            place = pose.location
            raise DataError(
                f"{where}: {name} does not fit at ({place.x:.1f}, {place.y:.1f}): {answer.error}"
            )
    return ids


def no_blueprint(library: carla.BlueprintLibrary, name: str, where: str) -> DataError:
    """Return the error for a blueprint that the server does not have, with similar names."""
    known = [str(model.id) for model in library]
    alike = get_close_matches(name, known, n=3, cutoff=0.75)
    hint = f" Did you mean {' or '.join(alike)}?" if alike else ""
    return DataError(
        f"{where}: the server has no blueprint '{name}'.{hint} 'jaywalk list blueprints' names all."
    )


def spawn_first_that_fits(
    world: carla.World, model: str, poses: list[carla.Transform], where: str
) -> Any:
    """Spawn an actor at the first free pose; none free is an error."""
    return spawn_and_place(world, model, poses, where)[0]


def spawn_and_place(
    world: carla.World, model: str, poses: list[carla.Transform], where: str
) -> tuple[Any, Any]:
    """Spawn like :func:`spawn_first_that_fits`, and return the actor with its pose.

    Clients learn the pose of a new actor only at the next tick.
    """
    library = world.get_blueprint_library()
    try:
        blueprint = library.find(model)
    except IndexError as error:
        raise no_blueprint(library, model, where) from error
    if blueprint.has_attribute("role_name"):
        blueprint.set_attribute("role_name", "scenario")
    for pose in poses:
        actor = world.try_spawn_actor(blueprint, pose)
        if actor is not None:
            return actor, pose
    place = poses[0].location
    raise DataError(f"{where}: {model} does not fit at ({place.x:.1f}, {place.y:.1f}).")


def check_side(side: str, where: str) -> float:
    """Return 1 for ``right`` and -1 for ``left``."""
    if side not in ("right", "left"):
        raise DataError(f"{where}: direction is '{side}'; expected right or left.")
    return 1.0 if side == "right" else -1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Roadside:
    """Distances from a lane's centre to one side, all positive; ``sidewalk_m`` is 0 for none."""

    kerb_m: float  # to the end of the last lane that is not a sidewalk
    last_lane_m: float  # width of that lane
    sidewalk_m: float  # width of the sidewalk behind it

    def middle_m(self, otherwise_m: float) -> float:
        """Return the distance to the middle of the sidewalk.

        Without a sidewalk, return the distance ``otherwise_m`` beyond the middle of the last lane.
        """
        if self.sidewalk_m:
            return self.kerb_m + 0.5 * self.sidewalk_m
        return self.kerb_m - 0.5 * self.last_lane_m + otherwise_m


def roadside(world_map: carla.Map, pose: carla.Transform, to_right: bool) -> Roadside:
    """Measure the roadside to the right or left of the lane at a pose."""
    waypoint = world_map.get_waypoint(pose.location)
    kerb_m, last_m = 0.5 * float(waypoint.lane_width), float(waypoint.lane_width)
    current = waypoint
    for _ in range(12):
        same_way = current.lane_id * waypoint.lane_id > 0  # left and right swap across the middle
        current = current.get_right_lane() if to_right == same_way else current.get_left_lane()
        if current is None:
            break
        width_m = float(current.lane_width)
        if current.lane_type == carla.LaneType.Sidewalk:
            return Roadside(kerb_m=kerb_m, last_lane_m=last_m, sidewalk_m=width_m)
        kerb_m, last_m = kerb_m + width_m, width_m
    return Roadside(kerb_m=kerb_m, last_lane_m=last_m, sidewalk_m=0.0)


def kerb_offset_m(
    world_map: carla.Map, pose: carla.Transform, to_right: bool, beyond_m: float
) -> float:
    """Return the lateral offset of the road's edge plus ``beyond_m``; right is positive."""
    offset_m = roadside(world_map, pose, to_right).kerb_m + beyond_m
    return offset_m if to_right else -offset_m
