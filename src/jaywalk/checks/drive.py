"""The drive of ``jaywalk check``: an agent drives for a few seconds, and every tick is sampled.

The stage is a road with a bend, a few people beside it, and an ego that is turned off the route.
"""

from __future__ import annotations

import contextlib
import hashlib
import math
import time
import traceback
from dataclasses import dataclass, field, replace
from typing import Any, Final

import carla
import numpy as np

from jaywalk.agents.adapters.remote import PlainDriver, open_link
from jaywalk.agents.adapters.sensor_rig import DriverSensors
from jaywalk.agents.base import Briefing, Decision, Driver, Moment
from jaywalk.agents.load import is_remote, make_driver, seed_name
from jaywalk.core.arrays import FloatArray
from jaywalk.core.errors import DataError
from jaywalk.core.seeds import derive_seed
from jaywalk.geometry.pose import yaw_rad
from jaywalk.runner.ending import RouteProgress
from jaywalk.runner.plan import AgentSpec
from jaywalk.runner.session import STEP_S, SimulatorSession
from jaywalk.runner.spawning import spawn_ego
from jaywalk.runner.watchdog import AgentTimeout, time_limit
from jaywalk.town.routes import DenseRoute, RoutePlanner

TOWN: Final = "Harbour"
_KEY_M: Final = 20.0  # between key points of the route
_KEYS: Final = 7
_SHOWN_M: Final = 4.0  # a thinned plan is at most this far from the lane
_BEND_DEG: Final = (40.0, 140.0)  # wanted total turn of the route
_SETTLE_TICKS: Final = 12
_ASKEW_DEG: Final = -8.0  # to the left, so that the route is to the right
_PEOPLE_AHEAD_M: Final = (14, 24, 36, 50)
_PEOPLE_ASIDE_M: Final = (5.0, 6.5, 8.0)
_WALK_MPS: Final = 1.2


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckStage:
    """World, ego, route and people of a check."""

    world: Any
    map: Any
    ego: Any
    route: DenseRoute
    people: tuple[Any, ...]


def set_check_stage(server: SimulatorSession, town: str, number: int = 0) -> CheckStage:
    """Load the town, choose a route, and spawn the ego and the people.

    Args:
        server: The server.
        town: Name of the town.
        number: Which of the suitable routes, counted around.

    Raises:
        DataError: The town has no suitable road.
    """
    world = server.fresh(town)
    town_map = world.get_map()
    key = hashlib.sha256(town_map.to_opendrive().encode()).hexdigest()
    route = _choose_route(server.planner(key, town_map), town_map, town, number)
    for light in world.get_actors().filter("traffic.traffic_light"):
        light.set_state(carla.TrafficLightState.Green)
        light.freeze(True)
    ego = spawn_ego(world, route, town)
    people = _spawn_people(world, route)
    for _ in range(_SETTLE_TICKS):
        ego.apply_control(carla.VehicleControl(hand_brake=True))
        world.tick()
    pose = ego.get_transform()
    pose.rotation.yaw += _ASKEW_DEG
    ego.set_transform(pose)
    world.tick()
    return CheckStage(world=world, map=town_map, ego=ego, route=route, people=people)


def _choose_route(planner: RoutePlanner, town_map: Any, town: str, number: int) -> DenseRoute:
    """Return a route that is straight and then turns, by preference as a thinned plan shows it.

    A thinned plan of the Leaderboard has points where the road option changes. Agents that have no
    other plan cannot follow a bend between two of its points.
    """
    shown, hidden, straight = [], [], []
    for pose in town_map.get_spawn_points():
        poses = [pose, *_ahead(town_map, pose.location)]
        if len(poses) < _KEYS:
            continue
        route = planner.plan([(p.location.x, p.location.y, p.location.z) for p in poses])
        if not _turns(poses):
            straight.append(route)
        elif _shown_by_thinned(route):
            shown.append(route)
        else:
            hidden.append(route)
        if len(shown) > number:
            return shown[number]
    routes = shown or hidden or straight
    if not routes:
        raise DataError(f"{town} has no lane of {_KEYS * _KEY_M:g} m to check an agent on.")
    return routes[number % len(routes)]


def _turns(poses: list[Any]) -> bool:
    yaws = np.unwrap([yaw_rad(one) for one in poses])
    turned = math.degrees(abs(yaws[-1] - yaws[0]))
    return abs(yaws[1] - yaws[0]) < math.radians(5.0) and _BEND_DEG[0] < turned < _BEND_DEG[1]


def _shown_by_thinned(route: DenseRoute) -> bool:
    """Return whether straight lines between the changes of the road option stay near the route."""
    option = np.asarray(route.option)
    kept = [0, *(np.flatnonzero(np.diff(option)) + 1).tolist(), len(route) - 1]
    line = route.position_m[kept, :2]
    return all(_off_line_m(line, float(x), float(y)) < _SHOWN_M for x, y, _ in route.position_m)


def _ahead(town_map: Any, place: Any) -> list[Any]:
    point = town_map.get_waypoint(place)
    poses = []
    for _ in range(_KEYS - 1):
        further = point.next(_KEY_M)
        if not further:
            break
        point = further[0]
        poses.append(point.transform)
    return poses


