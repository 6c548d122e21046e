"""Where the observation windows of a track begin: plain index arithmetic, no data."""

from __future__ import annotations

from jaywalk.behaviour.tasks import (
    LONGEST_FRAMES,
    OBSERVED_FRAMES,
    PREDICTED_FRAMES,
    STRIDE_FRAMES,
)


def event_starts(event_index: int, stride: int = STRIDE_FRAMES) -> range:
    """Return start indices of the windows before an event at an index of the track.

    The first lies 105 boxes before the event (or at the track's start), the last leaves at least
    30 boxes between the end of the observation and the event.

    >>> list(event_starts(104))
    [0, 10, 20, 30, 40, 50, 60]
    >>> list(event_starts(43))
    []
    """
    length = event_index + 1
    shortest = OBSERVED_FRAMES + PREDICTED_FRAMES
    if length < shortest:
        return range(0)
    return range(max(0, length - LONGEST_FRAMES), length - shortest + 1, stride)


def tte_frames(event_index: int, start: int) -> int:
    """Return boxes from the end of the observation that starts at ``start`` to the event.

    >>> tte_frames(104, 60)
    30
    """
    return event_index + 1 - (start + OBSERVED_FRAMES)


def intention_starts(first_index: int, critical_index: int) -> range:
    """Return start indices of the windows of the clip that people judged.

    Late windows run past the critical point: the benchmark wants it so, the strict variant drops
    them.

    >>> list(intention_starts(5, 27))
    [5, 15, 25]
    >>> list(intention_starts(5, 19))
    []
    """
    if critical_index - first_index < OBSERVED_FRAMES:
        return range(0)
    return range(first_index, critical_index + 1, STRIDE_FRAMES)


def risk_region(centre_x_px: float, width_px: int, n_regions: int) -> int:
    """Return the vertical stripe of the picture that a box centre lies in, from left, 0-based.

    >>> [risk_region(x, 1920, 12) for x in (-3.0, 159.9, 160.0, 2000.0)]
    [0, 0, 1, 11]
    """
    stripe_px = width_px // n_regions
    return int(min(max(centre_x_px // stripe_px, 0), n_regions - 1))
