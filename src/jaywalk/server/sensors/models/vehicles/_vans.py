"""Vans of the catalogue, and a pickup."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from jaywalk.server.sensors._materials import Material
from jaywalk.server.sensors.models.vehicles._face import Face
from jaywalk.server.sensors.models.vehicles._kinds import (
    BUS_VAN,
    ROUND_FACE,
    SQUARE_SIDE,
    SUV,
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
    "tesla.cybertruck": CarSpec(
        shape=replace(
            SUV,
            nose=0.53,
            cowl=(0.20, 0.60),
            roof_front=(0.41, 0.985),
            roof_rear=(0.44, 0.98),
            deck=(0.975, 0.66),
            tail=0.66,
            pillars=(0.42, 0.60),
            blind=(2,),
            doors=0,
            mirror_m=0.08,
            front_bow_m=0.10,
            rear_bow_m=0.04,
            taper=(0.03, 0.02),
            side=((0.0, 0.93), (0.35, 0.96), (0.75, 1.0), (1.0, 0.95)),
            roof_width=0.74,
            roof_crown_m=0.01,
            wheel_m=0.43,
            clearance_m=0.36,
            axles=(0.17, 0.79),
            roof=M.GLASS,
            rear_glass=False,
            pillar_m=(0.10, 0.5),
            front_lean=((0.0, 0.04), (0.25, 0.0), (0.6, 0.02), (1.0, 0.05)),
            rear_lean=((0.0, 0.10), (0.4, 0.0), (1.0, 0.02)),
        ),
        face=Face(
            head=(0.0, 1.0, 0.93, 0.97),
            grille=(0.0, 0.0, 0.5, 0.6),
            bumper=M.PLASTIC,
            intake=(0.0, 0.6, 0.14, 0.34),
            blinker=(0.7, 0.95, 0.5, 0.56),
            tail=(0.0, 1.0, 0.90, 0.97),
            tail_blinker=0.12,
            plate=(0.26, 0.45),
            handles=M.BLACK,
        ),
        tyre_m=0.29,
        rim=M.BLACK,
    ),
}
