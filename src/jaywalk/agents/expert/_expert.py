"""The expert: a privileged rule-based driver in the manner of PDM-Lite.

It knows the poses and velocities of all actors and predicts their paths. It follows, gives way,
changes lanes into gaps, goes round obstacles when that is clear, and waits otherwise. It does not
know the intentions of other actors, nor the scenario.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar, Final

import carla
import numpy as np

from jaywalk.agents.base import Briefing, Moment
from jaywalk.agents.catalogue import FULL, LIMITED, driver
from jaywalk.agents.driving._following import (
    BESIDE_M,
    Manner,
    first_along,
    follow,
    speed_along,
    stop_at,
)
from jaywalk.agents.driving._frame import project
from jaywalk.agents.driving._lanes import lanes_of
from jaywalk.agents.driving.perception import PERSON, PROP, VEHICLE, EgoVehicle, Observation
from jaywalk.agents.driving.route_driver import WORLD, Choice, RouteDriver, allowed_speeds
from jaywalk.agents.driving.route_line import STEP_M
from jaywalk.agents.expert._bypass import Bypass
from jaywalk.agents.expert._lane_change import LaneChanges, MakeWay
from jaywalk.agents.expert._passages import find_controls, find_passages
from jaywalk.agents.expert._rollouts import USUAL_MARGINS, Margins, Paths, Trial, foresee, try_out
from jaywalk.agents.expert._yielding import Memory, Yielding, exit_gap_m
from jaywalk.core.arrays import BoolArray, FloatArray

_SIGHT_M: Final = 30.0
_SIGHT_S: Final = 6.0
_SIDE_M: Final = 0.3
_PERSON_SIDE_M: Final = 0.5
_BRAKES_MPS2: Final = np.array([-1.0, -2.0, -3.2, -5.0, -8.0])
_BOOST_MPS2: Final = 3.0
_WAIT_MPS2: Final = -1.8  # for people beside the road, while
_LATEST_MPS2: Final = 3.2  # braking this hard can still stop in time
_CROSSES: Final = 0.6  # sine of the least angle to the line of a crossing actor
_GLANCE_S: Final = 0.15  # a shorter forecast on the road may be a turn on the sidewalk
_HOLD_S: Final = 0.4  # after braking for an actor, do not accelerate at once
_STUCK_S: Final = 12.0
_IMPATIENT_MARGINS: Final = Margins(people=0.4, vehicles=0.4)
_TIGHT_MARGINS: Final = Margins(vehicles=0.3)
_ZERO_MARGINS: Final = Margins(people=0.0, vehicles=0.0)
_KERB_M: Final = 2.2  # the ego slows down for people this near to its path
_KERB_MPS: Final = 8.5
_CAUTION_MPS: Final = 5.5  # where an oncoming car may turn across
_PARKED_S: Final = 1.0
_OFF_CENTRE_M: Final = 0.5
_WAITS_S: Final = 4.0
_TO_GO_ROUND_M: Final = 8.5
_JUNCTION_MPS2: Final = 4.2  # acceleration across a junction
_ROLLING: Final = Manner(braking_mps2=1.6, acceleration_mps2=3.5)  # towards a red light
_OWN_LANE_M: Final = 2.0
_CROSSERS_M: Final = 45.0
_ROAD: Final = carla.LaneType.Driving | carla.LaneType.Bidirectional
_CELL_M: Final = 0.2
_KINDS: Final = ("vehicle", "person", "prop")
_LEFT_S: Final = 25.0
# After this wait, the ego passes a person at the edge of its path closely and slowly.
_WAITS_FOR_S: Final = 8.0
_STAYS_M: Final = 0.7  # movement within this distance counts as standing
_CLOSELY_M: Final = 0.15
_CLOSELY_MPS: Final = 2.0
_FIRM_MPS2: Final = 5.0  # trusted vehicles that need to brake harder count again
_TRUST_M: Final = 1.0
_COMMITTED_MPS: Final = 2.0
_WAITING: Final = frozenset({"person", "junction exit taken", "waiting to go round"})


@driver(
    "expert",
    version=3,
    summary="privileged rule-based driver in the manner of PDM-Lite",
    perception=(FULL, LIMITED),
    needs=WORLD,
)
class Expert(RouteDriver):
    """Driver with rules and full knowledge of the present state."""

    manner: ClassVar[Manner] = Manner(
        speed_factor=1.0,
        acceleration_mps2=3.5,
        lateral_mps2=3.4,
        headway_s=0.5,
        standstill_gap_m=4.4,  # also the room for a later bypass
    )

    def setup(self, briefing: Briefing) -> None:
        """Set up the base driver and read lanes, junctions and signals."""
        super().setup(briefing)
        self.lanes = lanes_of(briefing.map)
        controls = find_controls(briefing.world, self.lanes, self.line.xy_m[::20])
        passages = find_passages(self.line, self.lanes, self.signals, controls)
        self.yielding = Yielding(passages, self.lanes, controls, briefing.delta_s)
        self.changes = LaneChanges(self.line, briefing.map, briefing.delta_s)
        self.bypass = Bypass(self.line, briefing.map, self.lanes)
        self.make_way = MakeWay(self.bypass, self.perception)
        self.memory = Memory(briefing.delta_s)
        self._revision = self.line.revision
        self._braked_s = math.inf
        self._stuck_s = 0.0
        self._person_s = 0.0
        self._stays: dict[int, tuple[float, float, float]] = {}  # waited for: seconds and place
        self._passed: dict[int, tuple[float, float]] = {}  # passed closely: their places
        self._road: dict[tuple[int, int, int], bool] = {}

    def accelerate(self, own: EgoVehicle, moment: Moment) -> Choice:
        """Choose the acceleration that the road, its users and their predicted paths allow."""
        seen = self._near(own, self.perception.look(moment.snapshot))
        stood_s, moved = self.memory.update(seen)
        self._passed = {
            actor_id: place
            for actor_id, place in self._passed.items()
            if _stays(seen, actor_id, place)
        }
        speed = max(own.speed_mps, 0.0)
        at, lead, ahead = self._in_the_way(own, seen)
        blocking, suspect = self._blocking(own, seen, at, stood_s, moved)
        standing = (seen.speed_mps < 0.1) & (~moved | (stood_s > 5.0))
        around = self.bypass.update(own, self.along_m, seen, blocking, standing)
        self.make_way.update(own, self.along_m, seen)
        change = self.changes.update(own, self.along_m, seen)
        if self.line.revision != self._revision:
            self._revision = self.line.revision
            self.allowed_mps = allowed_speeds(self.line, self.manner)
            at, lead, ahead = self._in_the_way(own, seen)
        hold = self.yielding.hold_gap_m(own, self.along_m, seen, stood_s, self.allowed_mps)
        passage = self.yielding.next_passage(self.along_m + own.front_m)
        leave = exit_gap_m(passage, own, self.along_m, np.where(ahead, at, np.inf), lead)
        wishes = [
            (self._free(own, seen), "free road"),
            (stop_at(speed, self.signals.light_gap_m(own, self.along_m), _ROLLING), "light"),
            (stop_at(speed, self.signals.sign_gap_m(own, self.along_m), self.manner), "stop sign"),
            (stop_at(speed, hold, self.manner), "giving way"),
            (stop_at(speed, leave, self.manner), "junction exit taken"),
            (stop_at(speed, around, self.manner), "waiting to go round"),
            (stop_at(speed, change, self.manner), "waiting to change lanes"),
            self._following(own, seen, at, lead, ahead, suspect),
            self.for_people(own, seen),
        ]
        wish = min(wishes)
        self._wait(own, seen, at, wish[1])
        return self._checked(own, seen.where(~self._followed(seen, lead, ahead)), wish)

    def for_people(self, own: EgoVehicle, seen: Observation) -> tuple[float, str]:
        """Return no limit: the general prediction covers people."""
        return math.inf, "nothing"

    def debug(self, choice: Choice) -> dict[str, Any]:
        """Add the vehicles that it yields to and the vehicles that it expects to brake."""
        said = super().debug(choice)
        if choice.reason == "giving way":
            said["longitudinal"]["to"] = self.yielding.because
        trusted = self.yielding.trusted | self.changes.trusted
        if trusted:
            said["longitudinal"]["goes before"] = sorted(trusted)
        return said

    def _near(self, own: EgoVehicle, seen: Observation) -> Observation:
        """Return the actors in sight and on this level."""
        away = np.hypot(seen.xy_m[:, 0] - own.x_m, seen.xy_m[:, 1] - own.y_m)
        speed = max(own.speed_mps, 0.0)
        sight = _SIGHT_M + _SIGHT_S * (speed + np.minimum(seen.speed_mps, 25.0))
        return seen.where((away < np.maximum(sight, 60.0)) & (np.abs(seen.z_m - own.z_m) < 12.0))

    def _in_the_way(
        self, own: EgoVehicle, seen: Observation
    ) -> tuple[FloatArray, FloatArray, BoolArray]:
        """Return where each actor meets the line, its speed along it, and whether to follow it.

        Crossing actors are not followed; the prediction decides whether they leave in time.
        """
        first = int((self.along_m + own.front_m - BESIDE_M) / STEP_M)
        reach = int((_SIGHT_M + 5.0 * max(own.speed_mps, 0.0)) / STEP_M)
        side = own.half_width_m + np.where(seen.kind == PERSON, _PERSON_SIDE_M, _SIDE_M)
        if self._passed:
            side[self._closely(seen)] = own.half_width_m + _CLOSELY_M
        at, _ = first_along(self.line, first, first + reach, seen, side)
        lead = speed_along(self.line, at, seen.velocity_mps)
        k = np.clip(np.nan_to_num(at, posinf=0.0) / STEP_M, 0, len(self.line) - 1).astype(np.int64)
        yaw = self.line.yaw_rad[k]
        cross = np.abs(
            seen.velocity_mps[:, 1] * np.cos(yaw) - seen.velocity_mps[:, 0] * np.sin(yaw)
        )
        speed = seen.speed_mps
        crosses = (speed > 0.3) & (cross > _CROSSES * speed)
        return at, lead, np.isfinite(at) & ~crosses

    def _closely(self, seen: Observation) -> BoolArray:
        """Return a mask of the people whom the car passes closely."""
        return np.array(
            [actor_id in self._passed for actor_id in seen.actor_id.tolist()], dtype=np.bool_
        )

    def _wait(self, own: EgoVehicle, seen: Observation, at: FloatArray, why: str) -> None:
        """Count the waiting time for people on the line; after a limit, pass them closely."""
        before, self._stays = self._stays, {}
        if own.speed_mps > 0.3 or why not in _WAITING:
            return
        for k in np.flatnonzero((seen.kind == PERSON) & np.isfinite(at)).tolist():
            actor_id, here = int(seen.actor_id[k]), (float(seen.xy_m[k, 0]), float(seen.xy_m[k, 1]))
            waited_s, *place = before.get(actor_id, (0.0, *here))
            if math.dist(place, here) > _STAYS_M:
                waited_s, place = 0.0, [*here]
            self._stays[actor_id] = (waited_s + self.briefing.delta_s, place[0], place[1])
            if waited_s > _WAITS_FOR_S:
                self._passed[actor_id] = (place[0], place[1])

    def _blocking(
        self,
        own: EgoVehicle,
        seen: Observation,
        at: FloatArray,
        stood_s: FloatArray,
        moved: BoolArray,
    ) -> tuple[BoolArray, BoolArray]:
        """Return masks of the actors that block the line permanently, and that may do so."""
        in_way = np.isfinite(at)
        if not in_way.any():
            return in_way, in_way
        stands = seen.speed_mps < 0.1
        queues = np.array([self._queue_at(float(a)) for a in at], dtype=np.bool_)
        first = int(self.along_m / STEP_M)
        _, right, _ = project(self.line, first - 10, first + 220, seen.xy_m, seen.z_m)
        # Cars wait in the middle of their lane; a car at its edge is parked.
        left_there = ~moved & (stood_s > _PARKED_S) & (np.abs(right) > _OFF_CENTRE_M)
        waited = ~queues & (stood_s > _WAITS_S) & (own.speed_mps < 2.0)
        given_up = stood_s > np.where(queues, 2.5 * _LEFT_S, _LEFT_S)
        parked = (seen.kind == VEHICLE) & ((left_there & ~queues) | (waited & ~moved) | given_up)
        person = (seen.kind == PERSON) & (stood_s > 6.0)
        blocking = in_way & stands & (parked | person | (seen.kind == PROP))
        suspect = in_way & stands & ~moved & ~queues & (stood_s > 0.5 * _PARKED_S)
        return np.asarray(blocking), np.asarray(suspect | blocking)

    def _queue_at(self, at_m: float) -> bool:
        """Return whether traffic may wait here: a junction or a light is not far ahead."""
        if not math.isfinite(at_m):
            return False
        ahead = [p.entry_m - at_m for p in self.yielding.passages if p.entry_m > at_m - 2.0]
        return bool(ahead) and ahead[0] < 35.0

    def _free(self, own: EgoVehicle, seen: Observation) -> float:
        """Return the acceleration on a free road, lower beside people and on a bypass."""
        speed = max(own.speed_mps, 0.0)
        pull = self.cruise_mps2(own)
        hurry = self.bypass.hurries or self.yielding.is_crossing(self.along_m, own)
        if pull > 0.0 and hurry:
            pull *= _JUNCTION_MPS2 / self.manner.acceleration_mps2
        if self.yielding.caution:
            pull = min(pull, max(_CAUTION_MPS - speed, -1.8))
        top = self.bypass.top_mps
        if self._passed and self._is_close(own, seen):
            top = min(top, _CLOSELY_MPS)
        if top < math.inf:
            pull = min(pull, 1.5 * (top - speed))
        if speed > _KERB_MPS - 1.0 and bool(np.any(seen.kind == PERSON)):
            people = seen.where(seen.kind == PERSON)
            first = int(self.along_m / STEP_M)
            last = first + int((6.0 + 2.8 * speed) / STEP_M)
            side = np.full(len(people), own.half_width_m + _KERB_M)
            at, _ = first_along(self.line, first, last, people, side)
            if bool(np.isfinite(at).any()):
                pull = min(pull, max(0.8 * (_KERB_MPS - speed), -1.5))
        return pull

    def _is_close(self, own: EgoVehicle, seen: Observation) -> bool:
        """Return whether a person whom the ego passes closely is just ahead or beside it."""
        people = seen.where(self._closely(seen))
        first = int((self.along_m + own.rear_m) / STEP_M)
        last = int((self.along_m + own.front_m + _TO_GO_ROUND_M + 2.0) / STEP_M)
        side = np.full(len(people), own.half_width_m + _PERSON_SIDE_M)
        at, _ = first_along(self.line, max(first, 0), last, people, side)
        return bool(np.isfinite(at).any())

    def _following(
        self,
        own: EgoVehicle,
        seen: Observation,
        at: FloatArray,
        lead: FloatArray,
        ahead: BoolArray,
        suspect: BoolArray,
    ) -> tuple[float, str]:
        """Return the lowest acceleration that an actor on the line requires, and its kind.

        Behind actors that may block the line permanently, the ego keeps the room for a bypass.
        """
        best, what = math.inf, "nothing"
        speed = max(own.speed_mps, 0.0)
        for k in np.flatnonzero(ahead):
            gap = float(at[k]) - self.along_m - own.front_m
            kind = int(seen.kind[k])
            room = _TO_GO_ROUND_M if suspect[k] else 3.0 if kind == PERSON else None
            pull = follow(speed, gap, float(lead[k]), self.manner, standstill_m=room)
            if pull < best:
                best, what = pull, _KINDS[kind]
        return best, what

    def _followed(self, seen: Observation, lead: FloatArray, ahead: BoolArray) -> BoolArray:
        """Return a mask of the actors to follow: on the line, standing or going the same way."""
        speed = seen.speed_mps
        return np.asarray(ahead & ((speed < 0.3) | (lead > 0.8 * speed)))

    def _checked(self, own: EgoVehicle, seen: Observation, wish: tuple[float, str]) -> Choice:
        """Return the wish, or the mildest braking without contact in the forecast."""
        wanted, reason = wish
        around = self._matters(own, seen)
        speed = max(own.speed_mps, 0.0)
        # After braking for an actor, roll for a moment if rolling is free of contact.
        holds = self._braked_s < _HOLD_S and wanted > 0.0 and speed > 0.5
        first = [0.0, wanted] if holds else [wanted]
        pulls = np.concatenate([first, _BRAKES_MPS2[wanted - 0.3 > _BRAKES_MPS2]])
        trusted = self.yielding.trusted | self.changes.trusted
        if trusted:
            around = around.where(~_will_brake(own, around, trusted))
        margins = USUAL_MARGINS if self._stuck_s < _STUCK_S and not trusted else _IMPATIENT_MARGINS
        top = max(speed, float(self.allowed_mps[int(self.along_m / STEP_M)]))
        paths = foresee(around, self.lanes, trusted)
        on_road = self._on_road(own, around)
        trial = try_out(self.line, self.along_m, own, around, paths, pulls, top, margins, on_road)
        best = trial.first_free(clear=True)
        if best is not None and best < len(first):
            self._braked_s += self.briefing.delta_s
            self._stuck_s = 0.0 if speed > 0.5 else self._stuck_s
            self._person_s = 0.0
            return Choice(acceleration_mps2=float(pulls[best]), reason=reason)
        self._braked_s = 0.0
        if speed < 0.3:
            self._stuck_s += self.briefing.delta_s
        row = int(trial.who[0])
        if best is None:
            pull = self._second_best(own, around, paths, pulls, top, trial)
        else:
            pull = float(pulls[best])
        what = "crossing" if row < 0 else _KINDS[int(around.kind[row])]
        self._person_s = self._person_s + self.briefing.delta_s if what == "person" else 0.0
        if what == "person" and self._can_wait(own, around, row, trial.first_s[0]):
            pull = max(pull, _WAIT_MPS2)
        pull = min(pull, wanted) if pull < 0.0 else pull
        return Choice(acceleration_mps2=pull, reason=f"{what} foreseen")

    def _second_best(
        self,
        own: EgoVehicle,
        around: Observation,
        paths: Paths,
        pulls: FloatArray,
        top_mps: float,
        trial: Trial,
    ) -> float:
        """Choose if no option is clear: pass vehicles closer, or stop in another actor's path."""
        tight = try_out(self.line, self.along_m, own, around, paths, pulls, top_mps, _TIGHT_MARGINS)
        free = tight.first_free(clear=True)
        if free is not None:
            return float(pulls[free])
        row = int(trial.who[0])
        for_vehicle = pulls.max() > 0.0 and row >= 0 and around.kind[row] == VEHICLE
        if for_vehicle and self._goes_before(own, around, top_mps):
            return _BOOST_MPS2
        free = trial.first_free(clear=False)
        if free is not None:
            return float(pulls[free])
        if for_vehicle:
            return self._least_bad(own, around, paths, pulls, top_mps)
        return float(pulls[-1])

    def _goes_before(self, own: EgoVehicle, around: Observation, top_mps: float) -> bool:
        """Return whether the ego can leave a junction if other vehicles brake for it.

        A stop in their path would make them brake harder.
        """
        if own.speed_mps < _COMMITTED_MPS or not self.yielding.is_inside(self.along_m, own):
            return False
        others = frozenset(around.actor_id[around.kind == VEHICLE].tolist())
        paths = foresee(around, self.lanes, others, _FIRM_MPS2)
        boost = try_out(
            self.line,
            self.along_m,
            own,
            around,
            paths,
            np.array([_BOOST_MPS2]),
            top_mps,
            _ZERO_MARGINS,
        )
        return bool(np.isinf(boost.first_s[0]))

    def _can_wait(self, own: EgoVehicle, around: Observation, row: int, first_s: float) -> bool:
        """Return whether the ego can still brake later for a person beside the road."""
        speed = max(own.speed_mps, 0.0)
        room = max(speed * first_s - 0.5, 0.5)
        if speed * speed / (2.0 * room) > _LATEST_MPS2 and self._person_s > _GLANCE_S:
            return False
        return not self._is_road(around, row)

    def _on_road(self, own: EgoVehicle, around: Observation) -> BoolArray:
        """Return a mask of the nearby people who walk on a driving lane."""
        away = np.hypot(around.xy_m[:, 0] - own.x_m, around.xy_m[:, 1] - own.y_m)
        walks = (around.kind == PERSON) & (around.speed_mps > 0.3) & (away < _CROSSERS_M)
        on_road = np.zeros(len(around), np.bool_)
        for k in np.flatnonzero(walks):
            on_road[k] = self._is_road(around, int(k))
        return on_road

    def _is_road(self, around: Observation, row: int) -> bool:
        """Return whether a person is on a driving lane; cached to 10 cm, since the map is slow."""
        x_m, y_m = around.xy_m[row].tolist()
        cell = round(x_m / _CELL_M), round(y_m / _CELL_M), round(float(around.z_m[row]))
        known = self._road.get(cell)
        if known is None:
            place = carla.Location(cell[0] * _CELL_M, cell[1] * _CELL_M, float(cell[2]))
            known = self.briefing.map.get_waypoint(place, False, _ROAD) is not None
            self._road[cell] = known
        return known

    def _least_bad(
        self, own: EgoVehicle, around: Observation, paths: Paths, pulls: FloatArray, top_mps: float
    ) -> float:
        """Choose if no option avoids contact: accelerate if that avoids it, else full brake."""
        boost = try_out(
            self.line,
            self.along_m,
            own,
            around,
            paths,
            np.array([_BOOST_MPS2]),
            max(top_mps, own.speed_mps + 4.0),
            _ZERO_MARGINS,
        )
        if np.isinf(boost.first_s[0]) and own.speed_mps > 2.0:
            return _BOOST_MPS2
        return float(pulls[-1])

    def _matters(self, own: EgoVehicle, seen: Observation) -> Observation:
        """Leave out actors behind the ego in its lane, which are responsible themselves."""
        dx, dy = seen.xy_m[:, 0] - own.x_m, seen.xy_m[:, 1] - own.y_m
        cos, sin = math.cos(own.yaw_rad), math.sin(own.yaw_rad)
        ahead = dx * cos + dy * sin
        agrees = seen.cos * cos + seen.sin * sin > 0.5
        behind = (ahead + seen.half_m[:, 0] < own.rear_m + 1.0) & (agrees | (seen.speed_mps < 0.3))
        # A vehicle that overtakes in another lane counts: the line may cross that lane.
        aside = np.abs(dy * cos - dx * sin)
        overtakes = (seen.speed_mps > max(own.speed_mps, 0.0) + 1.0) & (aside > _OWN_LANE_M)
        behind &= ~(overtakes & (seen.kind == VEHICLE))
        reach = 12.0 + 4.2 * (max(own.speed_mps, 2.0) + np.minimum(seen.speed_mps, 20.0))
        return seen.where(~behind & (np.hypot(dx, dy) < reach))


