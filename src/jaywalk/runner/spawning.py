"""Actors of one episode: the ego, traffic, people and scenarios."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

import carla
import numpy as np

from jaywalk.actors.crowd.crowd import Crowd
from jaywalk.actors.crowd.state import CrowdSettings
from jaywalk.actors.events import EgoMoment, ScenarioEvent
from jaywalk.actors.posed.people import HabitPeople
from jaywalk.actors.posed.performers import Performers
from jaywalk.actors.posed.repertoire import ambient_of, manner_of
from jaywalk.actors.reactive.custom import load_policy
from jaywalk.actors.traffic.paths import DriverSettings
from jaywalk.actors.traffic.traffic import Traffic
from jaywalk.core.errors import DataError, InfrastructureError
from jaywalk.core.seeds import derive_seed
from jaywalk.record.capture import Reacting
from jaywalk.runner.plan import EpisodePlan, packaged_motions
from jaywalk.runner.session import STEP_S, SimulatorSession
from jaywalk.scenarios.base import Scenario, ScenarioAnnouncement, ScenarioContext, make_scenario
from jaywalk.scenarios.reserved_space import ReservedSpace, find_reserved_space, lanes_beside
from jaywalk.server.process import free_port
from jaywalk.town.routes import DenseRoute

EGO_BLUEPRINT: Final = "vehicle.lincoln.mkz_2020"
_EGO_DROP_M: Final = 0.5
_EGO_CLEAR_M: Final = 15.0  # no traffic is spawned this near to the ego
_PEOPLE_CLEAR_M: Final = 5.0
_APART_M: Final = 1.2  # between people at the start
_SETTLE_TICKS: Final = 10


@dataclass(slots=True, kw_only=True)
class EpisodeActors:
    """All participants of an episode."""

    ego: Any
    scenarios: list[Scenario] = field(default_factory=list)
    traffic: Traffic | None = None
    crowd: Crowd | None = None
    posed: HabitPeople | None = None
    performers: Performers | None = None

    def advance(self, moment: EgoMoment) -> None:
        """Let all actors except the ego act, before the world is ticked."""
        for scenario in self.scenarios:
            scenario.advance(moment)
        if self.traffic is not None:
            self.traffic.step()
        if self.crowd is not None:
            self.crowd.step(moment.snapshot)
        if self.posed is not None:
            self.posed.step(moment)
        if self.performers is not None:
            self.performers.step(moment.snapshot)

    def playing(self) -> dict[int, tuple[str, float, float]]:
        """Clip, phase and weight of everybody who plays a clip, by actor id."""
        found = dict(self.posed.playing()) if self.posed is not None else {}
        if self.performers is not None:
            found |= self.performers.playing()
        return found

    def reactions(self) -> Reacting | None:
        """Perceptions and decisions of reacting people now; None if there are no such people."""
        groups = [people for people in (self.posed, self.crowd) if people is not None]
        parts = [part for part in (people.reactions() for people in groups) if part]
        parts = [part for part in parts if len(part["ids"])]
        if not parts:
            return None
        return Reacting(**{name: np.concatenate([p[name] for p in parts]) for name in parts[0]})

    def disturbed(self, control: Any) -> Any:
        """Return the ego's control after changes by scenarios."""
        for scenario in self.scenarios:
            control = scenario.disturb(control)
        return control

    def close(self) -> None:
        """Close what actors have opened outside the world; later calls do nothing."""
        if self.posed is not None:
            self.posed.close()

    def take_events(self) -> list[ScenarioEvent]:
        """Return and clear the events of scenarios and posed people."""
        sources = [scenario.events for scenario in self.scenarios]
        if self.posed is not None:
            sources.append(self.posed.events)
        taken = [event for events in sources for event in events]
        for events in sources:
            events.clear()
        return taken

    def announcements(self) -> tuple[ScenarioAnnouncement, ...]:
        """Announcements of the scenarios, for agents that ask for them."""
        said = (scenario.announcement() for scenario in self.scenarios)
        return tuple(item for item in said if item is not None)

    def intended_classes(self) -> dict[int, str]:
        """Intended class of each person, by actor id."""
        classes: dict[int, str] = {}
        if self.crowd is not None:
            classes |= {person.actor_id: person.intended for person in self.crowd.people}
        if self.posed is not None:
            classes |= {person.actor_id: person.role.intended for person in self.posed.people}
        return classes


def spawn_actors(
    plan: EpisodePlan, session: SimulatorSession, world: Any, route: DenseRoute, key: str
) -> EpisodeActors:
    """Spawn all actors and let the ego come to rest on its wheels.

    Raises:
        DataError: The route or a scenario does not fit into the town.
        RegistryError: A scenario type is unknown.
    """
    actors = EpisodeActors(ego=spawn_ego(world, route, f"Route {plan.item.id}"))
    x, y = (float(value) for value in route.position_m[0, :2])
    drawn_as = plan.drawn_as or plan.suite
    seed = derive_seed(plan.seed, "episode", drawn_as, plan.item.pair or plan.item.id)
    network = session.network(key, world)
    manner = DriverSettings(speed_factor=plan.item.traffic_speed)
    actors.traffic = Traffic(session.client, world, seed, STEP_S, manner, network)
    reserved = _set_up_scenarios(plan, session, world, route, key, seed, actors)
    clear = [(x, y, _EGO_CLEAR_M), *reserved.circles()]
    # The pace of traffic is compared within pairs, so both need traffic from the same town part.
    ids = actors.traffic.spawn(
        plan.item.vehicles, clear, route.position_m[:, :2], only_near=bool(plan.item.pair)
    )
    if plan.options.traffic != "own":
        _hand_to_traffic_manager(session, ids, seed)
        actors.traffic = None
    _spawn_people(plan, session, world, route, key, seed, actors, reserved)
    for _ in range(_SETTLE_TICKS):
        actors.ego.apply_control(carla.VehicleControl(hand_brake=True))
        world.tick()
    return actors


