"""In-ROI probability: the probability that a person will be inside the comfort zone.

It is computed by Monte Carlo for any forecast and path, and exactly for Gaussian mixtures where the
path is straight over the zone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from jaywalk.core.arrays import FloatArray
from jaywalk.core.errors import UsageError
from jaywalk.geometry.path import Path, project_each
from jaywalk.geometry.zones import ComfortZone, inside

_NODES, _NODE_WEIGHTS = np.polynomial.legendre.leggauss(96)
_REACH_SIGMA = 9.0


@dataclass(frozen=True, slots=True, kw_only=True)
class StraightZone:
    """A comfort zone on a straight path: a rectangle with its frame.

    Attributes:
        origin_m: The middle of its rear edge.
        heading_rad: Direction of travel.
        length_m: Length; 0 is an empty zone.
        half_width_m: Half of its width.
    """

    origin_m: tuple[float, float]
    heading_rad: float
    length_m: float
    half_width_m: float


def in_roi_sampled(draws_m: FloatArray, path: Path, zone: ComfortZone) -> float:
    """Share of draws ``(S, 2)`` inside the zone; standard error at most ``0.5 / sqrt(S)``."""
    if zone.is_empty or len(draws_m) == 0:
        return 0.0
    # Draws outside of the box around the zone are not in the zone; most draws are outside.
    low, high = _bounds(path, zone)
    near = draws_m[np.all((draws_m >= low) & (draws_m <= high), axis=1)]
    if len(near) == 0:
        return 0.0
    return int(inside(zone, project_each(path, near, zone.start_m)).sum()) / len(draws_m)


def in_roi_exact(
    weights: FloatArray, means_m: FloatArray, covariances_m2: FloatArray, zone: StraightZone
) -> FloatArray:
    """Mass of mixtures ``(N, K)``, ``(N, K, 2)``, ``(N, K, 2, 2)`` inside one rectangle."""
    if not zone.length_m > 0.0:
        return np.zeros(len(weights))
    cos, sin = np.cos(zone.heading_rad), np.sin(zone.heading_rad)
    turn = np.array([[cos, sin], [-sin, cos]])
    centred = (means_m - np.asarray(zone.origin_m)) @ turn.T
    covariances = turn @ covariances_m2 @ turn.T
    mass = _rectangle_mass(centred, covariances, zone.length_m, zone.half_width_m)
    return np.asarray((weights * mass).sum(axis=1))


def straight_zone(path: Path, zone: ComfortZone, tolerance_m: float = 0.01) -> StraightZone | None:
    """The zone as a rectangle, or None where the path bends by more than the tolerance there.

    The path is looked at one zone width to either side, as far as a nearest point could lie.
    """
    margin = 2.0 * zone.half_width_m
    arc, points = _stretch(path, zone.start_m - margin, zone.end_m + margin)
    chord = points[-1] - points[0]
    length = float(np.hypot(*chord))
    if zone.end_m > path.length_m or length == 0.0:
        return None
    unit = chord / length
    offset = (points - points[0]) @ np.array([-unit[1], unit[0]])
    if np.max(np.abs(offset)) > tolerance_m:
        return None
    start = points[0] + unit * (zone.start_m - arc[0])
    return StraightZone(
        origin_m=(float(start[0]), float(start[1])),
        heading_rad=float(np.arctan2(unit[1], unit[0])),
        length_m=zone.end_m - zone.start_m,
        half_width_m=zone.half_width_m,
    )


def _stretch(path: Path, start_m: float, end_m: float) -> tuple[FloatArray, FloatArray]:
    ends = np.clip([start_m, end_m], 0.0, path.length_m)
    between = path.arc_m[(path.arc_m > ends[0]) & (path.arc_m < ends[1])]
    arc = np.concatenate([ends[:1], between, ends[1:]])
    return arc, path.at(arc)


def _bounds(path: Path, zone: ComfortZone) -> tuple[FloatArray, FloatArray]:
    _, points = _stretch(path, zone.start_m, zone.end_m)
    return points.min(axis=0) - zone.half_width_m, points.max(axis=0) + zone.half_width_m


def _rectangle_mass(
    means: FloatArray, covariances: FloatArray, length: float, half_width: float
) -> FloatArray:
    """Mass in ``[0, length] x [-half_width, half_width]``, by conditioning on the first axis."""
    sd_along = np.sqrt(covariances[..., 0, 0])
    slope = covariances[..., 0, 1] / covariances[..., 0, 0]
    rest = covariances[..., 1, 1] - slope * covariances[..., 0, 1]
    if np.any(rest <= 0.0) or not np.all(np.isfinite(rest)):
        raise UsageError("a covariance is singular or not finite; clamp log-variances before")
    sd_across = np.sqrt(rest)
    straight = slope == 0.0
    product = _band(means[..., 0], sd_along, 0.0, length) * _band(
        means[..., 1], sd_across, -half_width, half_width
    )
    if np.all(straight):
        return product
    low = np.clip(-means[..., 0] / sd_along, -_REACH_SIGMA, _REACH_SIGMA)
    high = np.clip((length - means[..., 0]) / sd_along, -_REACH_SIGMA, _REACH_SIGMA)
    half = 0.5 * (high - low)
    z = 0.5 * (high + low)[..., None] + half[..., None] * _NODES
    density = np.exp(-0.5 * z**2) / np.sqrt(2.0 * np.pi)
    centre = means[..., 1, None] + (slope * sd_along)[..., None] * z
    across = _band(centre, sd_across[..., None], -half_width, half_width)
    mass = half * (density * across * _NODE_WEIGHTS).sum(axis=-1)
    return np.where(straight, product, mass)


def _band(mean: FloatArray, sd: FloatArray, low: float, high: float) -> FloatArray:
    # The smaller tails: differences of values near 1 would lose digits for the ranking.
    a, b = (low - mean) / sd, (high - mean) / sd
    upper = a > 0.0
    return np.asarray(ndtr(np.where(upper, -a, b)) - ndtr(np.where(upper, -b, a)))
