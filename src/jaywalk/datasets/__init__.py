"""Readers of public datasets, one file each, into typed tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jaywalk.core.lazy import lazy_exports

if TYPE_CHECKING:
    from jaywalk.datasets.behaviour_tables import BehaviourData as BehaviourData
    from jaywalk.datasets.catalogue import BehaviourDatasetSpec as BehaviourDatasetSpec
    from jaywalk.datasets.catalogue import TrajectoryFormatSpec as TrajectoryFormatSpec
    from jaywalk.datasets.formats import open_trajectories as open_trajectories
    from jaywalk.datasets.trajectories import Trajectories as Trajectories
    from jaywalk.datasets.trajectories import read_trajectories as read_trajectories
    from jaywalk.datasets.trajectories import write_trajectories as write_trajectories

__getattr__, __all__ = lazy_exports(
    __name__,
    {
        "behaviour_tables": ("BehaviourData",),
        "catalogue": (
            "BehaviourDatasetSpec",
            "TrajectoryFormatSpec",
        ),
        "formats": ("open_trajectories",),
        "trajectories": (
            "Trajectories",
            "read_trajectories",
            "write_trajectories",
        ),
    },
)
