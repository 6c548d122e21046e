"""The tasks and their versions. A change that can move a score makes a new version."""

from __future__ import annotations

from dataclasses import dataclass

from jaywalk.core.errors import UsageError

OBSERVED_FRAMES = 15
STRIDE_FRAMES = 10  # 30 % overlap of 15 frames
PREDICTED_FRAMES = 30  # the least time to event
LONGEST_FRAMES = 105  # observation plus the longest time to event of 90 frames
RISK_HORIZON_FRAMES = 90
N_REGIONS = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A task on a dataset.

    Attributes:
        name: ``action``, ``intention`` or ``risk``.
        dataset: ``jaad``, ``pie`` or ``sim`` (exported from our own runs).
        strict: Whether it is our corrected variant.
        version: Increases when samples or labels change.
        class_names: Names of the classes in order of their numbers.
    """

    name: str
    dataset: str
    strict: bool
    version: int
    class_names: tuple[str, ...]

    @property
    def task_id(self) -> str:
        """Name with version, for example ``jaad/action-strict-v1``."""
        return f"{self.dataset}/{self.name}{'-strict' if self.strict else ''}-v{self.version}"

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.class_names)

    @property
    def n_columns(self) -> int:
        """Number of probabilities per prediction: one for a binary task, else one per class."""
        return 1 if self.n_classes == 2 else self.n_classes


_CLASSES = {
    "action": ("not_crossing", "crossing"),
    "intention": ("no_intention", "unsure", "intention"),
    "risk": tuple(f"region_{i + 1:02d}" for i in range(N_REGIONS)),
}
TASKS: dict[tuple[str, str, bool], Task] = {
    (name, dataset, strict): Task(
        name=name, dataset=dataset, strict=strict, version=1, class_names=_CLASSES[name]
    )
    for name, dataset in (
        ("action", "jaad"),
        ("risk", "jaad"),
        ("action", "pie"),
        ("intention", "pie"),
        ("risk", "pie"),
        ("action", "sim"),
        ("intention", "sim"),
        ("risk", "sim"),
    )
    for strict in (False, True)
}


def find_task(name: str, dataset: str, *, strict: bool = False) -> Task:
    """Return a task, or raise an error that lists the existing tasks."""
    task = TASKS.get((name, dataset, strict))
    if task is not None:
        return task
    if (name, dataset) == ("intention", "jaad"):
        raise UsageError(
            "JAAD has no human estimates of intention, so there is no intention task on it; "
            "use --dataset pie, or sim (jaywalk behaviour export)."
        )
    known = ", ".join(f"{d} {n}" for (n, d, s) in TASKS if not s)
    raise UsageError(f"There is no task '{name}' on '{dataset}'; expected one of: {known}.")
