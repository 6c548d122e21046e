"""Kinds of cars and vans that the vehicles of the catalogue vary."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from jaywalk.server.sensors._materials import Material
from jaywalk.server.sensors.models.vehicles._face import Face
from jaywalk.server.sensors.models.vehicles._shape import VehicleShape

M = Material
PLAIN_FACE: Final = Face()


@dataclass(frozen=True, slots=True, kw_only=True)
class CarSpec:
    """A vehicle with one shell.

    Attributes:
        shape: The shell.
        face: Lamps, grille and plates.
        extras: Fittings by name, see ``_extras``.
        above_m: By which fittings stand above the roof.
        behind_m: By which fittings stand behind the rear.
        before_m: By which fittings stand before the front.
        tyre_m: Width of the tyres.
        rim: Material of the wheels.
    """

    shape: VehicleShape
    face: Face = PLAIN_FACE
    extras: tuple[str, ...] = ()
    above_m: float = 0.0
    behind_m: float = 0.0
    before_m: float = 0.0
    tyre_m: float = 0.21
    rim: int = M.RIM


SALOON: Final = VehicleShape(
    nose=0.52,
    cowl=(0.29, 0.635),
    roof_front=(0.445, 0.965),
    roof_rear=(0.70, 0.955),
    deck=(0.865, 0.70),
    tail=0.665,
    pillars=(0.51, 0.74),
)
HATCH: Final = VehicleShape(
    nose=0.52,
    cowl=(0.26, 0.62),
    roof_front=(0.43, 0.965),
    roof_rear=(0.90, 0.93),
    deck=(1.0, 0.66),
    tail=0.66,
    clearance_m=0.19,
    pillars=(0.53, 0.78),
    axles=(0.20, 0.82),
    pillar_m=(0.07, 0.20),
    front_bow_m=0.24,
    rear_bow_m=0.16,
    wheel_m=0.31,
)
SUV: Final = VehicleShape(
    nose=0.55,
    cowl=(0.27, 0.64),
    roof_front=(0.43, 0.965),
    roof_rear=(0.90, 0.935),
    deck=(1.0, 0.65),
    tail=0.65,
    clearance_m=0.25,
    pillars=(0.50, 0.73),
    wheel_m=0.375,
    axles=(0.19, 0.80),
    roof_width=0.77,
    low=M.PLASTIC,
    trim=M.PLASTIC,
    pillar_m=(0.07, 0.16),
    rear_bow_m=0.12,
)
COUPE: Final = VehicleShape(
    nose=0.52,
    cowl=(0.32, 0.64),
    roof_front=(0.48, 0.965),
    roof_rear=(0.66, 0.96),
    deck=(0.885, 0.71),
    tail=0.67,
    pillars=(0.62,),
    doors=2,
    clearance_m=0.16,
    wheel_m=0.34,
)
BUS_VAN: Final = VehicleShape(
    nose=0.5,
    cowl=(0.0, 0.54),
    roof_front=(0.12, 0.955),
    roof_rear=(0.965, 0.955),
    deck=(1.0, 0.56),
    tail=0.56,
    clearance_m=0.27,
    pillars=(0.32, 0.56, 0.77),
    axles=(0.21, 0.76),
    wheel_m=0.33,
    roof_width=0.82,
    front_bow_m=0.26,
    rear_bow_m=0.14,
    doors=2,
    front_lean=((0.0, 0.08), (0.25, 0.0), (0.6, 0.02), (1.0, 0.07)),
    side=((0.0, 0.94), (0.2, 0.985), (0.6, 1.0), (1.0, 0.97)),
    roof_crown_m=0.08,
)
ROUND_FACE: Final = Face(
    head=(0.62, 0.86, 0.66, 0.86), head_round=0.10, blinker=(0.66, 0.82, 0.46, 0.54)
)
SQUARE_SIDE: Final = ((0.0, 0.96), (0.15, 0.99), (0.5, 1.0), (0.9, 1.0), (1.0, 0.97))
ELECTRIC: Final = Face(
    grille=(0.0, 0.0, 0.6, 0.8),
    intake=(0.0, 0.6, 0.08, 0.28),
    head=(0.58, 1.0, 0.66, 0.84),
    plate=(0.36, 0.5),
)
