"""Factors between units, each defined once.

Elsewhere the package uses ``math.radians``, ``math.degrees``, ``np.deg2rad`` and ``np.rad2deg`` for
angles. The factors here are for compiled kernels and for code whose results must stay identical bit
for bit: dividing by one factor and multiplying by its inverse can differ in the last bit.
"""

from __future__ import annotations

import math
from typing import Final

DEG_TO_RAD: Final = math.pi / 180.0
RAD_TO_DEG: Final = 180.0 / math.pi
MPS_TO_KMH: Final = 3.6
MPH_TO_KMH: Final = 1.609344
