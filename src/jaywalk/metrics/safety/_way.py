"""Path of the ego: the path it drove and, past its end, the path it would have taken.

Frame: CARLA's, left-handed, in metres. Nothing here depends on the handedness.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from jaywalk.core.arrays import FloatArray
from jaywalk.geometry.path import Path, Projection, make_path, project, project_each
from jaywalk.record import Record
from jaywalk.record.tracks import COS, HX, SIN, VX, VY, EpisodeTracks, X, Y, route_points

MOVING_MPS: Final = 0.3  # slower bodies keep the direction they last moved in


def directions(tracks: EpisodeTracks, body: int) -> FloatArray:
    """Return unit vectors of motion, (n, 2); while standing, the last motion, else the heading."""
    pose = tracks.pose[body]
    speed = tracks.speed_mps(body)
    moving = speed > MOVING_MPS
    unit = pose[:, [COS, SIN]].copy()
    unit[moving] = pose[moving][:, [VX, VY]] / speed[moving, None]
    if not moving.any():
        return np.asarray(unit)
    source = np.maximum.accumulate(np.where(moving, np.arange(len(speed)), -1))
    # Before its first move a body has the direction of that move.
    source = np.where(source < 0, int(np.argmax(moving)), source)
    return np.asarray(unit[source])


SPACING_M = 0.25  # between vertices
_JITTER_M = 0.0025  # shorter steps between ticks are a standing car's
_ON_ROUTE_M = 5.0  # an ego that ends farther from its route would not have gone on along it
_BEYOND_M = 120.0
_BACK_M = 6.0


@dataclass(frozen=True, slots=True)
class EgoPath(Path):
    """A path, and how far along it the ego's front was at each tick."""

    front_m: FloatArray

    def see(self, points_m: FloatArray, from_m: float, to_m: float) -> Projection:
        """Project points (k, 2) onto a stretch. The sign of the offset has no meaning."""
        piece = self.covering(from_m - _BACK_M, to_m + _BACK_M)
        return project_each(piece, points_m, start_m=float(piece.arc_m[0]))

    def bend_per_m(self, from_m: float, to_m: float) -> float:
        """Sharpest bend of a stretch, averaged over 4 m: change of heading per metre."""
        at = np.arange(from_m, max(to_m, from_m + 1.0), 1.0)
        place = [self.at(at + shift) for shift in (-2.0, 0.0, 2.0)]
        before, after = place[1] - place[0], place[2] - place[1]
        turn = np.arctan2(
            before[:, 0] * after[:, 1] - before[:, 1] * after[:, 0], (before * after).sum(axis=1)
        )
        return float(np.abs(turn).max() / 2.0)


def ego_way(record: Record, tracks: EpisodeTracks) -> EgoPath:
    """Return the driven path, continued along the route, or straight on without a route."""
    pose = tracks.ego_pose[tracks.present[tracks.ego]]
    last = pose[-1]
    beyond = _route_beyond(record, last)
    if beyond is None:
        beyond = last[[X, Y]] + _BEYOND_M * last[[[COS, SIN]]]
    steps_m = np.hypot(*np.diff(pose[:, :2], axis=0).T)
    driven_m = np.r_[0.0, np.cumsum(np.where(steps_m > _JITTER_M, steps_m, 0.0))]
    kept = np.flatnonzero(np.diff(np.floor(driven_m / SPACING_M), prepend=-1.0) > 0.0)
    path = make_path(np.vstack([pose[kept, :2], beyond]))
    along = np.full(len(tracks.tick), np.nan)
    along[tracks.present[tracks.ego]] = np.interp(driven_m, driven_m[kept], path.arc_m[: len(kept)])
    return EgoPath(path.points_m, path.arc_m, along + float(tracks.shape[tracks.ego, HX]))


def route_way(record: Record, tracks: EpisodeTracks) -> EgoPath | None:
    """Return the route of the ego as a path, if the record has a dense route.

    It differs from the driven way where the ego went around something.
    """
    route = _route(record)
    if route is None:
        return None
    path = make_path(route, SPACING_M).extended(_BEYOND_M)
    seen = project(path, tracks.ego_pose[:, :2])
    return EgoPath(path.points_m, path.arc_m, seen.along_m + float(tracks.shape[tracks.ego, HX]))


def _route(record: Record) -> FloatArray | None:
    """Points of a dense route, None if it is not dense or has no length."""
    if not record.episode.route.dense:
        return None
    route = route_points(record)[:, :2]
    return route if len(route) >= 2 and np.ptp(route, axis=0).max() > 1.0 else None


def _route_beyond(record: Record, last: FloatArray) -> FloatArray | None:
    route = _route(record)
    if route is None:
        return None
    ahead = (route - last[[X, Y]]) @ last[[COS, SIN]]
    away = np.hypot(*(route - last[[X, Y]]).T)
    near = int(np.argmin(away))
    if away[near] > _ON_ROUTE_M:
        return None
    rest = route[near:]
    rest = rest[int(np.argmax(ahead[near:] > 0.5)) :] if (ahead[near:] > 0.5).any() else rest[:0]
    if len(rest) < 2:
        return None
    end = rest[-1] + (rest[-1] - rest[-2]) / max(np.hypot(*(rest[-1] - rest[-2])), 1e-6) * _BEYOND_M
    return np.vstack([rest, end])
