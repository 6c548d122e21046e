"""A ball rolls onto the road, and a child runs after it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Final

import carla

from jaywalk.actors.events import EgoMoment
from jaywalk.client.placing import place_on_route, spawn_first_that_fits
from jaywalk.scenarios.base import Parameters
from jaywalk.scenarios.catalogue import JAYWALK, scenario
from jaywalk.scenarios.crossings._everyday import (
    CHILD,
    EVERYDAY_WORDS,
    STREET,
    Everyday,
    EverydayParameters,
    draw_of_age,
)
from jaywalk.scenarios.crossings._stepping_out import SteppingOut
from jaywalk.scenarios.parameter_fields import model, within

_ROLL_MPS2: Final = 0.9  # a ball on asphalt slows down by so much
_BEYOND_M: Final = 1.5  # it stops this far behind the other kerb
_SLIDE_MPS2: Final = 0.6 * 9.81  # the server slows sliding props by so much; added again
_BALL_M: Final = 0.11
_BALL_ASIDE_M: Final = 0.5  # beside the child


@dataclass(frozen=True, slots=True, kw_only=True)
class ChildAfterBallParameters(EverydayParameters):
    """Parameters of the child and the ball."""

    ball: str = model("static.prop.ball", "static.prop.")
    lead: float = within(1.0, 0.0, 10.0)


@scenario(
    "jaywalk/child-after-ball-v1",
    "a ball rolls onto the road, and a child runs after it",
    benchmark=JAYWALK,
    street=STREET,
    parameter_words={
        **EVERYDAY_WORDS,
        "ball": "a prop; it rolls first",
        "lead": "s the ball rolls before the child runs",
        "clip": "LIBRARY/CLIP of a motion library; a running child of ours otherwise",
    },
)
@dataclass(slots=True, kw_only=True)
class ChildAfterBall(Everyday):
    """A ball rolls out and slows down like a ball; a child runs after it with a child's clip."""

    parameters_type: ClassVar[type[Parameters]] = ChildAfterBallParameters
    plays_clips: ClassVar[bool] = True
    ball_id: int = 0
    ball_mps: float = 0.0
    rolled: bool = False

    def setup(self) -> None:
        """Put the ball before the child."""
        SteppingOut.setup(self)
        poses = self.beside(_BALL_ASIDE_M, -0.5, up_m=_BALL_M)
        ball = spawn_first_that_fits(
            self.context.world, self.parameters.ball, poses, self.element.where
        )
        self.ball_id = int(ball.id)
        self.actor_ids.append(ball.id)
        self.ball_mps = math.sqrt(2.0 * _ROLL_MPS2 * (self.way_m + _BEYOND_M))

    def walker_model(self, library: Any) -> str:
        """Draw a child."""
        given = self.parameters.walker
        return draw_of_age(library, given, CHILD, self.draws("walker"), self.element.where)

    def chosen_clip(self, blueprint: Any) -> str:
        """Return the given clip, or that of a running child of the default library."""
        given = str(self.parameters.clip)
        if given or self.context.clips is None:
            return given
        return str(self.context.clips.child_clip(self.draws("clip"), runs=True))

    def tick(self, moment: EgoMoment) -> bool:
        """Roll the ball, then let the child run."""
        left_m = self.at_m - moment.ego_along_m
        starts_s = self.wait_s() + float(self.parameters.lead)
        if not self.rolled and left_m <= max(self.nearest_m, self.reach_m(moment, starts_s)):
            self.rolled = True
            self.note(moment, what="the ball rolls", actor=self.ball_id)
            enable = carla.command.SetSimulatePhysics(self.ball_id, True)
            self.context.client.apply_batch([enable])
        if self.rolled and self.ball_mps > 0.0:
            self._roll()
        return Everyday.tick(self, moment)

    def _roll(self) -> None:
        delta_s = self.context.delta_s
        self.ball_mps = max(self.ball_mps - _ROLL_MPS2 * delta_s, 0.0)
        pushed = self.ball_mps + (_SLIDE_MPS2 * delta_s if self.ball_mps > 0.0 else 0.0)
        yaw = place_on_route(self.context.route, self.at_m).rotation.yaw - self.side * 90.0
        way = carla.Rotation(yaw=yaw).get_forward_vector()
        velocity = carla.Vector3D(way.x * pushed, way.y * pushed, 0.0)
        self.context.client.apply_batch([carla.command.ApplyTargetVelocity(self.ball_id, velocity)])