def _spawn_people(world: Any, route: DenseRoute) -> tuple[Any, ...]:
    """Spawn people who walk along the road beside it: to be forecast, not to block the ego."""
    models = sorted(
        world.get_blueprint_library().filter("walker.pedestrian.*"), key=lambda one: one.id
    )
    people = []
    for number, ahead in enumerate(_PEOPLE_AHEAD_M):
        if ahead >= len(route):
            break
        x, y, z = (float(value) for value in route.position_m[ahead])
        yaw = float(route.yaw_rad[ahead])
        for aside in _PEOPLE_ASIDE_M:
            place = carla.Location(x - aside * math.sin(yaw), y + aside * math.cos(yaw), z + 1.2)
            pose = carla.Transform(place, carla.Rotation(yaw=math.degrees(yaw)))
            person = world.try_spawn_actor(models[number % len(models)], pose)
            if person is not None:
                way = carla.Vector3D(math.cos(yaw), math.sin(yaw), 0.0)
                person.apply_control(carla.WalkerControl(way, _WALK_MPS * (number % 2), False))
                people.append(person)
                break
    return tuple(people)


SETUP_S: Final = 120.0
STEP_LIMIT_S: Final = 10.0
DRIVE_S: Final = 12.0  # simulated
DRIVE_WALL_S: Final = 60.0
_AIM_M: Final = 6
_LOST_M: Final = 8.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One tick. Frame: CARLA's left-handed metres."""

    time_s: float
    xy_m: tuple[float, float]
    yaw_rad: float
    speed_mps: float  # along the heading
    limit_kmh: float
    along_m: float
    away_m: float  # distance from the route's line
    off_plan_m: float = math.inf  # distance from the line of a thinned plan
    to_right_rad: float  # angle from the heading to the route ahead; positive: to the right
    decision: Decision
    wall_ms: float
    people: dict[int, tuple[float, float]]


@dataclass(slots=True, kw_only=True)
class CheckDrive:
    """Result of a drive."""

    route_m: FloatArray  # (n, 2)
    plan_m: FloatArray | None = None  # (k, 2): the thinned plan, if the agent has one
    samples: list[Sample] = field(default_factory=list)
    setup_s: float = 0.0
    failed_in: str = ""  # load, setup, step or close
    failure: str = ""  # traceback
    name: str = ""
    version: str = ""
    peer: dict[str, Any] = field(default_factory=dict)  # facts about a remote agent
    sensors: dict[str, Any] = field(default_factory=dict)  # id -> last value
    asked_sensors: bool = False


class _Failed(Exception):  # noqa: N818  (named for what it means)
    """The agent failed; the drive holds the details."""


def check_drive(
    agent: AgentSpec,
    server: SimulatorSession,
    town: str,
    seed: int,
    drive_s: float = DRIVE_S,
    number: int = 0,
) -> CheckDrive:
    """Let an agent drive for some seconds and sample every tick.

    Args:
        agent: The agent.
        server: The server.
        town: Name of the town.
        seed: Seed of the agent.
        drive_s: Simulated seconds.
        number: Which of the suitable routes of the town.

    Raises:
        JaywalkError: The stage cannot be set up; this is not a failure of the agent.
    """
    stage = set_check_stage(server, town, number)
    drive = CheckDrive(route_m=stage.route.position_m[:, :2].copy())
    driver: Driver | None = None
    sensors: DriverSensors | None = None
    try:
        driver = _guarded(drive, "load", SETUP_S, lambda: make_driver(agent.name))
        began_s = time.monotonic()
        briefing = Briefing(
            client=server.client,
            world=stage.world,
            map=stage.map,
            ego=stage.ego,
            route=stage.route,
            seed=derive_seed(seed, "driver", seed_name(agent.name)),
            delta_s=STEP_S,
            arguments=agent.arguments,
        )
        _guarded(drive, "setup", SETUP_S, lambda: driver.setup(briefing))
        drive.setup_s = time.monotonic() - began_s
        drive.name, drive.version = driver.declared() or (agent.name, driver.version)
        _note_peer(drive, driver)
        drive.plan_m = getattr(driver, "plan_m", None)
        sensors = _guarded(
            drive, "setup", SETUP_S, lambda: DriverSensors(driver, stage.world, stage.ego)
        )
        _loop(drive, stage, driver, sensors, drive_s)
    except _Failed:
        pass
    finally:
        if sensors is not None:
            sensors.close()
        if driver is not None:
            _note_sensors(drive, driver)
            with contextlib.suppress(_Failed):
                _guarded(drive, "close", STEP_LIMIT_S, driver.close)
    return drive


def check_reach(agent: AgentSpec) -> CheckDrive | None:
    """Return a failed drive if a remote agent cannot be reached; None otherwise."""
    drive = CheckDrive(route_m=np.zeros((0, 2)), name=agent.name)
    try:
        if is_remote(agent.name):
            _guarded(drive, "load", STEP_LIMIT_S, lambda: open_link(agent.name).drop())
    except _Failed:
        return drive
    return None


