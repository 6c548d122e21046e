"""People of your own: what a policy for pedestrians sees, and what it answers.

One call of :meth:`PersonPolicy.act` serves all people of an episode: arrays have a row per person.
Frame: CARLA's, left-handed: x east, y south; metres, seconds, radians; yaw is clockwise from above.
"""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, fields
from typing import Any, Callable, Protocol

import numpy as np

from jaywalk_agent.errors import ProtocolError
from jaywalk_agent.sight import Array
from jaywalk_agent.wire import build

VEHICLES = 8  # vehicles that a person remembers
NEIGHBOURS = 12  # people whom a person notices
OBSTACLES = 12  # standing things that a person notices
NEAR_M = 8.0  # largest distance of these people and things
ACT_S = 0.1  # time between two calls of act

# Surfaces underfoot.
NOWHERE, SIDEWALK, CROSSWALK, VERGE, ROAD = range(5)
# Relation to the road.
OFF_ROAD, AT_KERB, ON_ROAD = range(3)
# Gestures.
NO_GESTURE, LOOKS_AT_PHONE = range(2)
GESTURES = (NO_GESTURE, LOOKS_AT_PHONE)
# Age groups, and kinds of attention.
ADULT, CHILD, SENIOR = range(3)
ATTENTIVE, GLANCING, PHONE, OBLIVIOUS = range(4)


@dataclass(frozen=True)
class PersonTraits:
    """Traits of the people, as Jaywalk draws them; a policy may use or ignore them."""

    age: Array  # (n,) ADULT, CHILD or SENIOR
    attention: Array  # (n,) ATTENTIVE, GLANCING, PHONE or OBLIVIOUS
    free_mps: Array  # (n,) speed of their clips: the speed at which they like to walk
    bold_s: Array  # (n,) shift of every gap that they accept
    patience_s: Array  # (n,)
    margin: Array  # (n,) factor on the room that they keep to vehicles
    first_look_s: Array  # (n,) before the road
    runs: Array  # (n,) bool
    group: Array  # (n,) row of the leader of the group; -1: alone


@dataclass(frozen=True)
class PersonView:
    """What people perceive. Of people who are not ``active`` only place and velocity are valid."""

    time_s: float  # since the episode began
    active: Array  # (n,) bool: the person moves, and the answer counts
    position_m: Array  # (n, 2)
    velocity_mps: Array  # (n, 2)
    yaw_rad: Array  # (n,) of the body
    surface: Array  # (n,) NOWHERE, SIDEWALK, CROSSWALK, VERGE or ROAD underfoot
    # The way to the goal.
    aim_m: Array  # (n, 2) a point ahead on the way
    left_m: Array  # (n,) rest of the way over the road, or to the goal
    place: Array  # (n,) OFF_ROAD, AT_KERB (within 20 m before a road to cross) or ON_ROAD
    kerb_m: Array  # (n,) to the road along the way; inf: the way crosses none
    onto_m: Array  # (n,) walked since the road began; inf: the person cannot go back
    painted: Array  # (n,) bool: the way over the road is a crosswalk
    may_go: Array  # (n,) bool: the pedestrian light allows it, or there is none
    waited_s: Array  # (n,) time stood at the kerb
    haste: Array  # (n,) factor on the speed that keeps an appointment with the ego or the group
    # Vehicles that they remember, as they were when last seen; each keeps its column.
    vehicle_count: Array  # (n,)
    vehicle_id: Array  # (n, 8) number in this episode; 0: an empty column
    vehicle_m: Array  # (n, 8, 2) centre
    vehicle_mps: Array  # (n, 8, 2)
    vehicle_heading: Array  # (n, 8, 2) cosine and sine of the yaw
    vehicle_half_m: Array  # (n, 8, 2) half length and half width
    vehicle_mps2: Array  # (n, 8) acceleration along the heading; negative: it brakes
    vehicle_radps: Array  # (n, 8) yaw rate
    vehicle_seen_s: Array  # (n, 8) time at which it was last seen
    startled: Array  # (n,) bool: a vehicle has just come within a second
    # Other people within 8 m, nearest first, up to the count.
    person_count: Array  # (n,)
    person_m: Array  # (n, 12, 2)
    person_mps: Array  # (n, 12, 2)
    person_row: Array  # (n, 12) row of the person in these arrays; -1: somebody else
    # Standing vehicles and tall props within 8 m, nearest first, up to the count.
    obstacle_count: Array  # (n,)
    obstacle: Array  # (n, 12, 6) x, y, cosine, sine, half length, half width

    @property
    def vehicle_age_s(self) -> Array:
        """Time since each vehicle was last seen (n, 8)."""
        return self.time_s - self.vehicle_seen_s

    @property
    def vehicle_now_m(self) -> Array:
        """Places of the vehicles now, if they went on at constant velocity (n, 8, 2)."""
        return self.vehicle_m + self.vehicle_age_s[..., None] * self.vehicle_mps

    @property
    def onward(self) -> Array:
        """Unit vectors along the way (n, 2)."""
        way = self.aim_m - self.position_m
        return way / np.maximum(np.hypot(way[:, 0], way[:, 1]), 1e-6)[:, None]


