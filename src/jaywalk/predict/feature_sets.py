"""The eight feature sets of the study: motion, with or without vehicle, head and body, and map."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from jaywalk.core.errors import UsageError

STEP_COLUMNS: Final = (
    "motion_x", "motion_y", "ego_x", "ego_y", "head_cos", "head_sin", "body_cos", "body_sin",
)  # fmt: skip
"""Columns of a history step. Each pair is a vector of the plane, so one rotation turns them all;
an angle that is not labelled is the zero vector, which no angle can be."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FeatureSet:
    """What a model may see besides the motion of the person."""

    name: str
    egodist: bool = False
    head_body: bool = False
    map: bool = False

    @property
    def columns(self) -> tuple[int, ...]:
        """Indices into `STEP_COLUMNS`."""
        chosen = [0, 1]
        chosen += [2, 3] if self.egodist else []
        chosen += [4, 5, 6, 7] if self.head_body else []
        return tuple(chosen)

    @property
    def size(self) -> int:
        """Number of features as the paper counts them: head and body are one."""
        return 1 + self.egodist + self.head_body + self.map


FEATURE_SETS: Final = (
    FeatureSet(name="motion"),
    FeatureSet(name="motion+egodist", egodist=True),
    FeatureSet(name="motion+head&body", head_body=True),
    FeatureSet(name="motion+egodist+head&body", egodist=True, head_body=True),
    FeatureSet(name="motion+map", map=True),
    FeatureSet(name="motion+map+egodist", map=True, egodist=True),
    FeatureSet(name="motion+map+head&body", map=True, head_body=True),
    FeatureSet(name="motion+map+egodist+head&body", map=True, egodist=True, head_body=True),
)


def feature_set(name: str) -> FeatureSet:
    """A feature set by the name it has in the tables."""
    for one in FEATURE_SETS:
        if one.name == name:
            return one
    known = ", ".join(one.name for one in FEATURE_SETS)
    raise UsageError(f"feature set '{name}' is unknown; expected one of: {known}")
