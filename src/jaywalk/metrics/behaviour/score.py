"""All scores of one model on one task, as a function of the multiplicities of pedestrians.

The joint score counts how often a model is right about both intention and action of a person.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jaywalk.core.arrays import FloatArray, IntArray
from jaywalk.metrics.behaviour import ranking as confusion
from jaywalk.metrics.behaviour.instances import InstanceDecisions, decide, group_instances
from jaywalk.metrics.behaviour.ranking import RankedScores

OUTCOMES = ("both_right", "intention_only", "action_only", "both_wrong")


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """Agreement of intention and action.

    Attributes:
        counts: Samples by class pair and outcome, ``(n_intentions * n_actions, 4)``; rows are
            ordered by intention, then action, columns as ``OUTCOMES``.
        shares: Percent of each outcome's samples per class pair; columns sum to 100.
        overall: Percent of all samples per outcome; sums to 100.
    """

    counts: IntArray
    shares: FloatArray
    overall: FloatArray


def agreement(
    intention: IntArray,
    intention_decided: IntArray,
    action: IntArray,
    action_decided: IntArray,
    n_intentions: int = 3,
    n_actions: int = 2,
) -> Agreement:
    """Cross-tabulate samples by their two classes and by which of the two decisions is right."""
    pair = intention * n_actions + action
    outcome = 2 * (intention != intention_decided) + (action != action_decided)
    n_pairs = n_intentions * n_actions
    counts = np.bincount(pair * 4 + outcome, minlength=n_pairs * 4).reshape(n_pairs, 4)
    per_outcome = counts.sum(0)
    return Agreement(
        counts=counts,
        shares=100.0 * counts / np.maximum(per_outcome, 1),
        overall=100.0 * per_outcome / max(len(pair), 1),
    )


_ROWS_AT_ONCE = 128  # bounds memory: a block of sample weights is then a few MB


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredSamples:
    """Samples to score: truth, confidence and pedestrian of each.

    Attributes:
        truth: Class of each sample, 0 to ``n_classes`` - 1.
        confidence: ``(n, 1)`` probability of class 1 for a binary task, else ``(n, n_classes)``.
        instance: Number of each sample's pedestrian, 0 to m - 1.
        n_classes: Number of classes.
        weight: Weights of the weighted metrics, or None if the task has none.
        exact_unanimity: See ``group_instances``.
    """

    truth: IntArray
    confidence: FloatArray
    instance: IntArray
    n_classes: int
    weight: FloatArray | None = None
    exact_unanimity: bool = False


class BehaviourScore:
    """Scores of a model; ``evaluate`` gives them all for any multiplicities of pedestrians."""

    def __init__(self, samples: ScoredSamples) -> None:
        self.samples = samples
        self.n_instances = int(samples.instance.max()) + 1
        self.instances: InstanceDecisions = group_instances(
            samples.truth, samples.confidence, samples.instance, exact=samples.exact_unanimity
        )
        self.positive = 1 if samples.n_classes == 2 else None
        self._matrices = self._build_matrices()
        self._ranked = self._build_ranked()
        self.names = self._name_all()

    @property
    def missing_classes(self) -> list[int]:
        """Classes of the task that do not occur in the truth: mAP and AUC are undefined then."""
        return sorted(set(range(self.samples.n_classes)) - set(self.samples.truth.tolist()))

    def evaluate(self, multiplicity: FloatArray) -> FloatArray:
        """Return all metrics, ``(B, len(names))``, for multiplicities ``(B, n_instances)``.

        A class that was not drawn is left out of the means over classes, as the interval would
        otherwise rest on the few draws that have all.
        """
        parts = [
            self._evaluate(multiplicity[start : start + _ROWS_AT_ONCE])
            for start in range(0, len(multiplicity), _ROWS_AT_ONCE)
        ]
        return np.concatenate(parts)

    def values(self) -> dict[str, float]:
        """Return the metrics of the data as they are; mAP and AUC are NaN if a class is absent."""
        row = self.evaluate(np.ones((1, self.n_instances)))[0]
        values = dict(zip(self.names, row.tolist(), strict=True))
        if self.missing_classes:
            values["base.map"] = values["base.auc"] = float("nan")
        return values

    def confusion_matrix(self) -> FloatArray:
        """Return the confusion matrix over samples, truth in rows."""
        k = self.samples.n_classes
        return np.asarray(self._matrices["base"].sum(0)).reshape(k, k)

    def class_areas(self) -> tuple[FloatArray, FloatArray]:
        """Return average precision and ROC area of every class against the rest."""
        k = self.samples.n_classes
        confidence = self.samples.confidence
        if confidence.shape[1] == 1:
            confidence = np.hstack([1.0 - confidence, confidence])
        once = np.ones((1, self.n_instances))
        pairs = [
            RankedScores(self.samples.truth == c, confidence[:, c], self.samples.instance).evaluate(
                once
            )
            for c in range(k)
        ]
        return np.array([p[0][0] for p in pairs]), np.array([p[1][0] for p in pairs])

    def _build_matrices(self) -> dict[str, FloatArray]:
        data, persons = self.samples, self.instances
        k, m = data.n_classes, self.n_instances
        decided = decide(data.confidence)
        own = np.arange(m)
        built = {"base": confusion.confusion_by_group(data.truth, decided, data.instance, m, k)}
        if data.weight is not None:
            built["weighted"] = confusion.confusion_by_group(
                data.truth, decided, data.instance, m, k, data.weight
            )
        built["soft"] = confusion.confusion_by_group(persons.truth, persons.soft, own, m, k)
        built["hard"] = confusion.confusion_by_group(persons.truth, persons.hard, own, m, k)
        return {name: matrix.reshape(m, k * k) for name, matrix in built.items()}

    def _build_ranked(self) -> list[RankedScores]:
        data = self.samples
        if data.n_classes == 2:
            return [RankedScores(data.truth == 1, data.confidence[:, 0], data.instance)]
        return [
            RankedScores(data.truth == c, data.confidence[:, c], data.instance)
            for c in range(data.n_classes)
        ]

    def _name_all(self) -> tuple[str, ...]:
        names = ["base.map", "base.auc"]
        for name in self._matrices:
            names += [f"{name}.{metric}" for metric in ("acc", "bacc", "prec", "recall", "f1")]
        return (*names, "conf_delta.max", "conf_delta.avg")

    def _evaluate(self, multiplicity: FloatArray) -> FloatArray:
        columns = list(self._areas(multiplicity))
        k = self.samples.n_classes
        for matrix in self._matrices.values():
            table = (multiplicity @ matrix).reshape(-1, k, k)
            columns += [
                confusion.accuracy(table),
                confusion.balanced_accuracy(table),
                confusion.precision(table, self.positive),
                confusion.recall(table, self.positive),
                confusion.f1(table, self.positive),
            ]
        total = multiplicity.sum(1)
        columns += [
            (multiplicity @ self.instances.max_delta) / total,
            (multiplicity @ self.instances.mean_delta) / total,
        ]
        return np.stack(columns, axis=1)

    def _areas(self, multiplicity: FloatArray) -> tuple[FloatArray, FloatArray]:
        pairs = [ranked.evaluate(multiplicity) for ranked in self._ranked]
        return (
            _mean_of_defined(np.stack([pair[0] for pair in pairs])),
            _mean_of_defined(np.stack([pair[1] for pair in pairs])),
        )


def _mean_of_defined(values: FloatArray) -> FloatArray:
    defined = np.isfinite(values)
    count = defined.sum(0)
    total = np.where(defined, values, 0.0).sum(0)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)