@dataclass(frozen=True)
class PersonAct:
    """What people do until the next call."""

    velocity_mps: Array  # (n, 2) wanted velocity
    gaze_m: Array | None = None  # (n, 2) point that they look at; NaN: straight ahead
    gesture: Array | None = None  # (n,) NO_GESTURE or LOOKS_AT_PHONE
    run: Array | None = None  # (n,) bool: run if that is faster than the walk


class PersonPolicy(Protocol):
    """Decisions of all people of an episode; one object per episode.

    Example:
        >>> class Straight:
        ...     def reset(self, who, goal_m, rng):
        ...         self.who = who
        ...     def act(self, seen):
        ...         return PersonAct(seen.onward * self.who.free_mps[:, None])
    """

    def reset(self, who: PersonTraits, goal_m: Array, rng: np.random.Generator) -> None:
        """Get ready for an episode; ``rng`` is the only allowed source of random numbers."""

    def act(self, seen: PersonView) -> PersonAct:
        """Answer for the next 0.1 s."""


METHODS = ("reset", "act")


def checked_act(said: Any, count: int) -> PersonAct:
    """Return an answer with all of its arrays, in their types.

    Raises:
        ValueError: It has another form; the message names the part and the expected form.
    """
    if not isinstance(said, PersonAct):
        raise ValueError(
            f"act() returned {type(said).__name__}, expected jaywalk_agent.PersonAct(velocity_mps)."
        )
    velocity = _reals("velocity_mps", said.velocity_mps, (count, 2))
    if not np.isfinite(velocity).all():
        row = int(np.flatnonzero(~np.isfinite(velocity).all(axis=1))[0])
        raise ValueError(
            f"velocity_mps[{row}] is {velocity[row].tolist()}, expected finite numbers."
        )
    gaze = np.full((count, 2), np.nan)
    if said.gaze_m is not None:
        gaze = _reals("gaze_m", said.gaze_m, (count, 2))
        if np.isinf(gaze).any():
            raise ValueError("gaze_m holds an infinite number; use NaN for straight ahead.")
    gesture = np.zeros(count, np.int64)
    if said.gesture is not None:
        wanted = _reals("gesture", said.gesture, (count,))
        if not np.isin(wanted, GESTURES).all():
            raise ValueError(
                f"gesture holds {wanted[~np.isin(wanted, GESTURES)][0]:g}, expected "
                f"{NO_GESTURE} (none) or {LOOKS_AT_PHONE} (looks at a phone)."
            )
        gesture = wanted.astype(np.int64)
    run = np.zeros(count, np.bool_)
    if said.run is not None:
        run = _reals("run", said.run, (count,)) != 0.0
    return PersonAct(velocity, gaze, gesture, run)


def _reals(name: str, value: Any, shape: tuple[int, ...]) -> Array:
    try:
        array = np.array(value, np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            f"{name} is {type(value).__name__}, expected an array of numbers."
        ) from None
    if array.shape != shape:
        raise ValueError(
            f"{name} has the shape {array.shape}, expected {shape}: one row per person."
        )
    return array


