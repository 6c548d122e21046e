"""An episode as a film or a picture, from the record alone."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

import av
import numpy as np
from matplotlib.image import imsave

from jaywalk.core.errors import DataError, UsageError
from jaywalk.record.reader import Record, find_records, open_record
from jaywalk.report.episode_cards import moment_of
from jaywalk.report.ground_plan import ground_plan, town_of
from jaywalk.report.output_file import claim
from jaywalk.report.replay_stage import HEIGHT_PX, WIDTH_PX, Pixels, Stage
from jaywalk.report.scene import Scene, read_scene
from jaywalk.report.series import ego_series

FRAMES_PER_S: Final = 20
_BIT_RATE: Final = 2_500_000


def find_episode(run: Path, name: str) -> Record:
    """The record of an episode by its id or the name of its folder.

    Raises:
        UsageError: The run has no such episode; the message names those it has.
    """
    folders = list(find_records(run))
    if not folders:
        raise DataError(f"'{run}' holds no recorded episode. Give the folder of a run.")
    for folder in folders:
        if name in (folder.name, folder.as_posix()):
            return open_record(folder)
    by_id = [record for f in folders if (record := open_record(f)).episode.episode_id == name]
    if len(by_id) == 1:
        return by_id[0]
    known = ", ".join(folder.name for folder in folders[:12])
    more = f" and {len(folders) - 12} more" if len(folders) > 12 else ""
    raise UsageError(f"'{run}' has no episode '{name}'. It has: {known}{more}.")


def frame_rows(scene: Scene) -> list[int]:
    """Rows that become frames: as many as 20 a second of game time, at real speed."""
    n = len(scene.time_s)
    step = float(np.median(np.diff(scene.time_s))) if n > 1 else 1.0 / FRAMES_PER_S
    stride = max(1, round(1.0 / (FRAMES_PER_S * max(step, 1e-6))))
    return list(range(0, n, stride))


def write_film(record: Record, path: Path, progress: Callable[[float], None]) -> int:
    """Write an episode as MP4 in real time; returns the number of frames."""
    scene, stage = _prepare(record)
    rows = frame_rows(scene)
    step = float(np.median(np.diff(scene.time_s[rows]))) if len(rows) > 1 else 1.0 / FRAMES_PER_S
    with FilmEncoder(path, Fraction(1.0 / step).limit_denominator(1000)) as encoder:
        for done, row in enumerate(rows, start=1):
            encoder.add(stage.draw(row))
            progress(done / len(rows))
    return len(rows)


def write_still(record: Record, path: Path, time_s: float | None) -> tuple[float, str]:
    """Write one moment as PNG; returns its game time and what it shows.

    Args:
        record: The episode.
        path: The picture to write.
        time_s: Game time; None for the first contact, else the closest call.
    """
    scene, stage = _prepare(record)
    if time_s is None:
        moment = moment_of(None, scene, ego_series(scene))
        row, words = moment.row, moment.words
    else:
        if not scene.time_s[0] <= time_s <= scene.time_s[-1]:
            raise UsageError(
                f"--time {time_s:g} is outside of the episode, which lasts from "
                f"{scene.time_s[0]:g} to {scene.time_s[-1]:g} s."
            )
        row = scene.row_at(time_s)
        words = f"{scene.time_s[row]:.1f} s"
    imsave(claim(path), stage.draw(row), format="png")
    return float(scene.time_s[row]), words


def _prepare(record: Record) -> tuple[Scene, Stage]:
    scene = read_scene(record)
    if not len(scene.time_s):
        raise DataError(f"{record.folder} has no ticks: there is nothing to draw.")
    town = town_of(record)
    plan = None if town is None else ground_plan(town)
    episode = record.episode
    words = [episode.episode_id, episode.agent.name, episode.town]
    title = "  ·  ".join(word for word in words if word)
    return scene, Stage(scene, plan, ego_series(scene), title=title)


class FilmEncoder:
    """H.264 in an MP4 file that browsers play while it loads; sides of frames are even."""

    def __init__(
        self, path: Path, rate: Fraction, size_px: tuple[int, int] = (WIDTH_PX, HEIGHT_PX)
    ) -> None:
        self._container: Any = av.open(
            str(claim(path)), "w", format="mp4", options={"movflags": "+faststart"}
        )
        self._stream: Any = self._container.add_stream("libx264", rate=rate)
        self._stream.width, self._stream.height = size_px
        self._stream.pix_fmt = "yuv420p"
        self._stream.bit_rate = _BIT_RATE
        # One thread: the same record gives the same bytes.
        self._stream.options = {"preset": "veryfast", "threads": "1"}

    def add(self, rgb: Pixels) -> None:
        """Append one frame."""
        frame = av.VideoFrame.from_ndarray(np.ascontiguousarray(rgb), format="rgb24")
        self._container.mux(self._stream.encode(frame))

    def __enter__(self) -> FilmEncoder:
        return self

    def __exit__(self, *_: object) -> None:
        self._container.mux(self._stream.encode())
        self._container.close()
