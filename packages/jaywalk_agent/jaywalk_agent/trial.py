"""A road in a few lines of Python, to try an agent on without any simulator.

A lane leads straight on, turns right and goes straight again; a person may stand in it. The car is
a kinematic bicycle: good enough to see whether an agent steers the right way and brakes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, Callable

import numpy as np

from jaywalk_agent.agent import Agent, Answer, as_answer
from jaywalk_agent.client import RemoteAgent
from jaywalk_agent.sight import (
    PERSON,
    Actors,
    Array,
    Briefing,
    EgoState,
    Lights,
    Moment,
    Route,
    StopLines,
    Vehicle,
    no_actors,
)

STEP_S = 0.05
_WHEELBASE_M = 2.85
_HALF_M = (2.45, 1.06, 0.75)
_MAX_STEER_DEG = 70.0
_BEND_M = 25.0  # radius
_DEGREE_M = 111319.49  # metres in a degree, near enough for a road without a map


@dataclass(frozen=True)
class Trial:
    """How a drive went."""

    along_m: float  # driven along the lane
    away_m: float  # farthest from its centre
    top_speed_mps: float
    gap_m: float  # least distance between the car's front and the person; inf: nobody there
    answers: list[Answer]


def drive(
    agent: str | Callable[[], Agent],
    *,
    seconds: float = 15.0,
    person_ahead_m: float | None = None,
    sensors: Callable[[float], dict[str, Any]] | None = None,
) -> Trial:
    """Drive an agent down the road.

    Args:
        agent: An agent class, or ``ws://HOST:PORT`` of one that serves.
        seconds: How long.
        person_ahead_m: Where somebody stands in the lane.
        sensors: Gives the sensor data of a time, for an agent that asks for sensors.
    """
    route = _route()
    link = RemoteAgent(agent) if isinstance(agent, str) else _Local(agent())
    people = no_actors() if person_ahead_m is None else _person(route, person_ahead_m)
    x, y, yaw, speed = float(route.position_m[0, 0]), 0.0, 0.0, 0.0
    index, away, top, gap = 0, 0.0, 0.0, math.inf
    answers: list[Answer] = []
    try:
        link.setup(_briefing(route))
        for frame in range(int(seconds / STEP_S)):
            moment = _moment(frame, x, y, yaw, speed, people)
            if sensors is not None:
                moment = replace(moment, sensors=sensors(moment.time_s))
            answer = link.step(moment)
            answers.append(answer)
            control = answer.control
            push = 3.5 * _held(control.throttle, 0.0) - 7.0 * _held(control.brake, 0.0)
            speed = max(speed + STEP_S * (push - 0.02 * speed), 0.0)
            wheel = math.radians(_MAX_STEER_DEG) * _held(control.steer, -1.0)
            yaw += STEP_S * speed * math.tan(min(max(wheel, -1.2), 1.2)) / _WHEELBASE_M
            x, y = x + STEP_S * speed * math.cos(yaw), y + STEP_S * speed * math.sin(yaw)
            gaps = np.hypot(route.position_m[:, 0] - x, route.position_m[:, 1] - y)
            index, away, top = int(np.argmin(gaps)), max(away, float(gaps.min())), max(top, speed)
            if len(people):
                front = (x + _HALF_M[0] * math.cos(yaw), y + _HALF_M[0] * math.sin(yaw))
                there = people.position_m[0]
                gap = min(gap, math.hypot(front[0] - there[0], front[1] - there[1]))
    finally:
        link.close()
    return Trial(float(index), away, top, gap, answers)


class _Local:
    """An agent of this process, asked as a remote one is."""

    def __init__(self, agent: Agent) -> None:
        self._agent = agent

    def setup(self, briefing: Briefing) -> None:
        self._agent.setup(briefing)
        list(self._agent.sensors())

    def step(self, moment: Moment) -> Answer:
        return as_answer(self._agent.step(moment))

    def close(self) -> None:
        self._agent.close()


def _held(value: float, low: float) -> float:
    return min(max(float(value), low), 1.0)


def _route() -> Route:
    """100 m straight, a quarter turn to the right, 60 m straight; far from the origin."""
    straight = [(float(k), 0.0, 0.0) for k in range(100)]
    steps = int(_BEND_M * math.pi / 2.0)
    turns = [(k + 1) / _BEND_M for k in range(steps)]
    bend = [
        (99.0 + _BEND_M * math.sin(a), _BEND_M * (1.0 - math.cos(a)), math.degrees(a))
        for a in turns
    ]
    x, y, yaw = bend[-1]
    away = [
        (x + k * math.cos(math.radians(yaw)), y + k * math.sin(math.radians(yaw)), yaw)
        for k in range(1, 60)
    ]
    points = np.array(straight + bend + away)
    count = len(points)
    position = np.column_stack([points[:, 0] + 300.0, points[:, 1], np.zeros(count)])
    option = np.full(count, 4, np.int64)
    option[100 : 100 + steps] = 2
    north, east = -position[:, 1] / _DEGREE_M, position[:, 0] / _DEGREE_M
    return Route(
        position_m=position,
        rotation_deg=np.column_stack([np.zeros(count), points[:, 2], np.zeros(count)]),
        gps=np.column_stack([north, east, np.zeros(count)]),
        option=option,
        in_junction=option == 2,
        sparse=np.array([0, 100, 100 + steps, count - 1], np.int64),
    )


def _briefing(route: Route) -> Briefing:
    return Briefing(
        town="trial",
        seed=1,
        delta_s=STEP_S,
        ego=Vehicle(
            id=1,
            type_id="vehicle.lincoln.mkz_2020",
            half_m=np.array(_HALF_M),
            centre_m=np.array([0.0, 0.0, _HALF_M[2]]),
            mass_kg=2065.0,
            max_steer_deg=_MAX_STEER_DEG,
            front_axle_x_m=0.5 * _WHEELBASE_M,
            rear_axle_x_m=-0.5 * _WHEELBASE_M,
        ),
        route=route,
        stop_lines=StopLines(np.zeros(0, np.int64), np.zeros((0, 3)), np.zeros(0)),
        stop_signs_m=np.zeros((0, 3)),
        gps_reference_deg=(0.0, 0.0),
    )


def _person(route: Route, along_m: float) -> Actors:
    return Actors(
        id=np.array([7], np.int64),
        kind=np.array([PERSON], np.int64),
        type_id=["walker.pedestrian.0001"],
        position_m=route.position_m[[int(along_m)]] + np.array([[0.0, 0.0, 0.93]]),
        rotation_deg=np.array([[0.0, 90.0, 0.0]]),
        velocity_mps=np.zeros((1, 3)),
        angular_velocity_dps=np.zeros((1, 3)),
        half_m=np.array([[0.19, 0.19, 0.93]]),
        centre_m=np.zeros((1, 3)),
    )


def _moment(
    frame: int, x_m: float, y_m: float, yaw_rad: float, speed_mps: float, actors: Actors
) -> Moment:
    way: Array = np.array([math.cos(yaw_rad), math.sin(yaw_rad), 0.0])
    return Moment(
        frame=frame,
        time_s=round(frame * STEP_S, 9),
        ego=EgoState(
            position_m=np.array([x_m, y_m, 0.0]),
            rotation_deg=np.array([0.0, math.degrees(yaw_rad), 0.0]),
            velocity_mps=speed_mps * way,
            acceleration_mps2=np.zeros(3),
            angular_velocity_dps=np.zeros(3),
            speed_mps=speed_mps,
            speed_limit_kmh=30.0,
            light_state=-1,
        ),
        actors=actors,
        lights=Lights(np.zeros(0, np.int64), np.zeros(0, np.int64)),
    )
