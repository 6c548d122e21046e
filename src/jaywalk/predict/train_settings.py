"""How the network is trained; no torch needed to say it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainSettings:
    """How to train.

    Attributes:
        epochs: Passes over the tracks (the paper: 3000).
        batch: Windows a step; smaller data make it smaller.
        learning_rate: Of Adam.
        cosine: Let the rate fall to 0 along a cosine, instead of constant.
        seeds: One model each, trained side by side.
        rotate: Turn every window by a random angle.
        validate_every: Epochs between validations.
        draws: Latent draws of a validation.
        device: ``cpu`` or ``cuda``.
    """

    epochs: int = 3000
    batch: int = 2048
    learning_rate: float = 1e-3
    cosine: bool = False
    seeds: tuple[int, ...] = (0,)
    rotate: bool = True
    validate_every: int = 25
    draws: int = 100
    device: str = "cpu"