def _guarded(drive: CheckDrive, doing: str, limit_s: float, call: Any) -> Any:
    try:
        with time_limit(limit_s):
            return call()
    except (Exception, AgentTimeout) as problem:
        if not drive.failed_in:
            drive.failed_in, drive.failure = doing, traceback.format_exc()
        raise _Failed from problem


def _loop(
    drive: CheckDrive,
    stage: CheckStage,
    driver: Driver,
    sensors: DriverSensors,
    drive_s: float,
) -> None:
    progress = RouteProgress(stage.route)
    snapshot = stage.world.get_snapshot()
    began_s, wall_began_s = snapshot.timestamp.elapsed_seconds, time.monotonic()
    while time.monotonic() - wall_began_s < DRIVE_WALL_S:
        elapsed_s = snapshot.timestamp.elapsed_seconds - began_s
        if elapsed_s > drive_s or progress.share > 0.9:
            break
        moment = Moment(
            frame=snapshot.frame,
            elapsed_s=elapsed_s,
            snapshot=snapshot,
            readings=sensors.read(snapshot.frame, snapshot),
        )
        asked_s = time.perf_counter()
        decision = _guarded(drive, "step", STEP_LIMIT_S, lambda now=moment: driver.decide(now))
        wall_ms = 1e3 * (time.perf_counter() - asked_s)
        sample = _sample(stage, progress, snapshot, elapsed_s, decision, wall_ms)
        if drive.plan_m is not None:
            sample = replace(sample, off_plan_m=_off_line_m(drive.plan_m, *sample.xy_m))
        drive.samples.append(sample)
        control = decision.control
        if not all(math.isfinite(v) for v in (control.throttle, control.steer, control.brake)):
            break
        if is_lost(sample) or decision.end_reason:
            break
        stage.ego.apply_control(control)
        stage.world.tick()
        snapshot = stage.world.get_snapshot()


def is_lost(sample: Sample) -> bool:
    """Return whether the ego is far from its route and from the lines of its plan."""
    return min(sample.away_m, sample.off_plan_m) > _LOST_M


def _sample(
    stage: CheckStage,
    progress: RouteProgress,
    snapshot: Any,
    elapsed_s: float,
    decision: Decision,
    wall_ms: float,
) -> Sample:
    state = snapshot.find(stage.ego.id)
    pose, velocity = state.get_transform(), state.get_velocity()
    x, y, yaw = pose.location.x, pose.location.y, yaw_rad(pose)
    progress.follow(x, y, pose.location.z)
    way = stage.route.position_m
    aim = way[min(progress.index + _AIM_M, len(way) - 1)]
    turn = math.remainder(math.atan2(aim[1] - y, aim[0] - x) - yaw, 2.0 * math.pi)
    near = way[max(progress.index - 3, 0) : progress.index + 10, :2]
    people = {}
    for person in stage.people:
        there = snapshot.find(person.id)
        if there is not None:
            place = there.get_transform().location
            people[int(person.id)] = (place.x, place.y)
    return Sample(
        time_s=elapsed_s,
        xy_m=(x, y),
        yaw_rad=yaw,
        speed_mps=velocity.x * math.cos(yaw) + velocity.y * math.sin(yaw),
        limit_kmh=stage.ego.get_speed_limit(),
        along_m=progress.along_m,
        away_m=_off_line_m(near, x, y),
        to_right_rad=turn,
        decision=_kept(decision),
        wall_ms=wall_ms,
        people=people,
    )


def _kept(decision: Decision) -> Decision:
    """Return the decision with a copy of its control, in case the agent reuses one object."""
    decided = decision.control
    control = carla.VehicleControl(
        throttle=decided.throttle,
        steer=decided.steer,
        brake=decided.brake,
        hand_brake=decided.hand_brake,
        reverse=decided.reverse,
    )
    return Decision(control=control, plan=decision.plan, forecasts=decision.forecasts)


def _off_line_m(line_m: FloatArray, x_m: float, y_m: float) -> float:
    """Distance from a line of points, including the segments between them."""
    if len(line_m) < 2:
        return float(np.min(np.hypot(line_m[:, 0] - x_m, line_m[:, 1] - y_m)))
    step = np.diff(line_m, axis=0)
    to = np.array([x_m, y_m]) - line_m[:-1]
    length2 = np.maximum(np.einsum("ij,ij->i", step, step), 1e-9)
    share = np.clip(np.einsum("ij,ij->i", to, step) / length2, 0.0, 1.0)
    gap = to - share[:, None] * step
    return float(np.min(np.hypot(gap[:, 0], gap[:, 1])))


def _note_peer(drive: CheckDrive, driver: Driver) -> None:
    if isinstance(driver, PlainDriver):
        drive.peer = driver.peer


def _note_sensors(drive: CheckDrive, driver: Driver) -> None:
    rig = getattr(driver, "rig", None)
    if rig is not None:
        drive.asked_sensors = True
        drive.sensors = {tag: data for tag, (_, data) in rig.latest.items()}
