"""Geometry of boxes, paths, poses and frames: distances, overlaps and times until contact."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jaywalk.core.lazy import lazy_exports

if TYPE_CHECKING:
    from jaywalk.geometry.box import box_distance as box_distance
    from jaywalk.geometry.box import box_points as box_points
    from jaywalk.geometry.box import boxes_touch as boxes_touch
    from jaywalk.geometry.frames import carla_to_right_handed as carla_to_right_handed
    from jaywalk.geometry.frames import carla_yaw_to_rad as carla_yaw_to_rad
    from jaywalk.geometry.path import Path as Path
    from jaywalk.geometry.path import make_path as make_path
    from jaywalk.geometry.path import project as project
    from jaywalk.geometry.pose import CarlaPose as CarlaPose
    from jaywalk.geometry.zones import ComfortZone as ComfortZone
    from jaywalk.geometry.zones import comfort_zone as comfort_zone

__getattr__, __all__ = lazy_exports(
    __name__,
    {
        "box": (
            "box_distance",
            "box_points",
            "boxes_touch",
        ),
        "frames": (
            "carla_to_right_handed",
            "carla_yaw_to_rad",
        ),
        "path": (
            "Path",
            "make_path",
            "project",
        ),
        "pose": ("CarlaPose",),
        "zones": (
            "ComfortZone",
            "comfort_zone",
        ),
    },
)
