"""Road options, as CARLA's navigation agents number them."""

from enum import IntEnum


class RoadOption(IntEnum):
    """What to do at a point of the route."""

    VOID = -1
    LEFT = 1
    RIGHT = 2
    STRAIGHT = 3
    LANEFOLLOW = 4
    CHANGELANELEFT = 5
    CHANGELANERIGHT = 6
