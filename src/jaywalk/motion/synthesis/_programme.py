"""Programme of a clip as a list of blocks: standing, walking, shuffling the feet."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from jaywalk.core.arrays import FloatArray


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """A change of direction while walking, positive to the left."""

    at_s: float
    seconds: float
    angle_rad: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """A change of speed while walking: from a time on, another speed, reached smoothly."""

    at_s: float
    seconds: float
    speed_mps: float


@dataclass(frozen=True, slots=True, kw_only=True)
class WalkBlock:
    """Walking or running.

    Attributes:
        seconds: Duration; the block ends with the next step after it.
        speed_mps: Speed at the beginning, once started.
        starts: Whether the person stands before.
        stops: Whether the person stands afterwards.
        paces: Changes of speed.
        turns: Changes of direction.
        backward: Whether the person walks backward.
    """

    seconds: float
    speed_mps: float
    starts: bool = True
    stops: bool = True
    paces: tuple[Pace, ...] = ()
    turns: tuple[Turn, ...] = ()
    backward: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Shuffle:
    """Small steps on the spot: aside, back, forward or round; metres of the person."""

    at_s: float
    seconds: float
    left_m: float = 0.0
    forward_m: float = 0.0
    turn_rad: float = 0.0
    steps: int = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Leap:
    """A jump, on the spot or some way ahead; both feet leave the ground."""

    at_s: float
    height_m: float
    dip_m: float
    forward_m: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Lift:
    """A foot (0 left, 1 right) off the ground; its movement there is a gesture."""

    at_s: float
    seconds: float
    side: int


@dataclass(frozen=True, slots=True, kw_only=True)
class HoldBlock:
    """Standing."""

    seconds: float
    shuffles: tuple[Shuffle, ...] = ()
    leaps: tuple[Leap, ...] = ()
    lifts: tuple[Lift, ...] = ()


Block: TypeAlias = WalkBlock | HoldBlock


@dataclass(frozen=True, slots=True, kw_only=True)
class ClipPerson:
    """Person of a programme.

    Attributes:
        style: Gait residual (see :func:`jaywalk.motion.synthesis._gait_model.draw_style`).
        posture: (67,) how the person stands.
        sway: How far the person moves while standing.
        body_scale: Leg length over that of the mean body.
        run_from_mps: Speed on the mean body from which the person runs.
        stoop_rad: Trunk bent forward, as of old people.
        restless: Spread of the style over time, in spreads within one person.
    """

    style: FloatArray
    posture: FloatArray
    sway: FloatArray
    body_scale: float = 1.0
    run_from_mps: float = 1.85
    stoop_rad: float = 0.0
    restless: float = 0.35
