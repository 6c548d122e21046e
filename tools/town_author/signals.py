"""Lights, controllers and signs, from SUMO's phases and right of way."""

from __future__ import annotations

import math
from dataclasses import dataclass

from town_author.junctions import Joints, Junction
from town_author.netconvert import NetConnection, Network
from town_author.plan import TownPlan
from town_author.roads import Road

LIGHT, STOP, YIELD, SPEED = "1000001", "206", "205", "274"
FIRST_SIGNAL, FIRST_CONTROLLER = 20001, 30001
BEFORE_END_M = 0.5
AFTER_START_M = 8.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Signal:
    """A light or a sign on a road."""

    number: int
    road: int
    name: str
    kind: str
    s_m: float
    t_m: float
    z_m: float
    side: int
    lanes: tuple[int, ...]
    value: int = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class Controller:
    """Lights of a junction that are green together."""

    number: int
    junction: int
    signals: tuple[int, ...]


def _approaches(junction: Junction) -> dict[str, dict[int, list[NetConnection]]]:
    """Links of a junction by arriving edge and lane."""
    approaches: dict[str, dict[int, list[NetConnection]]] = {}
    for road in junction.connecting:
        if road.link is not None:
            lanes = approaches.setdefault(road.link.source, {})
            lanes.setdefault(road.link.from_lane, []).append(road.link)
    return approaches


def _green_phases(
    links: list[NetConnection], everyone: list[NetConnection], phases: tuple[str, ...]
) -> frozenset[int]:
    """Phases in which every link of a lane is green and no left turn meets oncoming traffic."""
    greens = []
    for number, states in enumerate(phases):
        if any(states[link.signal_link] not in "Gg" for link in links):
            continue
        lefts = any(link.turn in "lL" for link in links)
        oncoming = any(
            states[other.signal_link] in "Gg" and other.turn in "srR"
            for other in everyone
            if other.source != links[0].source
        )
        if not (lefts and oncoming):
            greens.append(number)
    return frozenset(greens)


def _outside(road: Road, side: int, s_m: float, beyond_m: float) -> float:
    return side * (road.half_width(side, s_m) + beyond_m)


def _end_station(road: Road, edge: str, before_m: float) -> float:
    return road.station(edge, road.length_m - before_m)


class SignalWriter:
    """Collects the signals and controllers of a town, with ids in a fixed order."""

    def __init__(self, plan: TownPlan, network: Network, roads: list[Road], joints: Joints) -> None:
        self._plan = plan
        self._network = network
        self._joints = joints
        self._roads = roads
        self._by_edge = {e: road for road in roads for e in (road.forward, road.backward) if e}
        self.signals: list[Signal] = []
        self.controllers: list[Controller] = []

    def build(self) -> None:
        """Fill the lists."""
        for junction in self._joints.junctions.values():
            approaches = _approaches(junction)
            lit = any(
                link.signal for lanes in approaches.values() for k in lanes for link in lanes[k]
            )
            if lit:
                self._lights(junction, approaches)
            else:
                self._right_of_way(approaches)
        self._speed_signs()

    def _add(
        self,
        edge: str,
        kind: str,
        name: str,
        s_m: float,
        beyond_m: float,
        z_m: float,
        lanes: tuple[int, ...],
        value: int = -1,
    ) -> int:
        road = self._by_edge[edge]
        side = road.side_of(edge)
        number = FIRST_SIGNAL + len(self.signals)
        self.signals.append(
            Signal(
                number=number,
                road=road.number,
                name=name,
                kind=kind,
                s_m=s_m,
                t_m=_outside(road, side, s_m, beyond_m),
                z_m=z_m,
                side=side,
                lanes=lanes,
                value=value,
            )
        )
        return number

    def _lights(
        self, junction: Junction, approaches: dict[str, dict[int, list[NetConnection]]]
    ) -> None:
        everyone = [link for lanes in approaches.values() for k in lanes for link in lanes[k]]
        phases = self._network.phases[next(link.signal for link in everyone if link.signal) or ""]
        greens_of: dict[int, frozenset[int]] = {}
        for edge, lanes in approaches.items():
            road = self._by_edge[edge]
            groups: dict[frozenset[int], list[int]] = {}
            for index in sorted(lanes):
                greens = _green_phases(lanes[index], everyone, phases)
                if not greens:
                    raise ValueError(
                        f"town {self._plan.name!r}: lane {index} of {edge!r} is never green; "
                        "give its left turn a lane of its own or use tlLayout 'incoming'"
                    )
                groups.setdefault(greens, []).append(index)
            for place, (greens, indices) in enumerate(groups.items()):
                station = _end_station(road, edge, BEFORE_END_M)
                numbers = tuple(road.lane_number(edge, index, station) for index in indices)
                signal = self._add(
                    edge,
                    LIGHT,
                    "Signal_3Light_Post01",
                    station,
                    0.6 + 0.8 * place,
                    4.5,
                    tuple(sorted(numbers)),
                )
                greens_of[signal] = greens
        self._controllers(junction, greens_of)

    def _controllers(self, junction: Junction, greens_of: dict[int, frozenset[int]]) -> None:
        left = dict(greens_of)
        while left:
            counts: dict[int, list[int]] = {}
            for signal, greens in left.items():
                for phase in greens:
                    counts.setdefault(phase, []).append(signal)
            phase = min(counts, key=lambda key: (-len(counts[key]), key))
            self.controllers.append(
                Controller(
                    number=FIRST_CONTROLLER + len(self.controllers),
                    junction=junction.number,
                    signals=tuple(counts[phase]),
                )
            )
            for signal in counts[phase]:
                del left[signal]

    def _right_of_way(self, approaches: dict[str, dict[int, list[NetConnection]]]) -> None:
        for edge, lanes in approaches.items():
            states = [link.state for k in lanes for link in lanes[k]]
            road = self._by_edge[edge]
            station = _end_station(road, edge, BEFORE_END_M)
            numbers = tuple(sorted(road.lane_number(edge, index, station) for index in lanes))
            if any(state in "sw" for state in states):
                self._add(edge, STOP, "Sign_Stop", station, 0.7, 2.2, numbers)
            elif all(state == "m" for state in states):
                self._add(edge, YIELD, "Sign_Yield", station, 0.7, 2.2, numbers)

    def _speed_signs(self) -> None:
        fed: dict[str, set[int]] = {}
        for link in self._network.connections:
            limit = self._plan.edges[link.source].speed_kmh
            fed.setdefault(link.target, set()).add(limit)
        places = [
            (edge, AFTER_START_M)
            for edge, limits in sorted(fed.items())
            if limits != {self._plan.edges[edge].speed_kmh}
        ]
        places += [
            (sign.edge, sign.at * self._by_edge[sign.edge].length_m)
            for sign in self._plan.speed_signs
        ]
        for edge, along in places:
            road = self._by_edge[edge]
            if road.length_m < 2.0 * AFTER_START_M:
                continue
            station = road.station(edge, along)
            side = road.side_of(edge)
            numbers = tuple(
                sorted(
                    side * (place + 1)
                    for place, lane in enumerate(road.present(side, station))
                    if lane.kind == "driving"
                )
            )
            limit = self._plan.edges[edge].speed_kmh
            self._add(edge, SPEED, f"Sign_Speed_{limit}", station, 0.7, 2.4, numbers, limit)


def signal_heading(side: int) -> float:
    """``hOffset`` that makes the landmark face as its lanes run."""
    return 0.0 if side < 0 else math.pi
