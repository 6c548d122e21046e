"""An agent's forecasts of people as samples: in-ROI probabilities for IRS, errors by direction.

The region of interest is the comfort zone of Herman et al. (:mod:`jaywalk.geometry.zones`) on the
ego's route, moved ahead at the ego's present speed. Each person is a track; a sample is one
forecast at one horizon, twice a second, while the ego drives. Errors are split along and across the
ego's heading, so that a bias to one side is visible.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import polars as pl

from jaywalk.core.arrays import BoolArray, FloatArray
from jaywalk.core.seeds import stream
from jaywalk.geometry.path import Path, project_each
from jaywalk.geometry.zones import ComfortZone, comfort_zone, inside
from jaywalk.metrics.prediction.forecast import Mixture
from jaywalk.metrics.prediction.in_roi import in_roi_exact, in_roi_sampled, straight_zone
from jaywalk.metrics.prediction.irs import FPR_TARGETS, Irs, irs
from jaywalk.metrics.safety._forecast_error import ForecastBatch, forecast_batches
from jaywalk.metrics.safety._way import EgoPath, ego_way, route_way
from jaywalk.metrics.safety.person_hits import Story, read_stories
from jaywalk.record import Record
from jaywalk.record.tracks import COS, SIN, EpisodeTracks

_EVERY_S: Final = 0.5
_DRIVES_MPS: Final = 1.0  # a standing ego has no comfort zone
_DRAWS: Final = 400  # where the way bends
_MARGIN_M: Final = 8.0
SCHEMA: Final = {
    "episode": pl.String,
    "route": pl.String,
    "actor": pl.Int64,
    "side": pl.String,
    "intended": pl.String,
    "tick": pl.Int64,
    "horizon_s": pl.Float64,
    "in_roi": pl.Float64,
    "inside": pl.Boolean,
    "error_m": pl.Float64,
    "ahead_m": pl.Float64,
    "right_m": pl.Float64,
}
GROUPS: Final = {"class": "intended", "side": "side"}


def read_foresight(record: Record, tracks: EpisodeTracks, route: str = "") -> pl.DataFrame:
    """Return the samples of one episode (``SCHEMA``); no rows if the agent gives no forecasts.

    ``error_m`` is the error of the mean forecast; ``ahead_m`` and ``right_m`` are its parts in the
    ego's frame (forecast minus truth).
    """
    way, parts = None, []
    for batch in forecast_batches(record, tracks):
        way = way or route_way(record, tracks) or ego_way(record, tracks)
        parts.append(_samples(batch, tracks, way))
    if not parts:
        return pl.DataFrame(schema=SCHEMA)
    stories = read_stories(record)
    rows = pl.concat(parts)
    notes = [stories.get(actor, Story(actor=actor)) for actor in rows["actor"].to_list()]
    name = record.episode.episode_id
    return rows.with_columns(
        episode=pl.lit(name),
        route=pl.lit(route or record.episode.scenario or name),
        side=pl.Series([story.side or "ambient" for story in notes], dtype=pl.String),
        intended=pl.Series([story.intended or "unknown" for story in notes], dtype=pl.String),
    ).select(list(SCHEMA))


def irs_of(samples: pl.DataFrame, horizon_s: float, *, resamples: int = 2000) -> Irs:
    """IRS of samples at one horizon; chance is drawn over people. Undefined values are nan."""
    rows = samples.filter(pl.col("horizon_s") == horizon_s)
    track = rows.select(pl.concat_str("episode", pl.lit(":"), "actor")).to_series().to_list()
    return irs(
        rows["in_roi"].to_numpy(),
        rows["inside"].to_numpy().astype(np.int64),
        track,
        fpr_target=FPR_TARGETS[horizon_s],
        resamples=resamples,
        level=0.95,
    )


def _samples(batch: ForecastBatch, tracks: EpisodeTracks, way: EgoPath) -> pl.DataFrame:
    speed = tracks.speed_mps(tracks.ego)
    spoken = np.unique(batch.tick_at)
    _, first = np.unique(np.floor(tracks.time_s[spoken] / _EVERY_S), return_index=True)
    chosen = np.isin(batch.tick_at, spoken[first]) & (speed[batch.tick_at] >= _DRIVES_MPS)
    frames = [pl.DataFrame(schema=_PLAIN)]
    for h, horizon_s in enumerate(batch.time_s):
        wanted = next((known for known in FPR_TARGETS if abs(known - horizon_s) < 1e-3), None)
        rows = np.flatnonzero(chosen & np.isfinite(batch.truth_m[:, h, 0]))
        if wanted is not None and len(rows):
            frames.append(_at_horizon(batch, tracks, way, rows, h, wanted))
    return pl.concat(frames)


_PLAIN: Final = {
    name: kind
    for name, kind in SCHEMA.items()
    if name not in ("episode", "route", "side", "intended")
}


def _at_horizon(
    batch: ForecastBatch,
    tracks: EpisodeTracks,
    way: EgoPath,
    rows: np.ndarray,
    h: int,
    horizon_s: float,
) -> pl.DataFrame:
    speed = tracks.speed_mps(tracks.ego)
    chance, there = np.zeros(len(rows)), np.zeros(len(rows), np.bool_)
    for at in np.unique(batch.tick_at[rows]):
        mine = np.flatnonzero(batch.tick_at[rows] == at)
        zone = comfort_zone(float(way.front_m[at]), float(speed[at]), horizon_s)
        piece = way.covering(zone.start_m - _MARGIN_M, zone.end_m + _MARGIN_M)
        chance[mine] = _chances(batch, rows[mine], h, piece, zone)
        there[mine] = _inside(batch.truth_m[rows[mine], h], piece, zone)
    weight = batch.weight[rows] / batch.weight[rows].sum(axis=1, keepdims=True)
    mean = (weight[:, :, None] * batch.mean_m[rows, :, h]).sum(axis=1)
    error = mean - batch.truth_m[rows, h]
    pose = tracks.ego_pose[batch.tick_at[rows]]
    cos, sin = pose[:, COS], pose[:, SIN]
    return pl.DataFrame(
        {
            "actor": tracks.number[batch.person[rows]],
            "tick": tracks.tick[batch.tick_at[rows]],
            "horizon_s": np.full(len(rows), horizon_s),
            "in_roi": chance,
            "inside": there,
            "error_m": np.hypot(error[:, 0], error[:, 1]),
            "ahead_m": error[:, 0] * cos + error[:, 1] * sin,
            "right_m": error[:, 1] * cos - error[:, 0] * sin,  # y is to the right of x here
        },
        schema=_PLAIN,
    )


def _inside(points_m: FloatArray, piece: Path, zone: ComfortZone) -> BoolArray:
    return inside(zone, project_each(piece, points_m, float(piece.arc_m[0])))


def _chances(
    batch: ForecastBatch, rows: np.ndarray, h: int, piece: Path, zone: ComfortZone
) -> FloatArray:
    weight, mean = batch.weight[rows], batch.mean_m[rows, :, h]
    share = weight / weight.sum(axis=1, keepdims=True)
    if batch.covariance_m2 is None:
        seen = [_inside(modes, piece, zone) for modes in mean]
        return np.array([float(share[k][hit].sum()) for k, hit in enumerate(seen)])
    spread = batch.covariance_m2[rows, :, h]
    straight = straight_zone(piece, zone)
    if straight is not None:
        return in_roi_exact(share, mean, spread, straight)
    mixture = Mixture(weights=share, means_m=mean[:, :, None], covariances_m2=spread[:, :, None])
    draws = mixture.draw(stream(0, "foresight", int(rows[0])), _DRAWS).positions_m[:, :, 0]
    return np.array([in_roi_sampled(points, piece, zone) for points in draws])
