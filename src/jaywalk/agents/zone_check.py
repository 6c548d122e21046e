"""In-ROI probabilities of people over the comfort zones of several speeds at once.

Membership is by arc length and lateral offset from the path, as everywhere. The distribution is
taken as Gaussian along and across the path at the nearest point of its mean, which is exact where
the path is straight and the spread has no slant.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from jaywalk.geometry.comfort_zone import comfort_zone
from jaywalk.geometry.path import Path, project_each
from jaywalk.metrics.prediction.forecast import Mixture

FloatArray = NDArray[np.float64]


def zone_probability(
    path: Path,
    front_m: float,
    speeds_mps: FloatArray,
    forecast: Mixture,
    horizons_s: tuple[float, ...],
) -> FloatArray:
    """Probability of each person in the zone of each speed at each horizon: ``(v, n, h)``.

    Args:
        path: The planned path; long enough for the zones that matter.
        front_m: Arc length of the front bumper.
        speeds_mps: Speeds to consider.
        forecast: Of ``n`` people at ``h`` horizons.
        horizons_s: The horizons, in the forecast's order.
    """
    n, modes, h, _ = forecast.means_m.shape
    seen = project_each(path, forecast.means_m.reshape(-1, 2), front_m)
    along = seen.along_m.reshape(n, modes, h)
    aside = np.where(seen.beyond, np.inf, seen.lateral_m).reshape(n, modes, h)
    sd_along, sd_across = _spread(path, along, forecast.covariances_m2)
    result = np.zeros((len(speeds_mps), n, h))
    for v, speed in enumerate(speeds_mps):
        for k, horizon in enumerate(horizons_s):
            zone = comfort_zone(front_m, float(speed), horizon)
            if zone.is_empty:
                continue
            a, b, half = along[:, :, k], aside[:, :, k], zone.half_width_m
            sx, sy = sd_along[:, :, k], sd_across[:, :, k]
            mass = ndtr((zone.end_m - a) / sx) - ndtr((zone.start_m - a) / sx)
            mass *= ndtr((half - b) / sy) - ndtr((-half - b) / sy)
            result[v, :, k] = (forecast.weights * mass).sum(axis=1)
    return result


def _spread(
    path: Path, along_m: FloatArray, covariance_m2: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Deviations along and across the path where each mean is nearest."""
    k = np.clip(np.searchsorted(path.arc_m, along_m) - 1, 0, len(path.arc_m) - 2)
    step = path.points_m[k + 1] - path.points_m[k]
    unit = step / np.hypot(step[..., 0], step[..., 1])[..., None]
    across = np.stack([-unit[..., 1], unit[..., 0]], axis=-1)
    var_along = np.einsum("...i,...ij,...j->...", unit, covariance_m2, unit)
    var_across = np.einsum("...i,...ij,...j->...", across, covariance_m2, across)
    return np.sqrt(np.maximum(var_along, 1e-6)), np.sqrt(np.maximum(var_across, 1e-6))
