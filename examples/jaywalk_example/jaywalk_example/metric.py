"""A metric: the closest that the ego came to a person."""

from __future__ import annotations

import numpy as np

from jaywalk.metrics.spec import NOT_APPLICABLE, MetricInput, MetricResult, metric


@metric(
    "closest_person_m",
    unit="m",
    direction="higher",
    label="Closest person",
    requires="a person",
)
def closest_person(episode: MetricInput) -> MetricResult:
    """Smallest distance between the centres of the ego and a person."""
    tracks = episode.tracks
    ego_m = tracks.ego_pose[:, :2]
    closest_m = np.inf
    for person in tracks.people:
        present = tracks.present[person]
        away_m = tracks.pose[person, present, :2] - ego_m[present]
        closest_m = min(closest_m, np.hypot(*away_m.T).min(initial=np.inf))
    return MetricResult(float(closest_m)) if np.isfinite(closest_m) else NOT_APPLICABLE
