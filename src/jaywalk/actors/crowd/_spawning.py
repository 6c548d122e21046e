"""Traits and starting places of a crowd, drawn from each person's own stream, and spawning.

If a place is taken, blocked or refused by the server, the person's next choice is tried. If the
choices run out, spawning fails with an error; the crowd never has fewer people than requested.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import carla
import numpy as np
from numpy.typing import NDArray

from jaywalk.actors._surroundings import flat_box
from jaywalk.actors.crowd.places import (
    PlaceKind,
    Places,
    WalkNetwork,
    mark_parked,
    near_route,
    on_right,
)
from jaywalk.actors.crowd.state import (
    ATTEMPTING,
    NOT_CROSSING,
    WILL_CROSS,
    CrowdMember,
    CrowdSettings,
)
from jaywalk.core.arrays import FloatArray
from jaywalk.core.errors import DataError
from jaywalk.core.seeds import stream
from jaywalk.town.routes import DenseRoute

_CHOICES: Final = 60  # number of places to try for one person
_APART_M: Final = 1.2
_STANDING_MPS: Final = 0.1
_DROP_M: Final = 1.2  # middle of a body above the map's ground; kerbs may be higher
_ENOUGH: Final = 200  # with this many sidewalk places, verges are not used
# Weight of each kind of starting place; kinds that a street lacks leave more to the others.
_SHARES: Final = {
    PlaceKind.SIDEWALK: 0.42,
    PlaceKind.CROSSWALK: 0.18,
    PlaceKind.BUS_STOP: 0.1,
    PlaceKind.SHOP_FRONT: 0.2,
    PlaceKind.PARKED_GAP: 0.1,
    PlaceKind.VERGE: 0.42,
}
ROLE_NAME: Final = "ambient"


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A person before spawning."""

    number: int
    intended: str
    child: bool
    model: float  # 0..1, selects the blueprint
    pace: float  # 0..1, walking speed within the age group
    margin_s: float
    patience_s: float
    obeys: int
    keep_m: float
    eager: float
    rest_s: float
    draws: FloatArray  # (_CHOICES, 2) kind and place, 0..1
    place: int = -1
    x_m: float = 0.0
    y_m: float = 0.0
    z_m: float = 0.0
    yaw_rad: float = 0.0
    speed_mps: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Spawned:
    """A person after spawning."""

    person: CrowdMember
    candidate: Candidate


def draw_person(seed: int, number: int, settings: CrowdSettings) -> Candidate:
    """Draw person ``number``; the result does not depend on the other people."""
    random = stream(seed, "crowd", "person", number)
    kind, child, model, pace, obeys, rest = random.random(6)
    crosses = settings.not_crossing + settings.attempting
    intended = NOT_CROSSING if kind < settings.not_crossing else ATTEMPTING
    return Candidate(
        number=number,
        intended=intended if kind < crosses else WILL_CROSS,
        child=bool(child < settings.children),
        model=float(model),
        pace=float(pace),
        margin_s=float(random.uniform(0.8, 3.0)),
        patience_s=float(random.uniform(14.0, 45.0)),
        obeys=int(obeys < settings.obeying),
        keep_m=float(random.uniform(0.5, 1.7)),
        eager=float(random.uniform(0.4, 0.9)),
        rest_s=float(max(rest - 0.6, 0.0) * 20.0),
        draws=random.random((_CHOICES, 2)),
    )


def spawn_people(
    client: carla.Client,
    world: carla.World,
    network: WalkNetwork,
    crowd: list[Candidate],
    route: DenseRoute | None,
    keep_clear_m: Sequence[tuple[float, float, float]],
    settings: CrowdSettings,
) -> list[Spawned]:
    """Spawn all people or, on failure, none."""
    places = mark_parked(network.places, network.grid, standing_boxes(world, network.solids.parked))
    groups = _groups(places, route, settings, keep_clear_m)
    models = walker_models(world)
    waiting, next_choice = list(crowd), [0] * len(crowd)
    done: dict[int, tuple[Candidate, int, Any]] = {}
    while waiting:
        taken = [(candidate.x_m, candidate.y_m) for candidate, _, _ in done.values()]
        placed = [_place(candidate, next_choice, groups, places, taken) for candidate in waiting]
        if any(candidate is None for candidate in placed):
            client.apply_batch_sync(
                [carla.command.DestroyActor(actor) for _, actor, _ in done.values()]
            )
            raise DataError(_too_few(len(crowd), len(done), groups, route))
        chosen = [candidate for candidate in placed if candidate is not None]
        picked = [_model(models, candidate) for candidate in chosen]
        answers = client.apply_batch_sync(
            [_command(candidate, model) for candidate, model in zip(chosen, picked, strict=True)]
        )
        for candidate, model, answer in zip(chosen, picked, answers, strict=True):
            if not answer.error:
                done[candidate.number] = (candidate, int(answer.actor_id), model)
        waiting = [candidate for candidate in crowd if candidate.number not in done]
    ordered = [done[candidate.number] for candidate in crowd]
    return [_spawned(candidate, actor, model, places, route) for candidate, actor, model in ordered]


def standing_boxes(world: carla.World, scenery: FloatArray) -> FloatArray:
    """Return boxes (n, 6) of standing vehicles, both scenery and actors."""
    rows = [scenery]
    for vehicle in sorted(world.get_actors().filter("vehicle.*"), key=lambda actor: actor.id):
        speed = vehicle.get_velocity()
        if np.hypot(speed.x, speed.y) < _STANDING_MPS:
            rows.append(np.array([flat_box(vehicle)]))
    return np.concatenate(rows)


