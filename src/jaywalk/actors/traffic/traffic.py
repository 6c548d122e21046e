"""Background traffic on the client side: seeded, stepped on the tick, equal on every server.

Call :meth:`Traffic.step` once before each ``world.tick()``. It reads the last snapshot, decides for
all vehicles at once and sends one batch of controls.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import carla
import numpy as np
from numpy.typing import NDArray

from jaywalk.actors._surroundings import Surroundings
from jaywalk.actors.lane_network import LaneNetwork, build_network
from jaywalk.actors.traffic._junctions import arbitrate, outside_holds
from jaywalk.actors.traffic._kernels import (
    drive,
    locate,
    look_ahead,
    mark_crosswalks,
)
from jaywalk.actors.traffic._placing import (
    Circle,
    PlacementRules,
    SpawnPlace,
    closed_segments,
    free_places,
    segment_at,
)
from jaywalk.actors.traffic.paths import (
    YELLOW,
    DriverSettings,
    Fleet,
    Journey,
    Others,
    make_fleet,
    write_path,
)
from jaywalk.client.placing import ordinary_cars
from jaywalk.core.arrays import FloatArray
from jaywalk.core.seeds import stream
from jaywalk.town.town import Town, town_from_opendrive

_CALM: Final = DriverSettings()
_CURB_S: Final = 1.2  # a person this close in time to a crosswalk counts as on it


def network_of(world: carla.World, town: Town | None = None) -> LaneNetwork:
    """Build the lanes, lights and signs of a server's world; takes seconds, so keep it per town."""
    if town is None:
        town = town_from_opendrive(world.get_map().to_opendrive())
    return build_network(town, _lights(world), _signs(world))


def _lights(world: carla.World) -> list[Any]:
    return sorted(world.get_actors().filter("traffic.traffic_light"), key=lambda light: light.id)


def _signs(world: carla.World) -> list[Any]:
    actors = world.get_actors()
    signs = [*actors.filter("traffic.stop"), *actors.filter("traffic.yield")]
    return sorted(signs, key=lambda sign: sign.id)


