"""Wrong lane: whether the ego drives on a lane of the other direction."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from jaywalk.town.waypoints import LanesUnder

_MAX_EGO_DEG: Final = 120.0
_MAX_LANE_DEG: Final = 150.0


def is_wrong_lane(
    lanes: LanesUnder, ego_yaw_deg: NDArray[np.float64], *, change_forgives: bool = False
) -> NDArray[np.bool_]:
    """Whether each row is on a wrong lane.

    Never in a junction. Behind a junction the ego's heading decides; elsewhere a jump to a lane
    of about the opposite direction turns the answer over, so that only changes of lane matter.
    ``change_forgives``: a change between lanes of one direction makes it right.
    """
    n = len(lanes.road)
    out = np.zeros(n, np.bool_)
    wrong = False
    changed = np.ones(n, np.bool_)
    changed[1:] = (np.diff(lanes.road) != 0) | (np.diff(lanes.lane) != 0)
    for row in range(n):
        before = max(row - 1, 0)
        if lanes.in_junction[row]:
            wrong = False
        elif changed[row]:
            if lanes.in_junction[before]:
                off = (lanes.yaw_deg[row] - ego_yaw_deg[row]) % 360.0
                wrong = not (off < _MAX_EGO_DEG or off > 360.0 - _MAX_EGO_DEG)
            else:
                off = (lanes.yaw_deg[before] - lanes.yaw_deg[row]) % 360.0
                if _MAX_LANE_DEG < off < 360.0 - _MAX_LANE_DEG:
                    wrong = not wrong
                elif change_forgives:
                    wrong = False
        out[row] = wrong
    return out
