"""Proportions of shells: numbers that a vehicle's body is made from."""

from __future__ import annotations

from dataclasses import dataclass

from jaywalk.server.sensors._materials import Material

M = Material
Line = tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class VehicleShape:
    """Proportions of a shell.

    Attributes:
        nose: Height of the front edge of the bonnet.
        cowl: Foot of the windscreen, and height of the belt there.
        roof_front: Upper edge of the windscreen, and its height.
        roof_rear: Rear end of the roof, and its height.
        deck: Foot of the rear window, and height of the belt there.
        tail: Height of the rear edge of the boot.
        clearance_m: Height of the sills.
        axles: Front and rear axle.
        wheel_m: Radius of the wheels.
        mirror_m: By which the mirrors stand out on each side.
        roof_width: Of the roof, as a share of the width of the body.
        front_bow_m: By which the middle of the front lies before its corners.
        rear_bow_m: By which the middle of the rear lies behind its corners.
        front_lean: Heights (shares of the lower body) and by how many metres the front recedes.
        rear_lean: The same of the rear.
        taper: By which the body gets narrower at the front and at the rear.
        side: Heights (shares of the lower body) and width there, as shares.
        pillars: Places of the pillars between windscreen and rear window.
        blind: Numbers of side windows that are painted over.
        doors: 0, 2 or 4 doors that open.
        pillar_m: Width of the pillars of windscreen and rear window.
        rear_glass: Whether there is a rear window.
        low: Material of the lowest band of the body.
        roof: Material of the roof.
        upper: Material of the pillars.
        belt: Material of the door panels.
        trim: Material of the wheel arches' rims; PAINT: none.
        roof_crown_m: By which the roof is higher in the middle.
    """

    nose: float
    cowl: tuple[float, float]
    roof_front: tuple[float, float]
    roof_rear: tuple[float, float]
    deck: tuple[float, float]
    tail: float
    clearance_m: float = 0.19
    axles: tuple[float, float] = (0.195, 0.785)
    wheel_m: float = 0.335
    mirror_m: float = 0.06
    roof_width: float = 0.74
    front_bow_m: float = 0.24
    rear_bow_m: float = 0.14
    front_lean: Line = ((0.0, 0.10), (0.22, 0.0), (0.5, 0.015), (0.8, 0.06), (1.0, 0.16))
    rear_lean: Line = ((0.0, 0.08), (0.25, 0.0), (0.5, 0.01), (0.85, 0.04), (1.0, 0.07))
    taper: tuple[float, float] = (0.12, 0.09)
    side: Line = ((0.0, 0.95), (0.15, 0.985), (0.5, 1.0), (0.8, 0.985), (1.0, 0.94))
    pillars: tuple[float, ...] = (0.5, 0.76)
    blind: tuple[int, ...] = ()
    doors: int = 4
    pillar_m: tuple[float, float] = (0.07, 0.14)
    rear_glass: bool = True
    low: int = M.PAINT
    roof: int = M.PAINT
    upper: int = M.PAINT
    belt: int = M.PAINT
    trim: int = M.PAINT
    roof_crown_m: float = 0.05
