"""The temporal fit: SMPL rotations, path and size of a person from landmarks over time.

A plain function of arrays, so that any source of landmarks will do.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.linalg import LinAlgError

from jaywalk.core.errors import DataError
from jaywalk.motion.clip import Motion
from jaywalk.motion.quaternions import continuous
from jaywalk.motion.rotation import FloatArray
from jaywalk.motion.video import terms
from jaywalk.motion.video.body_points import MARK_POINTS, Body, Placed, place
from jaywalk.motion.video.camera import Camera
from jaywalk.motion.video.landmarks import Landmarks
from jaywalk.motion.video.normal_equations import NormalEquations
from jaywalk.motion.video.start import first_guess
from jaywalk.motion.video.terms import Seen, Weights

_ROUNDS: Final = (10, 10, 6)  # steps: on the lower foot, then twice on what is found to stand
_ENOUGH: Final = 1e-4  # relative gain below which a round ends
_MOST_DAMPING: Final = 1e6


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """A fitted person.

    Attributes:
        motion: In the world of the camera: the ground at y = 0, metres as on the ground.
        image_miss_px: Median distance between fitted and seen landmarks.
        steps: Steps of the solver.
    """

    motion: Motion
    image_miss_px: float
    steps: int


def fit_person(
    landmarks: Landmarks,
    camera: Camera,
    *,
    rate_hz: float,
    name: str = "person",
    caption: str = "",
    source: str = "",
    licence: str = "",
) -> Fit:
    """Fit a body to landmarks that lie ``1 / rate_hz`` apart.

    Minimised together over all frames: misses in the picture and about the hips (both robust, by
    confidence), accelerations, speed and height of standing feet, sinking, unusual and sudden
    turns of joints.

    Raises:
        DataError: Too few frames, or the person is not on the ground the camera sees.
    """
    if len(landmarks.times_s) < 3:
        raise DataError(f"{name}: seen in {len(landmarks.times_s)} frames; a fit needs at least 3")
    guess = first_guess(landmarks, camera, rate_hz=rate_hz, name=name)
    seen, body, weights = guess.seen, guess.body, guess.weights
    steps = 0
    for stage, rounds in enumerate(_ROUNDS):
        feet = stage > 0
        placed = place(body, slopes=False)
        standing = terms.anchored_share(placed, body)
        if feet:
            standing = np.maximum(standing, terms.standing_share(placed, seen, weights))
        body, taken = _solve(body, seen, camera, weights, standing, feet=feet, rounds=rounds)
        steps += taken
    miss = np.linalg.norm(
        camera.project(place(body, slopes=False).points_m[:, :MARK_POINTS]) - seen.image_px, axis=-1
    )
    known = seen.confidence > 0.3
    motion = Motion(
        name=name,
        rotations=continuous(body.rotations),
        root_m=body.root_m,
        rate_hz=rate_hz,
        body_scale=body.scale,
        caption=caption,
        source=source,
        licence=licence,
    )
    return Fit(
        motion=motion,
        image_miss_px=float(np.median(miss[known])) if known.any() else float("nan"),
        steps=steps,
    )


def _world_size(placed: Placed, seen: Seen) -> float:
    """Size of the network's person: its landmarks' distances beside the body's."""
    points = placed.points_m[:, :MARK_POINTS]
    middle = points[:, terms.HIP_POINTS].mean(axis=1, keepdims=True)
    weight = seen.confidence[..., None]
    over = float((weight * seen.world_m * (points - middle)).sum())
    under = float((weight * seen.world_m**2).sum())
    return min(max(over / under, 0.3), 3.0) if under > 0.0 else 1.0


def _solve(
    body: Body,
    seen: Seen,
    camera: Camera,
    weights: Weights,
    standing: FloatArray,
    *,
    feet: bool,
    rounds: int,
) -> tuple[Body, int]:
    """Levenberg-Marquardt with the robust weights of the moment."""
    damping = 1e-3
    placed = place(body)
    size = _world_size(placed, seen)
    low = terms.low_share(placed, weights)

    def cost(of: Body, at: Placed, into: NormalEquations | None) -> float:
        total = terms.image_term(at, seen, camera, weights, into)
        total += terms.world_term(at, seen, size, weights, into)
        total += terms.smooth_term(at, seen, weights, into)
        total += terms.ground_term(at, of, seen, standing, weights, into)
        if feet:
            total += terms.still_term(at, seen, low, weights, into)
        total += terms.pose_term(of, seen, into)
        return total + terms.size_term(of, seen, into)

    for taken in range(rounds):
        equations = NormalEquations(len(body.root_m))
        before = cost(body, placed, equations)
        better, damping = _step(body, equations, before, cost, damping)
        if better is None:
            return body, taken
        body, after = better
        placed = place(body)
        size = _world_size(placed, seen)
        if before - after < _ENOUGH * before:
            return body, taken + 1
    return body, rounds


def _step(
    body: Body,
    equations: NormalEquations,
    before: float,
    cost: Callable[[Body, Placed, NormalEquations | None], float],
    damping: float,
) -> tuple[tuple[Body, float] | None, float]:
    """A step that lowers the cost and the damping for the next one; None if there is none."""
    while damping < _MOST_DAMPING:
        try:
            moved = body.moved(*equations.solve(damping))
        except LinAlgError:
            damping *= 10.0
            continue
        if moved.scale > 0.2 and np.isfinite(moved.root_m).all():
            after = cost(moved, place(moved, slopes=False), None)
            if after < before:
                return (moved, after), max(damping * 0.2, 1e-7)
        damping *= 10.0
    return None, damping
