"""Following people through a clip: a box a person, carried from frame to frame by the landmarks."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from jaywalk.motion.video.frames import Frame, Picture
from jaywalk.motion.video.landmarks import MARKS, Landmarks
from jaywalk.motion.video.sighting import Box, PoseSource, Sighting

_PROPOSE_S: Final = 0.2  # how often the clip is searched for new people
_THOROUGH_S: Final = 1.0  # and how often with the slow detector
_LOST_S: Final = 0.8  # a person not seen for so long has gone
_SURE: Final = 0.4
_SAME: Final = 0.25  # landmarks nearer than this share of the height belong to one person


@dataclass(slots=True)
class Track:
    """One person so far."""

    times_s: list[float] = field(default_factory=list)
    seen: list[Sighting] = field(default_factory=list)

    def add(self, time_s: float, sighting: Sighting) -> None:
        """Append a frame."""
        self.times_s.append(time_s)
        self.seen.append(sighting)

    def expected(self, time_s: float) -> Box:
        """Where the person should be by now, going on as before."""
        box = self.seen[-1].box
        if len(self.seen) < 2:
            return box
        before = max(-6, -len(self.seen))
        span = self.times_s[-1] - self.times_s[before]
        moved = (self.seen[-1].image_px - self.seen[before].image_px)[MARKS].mean(axis=0)
        step = moved / max(span, 1e-6) * (time_s - self.times_s[-1])
        return box.moved(float(step[0]), float(step[1]))

    def landmarks(self, width_px: int, height_px: int) -> Landmarks:
        """Everything seen; what lies outside the picture was guessed and counts for nothing."""
        image = np.array([one.image_px for one in self.seen])
        inside = (image >= 0.0).all(axis=2)
        inside &= (image[..., 0] < width_px) & (image[..., 1] < height_px)
        confidence = np.array([one.confidence for one in self.seen])
        return Landmarks(
            times_s=np.array(self.times_s),
            image_px=image,
            world_m=np.array([one.world_m for one in self.seen]),
            confidence=np.clip(confidence, 0.0, 1.0) * inside,
        )


@dataclass(slots=True)
class Tracker:
    """Follows everybody; feed it frames in order."""

    source: PoseSource
    smallest_px: float
    open: list[Track] = field(default_factory=list)
    closed: list[Track] = field(default_factory=list)
    _proposed_s: float = -1e9
    _thorough_s: float = -1e9

    def feed(self, frame: Frame) -> None:
        """Look for known people where they should be, then for new ones."""
        found: list[tuple[Track, Sighting]] = []
        for track in self.open:
            sighting = self._look(frame.picture, track.expected(frame.time_s))
            if sighting is not None and self._plausible(track, sighting, frame.time_s):
                found.append((track, sighting))
        for track, sighting in self._distinct(found):
            track.add(frame.time_s, sighting)
        gone = [track for track in self.open if frame.time_s - track.times_s[-1] > _LOST_S]
        self.closed += gone
        self.open = [track for track in self.open if track not in gone]
        if frame.time_s - self._proposed_s >= _PROPOSE_S - 1e-6:
            self._proposed_s = frame.time_s
            self._search(frame)

    def finish(self) -> list[Track]:
        """All tracks, in the order in which they began."""
        self.closed += self.open
        self.open = []
        return sorted(self.closed, key=lambda track: track.times_s[0])

    def _search(self, frame: Frame) -> None:
        thorough = frame.time_s - self._thorough_s >= _THOROUGH_S - 1e-6
        if thorough:
            self._thorough_s = frame.time_s
        for box in self.source.propose(frame.picture, thorough=thorough):
            if box.height < self.smallest_px or self._known(box, frame.time_s):
                continue
            sighting = self._look(frame.picture, box)
            if sighting is None or self._known(sighting.box, frame.time_s):
                continue
            track = Track()
            track.add(frame.time_s, sighting)
            self.open.append(track)

    def _known(self, box: Box, time_s: float) -> bool:
        return any(box.shared(track.expected(time_s)) > 0.6 for track in self.open)

    def _look(self, picture: Picture, box: Box) -> Sighting | None:
        sighting = self.source.look(picture, box)
        if sighting is None or sighting.sureness < _SURE:
            return None
        if sighting.box.height < self.smallest_px or sighting.box.shared(box) < 0.3:
            return None
        return sighting

    def _plausible(self, track: Track, sighting: Sighting, time_s: float) -> bool:
        """Whether the person could have got there: not another one who crossed the box."""
        expected, box = track.expected(time_s), sighting.box
        late = 1.0 + 2.0 * (time_s - track.times_s[-1])
        across = abs(expected.left + expected.right - box.left - box.right) / 2.0
        down = abs(expected.top + expected.bottom - box.top - box.bottom) / 2.0
        alike = 0.6 < box.height / max(expected.height, 1.0) < 1.7
        return alike and max(across, down) < 0.3 * late * expected.height

    def _distinct(self, found: list[tuple[Track, Sighting]]) -> list[tuple[Track, Sighting]]:
        """Two tracks that see one person: it belongs to the one followed longer."""
        kept: list[tuple[Track, Sighting]] = []
        for track, sighting in sorted(found, key=lambda pair: -len(pair[0].seen)):
            size = sighting.box.height
            if all(sighting.apart_px(other) > _SAME * size for _, other in kept):
                kept.append((track, sighting))
        return kept


def track_people(
    frames: Iterable[Frame],
    source: PoseSource,
    *,
    smallest_px: float,
    progress: Callable[[Frame, int], None] = lambda _frame, _people: None,
) -> list[Track]:
    """Follow everybody through a clip; ``progress`` hears of every frame and the people in it."""
    tracker = Tracker(source=source, smallest_px=smallest_px)
    for frame in frames:
        tracker.feed(frame)
        progress(frame, len(tracker.open))
    return tracker.finish()
