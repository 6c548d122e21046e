"""A clip to motions: everybody in it who is seen for long enough, on the ground."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from jaywalk.core.errors import DataError, JaywalkError, UsageError
from jaywalk.motion.clip import Motion
from jaywalk.motion.library.building import Problem
from jaywalk.motion.video.camera import Camera, find_camera
from jaywalk.motion.video.fit import fit_person
from jaywalk.motion.video.frames import Frame, Picture, read_frames
from jaywalk.motion.video.ground import GroundPoints
from jaywalk.motion.video.landmarks import MARKS, Landmarks, at_even_times
from jaywalk.motion.video.sighting import PoseSource
from jaywalk.motion.video.tracking import Track, track_people

_FASTEST_HZ: Final = 30.0
_LEARN_FROM: Final = 40  # pictures kept to learn what does not move
_WORST_MISS: Final = 0.08  # of the height in the picture; beyond it the fit is of something else


@dataclass(frozen=True, slots=True, kw_only=True)
class VideoOptions:
    """How a clip is read.

    Attributes:
        shortest_s: People seen for less are left out.
        smallest_px: People smaller than this in the picture are not looked for.
        caption: Of every motion; a plain one is made if empty.
        licence: Terms of the footage.
        rate_hz: True frames a second, if the clip's own times are wrong.
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
class Reading:
    """People of a clip before the fit.

    Attributes:
        tracks: Everybody who was followed, however briefly.
        camera: Found from the ground points.
        width_px: Of the picture.
        height_px: Of the picture.
        frames: Frames looked at.
        rate_hz: Median rate of the clip.
    """

    tracks: list[Track]
    camera: Camera
    width_px: int
    height_px: int
    frames: int
    rate_hz: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """A fitted person: motion over the ground, when it begins, height and miss in the picture."""

    motion: Motion
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
) -> Reading:
    """Follow everybody through a clip.

    Raises:
        DataError: The clip or the ground points cannot be used, or nobody was found.
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

    def progress(frame: Frame, people: int) -> None:
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
    return Reading(
        tracks=tracks,
        camera=camera,
        width_px=width,
        height_px=height,
        frames=len(times),
        rate_hz=rate,
    )


def _glance(clip: Path) -> tuple[list[Picture], tuple[int, int], int]:
    """Pictures spread over the clip, their size, and how many frames there are."""
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
    reading: Reading,
    clip: Path,
    options: VideoOptions,
    *,
    say: Callable[[str], None] = lambda _: None,
) -> tuple[list[Person], list[Problem]]:
    """Fit everybody who was seen for long enough; the others are problems with a reason."""
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
        found = people[-1]
        say(
            f"{name}: {landmarks.duration_s:.1f} s, {found.tall_px:.0f} px tall, body size "
            f"{found.motion.body_scale:.2f}, landmarks within {found.image_miss_px:.1f} px"
        )
    return people, problems


def _person(
    landmarks: Landmarks, reading: Reading, clip: Path, number: int, options: VideoOptions
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
