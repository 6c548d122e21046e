"""Motions from a video: tracking of people, and the fit of all who are seen for long enough.

The tracker keeps one box per person and moves it from frame to frame with the landmarks. The motion
of each fitted person is given on the ground.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import numpy as np

from jaywalk.core.errors import DataError, JaywalkError, UsageError
from jaywalk.motion.clip import Clip
from jaywalk.motion.library.building import Problem
from jaywalk.motion.video.camera import Camera, find_camera
from jaywalk.motion.video.fit import fit_person
from jaywalk.motion.video.ground import GroundPoints
from jaywalk.motion.video.landmarks import (
    MARKS,
    Box,
    Landmarks,
    Picture,
    PoseSource,
    Sighting,
    VideoFrame,
    at_even_times,
    read_frames,
)

_PROPOSE_S: Final = 0.2  # interval of the search for new people
_THOROUGH_S: Final = 1.0  # interval of the search with the slow detector
_LOST_S: Final = 0.8  # a track ends after this time without a sighting
_MIN_CONFIDENCE: Final = 0.4
_SAME: Final = 0.25  # landmarks nearer than this share of the height belong to one person


@dataclass(slots=True)
class VideoTrack:
    """Track of one person: times and sightings."""

    times_s: list[float] = field(default_factory=list)
    seen: list[Sighting] = field(default_factory=list)

    def add(self, time_s: float, sighting: Sighting) -> None:
        """Append a frame."""
        self.times_s.append(time_s)
        self.seen.append(sighting)

    def expected(self, time_s: float) -> Box:
        """Expected box of the person at a time, at constant velocity."""
        box = self.seen[-1].box
        if len(self.seen) < 2:
            return box
        before = max(-6, -len(self.seen))
        span = self.times_s[-1] - self.times_s[before]
        moved = (self.seen[-1].image_px - self.seen[before].image_px)[MARKS].mean(axis=0)
        step = moved / max(span, 1e-6) * (time_s - self.times_s[-1])
        return box.moved(float(step[0]), float(step[1]))

    def landmarks(self, width_px: int, height_px: int) -> Landmarks:
        """Return all landmarks; those outside the picture are guesses and get confidence 0."""
        image = np.array([sighting.image_px for sighting in self.seen])
        inside = (image >= 0.0).all(axis=2)
        inside &= (image[..., 0] < width_px) & (image[..., 1] < height_px)
        confidence = np.array([sighting.confidence for sighting in self.seen])
        return Landmarks(
            times_s=np.array(self.times_s),
            image_px=image,
            world_m=np.array([sighting.world_m for sighting in self.seen]),
            confidence=np.clip(confidence, 0.0, 1.0) * inside,
        )


@dataclass(slots=True)
class Tracker:
    """Tracker of all people in a video; takes frames in order."""

    source: PoseSource
    smallest_px: float
    open: list[VideoTrack] = field(default_factory=list)
    closed: list[VideoTrack] = field(default_factory=list)
    _proposed_s: float = -1e9
    _thorough_s: float = -1e9

    def feed(self, frame: VideoFrame) -> None:
        """Find known people at their expected positions, then search for new ones."""
        matches: list[tuple[VideoTrack, Sighting]] = []
        for track in self.open:
            sighting = self._look(frame.picture, track.expected(frame.time_s))
            if sighting is not None and self._plausible(track, sighting, frame.time_s):
                matches.append((track, sighting))
        for track, sighting in self._distinct(matches):
            track.add(frame.time_s, sighting)
        gone = [track for track in self.open if frame.time_s - track.times_s[-1] > _LOST_S]
        self.closed += gone
        self.open = [track for track in self.open if track not in gone]
        if frame.time_s - self._proposed_s >= _PROPOSE_S - 1e-6:
            self._proposed_s = frame.time_s
            self._search(frame)

    def finish(self) -> list[VideoTrack]:
        """Return all tracks in the order of their beginnings."""
        self.closed += self.open
        self.open = []
        return sorted(self.closed, key=lambda track: track.times_s[0])

    def _search(self, frame: VideoFrame) -> None:
        thorough = frame.time_s - self._thorough_s >= _THOROUGH_S - 1e-6
        if thorough:
            self._thorough_s = frame.time_s
        for box in self.source.propose(frame.picture, thorough=thorough):
            if box.height < self.smallest_px or self._known(box, frame.time_s):
                continue
            sighting = self._look(frame.picture, box)
            if sighting is None or self._known(sighting.box, frame.time_s):
                continue
            track = VideoTrack()
            track.add(frame.time_s, sighting)
            self.open.append(track)

    def _known(self, box: Box, time_s: float) -> bool:
        return any(box.shared(track.expected(time_s)) > 0.6 for track in self.open)

    def _look(self, picture: Picture, box: Box) -> Sighting | None:
        sighting = self.source.look(picture, box)
        if sighting is None or sighting.sureness < _MIN_CONFIDENCE:
            return None
        if sighting.box.height < self.smallest_px or sighting.box.shared(box) < 0.3:
            return None
        return sighting

    def _plausible(self, track: VideoTrack, sighting: Sighting, time_s: float) -> bool:
        """Return True if the sighting fits the track, not another person who crosses the box."""
        expected, box = track.expected(time_s), sighting.box
        late = 1.0 + 2.0 * (time_s - track.times_s[-1])
        across = abs(expected.left + expected.right - box.left - box.right) / 2.0
        down = abs(expected.top + expected.bottom - box.top - box.bottom) / 2.0
        alike = 0.6 < box.height / max(expected.height, 1.0) < 1.7
        return alike and max(across, down) < 0.3 * late * expected.height

    def _distinct(
        self, matches: list[tuple[VideoTrack, Sighting]]
    ) -> list[tuple[VideoTrack, Sighting]]:
        """Keep one sighting per person: if two tracks see one person, the longer track wins."""
        kept: list[tuple[VideoTrack, Sighting]] = []
        for track, sighting in sorted(matches, key=lambda pair: -len(pair[0].seen)):
            size = sighting.box.height
            if all(sighting.apart_px(other) > _SAME * size for _, other in kept):
                kept.append((track, sighting))
        return kept


def track_people(
    frames: Iterable[VideoFrame],
    source: PoseSource,
    *,
    smallest_px: float,
    progress: Callable[[VideoFrame, int], None] = lambda _frame, _people: None,
) -> list[VideoTrack]:
    """Track all people in a video; ``progress`` gets every frame and the number of open tracks."""
    tracker = Tracker(source=source, smallest_px=smallest_px)
    for frame in frames:
        tracker.feed(frame)
        progress(frame, len(tracker.open))
    return tracker.finish()


_FASTEST_HZ: Final = 30.0
_LEARN_FROM: Final = 40  # pictures kept to learn the background
_WORST_MISS: Final = 0.08  # share of the height in the picture; a larger error rejects the fit


@dataclass(frozen=True, slots=True, kw_only=True)
class VideoOptions:
    """Options for reading a video.

    Attributes:
        shortest_s: People seen for less time are left out.
        smallest_px: People smaller than this in the picture are ignored.
        caption: Caption of every motion; a simple one is made if empty.
        licence: Licence of the video.
        rate_hz: True frames per second, if the times in the file are wrong.
    """

    shortest_s: float = 1.0
    smallest_px: float = 50.0
    caption: str = ""
    licence: str = ""
    rate_hz: float | None = None

    def __post_init__(self) -> None:
        for name in ("shortest_s", "smallest_px", "rate_hz"):
            value = getattr(self, name)
            if value is not None and not (np.isfinite(value) and value > 0.0):
                raise UsageError(f"{name} is {value}; expected a positive number")


@dataclass(frozen=True, slots=True, kw_only=True)
class VideoReading:
    """People of a video before the fit.

    Attributes:
        tracks: All tracks, including short ones.
        camera: Camera found from the ground points.
        width_px: Width of the picture.
        height_px: Height of the picture.
        frames: Number of frames examined.
        rate_hz: Median rate of the video.
    """

    tracks: list[VideoTrack]
    camera: Camera
    width_px: int
    height_px: int
    frames: int
    rate_hz: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """Fitted person: motion on the ground, start time, and height and error in the picture."""

    motion: Clip
    first_s: float
    tall_px: float
    image_miss_px: float


def find_people(
    clip: Path,
    ground: GroundPoints,
    source: PoseSource,
    options: VideoOptions,
    *,
    say: Callable[[str], None] = lambda _: None,
) -> VideoReading:
    """Track all people in a video.

    Raises:
        DataError: The video or the ground points cannot be used, or no person was found.
    """
    sample, shape, total = _glance(clip)
    height, width = shape
    camera = find_camera(ground, width, height)
    if camera.guessed_focal:
        say(
            f"the ground points do not tell the focal length; {camera.focal_px:.0f} px is assumed "
            "(give focal_px in the file)"
        )
    say(
        f"{clip.name}: {total} frames of {width} x {height}; camera {camera.place_m[1]:.2f} m over "
        f"the ground, focal length {camera.focal_px:.0f} px, ground points within "
        f"{camera.fit_px:.1f} px"
    )
    source.learn(sample)
    times: list[float] = []

    def progress(frame: VideoFrame, people: int) -> None:
        times.append(frame.time_s)
        if len(times) % 50 == 0:
            say(f"{len(times)} of {total} frames, {people} people in sight")

    tracks = track_people(
        read_frames(clip, rate_hz=options.rate_hz),
        source,
        smallest_px=options.smallest_px,
        progress=progress,
    )
    if not tracks:
        raise DataError(
            f"{clip}: no person found in {len(times)} frames; people must be at least "
            f"{options.smallest_px:g} px tall (--smallest-px) and seen from head to feet"
        )
    rate = 1.0 / float(np.median(np.diff(times))) if len(times) > 1 else 25.0
    return VideoReading(
        tracks=tracks,
        camera=camera,
        width_px=width,
        height_px=height,
        frames=len(times),
        rate_hz=rate,
    )


def _glance(clip: Path) -> tuple[list[Picture], tuple[int, int], int]:
    """Pictures spread over the video, their size, and the number of frames."""
    kept: list[Picture] = []
    step, count, shape = 1, 0, (0, 0)
    for frame in read_frames(clip):
        shape = (frame.picture.shape[0], frame.picture.shape[1])
        if count % step == 0:
            kept.append(frame.picture)
            if len(kept) > _LEARN_FROM:
                kept, step = kept[::2], step * 2
        count += 1
    if count < 3:
        raise DataError(f"{clip}: has {count} frames; a motion needs at least 3")
    return kept, shape, count


def fit_people(
    reading: VideoReading,
    clip: Path,
    options: VideoOptions,
    *,
    say: Callable[[str], None] = lambda _: None,
) -> tuple[list[Person], list[Problem]]:
    """Fit all people who were seen for long enough; the others become problems with a reason."""
    people: list[Person] = []
    problems: list[Problem] = []
    for number, track in enumerate(reading.tracks, 1):
        name = f"{clip.stem}-p{number:02d}"
        landmarks = track.landmarks(reading.width_px, reading.height_px)
        try:
            people.append(_person(landmarks, reading, clip, number, options))
        except (JaywalkError, ArithmeticError, np.linalg.LinAlgError, ValueError) as problem:
            problems.append(Problem(name=name, reason=str(problem)))
            continue
        person = people[-1]
        say(
            f"{name}: {landmarks.duration_s:.1f} s, {person.tall_px:.0f} px tall, body size "
            f"{person.motion.body_scale:.2f}, landmarks within {person.image_miss_px:.1f} px"
        )
    return people, problems


def _person(
    landmarks: Landmarks, reading: VideoReading, clip: Path, number: int, options: VideoOptions
) -> Person:
    if landmarks.duration_s < options.shortest_s:
        raise DataError(
            f"seen for {landmarks.duration_s:.2f} s, less than {options.shortest_s:g} s "
            "(--shortest-s)"
        )
    first, last = landmarks.times_s[0], landmarks.times_s[-1]
    rate = min(reading.rate_hz, _FASTEST_HZ)
    fit = fit_person(
        at_even_times(landmarks, rate),
        reading.camera,
        rate_hz=rate,
        name=f"{clip.stem}-p{number:02d}",
        caption=options.caption or f"person {number} of {clip.name}",
        source=f"video/{clip.name}[{first:.2f}:{last:.2f} s] person {number}",
        licence=options.licence or f"not stated; that of the footage {clip.name}",
    )
    tall_px = float(np.median(np.ptp(landmarks.image_px[:, MARKS, 1], axis=1)))
    if not fit.image_miss_px <= _WORST_MISS * tall_px:
        raise DataError(
            f"the fitted body misses the landmarks by {fit.image_miss_px:.1f} px at a height of "
            f"{tall_px:.0f} px; is the person on the ground of the points?"
        )
    return Person(
        motion=fit.motion,
        first_s=float(first),
        tall_px=tall_px,
        image_miss_px=fit.image_miss_px,
    )
