"""Bands of rows of a picture, drawn by several threads.

A pixel does not depend on the band that it is in, so pictures are the same for any number of
threads. There are as many threads as cores that this process may use.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Final

from jaywalk.server.sensors._visibility import BAND_PX

_MOST_THREADS: Final = 8
_BANDS_PER_THREAD: Final = 2  # rows of sky are done sooner than rows of houses


def cores() -> int:
    """Return the number of cores that this process may use, at most eight."""
    try:
        count = len(os.sched_getaffinity(0))
    except AttributeError:  # macOS and Windows
        count = os.cpu_count() or 1
    return min(count, _MOST_THREADS)


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads, thread_name_prefix="pictures")


def bands(height: int, threads: int) -> list[tuple[int, int]]:
    """Return the bands of a picture: first row, and the row after the last one."""
    count = 1 if threads <= 1 else _BANDS_PER_THREAD * threads
    step = -(-height // (count * BAND_PX)) * BAND_PX
    return [(first, min(first + step, height)) for first in range(0, height, step)]


def in_bands(
    height: int, draw: Callable[[tuple[int, int]], None], threads: int | None = None
) -> None:
    """Call ``draw`` for every band, with a thread on each core.

    Args:
        height: Rows of the picture.
        draw: Draws the rows of a band; runs without the interpreter lock most of the time.
        threads: How many; None: one per core.
    """
    threads = cores() if threads is None else threads
    parts = bands(height, threads)
    if len(parts) == 1:
        draw(parts[0])
    else:
        list(_pool(threads).map(draw, parts))
