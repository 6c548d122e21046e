"""Injury risk of a person hit by a car: probability of MAIS 3 or more by impact speed.

Equation 8 of HABIT, a logistic fit by Yanagisawa et al. over frontal crashes: 4 % at 0 m/s, 15 % at
5 m/s, 50 % at 11 m/s. The figure at walking pace is an artefact of the fit, not a finding.
"""

from __future__ import annotations

import math
from typing import Final

INTERCEPT: Final = 3.164
PER_MPS: Final = 0.288


def serious_injury_risk(impact_mps: float) -> float:
    """P(MAIS 3+) of a person struck at this speed; nan for an unknown speed."""
    return 1.0 / (1.0 + math.exp(INTERCEPT - PER_MPS * impact_mps))