@dataclass(slots=True)
class Traffic:
    """A fleet of background vehicles.

    Example:
        >>> traffic = Traffic(client, world, seed=1)  # doctest: +SKIP
        >>> traffic.spawn(30)  # doctest: +SKIP
        >>> while driving:  # doctest: +SKIP
        ...     traffic.step()
        ...     world.tick()
    """

    client: carla.Client
    world: carla.World
    seed: int
    delta_s: float = 0.05
    settings: DriverSettings = _CALM
    network: LaneNetwork | None = None
    ids: list[int] = field(default_factory=list, init=False)
    _journeys: list[Journey] = field(default_factory=list, init=False)
    _fleet: Fleet = field(default_factory=lambda: make_fleet(0), init=False)
    _lights: list[carla.TrafficLight] = field(default_factory=list, init=False)
    _outside: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, np.bool_), init=False)
    _inside: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64), init=False)
    _yellow_s: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0), init=False)
    _yellow_time_s: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0), init=False)
    _around: Surroundings | None = field(default=None, init=False)
    _tick: int = field(default=0, init=False)
    _closed: frozenset[int] = field(default=frozenset(), init=False)
    _seen: Others | None = field(default=None, init=False)

    def spawn(
        self,
        count: int,
        keep_clear_m: Sequence[Circle] = (),
        near_m: FloatArray | None = None,
        reach_m: float = 120.0,
        *,
        only_near: bool = False,
    ) -> list[int]:
        """Spawn up to ``count`` cars on the map's spawn points; return their ids.

        Args:
            count: Wanted number of cars; fewer if the points run out.
            keep_clear_m: Circles (x, y, radius) without cars, for instance around the ego.
            near_m: Points (n, 2), for instance a route; places within ``reach_m`` come first.
            reach_m: Largest distance that counts as near.
            only_near: Spawn fewer cars if there are no more near places.

        The world is ticked once, so that the server knows the positions of all cars.
        """
        network = self._lanes()
        wishes = PlacementRules(
            clear=tuple(keep_clear_m), near_m=near_m, reach_m=reach_m, only_near=only_near
        )
        poses = self.world.get_map().get_spawn_points()
        random = stream(self.seed, "traffic", "spawn")
        places = free_places(poses, random, wishes, network, self._closed)
        models = ordinary_cars(self.world.get_blueprint_library())
        chosen: list[tuple[int, SpawnPlace]] = []
        while batch := list(itertools.islice(places, count - len(chosen))):
            commands: list[Any] = []
            for place in batch:
                draw = stream(self.seed, "traffic", "model", place.number)
                model = models[int(draw.integers(len(models)))]
                model.set_attribute("role_name", "background")
                commands.append(carla.command.SpawnActor(model, place.pose))
            answers = self.client.apply_batch_sync(commands)
            chosen += [
                (answer.actor_id, place)
                for answer, place in zip(answers, batch, strict=True)
                if not answer.error
            ]
        self.ids = [actor for actor, _ in chosen]
        self.world.tick()
        self._settle(network, [place.number for _, place in chosen])
        return list(self.ids)

    def adopt(self, ids: Sequence[int]) -> None:
        """Drive vehicles that already exist, from their present position and speed.

        Args:
            ids: Their actor ids; the position in this list names a vehicle's random stream.
        """
        self.ids = list(ids)
        self._settle(self._lanes(), list(range(len(self.ids))))
        if self._around is not None:
            self._observe(self._around, self._fleet)
        self._fleet.last_speed[:] = self._fleet.speed

    def close(self, ways: Iterable[FloatArray], pace_of: FloatArray | None = None) -> None:
        """Keep the cars off some lanes; call before ``spawn``.

        Args:
            ways: Points (n, 4) along lanes: x, y, z, yaw in radians.
            pace_of: Such points too; lanes much faster than these are closed as well.
        """
        self._closed = closed_segments(self._lanes(), ways, pace_of)

    @property
    def seen(self) -> Others | None:
        """All solid objects on the road at the last step; None before the first step."""
        return self._seen

    def _lanes(self) -> LaneNetwork:
        if self.network is None:
            self.network = network_of(self.world)
        return self.network

    def _settle(self, network: LaneNetwork, numbers: list[int]) -> None:
        """Read the sizes of the cars and put each on its lane."""
        self._lights = _lights(self.world)
        self._yellow_s = np.zeros(len(self._lights))
        self._yellow_time_s = np.array([light.get_yellow_time() for light in self._lights])
        self._fleet = make_fleet(len(self.ids))
        self._outside = np.zeros(len(network), np.bool_)
        self._inside = np.flatnonzero(network.in_junction).astype(np.int64)
        self._around = Surroundings(self.world, self.ids)
        self._journeys = []
        low, high = self.settings.speed_factor
        for row, actor in enumerate(self._around.actors(self.ids)):
            random = stream(self.seed, "traffic", "vehicle", numbers[row])
            box = actor.bounding_box
            self._fleet.half_length[row] = box.extent.x
            self._fleet.half_width[row] = box.extent.y
            self._fleet.centre[row] = box.location.x
            self._fleet.factor[row] = random.uniform(low, high)
            pose = actor.get_transform()
            journey = Journey(random, [segment_at(network, pose)])
            self._journeys.append(journey)
            self._renew(row, journey)
            line = self._fleet.path[row, : self._fleet.path_count[row]]
            gaps = np.hypot(line[:, 0] - pose.location.x, line[:, 1] - pose.location.y)
            self._fleet.at[row] = int(np.argmin(gaps[: max(2, len(gaps) // 2)]))

    def _renew(self, row: int, journey: Journey) -> None:
        network = self._lanes()
        journey.extend(network, self._closed)
        write_path(self._fleet, row, journey, network, self.settings.lateral_acceleration_mps2)

    def step(self) -> None:
        """Decide for this tick and send the controls; call before ``world.tick()``."""
        if not self.ids or self._around is None:
            return
        fleet, network, how = self._fleet, self._lanes(), self.settings
        others = self._observe(self._around, fleet)
        locate(fleet)
        for row, journey in enumerate(self._journeys):
            if fleet.along[row] - fleet.half_length[row] - 1.0 > journey.cuts[1]:
                self._advance(row, journey)
        lights = self._watch_lights()
        look_ahead(fleet, others)
        outside_holds(
            others.box, others.owner, self._inside, network.starts, network.points, self._outside
        )
        arbitrate(
            fleet,
            network.conflict_m,
            self._outside,
            lights,
            self._tick,
            self.delta_s,
            how.stop_wait_s,
            how.patience_s,
        )
        drive(
            fleet,
            others,
            lights,
            self.delta_s,
            how.acceleration_mps2,
            how.comfortable_braking_mps2,
            how.headway_s,
            how.standstill_gap_m,
        )
        fleet.last_speed[:] = fleet.speed
        self._send()
        self._tick += 1

    def _watch_lights(self) -> NDArray[np.float64]:
        """Return the state of each light and the remaining yellow time, (lights, 2)."""
        lights = np.zeros((len(self._lights), 2))
        lights[:, 0] = [int(light.state) for light in self._lights]
        yellow = lights[:, 0] == YELLOW
        self._yellow_s = np.where(yellow, self._yellow_s + self.delta_s, 0.0)
        lights[:, 1] = self._yellow_time_s - self._yellow_s
        return lights

    def _observe(self, around: Surroundings, fleet: Fleet) -> Others:
        snapshot = self.world.get_snapshot()
        boxes, people = around.look(snapshot)
        own = around.own_rows
        fleet.x[:], fleet.y[:] = around.origin[own, 0], around.origin[own, 1]
        fleet.yaw[:] = around.origin[own, 2]
        fleet.speed[:] = np.hypot(boxes[own, 6], boxes[own, 7])
        near = _near_crosswalks(people, self._lanes().crosswalks)
        self._seen = Others(boxes, around.owner, people, near)
        return self._seen

    def _advance(self, row: int, journey: Journey) -> None:
        """Drop the lane whose end the tail has passed; distances then start at the next lane."""
        fleet = self._fleet
        if len(journey.segments) < 2:
            return
        dropped = float(journey.cuts[1])
        place = fleet.along[row] - dropped
        was_inside = self._lanes().in_junction[journey.segments[0]]
        journey.segments.pop(0)
        if was_inside and fleet.asked[row] not in journey.segments:
            fleet.asked[row] = -1
        self._renew(row, journey)
        line = fleet.path[row, : fleet.path_count[row], 2]
        fleet.at[row] = max(int(np.searchsorted(line, place)) - 1, 0)
        fleet.along[row] = place

    def _send(self) -> None:
        fleet = self._fleet
        throttle, steer = fleet.throttle.tolist(), fleet.steer.tolist()
        brake = fleet.brake.tolist()
        command, control = carla.command.ApplyVehicleControl, carla.VehicleControl
        self.client.apply_batch(
            [
                command(actor, control(throttle[row], steer[row], brake[row]))
                for row, actor in enumerate(self.ids)
            ]
        )

    def cap_speed(self, actor_id: int, speed_mps: float | None) -> None:
        """Limit the speed of a vehicle (0: it brakes to a stop); None removes the limit."""
        self._fleet.cap[self.ids.index(actor_id)] = np.inf if speed_mps is None else speed_mps

    def cap_all(self, speed_mps: float | None) -> None:
        """Limit the speed of all vehicles; None removes the limit."""
        self._fleet.cap[:] = np.inf if speed_mps is None else speed_mps

    def destroy(self) -> None:
        """Remove the cars."""
        self.client.apply_batch_sync([carla.command.DestroyActor(actor) for actor in self.ids])
        self.ids = []


def _near_crosswalks(people: NDArray[np.float64], crosswalks: FloatArray) -> NDArray[np.bool_]:
    """Return a mask (people, crosswalks) of people on a crosswalk, or about to step on it."""
    near = np.zeros((len(people), len(crosswalks)), np.bool_)
    mark_crosswalks(people, crosswalks, _CURB_S, near)
    return near