def _spawn_people(
    plan: EpisodePlan,
    session: SimulatorSession,
    world: Any,
    route: DenseRoute,
    key: str,
    seed: int,
    actors: EpisodeActors,
    reserved: ReservedSpace,
) -> None:
    """Spawn people; posed people choose places first, because theirs define the route."""
    if not (plan.item.people or plan.item.posed):
        return
    walks = session.walks(key, world)
    x, y = (float(value) for value in route.position_m[0, :2])
    clear = [(x, y, _PEOPLE_CLEAR_M), *reserved.circles()]
    settings = CrowdSettings()
    if plan.item.posed:
        bank, repertoire = session.motions(
            plan.options.motions or packaged_motions(plan.people_model)
        )
        people = HabitPeople(
            session.client,
            world,
            session.bone_line,
            walks,
            bank,
            repertoire,
            seed,
            STEP_S,
            plan.people_model,
        )
        people.spawn(plan.item.posed, route, manner_of(plan.variant), clear)
        if plan.people_policy:
            people.hand_over(load_policy(plan.people_policy), plan.people_policy)
        clear += [(*person.a_m, _APART_M) for person in people.people]
        actors.posed, settings = people, ambient_of(plan.variant)
    if plan.item.people:
        actors.crowd = Crowd(
            session.client,
            world,
            seed,
            STEP_S,
            network=walks,
            settings=settings,
            people_model=plan.people_model,
        )
        actors.crowd.spawn(plan.item.people, route, clear)


def _set_up_scenarios(
    plan: EpisodePlan,
    session: SimulatorSession,
    world: Any,
    route: DenseRoute,
    key: str,
    seed: int,
    actors: EpisodeActors,
) -> ReservedSpace:
    """Set up scenarios before the traffic, because they decide which lanes it keeps off.

    Returns:
        For pairs, the space that the scenarios of both routes reserve, so that both get the same
        background; otherwise no space.
    """
    assert actors.traffic is not None
    actors.performers = Performers(
        client=session.client,
        line=lambda: session.bone_line,
        banks=session.bank,
        ground=lambda: session.walks(key, world).ground,
        library=plan.options.motions,
        delta_s=STEP_S,
    )
    context = ScenarioContext(
        client=session.client,
        world=world,
        map=world.get_map(),
        route=route,
        seed=seed,
        traffic=actors.traffic,
        clips=actors.performers,
    )
    for spec in plan.item.route.scenarios:
        scenario = make_scenario(spec, context)
        scenario.setup()
        actors.scenarios.append(scenario)
    if not plan.item.pair:
        actors.traffic.close([way for scenario in actors.scenarios for way in scenario.closed()])
        return ReservedSpace()
    reserved = find_reserved_space(plan.item.pair_scenarios or plan.item.route.scenarios, context)
    own = lanes_beside(context.map, route)
    actors.traffic.close([*reserved.paths, own], own)
    return reserved


def spawn_ego(world: Any, route: DenseRoute, where: str) -> Any:
    """Spawn the ego at the start of a route and tick the world once.

    Raises:
        DataError: The place is occupied; the message begins with ``where``.
    """
    model = world.get_blueprint_library().find(EGO_BLUEPRINT)
    model.set_attribute("role_name", "hero")
    x, y, z = (float(value) for value in route.position_m[0])
    pitch, yaw, roll = (float(value) for value in route.rotation_deg[0])
    pose = carla.Transform(
        carla.Location(x, y, z + _EGO_DROP_M), carla.Rotation(pitch=pitch, yaw=yaw, roll=roll)
    )
    ego = world.try_spawn_actor(model, pose)
    if ego is None:
        raise DataError(f"{where}: the ego does not fit at its start ({x:.1f}, {y:.1f}, {z:.1f}).")
    world.tick()
    return ego


def _hand_to_traffic_manager(session: SimulatorSession, ids: list[int], seed: int) -> None:
    """Let CARLA's own Traffic Manager drive the vehicles."""
    port = free_port()
    try:
        manager = session.client.get_trafficmanager(port)
        manager.set_synchronous_mode(True)
        manager.set_random_device_seed(seed % 2**31)
    except RuntimeError as problem:
        raise InfrastructureError(f"No Traffic Manager on port {port}: {problem}") from problem
    commands = [carla.command.SetAutopilot(actor, True, port) for actor in ids]
    session.client.apply_batch_sync(commands)
