"""Spawning of posed people: each person gets a spot, or an error is raised."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import carla
import numpy as np
from numpy.typing import NDArray

from jaywalk.actors.crowd._spawning import attribute_of, standing_boxes, walker_models
from jaywalk.actors.crowd.places import PlaceKind, WalkNetwork, mark_parked
from jaywalk.actors.crowd.state import NOT_CROSSING
from jaywalk.actors.posed._roles import PersonRole, choices
from jaywalk.actors.posed._spots import Spots, crossing_spots, staying_spots
from jaywalk.actors.posed.repertoire import HabitManner
from jaywalk.core.errors import DataError
from jaywalk.core.walker_attributes import CARRIES
from jaywalk.town.routes import DenseRoute

ROLE_NAME: Final = "habit"
_APART_M: Final = (1.2, 0.75)  # between two people; the second value where there is no other room
_DROP_M: Final = 1.2


@dataclass(frozen=True, slots=True, kw_only=True)
class Outfit:
    """Visible traits of a person.

    Attributes:
        senior: Whether an old person.
        carries: What they hold, push or wear, as the attribute ``carries``.
    """

    senior: bool
    carries: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedPerson:
    """A person with a spot; ``b_m`` is the far end of their crossing, None if they do not cross."""

    role: PersonRole
    a_m: tuple[float, float]
    b_m: tuple[float, float] | None
    z_m: float
    yaw_rad: float
    place: str
    side: str
    along_m: float
    blueprint: str = ""
    age: str = ""
    gender: str = ""
    actor_id: int = 0


def spawn_posed(
    client: carla.Client,
    world: carla.World,
    network: WalkNetwork,
    roles: Sequence[PersonRole],
    route: DenseRoute,
    manner: HabitManner,
    seed: int,
    keep_clear_m: Sequence[tuple[float, float, float]] = (),
    outfits: Sequence[Outfit] = (),
) -> list[tuple[PlacedPerson, Any]]:
    """Spawn all people; return each with their actor, in the order of the roles.

    Args:
        client: A ``carla.Client``.
        world: A ``carla.World``.
        network: Where people walk.
        roles: Who they are.
        route: Route of the ego.
        manner: Composition of the people.
        seed: Seed of the episode.
        keep_clear_m: Circles without people.
        outfits: Visible traits by the number of a role; none: any blueprint of the age group.

    Raises:
        DataError: A person found no spot; all people spawned so far are removed.
    """
    parked = standing_boxes(world, network.solids.parked)
    length_m = float(route.along_m[-1])
    crossing = _clear(crossing_spots(network, route, parked), keep_clear_m)
    staying = _clear(
        staying_spots(mark_parked(network.places, network.grid, parked), route, manner.band_m),
        keep_clear_m,
    )
    models = walker_models(world)
    taken: list[tuple[float, float]] = [
        (place.x, place.y) for place in map(_place_of, world.get_actors().filter("walker.*"))
    ]
    done: list[tuple[PlacedPerson, Any]] = []
    for role in roles:
        spots = staying if role.intended == NOT_CROSSING else crossing
        order = choices(role, spots, seed, manner, length_m)
        outfit = outfits[role.number] if outfits else None
        spawned = _spawn_one(world, role, spots, order, models, taken, outfit)
        if spawned is None:
            client.apply_batch_sync([carla.command.DestroyActor(actor) for _, actor in done])
            raise DataError(_too_few(role, len(done), len(roles), len(order), manner))
        taken.append(spawned[0].a_m)
        done.append(spawned)
    return done


def _place_of(actor: carla.Actor) -> Any:
    return actor.get_transform().location


def _clear(spots: Spots, keep_clear_m: Sequence[tuple[float, float, float]]) -> Spots:
    keep = np.ones(len(spots.a), np.bool_)
    for x, y, radius in keep_clear_m:
        keep &= np.hypot(spots.a[:, 0] - x, spots.a[:, 1] - y) >= radius
    return spots.where(keep)


def _spawn_one(
    world: carla.World,
    role: PersonRole,
    spots: Spots,
    order: NDArray[np.int64],
    models: dict[str, list[Any]],
    taken: list[tuple[float, float]],
    outfit: Outfit | None,
) -> tuple[PlacedPerson, Any] | None:
    group = models["child" if role.child else "adult"]
    if outfit is not None and not role.child:
        aged = [m for m in group if (attribute_of(m, "age") == "elderly") == outfit.senior]
        group = aged or group
    model = group[int(role.model * len(group))]
    carries = "" if outfit is None else outfit.carries
    for name, value in (("role_name", ROLE_NAME), ("is_invincible", "false"), (CARRIES, carries)):
        if model.has_attribute(name):
            model.set_attribute(name, value)
    for k, apart_m in ((k, apart_m) for apart_m in _APART_M for k in order.tolist()):
        x, y = float(spots.a[k, 0]), float(spots.a[k, 1])
        if any(math.hypot(x - u, y - v) < apart_m for u, v in taken):
            continue
        z, yaw = float(spots.z_m[k]), float(spots.yaw_rad[k]) + role.facing_rad
        pose = carla.Transform(
            carla.Location(x, y, z + _DROP_M), carla.Rotation(yaw=float(np.rad2deg(yaw)))
        )
        actor = world.try_spawn_actor(model, pose)
        if actor is None:
            continue
        crosses = role.intended != NOT_CROSSING
        placed = PlacedPerson(
            role=role,
            a_m=(x, y),
            b_m=(float(spots.b[k, 0]), float(spots.b[k, 1])) if crosses else None,
            z_m=z,
            yaw_rad=yaw,
            place=PlaceKind(int(spots.kind[k])).name.lower(),
            side="right" if spots.right[k] else "left",
            along_m=float(spots.along_m[k]),
            blueprint=str(model.id),
            age=attribute_of(model, "age"),
            gender=attribute_of(model, "gender"),
            actor_id=int(actor.id),
        )
        return placed, actor
    return None


def _too_few(role: PersonRole, done: int, count: int, spots: int, manner: HabitManner) -> str:
    side = "" if manner.side == "both" else f" on the {manner.side}"
    return (
        f"Only {done} of {count} people found a place along the route: there is none{side} for "
        f"person {role.number} ({role.intended}; {spots} places tried). Choose a longer route or "
        "one with sidewalks and crossings."
    )
