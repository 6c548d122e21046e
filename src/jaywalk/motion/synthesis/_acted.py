"""Clips made of the bank of actions: every clip is one action, done by another person."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np

from jaywalk.core.arrays import FloatArray
from jaywalk.motion.clip import LIBRARY_RATE_HZ, Clip, mirror
from jaywalk.motion.heading import to_origin
from jaywalk.motion.synthesis._action_model import ActionBank, decoded
from jaywalk.motion.synthesis._actions import ActionKind
from jaywalk.motion.synthesis._draws import Draws
from jaywalk.motion.synthesis._footing import place_feet
from jaywalk.motion.synthesis._gestures import look_round
from jaywalk.motion.synthesis._layer import HEAD, NECK, SPINE1, SPINE2, SPINE3, Layer
from jaywalk.motion.synthesis._people import Age, Role, draw_age, draw_role
from jaywalk.motion.synthesis._stand_model import draw_posture, quiet_movement
from jaywalk.motion.synthesis._timeline import FRAMES_PER_S
from jaywalk.motion.synthesis.model_file import MotionModel

_STEP: Final = round(FRAMES_PER_S / LIBRARY_RATE_HZ)
#: Joints that may be changed while the feet stay: spine, neck, head, collars and arms.
_UPPER_JOINTS: Final = (SPINE1, SPINE2, SPINE3, NECK, HEAD, 13, 14, 16, 17, 18, 19, 20, 21)
_UPPER: Final = [3 * joint + axis for joint in _UPPER_JOINTS for axis in range(3)]
_STAYING: Final = (ActionKind.WAIT, ActionKind.CONVERSE)
_WORDS: Final = {
    ActionKind.WAIT: "stands waiting",
    ActionKind.CONVERSE: "stands talking to somebody and gestures",
    ActionKind.CARRY: "walks and carries something",
    ActionKind.STOP: "walks and stops",
    ActionKind.START: "stands and starts to walk",
    ActionKind.STEP_BACK: "takes a step or two back",
    ActionKind.TURN_BACK: "turns round and away",
    ActionKind.EVADE: "evades with a quick step, arms up",
}


def act_out(
    model: MotionModel, kind: ActionKind, number: int, draws: Draws, name: str
) -> tuple[Clip, str]:
    """One clip of a kind of action, with its caption; the same arguments give the same clip.

    Args:
        model: A model with a bank of actions.
        kind: What is done.
        number: Number of the clip in its behaviour: consecutive clips take consecutive actions.
        draws: Random numbers.
        name: Name of the clip.
    """
    assert model.actions is not None
    bank = model.actions
    role = draw_role(model, draw_age(draws), 0.9, draws, plain=True)
    chosen = _choice(bank, kind, number, draws)
    scale = role.person.body_scale
    tempo = draws.uniform(0.9, 1.15) * (0.92 if role.age is Age.ELDERLY else 1.0)
    if kind is ActionKind.EVADE:
        tempo *= draws.uniform(1.1, 1.45)
    frames = max(round(float(bank.seconds[chosen]) / tempo * np.sqrt(scale) * FRAMES_PER_S), 30)
    angles, path = bank.frames(chosen, frames)
    angles, path = _varied(model, role, kind, angles, path.copy(), draws)
    layer = Layer(frames, model.means)
    _besides(layer, role, kind, draws)
    rotations, root, contact = decoded(layer.apply(angles), path, model.means)
    rotations = layer.turn(rotations)
    footed = place_feet(rotations, root, root, contact, np.zeros(frames), FRAMES_PER_S)
    motion = Clip(name=name, rotations=footed.rotations, root_m=footed.root_m, rate_hz=FRAMES_PER_S)
    if draws.chance(0.5):
        motion = replace(mirror(motion), name=name, mirrored=False)
    motion = replace(
        motion,
        rotations=motion.rotations[::_STEP],
        root_m=motion.root_m[::_STEP] * scale,
        rate_hz=LIBRARY_RATE_HZ,
        body_scale=scale,
    )
    return to_origin(motion), f"{role.noun} {_WORDS[kind]}"


def _choice(bank: ActionBank, kind: ActionKind, number: int, draws: Draws) -> int:
    """The action of a clip: all of the kind take their turns, and a redrawn clip takes any."""
    fitting = bank.of_kind(kind)
    if kind is ActionKind.EVADE:
        fitting = fitting + bank.of_kind(ActionKind.STEP_BACK)
    # steps of a golden ratio spread a few clips over the captures of all people
    share = (0.5 + 0.618034 * number + 0.37 * draws.uniform() ** 4) % 1.0
    return fitting[min(int(share * len(fitting)), len(fitting) - 1)]


def _varied(
    model: MotionModel,
    role: Role,
    kind: ActionKind,
    angles: FloatArray,
    path: FloatArray,
    draws: Draws,
) -> tuple[FloatArray, FloatArray]:
    """The action as another person does it: posture, size of movements, fidgeting."""
    middle = angles.mean(axis=0)
    size = draws.uniform(0.8, 1.15)
    angles = angles.copy()
    other = draw_posture(model.stand, draws, neutral=True)[_UPPER]
    share = draws.uniform(0.0, 0.45 if kind in _STAYING else 0.25)
    upper = middle[_UPPER] + share * (other - middle[_UPPER])
    angles[:, _UPPER] = upper + size * (angles[:, _UPPER] - middle[_UPPER])
    frames = len(angles)
    fidget = quiet_movement(model.stand, role.person.sway, frames, FRAMES_PER_S, draws)
    angles[:, _UPPER] += 0.6 * fidget[:, _UPPER]
    if kind in _STAYING:  # a clip that is repeated must not lead anywhere
        along = np.linspace(0.0, 1.0, frames)[:, None]
        columns = [0, 2, 3]
        path[:, columns] -= along * (path[-1, columns] - path[0, columns])
    return angles, path


def _besides(layer: Layer, role: Role, kind: ActionKind, draws: Draws) -> None:
    """Stoop of old people, looks of people who wait, arms of people who evade."""
    frames = len(layer)
    stoop = np.full(frames, role.person.stoop_rad)
    layer.bend(stoop)
    layer.turns[:, NECK, 0] -= 0.4 * stoop
    if kind is ActionKind.WAIT and draws.chance(0.4):
        look_round(layer, draws.uniform(0.3, 1.5), draws, 1)
    if kind is ActionKind.EVADE and draws.chance(0.7):
        weight = 0.8 * np.sin(np.pi * np.linspace(0.0, 1.0, frames)) ** 2
        for hand in (0, 1):
            layer.reach(hand, np.array([0.08, -0.05, 0.33]), np.array([0.9, -0.8, -0.2]), weight)
