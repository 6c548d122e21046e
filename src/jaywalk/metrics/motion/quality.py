"""Motion quality of posed people in records: jumps of bones, sliding feet, soles on the ground.

All values are measured on bones in the world against the town's true ground, including kerbs, over
all posed people of a set of records.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final, TypedDict

import numpy as np
from numpy.typing import NDArray

from jaywalk.core.arrays import FloatArray
from jaywalk.core.kernels import kernel
from jaywalk.geometry.rotation import angle_between_rad
from jaywalk.metrics.motion._gait import STANCE_HEIGHT_M, STANCE_SPEED_MPS
from jaywalk.metrics.safety.person_hits import Story, read_stories
from jaywalk.metrics.safety.posed import PosedPerson, posed_people
from jaywalk.motion.carla_rigs import load_rig
from jaywalk.motion.foot_lock import horizontal_speed_mps
from jaywalk.motion.playback.bank import ClipBank
from jaywalk.record import Record
from jaywalk.town.ground import Ground, surface_height

POP_DEG: Final = 60.0  # a bone that turns more within a tick (of 20 a second) pops;
# so does one that turns much more within a tick than before and after: knees of runners turn 40,
# and 25 when a heel strikes
SPIKE_DEG: Final = 30.0
_SPIKE: Final = 3.0
JUMP_M: Final = 0.4  # so does a person who changes place: no person runs at 8 m/s
SLIDE_MPS: Final = 0.25  # a standing ball that moves faster slides
OFF_GROUND_M: Final = 0.03


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonQuality:
    """One person.

    Attributes:
        pops: Ticks at which a bone turned, or the person moved, too far.
        bone_step_deg: Largest turn of a bone within a tick.
        step_m: Largest move within a tick.
        stance: Foot-ticks on the ground.
        slip_mps: Mean speed of standing balls.
        slides: Foot-ticks of standing balls that slide.
        sunk: Ticks with the lower sole deep in the ground.
        floating: Ticks without a jump at which the lower sole hangs above the ground: more than
            so far for longer than people fly between two steps.
        low_m: Mean height of the lower sole over the ground where one stands.
    """

    episode: str
    actor: int
    intended: str
    clip: str
    ticks: int
    pops: int
    bone_step_deg: float
    pop_tick: int
    step_m: float
    stance: int
    slip_mps: float
    slides: int
    sunk: int
    floating: int
    low_m: float


def measure_record(record: Record, bank: ClipBank, ground: Ground) -> list[PersonQuality]:
    """Measure all posed people of a record."""
    stories = read_stories(record)
    name = record.episode.episode_id
    return [
        measure_person(name, person, stories.get(person.actor, Story(actor=person.actor)), ground)
        for person in posed_people(record, bank)
    ]


def measure_person(
    episode: str, person: PosedPerson, story: Story, ground: Ground
) -> PersonQuality:
    """Measure one person."""
    motion = person.motion
    turned = np.rad2deg(angle_between_rad(motion.turns[1:], motion.turns[:-1]))
    most = turned.max(axis=1, initial=0.0)
    moved = np.hypot(*np.diff(motion.actor[:, :2], axis=0).T)
    balls, low = _balls(person, ground)
    speed = horizontal_speed_mps(balls, motion.rate_hz, 2)
    standing = (np.abs(low) < STANCE_HEIGHT_M) & (speed < STANCE_SPEED_MPS)
    lower = low.min(axis=1)
    worst = int(most.argmax()) if len(most) else 0
    return PersonQuality(
        episode=episode,
        actor=person.actor,
        intended=story.intended,
        clip=person.clip[min(worst + 1, len(person.clip) - 1)],
        ticks=len(person.tick),
        pops=int((_popped(turned) | (moved > JUMP_M)).sum()),
        bone_step_deg=float(most.max(initial=0.0)),
        pop_tick=int(person.tick[min(worst + 1, len(person.tick) - 1)]),
        step_m=float(moved.max(initial=0.0)),
        stance=int(standing.sum()),
        slip_mps=float(speed[standing].mean()) if standing.any() else 0.0,
        slides=int((standing & (speed > SLIDE_MPS)).sum()),
        sunk=int((lower < -OFF_GROUND_M).sum()),
        floating=_hanging(lower, motion.rate_hz),
        low_m=float(lower[np.abs(lower) < 0.1].mean()) if (np.abs(lower) < 0.1).any() else 0.0,
    )


def _popped(turned_deg: FloatArray) -> NDArray[np.bool_]:
    """Return the steps (n,) at which some bone (n, bones) jumped."""
    around = np.zeros_like(turned_deg)
    around[1:] = turned_deg[:-1]
    around[:-1] = np.maximum(around[:-1], turned_deg[1:])
    spikes = (turned_deg > SPIKE_DEG) & (turned_deg > _SPIKE * around)
    return np.asarray(((turned_deg > POP_DEG) | spikes).any(axis=1))


def _balls(person: PosedPerson, ground: Ground) -> tuple[FloatArray, FloatArray]:
    """(n, 2, 3) balls of the feet, and how high their soles are over the ground."""
    rig = load_rig(person.motion.rig)
    toes = [rig.bone_index[f"crl_toe__{side}"] for side in "LR"]
    balls = person.motion.joints_m()[:, toes]
    height = np.zeros(balls.shape[:2])
    _heights(ground, np.ascontiguousarray(balls), np.ascontiguousarray(person.motion.actor), height)
    return balls, balls[..., 2] - height - float(rig.rest_mesh[toes, 2].mean())


def _hanging(lower_m: FloatArray, rate_hz: float) -> int:
    """Ticks in the air beyond half a second at a time; runs and leaps are shorter."""
    total = run = 0
    for up in (lower_m > OFF_GROUND_M).tolist():
        run = run + 1 if up else 0
        total += int(run > 0.5 * rate_hz)
    return total


@kernel
def _heights(ground: Ground, balls: FloatArray, actor: FloatArray, out: FloatArray) -> None:
    for i in range(balls.shape[0]):
        for side in range(2):
            out[i, side] = surface_height(ground, balls[i, side, 0], balls[i, side, 1], actor[i, 2])


class GroupQuality(TypedDict):
    """Figures of some people; None where there is nothing to divide by."""

    people: int
    person_minutes: float
    pops: int
    bone_step_deg_max: float
    step_m_max: float
    stance_slip_mps: float | None
    slide_share: float | None
    sunk_share: float | None
    floating_share: float | None
    sole_height_m: float | None


class QualitySummary(TypedDict):
    """Figures over people, as ``motion quality --json`` prints them.

    ``groups`` are by intended class and ``all``; ``worst`` lists people by kind of flaw.
    """

    limits: dict[str, float]
    groups: dict[str, GroupQuality]
    worst: dict[str, list[dict[str, Any]]]


def summarise_quality(people: Sequence[PersonQuality]) -> QualitySummary:
    """Figures over people, by class and all together, with the worst of each kind."""
    groups: dict[str, list[PersonQuality]] = {"all": list(people)}
    for person in people:
        groups.setdefault(person.intended or "unknown", []).append(person)
    return {
        "limits": {
            "pop_deg": POP_DEG,
            "spike_deg": SPIKE_DEG,
            "jump_m": JUMP_M,
            "slide_mps": SLIDE_MPS,
            "off_ground_m": OFF_GROUND_M,
        },
        "groups": {name: _group(group) for name, group in groups.items()},
        "worst": {
            "pops": _worst(people, "bone_step_deg"),
            "slides": _worst(people, "slides"),
            "sunk": _worst(people, "sunk"),
            "floating": _worst(people, "floating"),
        },
    }


def _group(people: Sequence[PersonQuality]) -> GroupQuality:
    ticks, stance = sum(p.ticks for p in people), sum(p.stance for p in people)
    slip = sum(p.slip_mps * p.stance for p in people)
    return {
        "people": len(people),
        "person_minutes": ticks / 20.0 / 60.0,
        "pops": sum(p.pops for p in people),
        "bone_step_deg_max": max((p.bone_step_deg for p in people), default=0.0),
        "step_m_max": max((p.step_m for p in people), default=0.0),
        "stance_slip_mps": slip / stance if stance else None,
        "slide_share": sum(p.slides for p in people) / stance if stance else None,
        "sunk_share": sum(p.sunk for p in people) / ticks if ticks else None,
        "floating_share": sum(p.floating for p in people) / ticks if ticks else None,
        "sole_height_m": sum(p.low_m * p.ticks for p in people) / ticks if ticks else None,
    }


def _worst(people: Iterable[PersonQuality], by: str, most: int = 5) -> list[dict[str, Any]]:
    ranked = sorted(people, key=lambda p: (-getattr(p, by), p.episode, p.actor))
    return [asdict(person) for person in ranked[:most] if getattr(person, by)]
