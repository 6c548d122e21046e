"""What the page needs to replay an episode, packed small: thinned, quantised, differences, gzip.

Positions are whole centimetres, angles hundredths of a radian, times are rows at a constant rate.
The map of a town is packed once for all of its episodes.
"""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Iterable, Sequence
from typing import Any, Final

import numpy as np
import shapely

from jaywalk.report.ground_plan import SURFACES, GroundPlan, rings_of
from jaywalk.report.scene import Body, FloatArray, Scene, rows_worth_showing
from jaywalk.report.series import Series

FRAME_S: Final = 0.1
_SEEN_M: Final = 75.0  # bodies farther from the ego are not drawn
_MAP_REACH_M: Final = 70.0
_CM: Final = 100.0
_MAP_UNITS: Final = 20.0  # per metre: 5 cm


def pack(value: Any) -> str:
    """JSON, gzip, base64; the same value always gives the same text."""
    raw = json.dumps(value, separators=(",", ":"), allow_nan=False).encode()
    return base64.b64encode(gzip.compress(raw, 9, mtime=0)).decode()


def unpack(text: str) -> Any:
    """The value that :func:`pack` was given."""
    return json.loads(gzip.decompress(base64.b64decode(text)))


def frames_of(scene: Scene) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Rows of a scene that the page keeps, about ten a second, always with the last shown."""
    n = rows_worth_showing(scene)
    step = float(np.median(np.diff(scene.time_s))) if n > 1 else FRAME_S
    every = max(1, round(FRAME_S / max(step, 1e-6)))
    rows = np.arange(0, n, every)
    return rows if rows[-1] == n - 1 else np.append(rows, n - 1)


def replay_data(scene: Scene, series: Series | None, marks: Sequence[tuple[float, str]]) -> Any:
    """Everything the replay of one episode needs, but the map.

    Args:
        scene: The episode.
        series: The ego's series on the rows of :func:`frames_of`, if there is an ego.
        marks: Game time and words of every infraction.
    """
    rows = frames_of(scene)
    packed = [_body(scene, body, rows) for body in scene.bodies]
    return {
        "t": [round(float(t), 3) for t in scene.time_s[rows]],
        "bodies": [body for body in packed if body is not None],
        "lights": _lights(scene, rows),
        "route": _deltas(scene.route_m * 10.0),
        "hits": [
            [_frame(rows, hit.row), *(round(_CM * p) for p in hit.place_m)]
            for hit in scene.hits
            if hit.row <= rows[-1]
        ],
        "marks": [[round(time_s, 2), words] for time_s, words in marks],
        "series": _series(scene, series, rows),
    }


def map_area(scenes: Iterable[Scene]) -> Any:
    """The part of a town that replays of these episodes can show."""
    tracks = []
    for scene in scenes:
        points = [scene.focus(row) for row in range(0, len(scene.time_s), 10)]
        track = shapely.linestrings([points[0], *points, scene.focus(len(scene.time_s) - 1)])
        tracks.append(shapely.buffer(track, _MAP_REACH_M, quad_segs=4))
    return shapely.union_all(tracks)


def map_data(plan: GroundPlan) -> Any:
    """A map for the page: rings by surface, stripes, lines, blocks and trees."""
    return {
        "surfaces": {
            name: [_ring(ring) for ring in rings_of(plan.surfaces[name])]
            for name in SURFACES
            if name in plan.surfaces
        },
        "stripes": [_ring(stripe) for stripe in plan.stripes],
        "lines": [_ring(line) for line, colour in plan.lines if colour != "yellow"],
        "yellow": [_ring(line) for line, colour in plan.lines if colour == "yellow"],
        "blocks": [_ring(box) for box in plan.boxes],
        "trees": np.round(plan.crowns * _MAP_UNITS).astype(int).tolist(),
    }


def _ring(points: FloatArray) -> list[int]:
    return _deltas(points * _MAP_UNITS)


def _deltas(points: FloatArray) -> list[int]:
    """x, y of the first point, then differences, all whole numbers."""
    whole = np.round(np.asarray(points, float)[:, :2]).astype(int)
    return [int(v) for v in np.diff(whole, axis=0, prepend=np.zeros((1, 2), int)).ravel()]


def _column(values: FloatArray) -> list[int]:
    whole = np.round(values).astype(int)
    return [int(v) for v in np.diff(whole, prepend=0)]


def _body(scene: Scene, body: Body, rows: np.ndarray[Any, np.dtype[np.int64]]) -> Any:
    """A body over the frames in which it can be seen; None when there is none."""
    there = np.flatnonzero((rows >= body.first) & (rows < body.first + len(body.pose)))
    if not len(there):
        return None
    pose = body.pose[rows[there] - body.first]
    if scene.ego is not None and body.kind != "ego":
        eye = _eyes(scene, rows[there])
        seen = np.flatnonzero(np.hypot(*(pose[:, :2] - eye).T) < _SEEN_M)
        if not len(seen):
            return None
        there, pose = there[seen[0] : seen[-1] + 1], pose[seen[0] : seen[-1] + 1]
    frames = len(there)
    if (np.abs(pose - pose[0]).max(axis=0) < (0.005, 0.005, 0.005)).all():
        pose = pose[:1]  # it stands: one pose for all its frames
    return {
        "k": body.kind[0],
        "n": body.type_id,
        "a": body.actor,
        "h": [round(_CM * half) for half in body.half_m],
        "f": int(there[0]),
        "c": frames,
        "x": _column(pose[:, 0] * _CM),
        "y": _column(pose[:, 1] * _CM),
        "r": _column(np.asarray(np.unwrap(pose[:, 2]) * 100.0, dtype=np.float64)),
    }


def _lights(scene: Scene, rows: np.ndarray[Any, np.dtype[np.int64]]) -> Any:
    eyes = _eyes(scene, rows[::5])
    found = []
    for light in scene.lights:
        places = light.stops[:, :2] if len(light.stops) else np.array([light.place_m])
        if np.hypot(*(places[:, None] - eyes[None]).reshape(-1, 2).T).min() > _SEEN_M:
            continue
        changes = [[_frame(rows, int(row)), int(state)]
                   for row, state in zip(light.rows, light.states, strict=True)]  # fmt: skip
        bars = np.round(light.stops * (_CM, _CM, 100.0, _CM)).astype(int).tolist()
        found.append({"p": [round(_CM * p) for p in light.place_m], "s": bars, "c": changes})
    return found


def _eyes(scene: Scene, rows: np.ndarray[Any, np.dtype[np.int64]]) -> FloatArray:
    """Where to look at many rows at once."""
    ego = scene.ego
    if ego is None:
        return np.array([scene.focus(int(row)) for row in rows])
    return ego.pose[np.clip(rows - ego.first, 0, len(ego.pose) - 1), :2]


def _frame(rows: np.ndarray[Any, np.dtype[np.int64]], row: int) -> int:
    """The first kept frame at or after a row."""
    return min(int(np.searchsorted(rows, row)), len(rows) - 1)


def _series(scene: Scene, series: Series | None, rows: np.ndarray[Any, np.dtype[np.int64]]) -> Any:
    if series is None:
        return None
    kept = {}
    for name in ("speed_mps", "brake", "throttle", "gap_m", "ttc_s"):
        whole = np.full(len(scene.time_s), np.nan)
        whole[series.rows.astype(int)] = getattr(series, name)
        kept[name] = [None if np.isnan(v) else round(float(v), 2) for v in whole[rows]]
    return kept
