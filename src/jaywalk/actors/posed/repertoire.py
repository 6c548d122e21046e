"""Clips of a library sorted by use, and the composition of the posed people of an episode.

Idle clips keep a person in place however long they are looped; walking clips move forward when
looped. Libraries differ, so both properties are measured and not looked up by name.

``HabitManner`` holds the shares of classes and ages, the sides and the distances; variants change
it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from jaywalk.actors.crowd.state import CrowdSettings
from jaywalk.core.arrays import FloatArray
from jaywalk.core.errors import DataError, UsageError
from jaywalk.geometry.rotation import angle_between_rad
from jaywalk.motion.library.classes import MotionClass
from jaywalk.motion.library.reading import MotionLibrary
from jaywalk.motion.playback.joins import SHORTEST_S, walking_stretch
from jaywalk.motion.selection.lemmas import bundled, tags_of


@dataclass(frozen=True, slots=True, kw_only=True)
class HabitManner:
    """Composition of the posed people of an episode.

    Attributes:
        crossing: Share of people who cross the ego's path; rounded to whole people.
        ordinary: Share of crossing people who just walk; others show any behaviour of the class.
        attempting: Share of people who step out and come back. The rest stay off the road.
        children: Share of children.
        side: Side of the route where people start: "left", "right" or "both".
        trigger_m: Interval of the ego's distance at which people begin to move.
        strolling: Share of people not crossing who walk along the sidewalk.
        band_m: Largest distance from the route of people who do not cross.
        first_m: No person crosses within this distance after the start of the route.
        oblivious: Share of reacting people who never look, as all people of HABIT's protocol.
    """

    crossing: float = 0.4
    ordinary: float = 0.6
    attempting: float = 0.15
    children: float = 0.15
    side: str = "both"
    trigger_m: tuple[float, float] = (14.0, 40.0)
    strolling: float = 0.3
    band_m: float = 16.0
    first_m: float = 25.0
    oblivious: float = 0.02


_CHANGES: Final[dict[str, dict[str, Any]]] = {
    "idle": {"crossing": 0.0, "attempting": 0.0},
    "left": {"side": "left"},
    "right": {"side": "right"},
    "children": {"children": 1.0},
    "oblivious": {"oblivious": 1.0},
}
WEATHER_VARIANTS: Final = ("night", "rain")
VARIANTS: Final = (*_CHANGES, *WEATHER_VARIANTS)


def split_variant(variant: str) -> tuple[str, ...]:
    """Split a variant into its parts: one or several of ``VARIANTS``, as in ``left,night``."""
    parts = tuple(part.strip() for part in variant.split(",") if part.strip())
    unknown = [part for part in parts if part not in VARIANTS]
    if unknown:
        raise UsageError(
            f"--variant is '{variant}', but habit has no variant '{unknown[0]}'. "
            f"Known: {', '.join(VARIANTS)}; several with commas."
        )
    if len({"left", "right"} & set(parts)) > 1:
        raise UsageError(f"--variant is '{variant}': people start on the left or on the right.")
    return parts


def manner_of(variant: str) -> HabitManner:
    """Return the composition of the posed people in a variant."""
    manner = HabitManner()
    for part in split_variant(variant):
        manner = replace(manner, **_CHANGES.get(part, {}))
    return manner


def ambient_of(variant: str) -> CrowdSettings:
    """Return the crowd settings of a variant; the crowd follows no clips and waits for gaps."""
    parts, calm = split_variant(variant), CrowdSettings()
    if "idle" in parts:
        calm = replace(calm, not_crossing=1.0, attempting=0.0)
    if "children" in parts:
        calm = replace(calm, children=1.0)
    for side in ("left", "right"):
        if side in parts:
            calm = replace(calm, side=side)
    return calm


#: Kinds of clips that carry out a decision in a few steps.
MOVES: Final = ("start", "stop", "backstep", "turnaway", "evade")
#: Of the everyday library: kinds of people who wait, and kinds whose hands may hold phones.
_CALM: Final = frozenset(("wait", "converse", "idle", "look", "hands", "act"))
_PHONES: Final = frozenset(("phone", "busy"))
_IDLE_EXCURSION_M: Final = 0.15
_IDLE_DRIFT_MPS: Final = 0.005
_IDLE_TURN_RADPS: Final = 0.03
_STAY_EXCURSION_M: Final = 0.75  # largest excursion of a clip for people who stay in place
_WALK_MPS: Final = 0.5  # a slower loop does not bring a person over a road
_WALK_LOOP_M: Final = 1.2
_WALK_TURN_RADPS: Final = 0.35
_PLAIN_MPS: Final = (0.8, 1.7)
# Ordinary crossings: adults and children who walk with an inconspicuous gait.
_ORDINARY_MPS: Final = {False: (1.1, 1.7), True: (0.9, 1.7)}
_ORDINARY_KINDS: Final = frozenset(("walk", "curve", "busy", "look", "carry"))
_POP_RADPS: Final = math.radians(60.0) * 20.0  # knees of runners reach two thirds of it
_SNAP_RAD: Final = math.radians(30.0)
_CHILD_SCALE: Final = 0.87  # smaller bodies are children's
_LEAST_IDLES: Final = 4
_MEASURED_ON: Final = {False: "man", True: "boy"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """A clip and its measured properties.

    Attributes:
        name: Name in the library.
        motion_class: ``not_crossing``, ``attempting`` or ``crossing``.
        kind: Behaviour in one word, for tables: the subcategory.
        child: A child's motion.
        idle: Loops on the spot.
        walks: Loops forward, fast and straight enough to lead over a road.
        plain: Walks at an ordinary pace.
        speed_mps: Speed of the loop.
        reach_m: Farthest distance from the start.
        reach_rad: Direction of the farthest point, relative to the person's first heading.
    """

    name: str
    motion_class: str
    kind: str
    child: bool
    idle: bool
    walks: bool
    plain: bool
    speed_mps: float
    reach_m: float
    reach_rad: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Repertoire:
    """Clips by use, each group in the library's order."""

    idle: tuple[Use, ...]
    staying: tuple[Use, ...]
    attempting: tuple[Use, ...]
    crossing: tuple[Use, ...]
    walking: tuple[Use, ...]  # to be looped while walking
    ordinary: tuple[Use, ...]  # those of them with which most people cross a road
    moves: tuple[Use, ...] = ()  # short clips that carry out a decision; some libraries have none

    @property
    def everyday(self) -> bool:
        """Whether the library is of everyday people: calm idles, and phones only by overlay."""
        return bool(self.moves)

    def moves_of(self, kind: str, child: bool) -> tuple[Use, ...]:
        """Return the moves of a kind (one of ``MOVES``) for an age group; perhaps none."""
        found = tuple(use for use in self.moves if use.kind == kind)
        return self.fitting(found, child)

    def fitting(self, uses: tuple[Use, ...], child: bool) -> tuple[Use, ...]:
        """Return the clips for an age group, or all if the library has none for it."""
        return tuple(use for use in uses if use.child == child) or uses


