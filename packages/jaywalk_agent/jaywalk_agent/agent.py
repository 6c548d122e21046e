"""What an agent is, and what it answers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Sequence

from jaywalk_agent.sight import Array, Briefing, Moment


@dataclass(frozen=True)
class Control:
    """The pedals and the wheel until the next tick."""

    throttle: float = 0.0  # 0 to 1
    steer: float = 0.0  # -1 (left) to 1 (right)
    brake: float = 0.0  # 0 to 1
    hand_brake: bool = False
    reverse: bool = False


@dataclass(frozen=True)
class Forecast:
    """Where a person may be: a Gaussian mixture, or samples where ``covariance_m2`` is None.

    World coordinates. The person is named by ``actor_id``, or by where it stands now
    (``position_m``), for agents that know no ids: the nearest one within 2 m is meant.
    """

    time_s: Array  # (h,) from now, rising
    mean_m: Array  # (m, h, 2)
    weight: Array | None = None  # (m,) None: all alike
    covariance_m2: Array | None = None  # (m, h, 2, 2)
    actor_id: int | None = None
    position_m: Sequence[float] | None = None  # (2,)
    source: str = ""  # predictor with its version; "" for the agent's name


@dataclass(frozen=True)
class Plan:
    """Where the agent means to go, in world coordinates."""

    path_m: Array  # (k, 2)
    time_s: Array | None = None  # (k,) from now


@dataclass(frozen=True)
class Answer:
    """A control, and what the agent cares to say about it; all of it goes into the record."""

    control: Control
    forecasts: Sequence[Forecast] = ()
    plan: Plan | None = None
    debug: dict[str, Any] = field(default_factory=dict)  # topic -> anything JSON can hold


class Agent:
    """Base of agents: one object per episode.

    Example:
        >>> class Slow(Agent):
        ...     def step(self, moment):
        ...         return Control(throttle=0.3 if moment.ego.speed_mps < 3.0 else 0.0)
    """

    name: str = ""  # by which records know the agent; "" for the class's name
    version: str = "1"

    def setup(self, briefing: Briefing) -> None:
        """Get ready."""

    def sensors(self) -> list[dict[str, Any]]:
        """The sensors wanted, as in a Leaderboard agent; asked for after ``setup``."""
        return []

    def step(self, moment: Moment) -> Control | Answer:
        """Say what to do until the next tick."""
        raise NotImplementedError(f"{type(self).__name__} needs a method step(self, moment).")

    def close(self) -> None:
        """Release what ``setup`` took; called once, also after a failure."""


def name_of(agent: Agent) -> str:
    """The name by which records know an agent."""
    return agent.name or type(agent).__name__


def as_answer(said: Any) -> Answer:
    """What ``step`` returned, as an answer."""
    if isinstance(said, Answer) and isinstance(said.control, Control):
        return said
    if isinstance(said, Control):
        return Answer(control=said)
    raise TypeError(
        f"step() returned {type(said).__name__}, expected jaywalk_agent.Control or "
        "jaywalk_agent.Answer(control=Control(...))."
    )
