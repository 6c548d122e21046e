"""People whose decisions come from a policy of the user.

The contract (``PersonPolicy``, ``PersonView``, ``PersonAct``) is that of ``jaywalk_agent``, so that
a policy may also run in a process of its own. Perception stays in the world: a policy knows of a
vehicle only what the person has seen.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from jaywalk.actors.reactive._seeing import notice
from jaywalk.actors.reactive.model import ReactionModel
from jaywalk.actors.reactive.traits import (
    AT_KERB,
    ATTENTIVE,
    COMMITTED,
    HURRIES,
    NONE,
    ON_ROAD,
    PHONE,
    STEPS_BACK,
    WAITS,
    WANTS,
    YIELDS,
    Reactions,
)
from jaywalk.core.arrays import BoolArray, FloatArray, IntArray
from jaywalk.core.errors import InfrastructureError, PeopleModelError
from jaywalk.core.seeds import stream
from jaywalk.core.user_code import PLACE, error_words, shown
from jaywalk.geometry.angle import wrap_angle
from jaywalk.town.walkways import underfoot
from jaywalk_agent import LinkError, PersonAct, PersonPolicy, PersonTraits, PersonView
from jaywalk_agent.people import (
    ACT_S,
    LOOKS_AT_PHONE,
    NEAR_M,
    NEIGHBOURS,
    OBSTACLES,
    checked_act,
)

_STANDS_MPS: Final = 0.3  # slower wishes are a stop
_RUN_MPS: Final = 4.0  # nobody runs faster
_NECK_RAD: Final = np.deg2rad(110.0)
_TURN_RAD: Final = 1.2  # largest angle between way and course, as for our own model
_BACK_RAD: Final = 2.0  # courses farther from the way lead back
_DECIDES_M: Final = 1.5  # who walks on this near to the road is about to step onto it
_WAITS_M: Final = 5.0  # who stands this near to the road waits
_ON_VEHICLE_RAD: Final = 0.15  # a gaze this near to a vehicle is a look at it


@dataclass(slots=True, kw_only=True)
class PolicyModel(ReactionModel):
    """Reactions of which some or all come from a policy.

    Attributes:
        policy: Decides for the people of ``own``.
        name: The policy as the user wrote it, for messages.
        goal_m: (n, 2) goals of the people.
        seed: Seed of the episode.
        own: Rows of the people who follow the policy; the others follow our own model.
        limit: Makes a context that ends calls of the policy that take too long.
    """

    policy: PersonPolicy
    name: str
    goal_m: FloatArray
    seed: int
    own: BoolArray
    limit: Callable[[], AbstractContextManager[Any]] = nullcontext
    _who: PersonTraits = field(init=False)
    _act: PersonAct | None = field(default=None, init=False)
    _answered: BoolArray = field(init=False)  # people whom the last answer is for
    _startled: BoolArray = field(init=False)
    _stood_s: FloatArray = field(init=False)
    _closed: bool = field(default=False, init=False)
    _numbers: dict[int, int] = field(default_factory=dict, init=False)  # by actor id, from 1 on

    def __post_init__(self) -> None:
        ReactionModel.__post_init__(self)
        count = len(self.own)
        self._startled, self._stood_s = np.zeros(count, np.bool_), np.zeros(count)
        self._answered = np.zeros(count, np.bool_)
        # A copy: what people look at is up to the policy, whatever their traits are.
        self._who = PersonTraits(**{k: v.copy() for k, v in self.traits._asdict().items()})
        attention = self.traits.attention.copy()
        attention[self.own] = ATTENTIVE
        self.traits = self.traits._replace(attention=attention)

    @classmethod
    def replacing(
        cls,
        model: ReactionModel,
        policy: PersonPolicy,
        name: str,
        goal_m: FloatArray,
        seed: int,
        own: BoolArray,
    ) -> PolicyModel:
        """Return a model for the same people as one that has not begun yet."""
        return cls(
            key=model.key,
            traits=model.traits,
            grid=model.grid,
            delta_s=model.delta_s,
            settings=model.settings,
            shift_s=model.shift_s,
            policy=policy,
            name=name,
            goal_m=goal_m,
            seed=seed,
            own=own,
        )

    def step(
        self,
        ids: IntArray,
        vehicle: FloatArray,
        blocker: FloatArray,
        other: FloatArray,
        thing: FloatArray | None = None,
    ) -> None:
        """Advance all active people by one tick; every 0.1 s the policy is asked.

        Raises:
            PeopleModelError: The policy failed.
        """
        rows, tick = self.rows, self._tick
        time_s = tick * self.delta_s
        if tick == 0:
            rng = stream(self.seed, "people policy")
            self._asked(lambda: self.policy.reset(self._who, self.goal_m.copy(), rng), "reset()")
        mine = rows.active & self.own
        car = self._cars.update(ids, vehicle)
        # The server's ids depend on earlier episodes, and noise and policies see these numbers.
        ids = self._numbered(ids)
        if self.own.all():
            self._tick += 1
        else:
            rows.active[self.own] = False
            self.react(ids, car, blocker, other, thing)
            rows.active[mine] = True
        notice(
            self.key,
            tick,
            time_s,
            self.delta_s,
            rows,
            self.traits,
            self.settings,
            self.own,
            self._startled,
            car,
            ids,
            blocker,
            self.grid,
        )
        stands = mine & (rows.where == AT_KERB) & (np.hypot(rows.vx, rows.vy) < _STANDS_MPS)
        self._stood_s[:] = np.where(stands, self._stood_s + self.delta_s, self._stood_s)
        self._stood_s[rows.where != AT_KERB] = 0.0
        if tick % max(round(ACT_S / self.delta_s), 1) == 0 and mine.any():
            seen = self._view(time_s, mine, other, blocker if thing is None else thing)
            self._act = self._asked(
                lambda: checked_act(self.policy.act(seen), len(mine)), f"act() at {time_s:g} s"
            )
            self._startled[:], self._answered = False, mine
        if self._act is not None:
            self._carry_out(self._act, mine & self._answered)

    def recorded(self, ids: IntArray, gaze_rad: FloatArray | None = None) -> dict[str, Any]:
        """Return perception and decisions with the server's ids of vehicles."""
        parts = ReactionModel.recorded(self, ids, gaze_rad)
        actors = np.array([0, *self._numbers], np.int64)
        return parts | {name: actors[parts[name]] for name in ("gaze_id", "perceived_id")}

    def _numbered(self, ids: IntArray) -> IntArray:
        """Return numbers of vehicles, in the order in which they first appear."""
        numbers = self._numbers
        return np.array([numbers.setdefault(k, len(numbers) + 1) for k in ids.tolist()], np.int64)

    def close(self) -> None:
        """Close the policy, if it can be closed; later calls do nothing."""
        close = getattr(self.policy, "close", None)
        if callable(close) and not self._closed:
            self._closed = True
            with suppress(Exception):  # the episode is over
                close()

    def _asked(self, call: Callable[[], Any], what: str) -> Any:
        try:
            with self.limit():
                return call()
        except InfrastructureError:
            raise  # no program listens at the address
        except (Exception, SystemExit) as problem:
            words = policy_failure(problem, self.name)
            raise PeopleModelError(
                f"The people model {self.name} failed in {what}: {words}"
            ) from problem

    def _view(
        self, time_s: float, active: BoolArray, other: FloatArray, thing: FloatArray
    ) -> PersonView:
        """Return what the people perceive now."""
        rows = self.rows
        place = np.column_stack([rows.x, rows.y])
        memory = rows.memory
        near = _people_near(place, np.column_stack([rows.vx, rows.vy]), other)
        obstacles, obstacle_count = _things_near(place, thing)
        return PersonView(
            time_s=time_s,
            active=active.copy(),
            position_m=place,
            velocity_mps=np.column_stack([rows.vx, rows.vy]),
            yaw_rad=rows.yaw.copy(),
            surface=np.array([int(underfoot(self.grid, float(x), float(y))) for x, y in place]),
            aim_m=np.column_stack([rows.aim_x, rows.aim_y]),
            left_m=rows.left_m.copy(),
            place=rows.where.copy(),
            kerb_m=rows.kerb_m.copy(),
            onto_m=rows.onto_m.copy(),
            painted=rows.painted.copy(),
            may_go=rows.may_go.copy(),
            waited_s=self._stood_s.copy(),
            haste=rows.haste.copy(),
            vehicle_count=(rows.memory_id != 0).sum(axis=1),
            vehicle_id=rows.memory_id.copy(),
            vehicle_m=memory[:, :, 0:2].copy(),
            vehicle_mps=memory[:, :, 6:8].copy(),
            vehicle_heading=memory[:, :, 2:4].copy(),
            vehicle_half_m=memory[:, :, 4:6].copy(),
            vehicle_mps2=memory[:, :, 9].copy(),
            vehicle_radps=memory[:, :, 8].copy(),
            vehicle_seen_s=rows.memory_s.copy(),
            startled=self._startled.copy(),
            **near,
            obstacle_count=obstacle_count,
            obstacle=obstacles,
        )

    def _carry_out(self, act: PersonAct, mine: BoolArray) -> None:
        """Write an answer to the rows that posed people follow."""
        assert act.gaze_m is not None
        assert act.run is not None
        rows, free = self.rows, self.traits.free_mps
        vx, vy = act.velocity_mps.T
        fastest = np.where(act.run, _RUN_MPS, self.settings.fastest * free)
        wish = np.arctan2(rows.aim_y - rows.y, rows.aim_x - rows.x)
        speed = np.minimum(np.hypot(vx, vy), fastest)
        course = np.where(speed > 0.0, np.arctan2(vy, vx), wish)
        turn = wrap_angle(course - wish)
        gaze = wrap_angle(
            np.arctan2(act.gaze_m[:, 1] - rows.y, act.gaze_m[:, 0] - rows.x) - rows.yaw
        )
        looking = np.isfinite(gaze)
        gaze = np.where(looking, np.clip(gaze, -_NECK_RAD, _NECK_RAD), 0.0)
        phone = np.where(act.gesture == LOOKS_AT_PHONE, PHONE, ATTENTIVE)
        values: dict[str, Any] = {
            "speed": speed,
            "wanted": speed,
            "course": course,
            "turn": np.clip(turn, -_TURN_RAD, _TURN_RAD),
            "decision": _decisions(rows, speed, turn, act.run),
            "looking": looking,
            "gaze_rad": gaze,
            "gaze_id": _looked_at(rows, gaze, looking),
        }
        for name, value in values.items():
            getattr(rows, name)[mine] = value[mine]
        self.traits.attention[mine] = phone[mine]


