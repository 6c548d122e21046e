"""What surrounds the ego of a recorded episode: road, crosswalks, signs, its light, the weather."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from jaywalk.behaviour.sim_frames import Frames, Motion
from jaywalk.core.frames import carla_to_right_handed
from jaywalk.datasets.behaviour_tables import LIGHT_GREEN, LIGHT_NONE, LIGHT_RED, LIGHT_YELLOW
from jaywalk.datasets.semantic_map import CLASSES, SemanticMap
from jaywalk.predict.town_map import class_at, town_map
from jaywalk.record.reader import Record
from jaywalk.town.town import town_from_opendrive

FloatArray = NDArray[np.float64]

_ROAD = [CLASSES.index(name) for name in ("road", "bus lane", "cycle track", "zebra")]
_LIGHTS = {0: LIGHT_RED, 1: LIGHT_YELLOW, 2: LIGHT_GREEN}
_CELL_M = 0.25
_MARGIN_M = 30.0
_AHEAD_M = 40.0
_ASIDE_M = 12.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A town as far as behaviour is concerned; CARLA's frame."""

    ground: SemanticMap
    crosswalks_m: FloatArray  # their middles, (n, 2)

    def on_road(self, points_m: FloatArray) -> NDArray[np.bool_]:
        """Whether points ``(n, 2)`` lie on the carriageway; NaN points do not."""
        known = np.isfinite(points_m).all(axis=1)
        found = np.zeros(len(points_m), bool)
        under = class_at(self.ground, carla_to_right_handed(points_m[known]))
        found[known] = np.isin(under, _ROAD)
        return found


def read_place(opendrive: Path, name: str) -> Place:
    """Read a town from its OpenDRIVE file."""
    town = town_from_opendrive(opendrive.read_text("utf-8"), name)
    corners = carla_to_right_handed(np.concatenate([s.outer_m[:, :2] for s in town.strips]))
    low, high = corners.min(axis=0) - _MARGIN_M, corners.max(axis=0) + _MARGIN_M
    middles = [np.asarray(polygon)[:, :2].mean(axis=0) for polygon in town.crosswalks]
    return Place(
        ground=town_map(opendrive, name, low, high, _CELL_M),
        crosswalks_m=np.array(middles, np.float64).reshape(-1, 2),
    )


def scene_rows(
    video: str, record: Record, frames: Frames, ego: Motion, place: Place
) -> list[dict[str, object]]:
    """Signs and the ego's light at every frame."""
    marks = record.landmarks.select("type_id", "x_m", "y_m").collect()
    stops = marks.filter(pl.col("type_id") == "traffic.stop").select("x_m", "y_m").to_numpy()
    walk = _any_ahead(ego, place.crosswalks_m)
    stop = _any_ahead(ego, stops.astype(np.float64))
    light = _lights(record, frames)
    return [
        {
            "video": video,
            "frame": k,
            "ped_crossing": bool(walk[k]),
            "ped_sign": False,
            "stop_sign": bool(stop[k]),
            "light": light[k],
        }
        for k in range(len(frames.times_s))
    ]


def weather_words(record: Record) -> dict[str, str]:
    """Time of day and weather in the datasets' words, from the first row of the weather."""
    rows = record.weather.collect()
    if rows.is_empty():
        return {}
    first = rows.row(0, named=True)
    night = (first["sun_altitude_angle"] or 0.0) < 0.0
    wet, cloudy = (first["precipitation"] or 0.0) > 10.0, (first["cloudiness"] or 0.0) > 50.0
    return {
        "time_of_day": "nighttime" if night else "daytime",
        "weather": "rain" if wet else "cloudy" if cloudy else "clear",
    }


def _any_ahead(ego: Motion, points_m: FloatArray) -> NDArray[np.bool_]:
    """Whether some point lies in front of the ego, not far off to the side, at every frame."""
    found = np.zeros(len(ego.yaw_rad), bool)
    c, s = np.cos(ego.yaw_rad), np.sin(ego.yaw_rad)
    for x, y in points_m:
        dx, dy = x - ego.place_m[:, 0], y - ego.place_m[:, 1]
        ahead, aside = c * dx + s * dy, c * dy - s * dx
        found |= (ahead > 0.0) & (ahead < _AHEAD_M) & (np.abs(aside) < _ASIDE_M)
    return found


def _lights(record: Record, frames: Frames) -> list[int]:
    ego = record.ego_states().select("tick", "at_light", "light_state").collect()
    by_tick = {
        tick: _LIGHTS.get(state, LIGHT_NONE) if at else LIGHT_NONE
        for tick, at, state in ego.iter_rows()
    }
    return [by_tick.get(int(tick), LIGHT_NONE) for tick in frames.ticks]