def read_repertoire(library: MotionLibrary) -> Repertoire:
    """Measure a library; takes a fraction of a second for hundreds of clips, so keep the result.

    Raises:
        DataError: The library lacks clips of a class, or has no walking clips.
    """
    # captures have glitches: clips in which a bone jumps are not used
    uses = [
        _measure(library, row, name)
        for row, name in enumerate(library.names)
        if _is_steady(library, row, name)
    ]
    moves = tuple(use for use in uses if _is_move(use))
    if moves:
        moves = tuple(use for use in moves if not _snaps(library, use))
        uses = [use for use in uses if not _snaps(library, use)]
        uses = [use for use in uses if not _is_move(use) and use.kind not in _PHONES]
    staying = [u for u in uses if u.motion_class == MotionClass.NOT_CROSSING]
    still = sorted((u for u in staying if u.idle), key=lambda u: u.name)
    if moves:
        still = [use for use in still if use.kind in _CALM]
    if len(still) < _LEAST_IDLES:  # a small library: take its quietest clips
        still = sorted(staying, key=lambda u: (u.reach_m, u.name))[:_LEAST_IDLES]
    walking = tuple(u for u in uses if u.walks and u.plain)
    repertoire = Repertoire(
        idle=tuple(still),
        staying=tuple(u for u in staying if u.reach_m < _STAY_EXCURSION_M),
        attempting=tuple(u for u in uses if u.motion_class == MotionClass.ATTEMPTING),
        crossing=tuple(u for u in uses if u.motion_class == MotionClass.CROSSING),
        walking=walking,
        ordinary=tuple(u for u in walking if _is_ordinary(u)) or walking,
        moves=moves,
    )
    empty = [
        name for name in Repertoire.__slots__ if name != "moves" and not getattr(repertoire, name)
    ]
    if empty:
        raise DataError(
            f"{library.folder}: no clips for {', '.join(empty)}; habit needs clips of all three "
            "classes, some of them idle and some walking at 0.8 to 1.7 m/s. Add clips to the "
            "library, or leave --motions out."
        )
    return repertoire