def policy_failure(problem: BaseException, name: str) -> str:
    """Describe why a policy failed, with file and line, also of a policy in another process."""
    if not isinstance(problem, LinkError):
        return error_words(problem, name)
    text = str(problem).strip()
    places = PLACE.findall(text)
    where = f"{shown(places[-1][0])}, line {places[-1][1]}: " if places else ""
    return f"{where}{text.splitlines()[-1].strip().rstrip('.')}."


def _decisions(rows: Reactions, speed: FloatArray, turn: FloatArray, run: BoolArray) -> IntArray:
    """Return decisions in the words of the record; activities go by them."""
    goes = speed >= _STANDS_MPS
    decision = np.full(len(speed), NONE)
    nears = rows.where == AT_KERB
    decision[nears] = WANTS
    decision[nears & goes & (rows.kerb_m < _DECIDES_M)] = COMMITTED
    decision[nears & ~goes & (rows.kerb_m < _WAITS_M)] = WAITS
    on_road = rows.where == ON_ROAD
    going = np.where(run, HURRIES, COMMITTED)
    going = np.where(np.abs(turn) > _BACK_RAD, STEPS_BACK, going)
    decision[on_road] = np.where(goes, going, YIELDS)[on_road]
    return decision


def _looked_at(rows: Reactions, gaze: FloatArray, looking: BoolArray) -> IntArray:
    """Return the remembered vehicle nearest to each gaze; 0: none is near it."""
    dx = rows.memory[:, :, 0] - rows.x[:, None]
    dy = rows.memory[:, :, 1] - rows.y[:, None]
    away = np.abs(wrap_angle(np.arctan2(dy, dx) - (rows.yaw + gaze)[:, None]))
    away[rows.memory_id == 0] = np.inf
    best = away.argmin(axis=1)
    row = np.arange(len(gaze))
    found = looking & (away[row, best] < _ON_VEHICLE_RAD)
    return np.where(found, rows.memory_id[row, best], 0)


