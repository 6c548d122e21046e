"""Writes a scene with its rollouts as the archive that ``npz_case`` reads."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from jaywalk.metrics.realism.scene import Case

_TRACKS = ("x_m", "y_m", "z_m", "heading_rad", "length_m", "width_m", "height_m")


def case_arrays(case: Case) -> dict[str, Any]:
    """The arrays of an archive, by name."""
    scene, rollouts = case.scene, case.rollouts
    arrays: dict[str, Any] = {
        "object_id": scene.object_id,
        "object_type": scene.object_type,
        "log_valid": scene.valid,
        "sdc_track_index": np.array([scene.sdc_index]),
        "tracks_to_predict_index": scene.predict_index,
        "road_edge_points": scene.road_edges.points_m,
        "road_edge_offsets": scene.road_edges.offsets,
        "lane_points": scene.lanes.lines.points_m,
        "lane_offsets": scene.lanes.lines.offsets,
        "lane_id": scene.lanes.lane_id,
        "lane_type": scene.lanes.lane_type,
        "signal_num_steps": np.array([scene.signals.n_steps]),
        "signal_step": scene.signals.step,
        "signal_lane_id": scene.signals.lane_id,
        "signal_state": scene.signals.state,
        "signal_stop_point": scene.signals.stop_point_m,
    }
    for name in _TRACKS:
        arrays[f"log_{name.rsplit('_', 1)[0]}"] = getattr(scene, name)
    for name in _TRACKS:
        values = getattr(rollouts, name)
        if values is not None:
            arrays[f"sim_{name.rsplit('_', 1)[0]}"] = values
    return arrays


def write_npz_case(path: Path, case: Case) -> None:
    """Write an archive, whole or not at all."""
    unfinished = path.with_name(f".{path.name}.unfinished")
    with unfinished.open("wb") as file:
        np.savez_compressed(file, allow_pickle=False, **case_arrays(case))
    os.replace(unfinished, path)
