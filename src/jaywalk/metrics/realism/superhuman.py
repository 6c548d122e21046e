"""A driver who behaves exactly like the given rollouts but never collides or leaves the road."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from jaywalk.metrics.realism.features import CaseFeatures, Features

SAFETY_EVENTS = ("collision_indication", "offroad_indication")


def without_events(features: CaseFeatures) -> CaseFeatures:
    """The same features with all simulated collisions and off-road steps taken away."""
    events = {
        name: np.zeros_like(flags) if name in SAFETY_EVENTS else flags
        for name, flags in features.sim.events.items()
    }
    return replace(features, sim=Features(series=features.sim.series, events=events))