def _people_near(
    place: FloatArray, velocity: FloatArray, other: FloatArray
) -> dict[str, FloatArray | IntArray]:
    """Return the parts of a view about other people, nearest first."""
    count = len(place)
    spot = np.concatenate([place, other[:, :2]])
    pace = np.concatenate([velocity, other[:, 2:4]])
    away = np.hypot(*np.moveaxis(spot[None] - place[:, None], 2, 0))
    away[np.arange(count), np.arange(count)] = np.inf
    order = np.argsort(away, axis=1, kind="stable")[:, :NEIGHBOURS]
    known = np.take_along_axis(away, order, axis=1) <= NEAR_M
    number = known.sum(axis=1)
    missing = NEIGHBOURS - order.shape[1]
    order = np.pad(order, ((0, 0), (0, missing)))
    known = np.pad(known, ((0, 0), (0, missing)))
    row = np.where(known & (order < count), order, -1)
    return {
        "person_count": number,
        "person_m": np.where(known[..., None], spot[order], 0.0),
        "person_mps": np.where(known[..., None], pace[order], 0.0),
        "person_row": row,
    }


def _things_near(place: FloatArray, thing: FloatArray) -> tuple[FloatArray, IntArray]:
    """Return boxes near each person (n, 12, 6), nearest first, and their numbers."""
    boxes = np.zeros((len(place), OBSTACLES, 6))
    if not len(thing):
        return boxes, np.zeros(len(place), np.int64)
    dx, dy = (place[:, None, axis] - thing[None, :, axis] for axis in range(2))
    along = np.abs(dx * thing[:, 2] + dy * thing[:, 3]) - thing[:, 4]
    aside = np.abs(dy * thing[:, 2] - dx * thing[:, 3]) - thing[:, 5]
    away = np.hypot(np.maximum(along, 0.0), np.maximum(aside, 0.0))
    order = np.argsort(away, axis=1, kind="stable")[:, :OBSTACLES]
    known = np.take_along_axis(away, order, axis=1) <= NEAR_M
    boxes[:, : order.shape[1]] = np.where(known[..., None], thing[order], 0.0)
    return boxes, known.sum(axis=1)
