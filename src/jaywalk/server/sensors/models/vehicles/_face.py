"""Lamps, grille and plates of a vehicle: where they are and what they are made of."""

from __future__ import annotations

from dataclasses import dataclass

from jaywalk.server.sensors._materials import Material

M = Material
Area = tuple[float, float, float, float]  # u or x from, to; height from, to


@dataclass(frozen=True, slots=True, kw_only=True)
class Face:
    """Lamps, grille and plates. Areas are (u from, to, share of the lower body's height from, to).

    Attributes:
        head: Headlamps, right one; the outer end may be 1, then they reach around the corner.
        head_round: Radius of round headlamps in metres instead.
        blinker: Front blinker.
        grille: Half of it, from u = 0.
        grille_material: Of the grille.
        frame: Of the grille's rim.
        bars: Number of bars in the grille.
        intake: Half of the lower air intake.
        tail: Rear lamp, right one.
        tail_round: Radius of round rear lamps in metres instead.
        tail_blinker: Share of the rear lamp, from its inner end, that is blinker and reverse lamp.
        plate: Heights of the plates at front and rear, as shares; 0: none.
        bumper: Material of the bumpers.
        handles: Material of the door handles.
    """

    head: Area = (0.6, 1.0, 0.66, 0.88)
    head_round: float = 0.0
    blinker: Area = (0.86, 1.0, 0.58, 0.66)
    grille: Area = (0.0, 0.5, 0.62, 0.86)
    grille_material: int = M.BLACK
    frame: int = M.CHROME
    bars: int = 3
    intake: Area = (0.0, 0.62, 0.10, 0.34)
    tail: Area = (0.62, 1.0, 0.62, 0.86)
    tail_round: float = 0.0
    tail_blinker: float = 0.4
    plate: tuple[float, float] = (0.42, 0.5)
    bumper: int = M.PAINT
    handles: int = M.CHROME
