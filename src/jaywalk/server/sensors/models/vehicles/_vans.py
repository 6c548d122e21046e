"""Vans of the catalogue."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from jaywalk.server.sensors._materials import Material
from jaywalk.server.sensors.models.vehicles._face import Face
from jaywalk.server.sensors.models.vehicles._kinds import (
    BUS_VAN,
    ROUND_FACE,
    SQUARE_SIDE,
    CarSpec,
)

M = Material
VANS: Final[dict[str, CarSpec]] = {
    "volkswagen.t2": CarSpec(
        shape=replace(BUS_VAN, mirror_m=0.12, roof=M.WHITE, upper=M.WHITE, wheel_m=0.34),
        face=replace(
            ROUND_FACE,
            head=(0.55, 0.8, 0.50, 0.75),
            head_round=0.11,
            grille=(0.0, 0.6, 0.90, 0.97),
            bars=0,
            frame=M.BLACK,
            bumper=M.WHITE,
            intake=(0.0, 0.0, 0.0, 0.1),
            tail=(0.76, 0.95, 0.38, 0.66),
            blinker=(0.5, 0.7, 0.80, 0.87),
            tail_blinker=0.0,
            plate=(0.26, 0.26),
        ),
        tyre_m=0.18,
    ),
    "volkswagen.t2_2021": CarSpec(
        shape=replace(BUS_VAN, mirror_m=0.06, roof=M.WHITE, upper=M.WHITE),
        face=replace(
            ROUND_FACE,
            head=(0.55, 0.8, 0.50, 0.75),
            head_round=0.11,
            grille=(0.0, 0.6, 0.90, 0.97),
            bars=0,
            frame=M.BLACK,
            bumper=M.CHROME,
            intake=(0.0, 0.0, 0.0, 0.1),
            tail=(0.76, 0.95, 0.38, 0.66),
            blinker=(0.5, 0.7, 0.80, 0.87),
            tail_blinker=0.0,
            plate=(0.26, 0.26),
        ),
        tyre_m=0.18,
    ),
    "mercedes.sprinter": CarSpec(
        shape=replace(
            BUS_VAN,
            nose=0.42,
            cowl=(0.16, 0.50),
            roof_front=(0.28, 0.94),
            roof_rear=(0.99, 0.97),
            deck=(1.0, 0.52),
            tail=0.52,
            pillars=(0.40, 0.70),
            blind=(1, 2),
            axles=(0.17, 0.79),
            mirror_m=0.07,
            roof_width=0.88,
            side=SQUARE_SIDE,
            rear_bow_m=0.05,
            low=M.PLASTIC,
            front_lean=((0.0, 0.10), (0.25, 0.0), (0.5, 0.02), (1.0, 0.16)),
            clearance_m=0.26,
            wheel_m=0.345,
        ),
        face=Face(
            head=(0.58, 1.0, 0.62, 0.90),
            grille=(0.0, 0.5, 0.58, 0.84),
            tail=(0.86, 1.0, 0.4, 0.8),
            bumper=M.PLASTIC,
            handles=M.BLACK,
        ),
        extras=("rear_doors", "tall_mirrors"),
    ),
}