def _is_move(use: Use) -> bool:
    """Return True for a generated clip of a move; captions of captures say too little."""
    return use.kind in MOVES and f"-{use.kind}-" in use.name


def _is_ordinary(use: Use) -> bool:
    low, high = _ORDINARY_MPS[use.child]
    return use.kind in _ORDINARY_KINDS and low <= use.speed_mps <= high


def _is_steady(library: MotionLibrary, row: int, name: str) -> bool:
    child = float(library.columns["body_scale"][row]) < _CHILD_SCALE
    fastest = float(_steps_rad(library, name, child).max(initial=0.0))
    return fastest * float(library.meta["rate_hz"]) <= _POP_RADPS


def _snaps(library: MotionLibrary, use: Use) -> bool:
    """Return True if a bone jumps for one frame, as the knee of a straight leg may."""
    steps = _steps_rad(library, use.name, use.child)
    around = np.zeros_like(steps)
    around[1:] = steps[:-1]
    around[:-1] = np.maximum(around[:-1], steps[1:])
    return bool(((steps > _SNAP_RAD) & (steps > 2.0 * around)).any())


def _steps_rad(library: MotionLibrary, name: str, child: bool) -> FloatArray:
    """Angles (frames - 1, bones) by which bones turn from frame to frame."""
    turns = library.on_rig(name, _MEASURED_ON[child]).turns
    return np.asarray(angle_between_rad(turns[1:], turns[:-1]))


def _measure(library: MotionLibrary, row: int, name: str) -> Use:
    columns = library.columns
    child = float(columns["body_scale"][row]) < _CHILD_SCALE
    path = library.way(name, _MEASURED_ON[child])
    away = np.hypot(*(path[:, :2] - path[0, :2]).T)
    far = int(away.argmax())
    reach_rad = math.atan2(*(path[far, 1::-1] - path[0, 1::-1])) - float(path[0, 3])
    speed, turn, drift = loop_of(path, float(library.meta["rate_hz"]))
    walks = speed >= _WALK_MPS and drift >= _WALK_LOOP_M and abs(turn) <= _WALK_TURN_RADPS
    motion_class = str(columns["class"][row])
    return Use(
        name=name,
        motion_class=motion_class,
        kind=_kind(name, motion_class, str(columns["caption"][row])),
        child=child,
        idle=bool(
            away[far] <= _IDLE_EXCURSION_M
            and speed <= _IDLE_DRIFT_MPS
            and abs(turn) <= _IDLE_TURN_RADPS
        ),
        walks=bool(walks and motion_class == MotionClass.CROSSING),
        plain=_PLAIN_MPS[0] <= speed <= _PLAIN_MPS[1],
        speed_mps=speed,
        reach_m=float(away[far]),
        reach_rad=math.remainder(reach_rad, 2.0 * math.pi),
    )


def loop_of(path: FloatArray, rate_hz: float) -> tuple[float, float, float]:
    """Speed, turning rate and length of a loop, computed from its first and last frames only."""
    stretch = walking_stretch(path, rate_hz) or range(len(path))
    last = max(len(stretch) - 1 - round(SHORTEST_S * rate_hz), 1)
    first = min(round(0.15 * last), last - 1)
    seconds = max((last - first) / rate_hz, 1e-3)
    first, last = stretch.start + first, stretch.start + last
    drift = float(np.hypot(*(path[last, :2] - path[first, :2])))
    return drift / seconds, float(path[last, 3] - path[first, 3]) / seconds, drift


def _kind(name: str, motion_class: str, caption: str) -> str:
    """Return the behaviour in a generated clip's name, or the first tag of another's caption."""
    parts = name.removeprefix("M").split("-")
    if len(parts) == 3 and parts[2].isdecimal():
        return parts[1]
    tags = tags_of([bundled(caption)])
    return tags[0] if tags else motion_class
