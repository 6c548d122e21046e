"""Plan of a clip: the person, the blocks, the gestures and the caption."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from jaywalk.motion.library.classes import MotionClass
from jaywalk.motion.synthesis._actions import ActionKind
from jaywalk.motion.synthesis._draws import Draws
from jaywalk.motion.synthesis._layer import Layer
from jaywalk.motion.synthesis._people import Role
from jaywalk.motion.synthesis._programme import Block
from jaywalk.motion.synthesis._synthesis import Acting
from jaywalk.motion.synthesis._timeline import FRAMES_PER_S, Timeline
from jaywalk.motion.synthesis.model_file import MotionModel


@dataclass(frozen=True, slots=True, kw_only=True)
class ClipPlan:
    """What one clip will show.

    Attributes:
        role: Who.
        blocks: What they do.
        acting: What they do besides.
        caption: In words.
    """

    role: Role
    blocks: tuple[Block, ...]
    acting: Acting
    caption: str


#: Draws a plan.
Maker: TypeAlias = Callable[[MotionModel, Draws], ClipPlan]


@dataclass(frozen=True, slots=True, kw_only=True)
class Behaviour:
    """A kind of clip.

    Attributes:
        name: Short name, part of the clips' names.
        kind: Class its clips must have; others are drawn again.
        weight: Share among the clips of its class.
        make: Draws a plan.
        action: Kind of action that the clips show instead of a plan.
    """

    name: str
    kind: MotionClass
    weight: float
    make: Maker | None = None
    action: ActionKind | None = None


def nothing(_layer: Layer, _timeline: Timeline, _draws: Draws) -> None:
    """No gestures."""


def block_start_s(timeline: Timeline, block: int) -> float:
    """When a block begins."""
    return timeline.starts[block] / FRAMES_PER_S


def pace_word(speed_mps: float) -> str:
    """How a caption tells a speed."""
    words = (
        (0.65, "walks very slowly"),
        (0.95, "walks slowly"),
        (1.35, "walks"),
        (1.8, "walks briskly"),
        (2.5, "jogs"),
        (9.9, "runs"),
    )
    return next(word for limit, word in words if speed_mps < limit)
