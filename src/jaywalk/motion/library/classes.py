"""Crossing class of a motion by its displacement: not crossing, attempting or crossing.

The rule looks at the pelvis on the ground. A person who ends up more than ``net_m`` from where they
began has crossed; one who went further than ``excursion_m`` and came back was attempting; the
others stayed. One clip never spans a whole road, so "crossing" means covering ground.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

import numpy as np

from jaywalk.core.arrays import FloatArray, IntArray
from jaywalk.core.errors import UsageError
from jaywalk.core.seeds import stream
from jaywalk.motion.clip import Clip


class MotionClass(StrEnum):
    """The three classes of HABIT."""

    NOT_CROSSING = "not_crossing"
    ATTEMPTING = "attempting"
    CROSSING = "crossing"


CLASSES: Final = tuple(MotionClass)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassRule:
    """Thresholds of the displacement rule, metres of the captured person.

    The defaults are those that fit HABIT's labels of 460 CMU clips best (:func:`fit_rule`).
    """

    net_m: float = 1.0
    excursion_m: float = 1.0

    def classify(self, displacements_m: FloatArray) -> IntArray:
        """(clips, 2) net displacement and largest excursion to (clips,) places in ``CLASSES``."""
        net, excursion = displacements_m[:, 0], displacements_m[:, 1]
        stays = np.where(excursion > self.excursion_m, 1, 0)
        return np.where(net > self.net_m, 2, stays).astype(np.int64)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassAgreement:
    """How well a rule agrees with given labels.

    Attributes:
        accuracy: Share of equal labels, mean over splits.
        macro_recall: Recall averaged over the classes, mean over splits.
        splits: Number of random splits; half of the base motions fit the rule, half test it.
        clips: Number of clips.
    """

    accuracy: float
    macro_recall: float
    splits: int
    clips: int


def displacement_m(motion: Clip) -> tuple[float, float]:
    """Net displacement and largest distance from the start, of the pelvis on the ground."""
    ground = motion.root_m[:, [0, 2]]
    away = np.linalg.norm(ground - ground[0], axis=1)
    return float(away[-1]), float(away.max())


def classify(motion: Clip, rule: ClassRule | None = None) -> MotionClass:
    """Class of one motion."""
    found = (rule or ClassRule()).classify(np.array([displacement_m(motion)]))
    return CLASSES[int(found[0])]


def parse_class(text: str) -> MotionClass | None:
    """A class by any common spelling (``Not_Crossing``, ``not crossing``), or None if empty."""
    key = text.strip().lower().replace(" ", "_").replace("-", "_")
    if not key:
        return None
    if key not in list(MotionClass):
        raise UsageError(f"unknown class {text!r}; expected one of {', '.join(MotionClass)}")
    return MotionClass(key)


def recalls(found: IntArray, labels: IntArray) -> FloatArray:
    """Recall of every class that occurs."""
    present = np.unique(labels)
    return np.array([(found[labels == c] == c).mean() for c in present])


def fit_rule(displacements_m: FloatArray, labels: IntArray) -> ClassRule:
    """Thresholds, on a grid of 0.1 m, with the greatest sum of accuracy and macro recall."""
    best, best_score = ClassRule(), -1.0
    for net in np.arange(5, 26) / 10.0:
        for excursion in np.arange(5, 26) / 10.0:
            rule = ClassRule(net_m=float(net), excursion_m=float(excursion))
            found = rule.classify(displacements_m)
            score = float((found == labels).mean() + recalls(found, labels).mean())
            if score > best_score + 1e-12:
                best, best_score = rule, score
    return best


def agreement(
    displacements_m: FloatArray, labels: IntArray, bases: Sequence[str], *, splits: int, seed: int
) -> ClassAgreement:
    """Fit on a random half of the base motions, test on the other, many times.

    Mirror images stay with their original, so no motion is on both sides.
    """
    names = np.array(sorted(set(bases)))
    if len(names) < 4:
        raise UsageError(f"{len(names)} labelled base motions; at least 4 are needed to split")
    base = np.asarray(bases)
    scores = []
    for number in range(splits):
        order = stream(seed, "class-split", number).permutation(len(names))
        fitting = np.isin(base, names[order[: len(names) // 2]])
        rule = fit_rule(displacements_m[fitting], labels[fitting])
        found = rule.classify(displacements_m[~fitting])
        truth = labels[~fitting]
        scores.append([float((found == truth).mean()), float(recalls(found, truth).mean())])
    accuracy, recall = np.mean(scores, axis=0)
    return ClassAgreement(
        accuracy=float(accuracy), macro_recall=float(recall), splits=splits, clips=len(labels)
    )
