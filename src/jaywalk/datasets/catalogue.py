"""Registries of datasets. A reader registers itself with a decorator in its module."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

from jaywalk.core.registry import Registry, Spec

if TYPE_CHECKING:
    from jaywalk.datasets.behaviour_tables import BehaviourData
    from jaywalk.datasets.trajectories import Trajectories

TrajectoryReader = TypeVar("TrajectoryReader", bound="Callable[..., Trajectories]")
BehaviourReader = TypeVar("BehaviourReader", bound="Callable[..., BehaviourData]")
Recognise = Callable[[Path, list[str]], bool]

_LAST: Final = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetSpec(Spec):
    """Facts that all datasets state.

    Attributes:
        provides: Contents that a reader returns, for example ``people`` and ``vehicles``.
    """

    provides: tuple[str, ...] = ()

    def facts(self) -> dict[str, Any]:
        """Return the contents."""
        return {"provides": list(self.provides)}


@dataclass(frozen=True, slots=True, kw_only=True)
class TrajectoryFormatSpec(DatasetSpec):
    """Facts about a format of pedestrian tracks.

    Attributes:
        recognise: Returns whether a path, with the names of its files, has this format.
        rank: Formats with a lower rank are tried first.
    """

    recognise: Recognise
    rank: int = _LAST


@dataclass(frozen=True, slots=True, kw_only=True)
class BehaviourDatasetSpec(DatasetSpec):
    """Facts about a dataset of annotated pedestrian behaviour.

    Attributes:
        folders: Folders of the original layout.
        member: Pattern of a file that only this dataset has; None if it is not detected by files.
        example: Such a file, for messages.
        options: Options of the reader out of ``splits``, ``with_boxes`` and ``with_scene``.
        complete: Counts of the complete dataset.
        read_all: Options with which the reader reads all data.
    """

    folders: frozenset[str] = frozenset()
    member: re.Pattern[str] | None = None
    example: str = ""
    options: tuple[str, ...] = ()
    complete: Mapping[str, int] = field(default_factory=dict)
    read_all: Mapping[str, Any] = field(default_factory=dict)


TRAJECTORY_FORMATS: Final[Registry[TrajectoryFormatSpec]] = Registry(
    "trajectory format", packages=("jaywalk.datasets",)
)
BEHAVIOUR_DATASETS: Final[Registry[BehaviourDatasetSpec]] = Registry(
    "behaviour dataset", packages=("jaywalk.datasets",)
)


def trajectory_format(
    name: str,
    *,
    summary: str,
    provides: tuple[str, ...],
    recognise: Recognise,
    rank: int = _LAST,
) -> Callable[[TrajectoryReader], TrajectoryReader]:
    """Register a reader of pedestrian tracks; :class:`TrajectoryFormatSpec` explains the rest."""

    def register(reader: TrajectoryReader) -> TrajectoryReader:
        TRAJECTORY_FORMATS.register(
            TrajectoryFormatSpec(
                name=name,
                summary=summary,
                provides=provides,
                recognise=recognise,
                rank=rank,
                target=reader,
            )
        )
        return reader

    return register


def behaviour_dataset(
    name: str, *, summary: str, provides: tuple[str, ...], **facts: Any
) -> Callable[[BehaviourReader], BehaviourReader]:
    """Register a reader of behaviour annotations.

    Args:
        name: Name of the dataset.
        summary: One line for lists.
        provides: Contents that the reader returns.
        facts: Further attributes of :class:`BehaviourDatasetSpec`.
    """

    def register(reader: BehaviourReader) -> BehaviourReader:
        BEHAVIOUR_DATASETS.register(
            BehaviourDatasetSpec(
                name=name, summary=summary, provides=provides, target=reader, **facts
            )
        )
        return reader

    return register
