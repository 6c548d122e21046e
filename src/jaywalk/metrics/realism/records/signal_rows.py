"""Traffic lights of a record as states of the lanes behind their stop lines."""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from jaywalk.metrics.realism.records.road_map import RoadMap
from jaywalk.metrics.realism.scene import N_STEPS, Signals
from jaywalk.record.reader import Record

# Red, yellow, green, off, unknown as the record has them, in the numbers of the Waymo messages.
_STATE_OF = np.array([4, 5, 6, 0, 0], dtype=np.int64)


def signals_of(record: Record, ticks: NDArray[np.int64], town: RoadMap, lanes: set[int]) -> Signals:
    """State of every signalled lane at every step; a vehicle stops where the lane begins."""
    step: list[NDArray[np.int64]] = []
    lane_id: list[NDArray[np.int64]] = []
    state: list[NDArray[np.int64]] = []
    stop: list[NDArray[np.float64]] = []
    changes = record.signals.select("actor", "tick", "state").collect()
    for light, forbidden in _lanes_of_lights(record, town, lanes).items():
        rows = changes.filter(pl.col("actor") == light).sort("tick")
        if not len(rows):
            continue
        which = np.searchsorted(rows["tick"].to_numpy(), ticks, side="right") - 1
        seen = np.flatnonzero(which >= 0)
        now = _STATE_OF[np.minimum(rows["state"].to_numpy()[which[seen]], 4)]
        for lane in forbidden:
            step.append(seen.astype(np.int64))
            lane_id.append(np.full(len(seen), lane, dtype=np.int64))
            state.append(now)
            stop.append(np.tile(town.line(lane)[0], (len(seen), 1)))
    none = np.zeros(0, np.int64)
    return Signals(
        n_steps=N_STEPS if step else 0,
        step=np.concatenate([none, *step]),
        lane_id=np.concatenate([none, *lane_id]),
        state=np.concatenate([none, *state]),
        stop_point_m=np.concatenate([np.zeros((0, 3)), *stop]).astype(np.float32),
    )


def _lanes_of_lights(record: Record, town: RoadMap, lanes: set[int]) -> dict[int, list[int]]:
    """Lanes by light; a lane behind two lights obeys the first."""
    rows = record.landmarks.filter(pl.col("type_id") == "traffic.traffic_light").select(
        "actor", "stop_waypoints"
    )
    taken: set[int] = set()
    found: dict[int, list[int]] = {}
    for light, stops in rows.collect().iter_rows():
        for stop in stops or []:
            place = np.array([stop["x_m"], -stop["y_m"], stop["z_m"]])
            for lane in town.lanes_behind_stop(place, -float(np.deg2rad(stop["yaw_deg"]))):
                if lane in lanes and lane not in taken:
                    taken.add(lane)
                    found.setdefault(int(light), []).append(lane)
    return found
