"""Shapes of the animals: proportions of each species, as shares of its length and height."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

Colour = tuple[int, int, int]
Place = tuple[float, float]  # forward and up


@dataclass(frozen=True, slots=True, kw_only=True)
class AnimalShape:
    """A four-legged body; forward shares are of the length, upward ones of the height.

    Attributes:
        rump: Hind end of the trunk.
        chest: Front end of the trunk.
        back: Height of the back over the hind and over the fore legs.
        belly: Height of the belly there.
        width: Of the trunk, as a share of the full width, hind and fore.
        neck: Places of the neck from its root to the head.
        neck_half: Half thicknesses there, shares of the height.
        head: Middle of the skull, bridge of the nose and tip of the muzzle.
        head_half: Half heights there, shares of the height.
        leg: Half thickness at the hip, the knee and the foot, shares of the height.
        ears: Length, half width (shares of the height) and how far they hang, 0 to 1.
        horns: ``cow``, ``goat``, ``roe``, ``deer`` or ``moose``.
        tail: ``brush``, ``tassel``, ``hair``, ``stub``, ``thin`` or ``curl``.
        wool: Whether the trunk has a fleece.
        mane: Whether the neck has a mane.
        second: Colour of the muzzle, the feet and, with ``patches``, of spots.
        patches: Share of the trunk that has the second colour.
        pale_belly: Whether the belly has the second colour.
    """

    rump: float = -0.42
    chest: float = 0.26
    back: Place = (0.80, 0.82)
    belly: Place = (0.46, 0.40)
    width: Place = (0.80, 0.92)
    neck: tuple[Place, ...]
    neck_half: tuple[float, ...]
    head: tuple[Place, Place, Place]
    head_half: tuple[float, float, float]
    leg: tuple[float, float, float] = (0.085, 0.035, 0.024)
    ears: tuple[float, float, float] = (0.08, 0.03, 0.0)
    horns: str = ""
    tail: str = "tassel"
    wool: bool = False
    mane: bool = False
    second: Colour = (60, 50, 42)
    patches: float = 0.0
    pale_belly: bool = False
    hooves: bool = True
    snout: bool = False


_DOG: Final = AnimalShape(
    rump=-0.36, chest=0.22, back=(0.74, 0.76), belly=(0.50, 0.42), width=(0.62, 0.80),
    neck=((0.20, 0.68), (0.27, 0.82), (0.31, 0.88)), neck_half=(0.15, 0.12, 0.11),
    head=((0.33, 0.90), (0.40, 0.86), (0.49, 0.83)), head_half=(0.105, 0.075, 0.05),
    leg=(0.10, 0.05, 0.042), ears=(0.13, 0.05, 0.7), tail="brush", hooves=False,
    second=(70, 52, 38),
)  # fmt: skip

SHAPES: Final[dict[str, AnimalShape]] = {
    "dog": _DOG,
    "cat": AnimalShape(
        rump=-0.26, chest=0.24, back=(0.78, 0.74), belly=(0.44, 0.44), width=(0.85, 0.8),
        neck=((0.22, 0.66), (0.27, 0.76), (0.30, 0.82)), neck_half=(0.16, 0.14, 0.14),
        head=((0.34, 0.84), (0.41, 0.80), (0.46, 0.77)), head_half=(0.16, 0.12, 0.07),
        leg=(0.13, 0.065, 0.05), ears=(0.14, 0.07, 0.0), tail="thin", hooves=False,
        second=(205, 200, 195),
    ),
    "horse": AnimalShape(
        rump=-0.40, chest=0.20, back=(0.80, 0.80), belly=(0.48, 0.43), width=(0.92, 0.88),
        neck=((0.16, 0.68), (0.26, 0.84), (0.32, 0.95)), neck_half=(0.16, 0.105, 0.075),
        head=((0.35, 0.95), (0.42, 0.86), (0.485, 0.77)), head_half=(0.075, 0.062, 0.045),
        leg=(0.10, 0.036, 0.026), ears=(0.075, 0.02, 0.0), tail="hair", mane=True,
        second=(30, 24, 20),
    ),
    "sheep": AnimalShape(
        rump=-0.42, chest=0.24, back=(0.84, 0.84), belly=(0.40, 0.36), width=(1.0, 1.0),
        neck=((0.22, 0.70), (0.30, 0.82), (0.34, 0.88)), neck_half=(0.20, 0.15, 0.11),
        head=((0.37, 0.89), (0.43, 0.82), (0.49, 0.74)), head_half=(0.10, 0.085, 0.06),
        leg=(0.09, 0.04, 0.032), ears=(0.11, 0.035, 0.6), tail="stub", wool=True,
        second=(70, 62, 56),
    ),
    "fox": AnimalShape(
        rump=-0.20, chest=0.22, back=(0.72, 0.72), belly=(0.48, 0.44), width=(0.7, 0.75),
        neck=((0.20, 0.66), (0.26, 0.78), (0.29, 0.84)), neck_half=(0.14, 0.12, 0.12),
        head=((0.32, 0.85), (0.40, 0.80), (0.49, 0.75)), head_half=(0.12, 0.08, 0.035),
        leg=(0.10, 0.048, 0.036), ears=(0.18, 0.06, 0.0), tail="brush", hooves=False,
        second=(238, 232, 224), pale_belly=True,
    ),
    "wild boar": AnimalShape(
        rump=-0.42, chest=0.22, back=(0.80, 0.96), belly=(0.36, 0.32), width=(0.8, 1.0),
        neck=((0.20, 0.66), (0.27, 0.66), (0.31, 0.62)), neck_half=(0.27, 0.23, 0.19),
        head=((0.33, 0.60), (0.41, 0.50), (0.495, 0.40)), head_half=(0.17, 0.12, 0.07),
        leg=(0.11, 0.05, 0.036), ears=(0.14, 0.05, 0.0), tail="thin", snout=True,
        second=(48, 40, 36),
    ),
    "moose": AnimalShape(
        rump=-0.42, chest=0.22, back=(0.74, 0.82), belly=(0.50, 0.46), width=(0.85, 0.9),
        neck=((0.18, 0.70), (0.26, 0.78), (0.31, 0.82)), neck_half=(0.16, 0.12, 0.09),
        head=((0.34, 0.82), (0.42, 0.75), (0.495, 0.68)), head_half=(0.075, 0.07, 0.062),
        leg=(0.085, 0.034, 0.026), ears=(0.09, 0.03, 0.3), horns="moose", tail="stub",
        second=(120, 104, 90),
    ),
    "goat": AnimalShape(
        rump=-0.40, chest=0.24, back=(0.72, 0.72), belly=(0.40, 0.38), width=(0.9, 0.9),
        neck=((0.20, 0.62), (0.28, 0.76), (0.32, 0.83)), neck_half=(0.15, 0.11, 0.09),
        head=((0.35, 0.84), (0.42, 0.78), (0.485, 0.72)), head_half=(0.085, 0.07, 0.045),
        leg=(0.09, 0.042, 0.03), ears=(0.11, 0.03, 0.5), horns="goat", tail="stub",
        second=(110, 92, 72), patches=0.25,
    ),
    "hare": AnimalShape(
        rump=-0.44, chest=0.20, back=(0.62, 0.52), belly=(0.24, 0.26), width=(1.0, 0.8),
        neck=((0.18, 0.46), (0.26, 0.56), (0.30, 0.60)), neck_half=(0.16, 0.14, 0.13),
        head=((0.34, 0.62), (0.42, 0.58), (0.48, 0.54)), head_half=(0.13, 0.105, 0.07),
        leg=(0.16, 0.06, 0.05), ears=(0.40, 0.05, 0.0), tail="stub", hooves=False,
        second=(225, 215, 200), pale_belly=True,
    ),
    "roe deer": AnimalShape(
        rump=-0.40, chest=0.22, back=(0.70, 0.68), belly=(0.46, 0.42), width=(0.85, 0.85),
        neck=((0.18, 0.60), (0.27, 0.74), (0.32, 0.84)), neck_half=(0.13, 0.085, 0.065),
        head=((0.35, 0.86), (0.41, 0.82), (0.475, 0.77)), head_half=(0.07, 0.055, 0.036),
        leg=(0.085, 0.03, 0.02), ears=(0.12, 0.04, 0.2), horns="roe", tail="stub",
        second=(232, 224, 210), pale_belly=True,
    ),
    "pig": AnimalShape(
        rump=-0.44, chest=0.24, back=(0.92, 0.96), belly=(0.30, 0.28), width=(1.0, 1.0),
        neck=((0.22, 0.64), (0.28, 0.66), (0.32, 0.64)), neck_half=(0.31, 0.26, 0.22),
        head=((0.35, 0.64), (0.42, 0.55), (0.49, 0.48)), head_half=(0.20, 0.14, 0.09),
        leg=(0.13, 0.065, 0.05), ears=(0.20, 0.09, 0.5), tail="curl", snout=True,
        second=(205, 130, 125),
    ),
    "donkey": AnimalShape(
        rump=-0.40, chest=0.22, back=(0.74, 0.72), belly=(0.42, 0.40), width=(0.95, 0.9),
        neck=((0.18, 0.62), (0.26, 0.74), (0.31, 0.82)), neck_half=(0.15, 0.10, 0.085),
        head=((0.34, 0.83), (0.41, 0.74), (0.475, 0.66)), head_half=(0.09, 0.075, 0.055),
        leg=(0.095, 0.038, 0.03), ears=(0.19, 0.035, 0.1), tail="tassel", mane=True,
        second=(225, 218, 208), pale_belly=True,
    ),
    "cow": AnimalShape(
        rump=-0.44, chest=0.22, back=(0.90, 0.90), belly=(0.40, 0.36), width=(1.0, 0.95),
        neck=((0.20, 0.72), (0.28, 0.82), (0.33, 0.87)), neck_half=(0.20, 0.145, 0.115),
        head=((0.36, 0.88), (0.43, 0.78), (0.49, 0.68)), head_half=(0.105, 0.085, 0.07),
        leg=(0.11, 0.046, 0.036), ears=(0.11, 0.04, 0.6), horns="cow", tail="tassel",
        second=(240, 236, 228), patches=0.45,
    ),
    "wolf": AnimalShape(
        rump=-0.36, chest=0.22, back=(0.78, 0.80), belly=(0.50, 0.44), width=(0.7, 0.85),
        neck=((0.20, 0.72), (0.27, 0.84), (0.31, 0.90)), neck_half=(0.16, 0.14, 0.12),
        head=((0.33, 0.90), (0.41, 0.86), (0.495, 0.83)), head_half=(0.11, 0.075, 0.045),
        leg=(0.10, 0.05, 0.04), ears=(0.10, 0.04, 0.0), tail="brush", hooves=False,
        second=(205, 202, 194), pale_belly=True,
    ),
    "red deer": AnimalShape(
        rump=-0.42, chest=0.22, back=(0.64, 0.64), belly=(0.40, 0.38), width=(0.9, 0.9),
        neck=((0.19, 0.56), (0.27, 0.68), (0.32, 0.76)), neck_half=(0.14, 0.10, 0.07),
        head=((0.35, 0.77), (0.42, 0.72), (0.485, 0.67)), head_half=(0.062, 0.05, 0.034),
        leg=(0.08, 0.03, 0.021), ears=(0.08, 0.03, 0.3), horns="deer", tail="stub",
        second=(215, 196, 168), pale_belly=True,
    ),
}  # fmt: skip