def _too_few(
    count: int, done: int, groups: dict[PlaceKind, NDArray[np.int64]], route: DenseRoute | None
) -> str:
    places = sum(len(group) for group in groups.values())
    where = "along the route" if route is not None else "in the town"
    return (
        f"Only {done} of {count} people found a free place {where} ({places} places known). "
        "Ask for fewer people or widen the band."
    )


def _groups(
    places: Places,
    route: DenseRoute | None,
    settings: CrowdSettings,
    keep_clear_m: Sequence[tuple[float, float, float]],
) -> dict[PlaceKind, NDArray[np.int64]]:
    """Return usable places by kind; verges only where sidewalks are scarce."""
    usable = places.block >= 0
    if route is not None:
        usable &= near_route(np.column_stack([places.x, places.y]), route, settings.band_m)
        if settings.side != "both":
            usable &= on_right(places.x, places.y, route) == (settings.side == "right")
    for x, y, radius in keep_clear_m:
        usable &= np.hypot(places.x - x, places.y - y) >= radius
    groups = {kind: np.flatnonzero(usable & (places.kind == int(kind))) for kind in PlaceKind}
    walked = sum(len(group) for kind, group in groups.items() if kind is not PlaceKind.VERGE)
    if walked >= _ENOUGH:
        groups[PlaceKind.VERGE] = np.zeros(0, np.int64)
    return {kind: group for kind, group in groups.items() if len(group)}


def _place(
    candidate: Candidate,
    next_choice: list[int],
    groups: dict[PlaceKind, NDArray[np.int64]],
    places: Places,
    taken: list[tuple[float, float]],
) -> Candidate | None:
    """Take the next free place among a person's choices; None if all are taken."""
    kinds = list(groups)
    shares = np.cumsum([_SHARES[kind] for kind in kinds])
    while kinds and next_choice[candidate.number] < _CHOICES:
        kind_draw, draw = candidate.draws[next_choice[candidate.number]]
        next_choice[candidate.number] += 1
        kind = kinds[int(np.searchsorted(shares, kind_draw * shares[-1], side="right"))]
        place = int(groups[kind][int(draw * len(groups[kind]))])
        x, y = float(places.x[place]), float(places.y[place])
        if any(np.hypot(x - other[0], y - other[1]) < _APART_M for other in taken):
            continue
        taken.append((x, y))
        z, yaw = float(places.z[place]), float(places.yaw[place])
        return replace(candidate, place=place, x_m=x, y_m=y, z_m=z, yaw_rad=yaw)
    return None


def walker_models(world: carla.World) -> dict[str, list[Any]]:
    """Return blueprints of children and of all others, sorted by id."""
    models = sorted(
        world.get_blueprint_library().filter("walker.pedestrian.*"), key=lambda m: str(m.id)
    )
    if not models:
        raise DataError("The server has no walker.pedestrian.* blueprints: nobody can walk there.")
    children = [model for model in models if attribute_of(model, "age") == "child"]
    adults = [model for model in models if attribute_of(model, "age") != "child"]
    return {"child": children or models, "adult": adults or models}


def attribute_of(model: Any, name: str) -> str:
    """Return an attribute of a blueprint as text; empty if it has none."""
    return str(model.get_attribute(name).as_str()) if model.has_attribute(name) else ""


def _model(models: dict[str, list[Any]], candidate: Candidate) -> Any:
    group = models["child" if candidate.child else "adult"]
    return group[int(candidate.model * len(group))]


def _command(candidate: Candidate, model: Any) -> Any:
    for name, value in (("role_name", ROLE_NAME), ("is_invincible", "false")):
        if model.has_attribute(name):
            model.set_attribute(name, value)
    pose = carla.Transform(
        carla.Location(candidate.x_m, candidate.y_m, candidate.z_m + _DROP_M),
        carla.Rotation(yaw=float(np.rad2deg(candidate.yaw_rad))),
    )
    return carla.command.SpawnActor(model, pose)


def free_speed_mps(age: str, pace: float) -> float:
    """Free walking speed in m/s, with the observed spread: slow elderly, uneven children."""
    low, high = {"child": (0.8, 1.9), "elderly": (0.6, 1.15)}.get(age, (0.95, 1.75))
    return low + (high - low) * pace


def _spawned(
    candidate: Candidate, actor_id: int, model: Any, places: Places, route: DenseRoute | None
) -> Spawned:
    age = attribute_of(model, "age")
    candidate = replace(candidate, speed_mps=free_speed_mps(age, candidate.pace))
    person = CrowdMember(
        number=candidate.number,
        actor_id=actor_id,
        blueprint=str(model.id),
        age=age,
        gender=attribute_of(model, "gender"),
        intended=candidate.intended,
        side=_side(candidate, route),
        place=PlaceKind(int(places.kind[candidate.place])).name.lower(),
        speed_mps=candidate.speed_mps,
    )
    return Spawned(person=person, candidate=candidate)


def _side(candidate: Candidate, route: DenseRoute | None) -> str:
    if route is None:
        return ""
    right = on_right(np.array([candidate.x_m]), np.array([candidate.y_m]), route)
    return "right" if right[0] else "left"
