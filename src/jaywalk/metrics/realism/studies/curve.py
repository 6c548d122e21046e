"""What a study finds: curves to draw and one sentence."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """One line of a figure."""

    name: str
    x: tuple[float, ...]
    y: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Study:
    """Curves over one axis, with what they show.

    Attributes:
        name: Of the study.
        title: Of the figure.
        x_label: What is varied.
        y_label: What is measured.
        curves: The lines, over the same ``x`` where ``connected`` is false.
        finding: One sentence with the numbers.
        numbers: The numbers themselves.
        connected: False if ``x`` counts things without an in-between, such as scenes.
    """

    name: str
    title: str
    x_label: str
    y_label: str
    curves: tuple[Curve, ...]
    finding: str
    numbers: dict[str, float]
    connected: bool = True
