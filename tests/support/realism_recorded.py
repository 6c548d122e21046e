"""Scenes of recorded people and vehicles (DUT, CITR) for realism tests: no map, no signals."""

from __future__ import annotations

import numpy as np
import polars as pl
from realism_scenes import no_signals

from jaywalk.metrics.realism.scene import CURRENT_STEP, N_STEPS, LoggedScene, Polylines, SceneLanes


def recorded_scene(data, clip: str, first: int, most: int = 8) -> LoggedScene:
    """A window of a clip: its vehicles and the people who are in it longest."""
    rows = []
    inside = pl.col("k").is_between(first, first + N_STEPS - 1) & (pl.col("scene_id") == clip)
    for table, key, kind in ((data.ego, "ego_id", 1), (data.tracks, "track_id", 2)):
        for _, track in table.filter(inside).group_by(key, maintain_order=True):
            if (track["k"] == first + CURRENT_STEP).any():
                rows.append((kind, track))
    rows.sort(key=lambda row: (row[0], -len(row[1])))
    rows = rows[:most]
    shape = (len(rows), N_STEPS)
    x, y, heading = np.zeros(shape, "f4"), np.zeros(shape, "f4"), np.zeros(shape, "f4")
    valid = np.zeros(shape, bool)
    for i, (kind, track) in enumerate(rows):
        k = track["k"].to_numpy() - first
        x[i, k], y[i, k], valid[i, k] = track["x"], track["y"], True
        if kind == 1:
            heading[i, k] = track["yaw"]
        else:
            heading[i, k] = np.arctan2(np.gradient(track["y"]), np.gradient(track["x"]))
    kinds = np.array([kind for kind, _ in rows])
    size = np.broadcast_to(np.where(kinds == 1, 4.0, 0.5)[:, None], shape).astype("f4")
    none = np.zeros(0, np.int64)
    return LoggedScene(
        name=f"{clip}@{first}",
        object_id=np.arange(len(rows)),
        object_type=kinds,
        x_m=x,
        y_m=y,
        z_m=np.zeros(shape, "f4"),
        heading_rad=heading,
        length_m=size,
        width_m=np.minimum(size, np.float32(1.8)),
        height_m=np.full(shape, 1.6, "f4"),
        valid=valid,
        sdc_index=0,
        predict_index=np.arange(len(rows)),
        road_edges=Polylines.of([]),
        signals=no_signals(),
        lanes=SceneLanes(lines=Polylines.of([]), lane_id=none, lane_type=none),
    )