def example_view(count: int) -> PersonView:
    """Return a view of people who walk along x and know of one car, to try a policy on."""
    row = np.arange(count, dtype=np.float64)
    cars, near = (count, VEHICLES), (count, NEIGHBOURS)
    place, flags = np.column_stack([np.zeros(count), 5.0 * row]), np.zeros(count, np.bool_)
    view: dict[str, Any] = {
        "time_s": 1.0,
        "active": ~flags,
        "position_m": place,
        "velocity_mps": np.column_stack([np.ones(count), np.zeros(count)]),
        "yaw_rad": np.zeros(count),
        "surface": np.full(count, SIDEWALK),
        "aim_m": place + np.array([2.0, 0.0]),
        "left_m": np.full(count, 7.0),
        "place": np.full(count, AT_KERB),
        "kerb_m": np.full(count, 2.0),
        "onto_m": np.full(count, math.inf),
        "painted": flags,
        "may_go": ~flags,
        "waited_s": np.zeros(count),
        "haste": np.ones(count),
        "vehicle_count": np.ones(count, np.int64),
        "vehicle_id": np.zeros(cars, np.int64),
        "vehicle_m": np.zeros((*cars, 2)),
        "vehicle_mps": np.zeros((*cars, 2)),
        "vehicle_heading": np.zeros((*cars, 2)),
        "vehicle_half_m": np.zeros((*cars, 2)),
        "vehicle_mps2": np.zeros(cars),
        "vehicle_radps": np.zeros(cars),
        "vehicle_seen_s": np.zeros(cars),
        "startled": flags,
        "person_count": np.zeros(count, np.int64),
        "person_m": np.zeros((*near, 2)),
        "person_mps": np.zeros((*near, 2)),
        "person_row": np.full(near, -1),
        "obstacle_count": np.zeros(count, np.int64),
        "obstacle": np.zeros((count, OBSTACLES, 6)),
    }
    view["vehicle_id"][:, 0] = 1
    view["vehicle_m"][:, 0] = place + np.array([5.0, -20.0])
    view["vehicle_mps"][:, 0] = 0.0, 8.0
    view["vehicle_heading"][:, 0] = 0.0, 1.0
    view["vehicle_half_m"][:, 0] = 2.4, 0.9
    view["vehicle_seen_s"][:, 0] = 0.9
    return PersonView(**view)


def example_traits(count: int) -> PersonTraits:
    """Return traits of ordinary adults, to try a policy on."""
    return PersonTraits(
        age=np.zeros(count, np.int64),
        attention=np.zeros(count, np.int64),
        free_mps=np.full(count, 1.3),
        bold_s=np.zeros(count),
        patience_s=np.full(count, 18.0),
        margin=np.ones(count),
        first_look_s=np.full(count, 2.0),
        runs=np.zeros(count, np.bool_),
        group=np.full(count, -1),
    )


def try_policy(policy: PersonPolicy, count: int = 2) -> None:
    """Reset a policy and ask it once about people of an example.

    Raises:
        ValueError: Its answer has another form.
    """
    view = example_view(count)
    policy.reset(example_traits(count), view.aim_m.copy(), np.random.default_rng(1))
    checked_act(policy.act(view), count)


def policies_in(module: Any) -> list[type[PersonPolicy]]:
    """Return the classes with the methods of :class:`PersonPolicy` that a module itself defines."""
    return [
        thing
        for thing in vars(module).values()
        if isinstance(thing, type)
        and thing.__module__ == module.__name__
        and all(callable(getattr(thing, method, None)) for method in METHODS)
    ]


def only_policy(module: Any, file: str) -> type[PersonPolicy]:
    """Return the one policy that a module defines.

    Raises:
        ImportError: There is none, or more than one.
    """
    kinds = policies_in(module)
    if len(kinds) != 1:
        names = ", ".join(kind.__name__ for kind in kinds) or "none"
        raise ImportError(
            f"{file} defines {len(kinds)} people models ({names}), expected exactly one class "
            "with the methods reset(self, who, goal_m, rng) and act(self, seen)."
        )
    return kinds[0]


def load_people(path: str | os.PathLike[str]) -> Callable[[], PersonPolicy]:
    """Return the one class with the methods of :class:`PersonPolicy` that a Python file defines.

    Raises:
        ImportError: There is no such file, or not exactly one such class in it.
    """
    from jaywalk_agent.loading import import_path

    return only_policy(import_path(path), os.path.abspath(os.fspath(path)))


def traits_from(parts: Any) -> PersonTraits:
    """Return the traits in a ``setup`` message."""
    return build(PersonTraits, parts, "who")


def view_from(parts: dict[str, Any]) -> PersonView:
    """Return the view in a ``step`` message."""
    return build(PersonView, parts, "step")


def act_from(parts: dict[str, Any]) -> PersonAct:
    """Return the answer in an ``act`` message, unchecked."""
    known = {field.name for field in fields(PersonAct)}
    if "velocity_mps" not in parts:
        raise ProtocolError("'act' has no 'velocity_mps'.")
    return PersonAct(**{name: value for name, value in parts.items() if name in known})
