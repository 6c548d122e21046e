"""Classes of a library's clips, and their agreement with the labels that came with them."""

from __future__ import annotations

from typing import Any

import numpy as np

from jaywalk.motion.classes import CLASSES, ClassRule, agreement, fit_rule, parse_class
from jaywalk.motion.library.reading import MotionLibrary
from jaywalk.motion.rotation import FloatArray


def displacements_m(library: MotionLibrary) -> FloatArray:
    """(clips, 2) net displacement and largest excursion."""
    columns = library.columns
    return np.array([columns["net_m"], columns["excursion_m"]], dtype=np.float64).T


def class_rows(library: MotionLibrary, rule: ClassRule) -> list[dict[str, Any]]:
    """Class by the rule, label and displacement of every clip."""
    moved = displacements_m(library)
    return [
        {
            "name": name,
            "class": str(CLASSES[place]),
            "label": label,
            "net_m": float(net),
            "excursion_m": float(far),
        }
        for name, place, label, (net, far) in zip(
            library.names, rule.classify(moved), library.columns["label"], moved, strict=True
        )
    ]


def class_agreement(library: MotionLibrary, *, splits: int, seed: int) -> dict[str, Any] | None:
    """Agreement with the labels over random splits by base id; None without enough labels."""
    given = [parse_class(label) for label in library.columns["label"]]
    have = np.array([kind is not None for kind in given], dtype=np.bool_)
    bases = [base for base, ok in zip(library.columns["base"], have, strict=True) if ok]
    if len(set(bases)) < 4:
        return None
    labels = np.array([CLASSES.index(kind) for kind in given if kind is not None], dtype=np.int64)
    moved = displacements_m(library)[have]
    score = agreement(moved, labels, bases, splits=splits, seed=seed)
    best = fit_rule(moved, labels)
    return {
        "accuracy": score.accuracy,
        "macro_recall": score.macro_recall,
        "splits": score.splits,
        "clips": score.clips,
        "fitted_on_all": {"net_m": best.net_m, "excursion_m": best.excursion_m},
    }