def _will_brake(own: EgoVehicle, seen: Observation, trusted: frozenset[int]) -> BoolArray:
    """Return a mask of the vehicles that are expected to brake and still can.

    Once the ego moves, all of them are: a stop in their path would be worse than to continue.
    """
    expected = np.array([actor_id in trusted for actor_id in seen.actor_id.tolist()], np.bool_)
    if own.speed_mps > _COMMITTED_MPS:
        return expected
    dx, dy = seen.xy_m[:, 0] - own.x_m, seen.xy_m[:, 1] - own.y_m
    away = np.maximum(np.hypot(dx, dy), 0.1)
    comes = np.maximum(-(dx * seen.velocity_mps[:, 0] + dy * seen.velocity_mps[:, 1]) / away, 0.0)
    room = np.maximum(away - own.half_length_m - seen.half_m[:, 0] - _TRUST_M, 0.0)
    can_stop: BoolArray = comes**2 < 2.0 * _FIRM_MPS2 * room
    return expected & can_stop


def _stays(seen: Observation, actor_id: int, place_m: tuple[float, float]) -> bool:
    """Return whether an actor is still at a place."""
    (rows,) = np.nonzero(seen.actor_id == actor_id)
    return bool(len(rows)) and math.dist(seen.xy_m[rows[0]].tolist(), place_m) <= _STAYS_M
