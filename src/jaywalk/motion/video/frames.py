"""Pictures of a clip with the times at which they are shown."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jaywalk.core.errors import DataError
from jaywalk.core.files import open_file

Picture = NDArray[np.uint8]


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """A picture (height, width, 3) RGB, upright, and its time from the beginning of the clip."""

    time_s: float
    picture: Picture


def read_frames(path: Path, *, rate_hz: float | None = None) -> Iterator[Frame]:
    """Frames of a clip in order, each at its own time: the rate need not be constant.

    A clip that breaks off is read as far as it goes.

    Args:
        path: The file.
        rate_hz: True rate, if the file's own times are wrong (a sequence of stills, slow motion).

    Raises:
        DataError: Not a clip, no picture in it, or pictures of changing size.
    """
    import av  # slow to import

    try:
        open_file(path, "a video", 2**40).close()
        container = av.open(str(path))
    except (av.error.FFmpegError, OSError) as problem:
        raise DataError(f"{path}: cannot be opened as a video ({problem})") from problem
    with container:
        if not container.streams.video:
            raise DataError(f"{path}: has no video stream")
        stream = container.streams.video[0]
        stream.thread_type = "AUTO"
        rate = float(stream.average_rate or stream.guessed_rate or 25.0)
        first, last, shape, index = None, -1.0, None, -1
        for picture in _decoded(container):
            index += 1
            own = rate_hz is None and picture.time is not None
            time = picture.time if own else index / (rate_hz or rate)
            first = time if first is None else first
            if time - first <= last:  # doubled frames carry no news
                continue
            last = time - first
            image = upright(picture)
            shape = shape or image.shape
            if image.shape != shape:
                raise DataError(f"{path}: the picture changes its size at {last:.2f} s")
            yield Frame(time_s=last, picture=image)
        if shape is None:
            raise DataError(f"{path}: no frame could be decoded; is the file cut short?")


def _decoded(container: Any) -> Iterator[Any]:
    import av

    try:
        yield from container.decode(video=0)
    except (av.error.FFmpegError, EOFError):
        return  # cut short: what came before is good


def upright(picture: Any) -> Picture:
    """The picture as it is shown: phones store it lying, with a note how to turn it."""
    image = picture.to_ndarray(format="rgb24")
    quarters = round(getattr(picture, "rotation", 0) / 90.0) % 4
    return np.ascontiguousarray(np.rot90(image, quarters) if quarters else image)
