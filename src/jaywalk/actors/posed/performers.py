"""People of scenarios who play clips of a motion library while they move.

A scenario names a clip as ``LIBRARY/CLIP``: ``default/crossing-run-0003`` is one of the library
that comes along, ``mychild/run-01`` one of the library of the run.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import carla
import numpy as np

from jaywalk.actors.posed.control import PosedPeople
from jaywalk.actors.posed.repertoire import loop_of
from jaywalk.client.bones import BoneLine
from jaywalk.core.arrays import FloatArray
from jaywalk.core.errors import DataError
from jaywalk.core.units import DEG_TO_RAD
from jaywalk.motion.carla_rigs import rig_for_walker
from jaywalk.motion.library.reading import MotionLibrary
from jaywalk.motion.playback.bank import ClipBank
from jaywalk.motion.playback.players import Cue
from jaywalk.town.ground import Ground

DEFAULT: Final = "default"
_FADE_TICKS: Final = 6  # from the server's own animation to the clip
_RATES: Final = (0.5, 2.0)
_STILL_RATE: Final = 0.05
_SLOWEST_MPS: Final = 0.1  # a slower clip stays on the spot
_BEFORE_S: Final = 0.25  # a walker sets off this long before the clip walks steadily
_CHILD_SCALE: Final = 0.87  # smaller bodies are children's
_CHILD_RUN_MPS: Final = (2.0, 4.0)
_CHILD_WALK_MPS: Final = (0.9, 1.9)


def split_clip(text: str, where: str) -> tuple[str, str]:
    """Return library and clip of ``LIBRARY/CLIP``.

    Raises:
        DataError: The text does not have this form.
    """
    library, slash, name = text.rpartition("/")
    if not slash or not library or not name:
        raise DataError(
            f"{where}: clip is '{text}'; expected LIBRARY/CLIP, as in {DEFAULT}/crossing-walk-0020 "
            "or mychild/run-01."
        )
    return library, name


def check_clip(library: MotionLibrary, name: str, where: str) -> None:
    """Raise unless a library has a clip; the message suggests similar names."""
    if name in library.rows:
        return
    near = difflib.get_close_matches(name, library.names, n=3, cutoff=0.5)
    hint = f" Did you mean {' or '.join(near)}?" if near else ""
    raise DataError(
        f"{where}: no clip '{name}' in the library {library.folder.name}.{hint} "
        f"'jaywalk motion search {library.folder} WORDS' finds clips."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ClipPace:
    """How fast a clip moves a walker.

    Attributes:
        speed_mps: Speed over the ground while the clip is repeated; about 0 on the spot.
        enter_s: Time in the clip at which the walker sets off.
        away_m: (frames,) distance from there, frame by frame.
        rate_hz: Frames per second.
    """

    speed_mps: float
    enter_s: float
    away_m: FloatArray
    rate_hz: float

    def time_s(self, distance_m: float, speed_mps: float) -> float:
        """Time to a distance, if the clip is played so that its repetition has a speed."""
        rate = self.rate(speed_mps)
        there = np.flatnonzero(self.away_m >= distance_m)
        if len(there):
            return float(there[0]) / self.rate_hz / rate
        left_m = distance_m - float(self.away_m[-1])
        return (len(self.away_m) / self.rate_hz + left_m / max(self.speed_mps, 0.1)) / rate

    def rate(self, speed_mps: float) -> float:
        """Playback speed that gives a speed over the ground, within limits."""
        if self.speed_mps < _SLOWEST_MPS:
            return 1.0
        return min(max(speed_mps / self.speed_mps, _RATES[0]), _RATES[1])


@dataclass(slots=True, kw_only=True)
class Performers:
    """People of one episode's scenarios who play clips.

    Attributes:
        client: A ``carla.Client``.
        line: Opens the bone connection.
        banks: Returns the clips of a library folder; "" for the default library.
        ground: Returns the heights of the town.
        library: Folder of the run's motion library; "" for the default one.
    """

    client: carla.Client
    line: Callable[[], BoneLine]
    banks: Callable[[str], ClipBank]
    ground: Callable[[], Ground | None]
    library: str = ""
    delta_s: float = 0.05
    _groups: dict[str, PosedPeople] = field(default_factory=dict)
    _of: dict[int, str] = field(default_factory=dict)  # actor -> library folder
    _rate: dict[int, float] = field(default_factory=dict)
    _fading: dict[int, tuple[Any, int]] = field(default_factory=dict)

    def pace(self, clip: str, attributes: Mapping[str, str], where: str) -> ClipPace:
        """Return how fast a clip moves a walker.

        Args:
            clip: ``LIBRARY/CLIP``.
            attributes: Gender and age of the walker.
            where: The parameter, for messages.

        Raises:
            DataError: The library or the clip is unknown.
        """
        folder, name = self._resolve(clip, where)
        bank = self.banks(folder)
        number = bank.index(name, rig_for_walker(attributes).name)
        rate_hz = bank.frames.rate_hz
        path, walks = np.asarray(bank.way(number)), bank.walks[number]
        first = 0 if walks is None else max(walks.start - round(_BEFORE_S * rate_hz), 0)
        speed_mps = loop_of(path, rate_hz)[0]
        away_m = np.hypot(*(path[first:, :2] - path[first, :2]).T)
        return ClipPace(
            speed_mps=speed_mps, enter_s=first / rate_hz, away_m=away_m, rate_hz=rate_hz
        )

    def child_clip(self, random: np.random.Generator, *, runs: bool) -> str:
        """Draw a clip of the default library in which a child runs or walks straight on."""
        low, high = _CHILD_RUN_MPS if runs else _CHILD_WALK_MPS
        library = self.banks("").library
        names = []
        for row, name in enumerate(library.names):
            child = float(library.columns["body_scale"][row]) < _CHILD_SCALE
            if not child or str(library.columns["class"][row]) != "crossing":
                continue
            speed, turn, _ = loop_of(library.way(name, "boy"), float(library.meta["rate_hz"]))
            if low <= speed <= high and abs(turn) < 0.1:
                names.append(name)
        if not names:
            raise DataError("The default motion library has no clip of a child who moves so.")
        return f"{DEFAULT}/{names[int(random.integers(len(names)))]}"

    def begin(self, actor: Any, clip: str, yaw_deg: float, speed_mps: float, where: str) -> bool:
        """Let a walker play a clip in a direction, over and over, at a speed.

        Returns:
            False if the walker cannot: it was pushed or knocked down before.
        """
        folder, name = self._resolve(clip, where)
        attributes = {key: actor.attributes[key] for key in ("gender", "age")}
        pace = self.pace(clip, attributes, where)
        rate = pace.rate(speed_mps)
        cue = Cue(clip=name, towards_rad=yaw_deg * DEG_TO_RAD, loop=True, rate=rate)
        self._rate[actor.id] = rate
        if actor.id in self._of:
            if not self.plays(actor.id):
                return False
            self._groups[self._of[actor.id]].play(actor.id, cue)
            return True
        if folder not in self._groups:
            self._groups[folder] = PosedPeople(
                self.client, self.line(), self.banks(folder), self.ground(), self.delta_s
            )
        self._groups[folder].take(actor, replace(cue, enter_s=pace.enter_s))
        self._of[actor.id] = folder
        self._fading[actor.id] = (actor, 0)
        return True

    def pause(self, actor_id: int, *, paused: bool) -> None:
        """Hold a person, or let them go on."""
        group = self._groups[self._of[actor_id]]
        rate = _STILL_RATE if paused else self._rate[actor_id]
        group.players.pace(group.row_of(actor_id), rate)

    def release(self, actor_id: int) -> None:
        """Leave a person to the server's own animation."""
        folder = self._of.get(actor_id)
        if folder is not None:
            self._groups[folder].release(actor_id)

    def plays(self, actor_id: int) -> bool:
        """Return True if a person plays a clip now."""
        folder = self._of.get(actor_id)
        return folder is not None and self._groups[folder].is_controlled(actor_id)

    def step(self, snapshot: carla.WorldSnapshot) -> None:
        """Pose and move everybody for the coming tick; call before ``world.tick()``."""
        for folder in sorted(self._groups):
            self._groups[folder].step(snapshot)
        for actor_id, (actor, ticks) in list(self._fading.items()):
            if not self.plays(actor_id) or ticks >= _FADE_TICKS:
                del self._fading[actor_id]
                continue
            actor.blend_pose((ticks + 1) / _FADE_TICKS)
            self._fading[actor_id] = (actor, ticks + 1)

    def playing(self) -> dict[int, tuple[str, float, float]]:
        """Clip, phase and weight of everybody who plays a clip, for the record."""
        found: dict[int, tuple[str, float, float]] = {}
        for group in self._groups.values():
            found |= group.phases()
        return found

    def _resolve(self, clip: str, where: str) -> tuple[str, str]:
        library, name = split_clip(clip, where)
        own = Path(self.library).name if self.library else DEFAULT
        if library == DEFAULT:
            folder = ""
        elif self.library and Path(library).name == own:
            folder = self.library
        else:
            raise DataError(
                f"{where}: clip '{clip}' is of the library '{library}'; this run has '{own}'. Give "
                "that library's folder with --motions."
            )
        check_clip(self.banks(folder).library, name, where)
        return folder, name
