"""Cards of the page, one per episode: outcome, picture of the moment, series and replay.

The data of a replay are thinned, quantised, stored as differences and compressed with gzip.
Positions are whole centimetres, angles hundredths of a radian, and rows have a constant rate. The
map of a town is packed once for all of its episodes.
"""

from __future__ import annotations

import base64
import gzip
import json
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import shapely

from jaywalk.core.arrays import FloatArray
from jaywalk.metrics.driving.summary import EpisodeScore, scenario_of
from jaywalk.record.reader import Record, open_record
from jaywalk.report._moment_picture import moment_picture
from jaywalk.report._scene import DrawnBody, Scene, read_scene, rows_worth_showing
from jaywalk.report._series import Series, ego_series
from jaywalk.report._series_figure import series_figure
from jaywalk.report.ground_plan import SURFACES, GroundPlan, ground_plan, rings_of, town_of
from jaywalk.report.labels import label_of, number
from jaywalk.report.scored_runs import ScoredRun, is_doubled
from jaywalk.report.summary import cause_of, decisive, in_words

FRAME_S: Final = 0.1
_SEEN_M: Final = 75.0  # bodies farther from the ego are not drawn
_MAP_REACH_M: Final = 70.0
_CM: Final = 100.0
_MAP_UNITS: Final = 20.0  # per metre: 5 cm

#: Renders what the driver of a record sees at a game time, as JPEG; empty: it cannot be rendered.
DriverView = Callable[[Record, float], bytes]


def pack(value: Any) -> str:
    """JSON, gzip, base64; the same value always gives the same text."""
    raw = json.dumps(value, separators=(",", ":"), allow_nan=False).encode()
    return base64.b64encode(gzip.compress(raw, 9, mtime=0)).decode()


def unpack(text: str) -> Any:
    """The value that :func:`pack` was given."""
    return json.loads(gzip.decompress(base64.b64decode(text)))


def frames_of(scene: Scene) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Return the rows of a scene that the page keeps: about ten per second, and the last shown."""
    n = rows_worth_showing(scene)
    step = float(np.median(np.diff(scene.time_s))) if n > 1 else FRAME_S
    every = max(1, round(FRAME_S / max(step, 1e-6)))
    rows = np.arange(0, n, every)
    return rows if rows[-1] == n - 1 else np.append(rows, n - 1)


def replay_data(scene: Scene, series: Series | None, marks: Sequence[tuple[float, str]]) -> Any:
    """Return the data that the replay of one episode needs, except the map.

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


def _body(scene: Scene, body: DrawnBody, rows: np.ndarray[Any, np.dtype[np.int64]]) -> Any:
    """Return a body over the frames in which it is visible; None if there are none."""
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
    lights = []
    for light in scene.lights:
        places = light.stops[:, :2] if len(light.stops) else np.array([light.place_m])
        if np.hypot(*(places[:, None] - eyes[None]).reshape(-1, 2).T).min() > _SEEN_M:
            continue
        changes = [
            [_frame(rows, int(row)), int(state)]
            for row, state in zip(light.rows, light.states, strict=True)
        ]
        bars = np.round(light.stops * (_CM, _CM, 100.0, _CM)).astype(int).tolist()
        lights.append({"p": [round(_CM * p) for p in light.place_m], "s": bars, "c": changes})
    return lights


def _eyes(scene: Scene, rows: np.ndarray[Any, np.dtype[np.int64]]) -> FloatArray:
    """Return the centre of view (m) at each of the given rows."""
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


@dataclass(frozen=True, slots=True, kw_only=True)
class CriticalMoment:
    """The moment an episode's picture shows."""

    row: int
    time_s: float
    words: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeCard:
    """One episode on the page; the drawings are empty when its record is not shown."""

    key: str  # unique on the page, safe as an id
    run: int  # index of the run
    label: str  # of the run
    scenario: str
    score: EpisodeScore
    cause: str
    picture: str = ""
    picture_words: str = ""
    moment_s: float = math.nan
    view: str = ""  # the driver's view of the moment, as a data URI
    series: str = ""
    replay: str = ""  # packed
    map_key: str = ""
    note: str = ""

    @property
    def title(self) -> str:
        """Scenario and seed."""
        seed = self.score.seed
        return self.scenario if seed is None else f"{self.scenario} · seed {seed}"

    @property
    def figures(self) -> list[tuple[str, str]]:
        """Metrics with a value, as words and number."""
        return [
            (label_of(name).full, number(value))
            for name, value in self.score.metrics.items()
            if math.isfinite(value) and not is_doubled(name, self.score.counts)
        ]

    @property
    def events(self) -> list[dict[str, Any]]:
        """Infractions in order of time."""
        return [
            {"time_s": event.time_s, "words": in_words(event.kind), "message": event.message}
            for event in sorted(self.score.infractions, key=lambda event: event.tick)
        ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cards:
    """All cards of a page and the maps they share."""

    cards: tuple[EpisodeCard, ...]
    maps: dict[str, str]  # key -> packed map
    left_out: int  # records that were not drawn, to keep the page small


def make_cards(
    runs: Sequence[ScoredRun], labels: Sequence[str], most: int, view: DriverView | None = None
) -> Cards:
    """Cards in order of scenario, seed and run; failures are drawn first if there are too many.

    Args:
        runs: The runs.
        labels: Of the runs.
        most: Episodes to draw.
        view: Renders the driver's view of failed episodes.
    """
    bare = sorted(_bare_cards(runs, labels), key=lambda c: (c.scenario, c.score.seed or 0, c.run))
    with_record = [card for card in bare if runs[card.run].episode_folder(card.score) is not None]
    drawn = {c.key for c in sorted(with_record, key=lambda card: card.score.success)[:most]}
    finished: list[EpisodeCard] = []
    scenes_of: dict[str, list[Scene]] = {}
    plans: dict[str, GroundPlan] = {}
    for card in bare:
        if card.key not in drawn:
            note = "" if card in with_record else "The record of this episode is missing."
            finished.append(replace(card, note=note or "Left out to keep the page small."))
            continue
        folder = runs[card.run].episode_folder(card.score)
        assert folder is not None  # only cards with a record are drawn
        record = open_record(folder)
        scene = read_scene(record)
        key = _plan_key(record, plans)
        shown = _drawn(card, scene, key, plans.get(key))
        if view is not None and not card.score.success:
            shown = replace(shown, view=_data_uri(view(record, shown.moment_s)))
        finished.append(shown)
        scenes_of.setdefault(key, []).append(scene)
    maps = {key: pack(map_data(plan.cut(map_area(scenes_of[key])))) for key, plan in plans.items()}
    return Cards(cards=tuple(finished), maps=maps, left_out=len(with_record) - len(drawn))


def _data_uri(picture: bytes) -> str:
    return f"data:image/jpeg;base64,{base64.b64encode(picture).decode()}" if picture else ""


def _bare_cards(runs: Sequence[ScoredRun], labels: Sequence[str]) -> Iterator[EpisodeCard]:
    for index, (run, label) in enumerate(zip(runs, labels, strict=True)):
        for number_, episode in enumerate(run.score.episodes):
            yield EpisodeCard(
                key=f"e{index}-{number_}",
                run=index,
                label=label,
                scenario=scenario_of(episode),
                score=episode,
                cause=cause_of(episode),
            )


def _plan_key(record: Record, plans: dict[str, GroundPlan]) -> str:
    """Return the key of the record's map and read a new map; empty without a map."""
    town = town_of(record)
    if town is None:
        return ""
    key = f"m{record.episode.files['opendrive'].sha256[:12]}"
    if key not in plans:
        plans[key] = ground_plan(town)
    return key


def _drawn(card: EpisodeCard, scene: Scene, key: str, plan: GroundPlan | None) -> EpisodeCard:
    rows = frames_of(scene)
    series = ego_series(scene, rows)
    moment = moment_of(card.score, scene, series)
    rest = (
        ""
        if rows[-1] == len(scene.time_s) - 1
        else (f"The ego then stood still until {scene.time_s[-1]:.1f} s, which is not shown.")
    )
    last_s = float(scene.time_s[rows[-1]])
    marks = [
        (event.time_s, in_words(event.kind))
        for event in card.score.infractions
        if event.time_s <= last_s
    ]
    return replace(
        card,
        picture=moment_picture(scene, moment.row, plan, title=f"{card.title}: {moment.words}"),
        picture_words=moment.words,
        moment_s=moment.time_s,
        series=series_figure(series, [time_s for time_s, _ in marks]) if series else "",
        replay=pack(replay_data(scene, series, marks)),
        map_key=key,
        note=rest,
    )


def moment_of(score: EpisodeScore | None, scene: Scene, series: Series | None) -> CriticalMoment:
    """Return the moment to show: the gravest infraction, else the closest call, else the end.

    A collision is shown at the last tick before it, when no body has been pushed away yet.
    """
    event = None if score is None else decisive(score)
    if event is not None:
        row = scene.row_of_tick(event.tick)
        if any(abs(hit.row - row) <= 1 for hit in scene.hits):
            row = max(row - 1, 0)
        return CriticalMoment(
            row=row,
            time_s=float(scene.time_s[row]),
            words=f"{in_words(event.kind)} at {event.time_s:.1f} s",
        )
    if score is None and scene.hits:
        row = max(scene.hits[0].row - 1, 0)
        return CriticalMoment(
            row=row, time_s=float(scene.time_s[row]), words=f"contact at {scene.time_s[row]:.1f} s"
        )
    if series is not None and (score is None or score.success):
        for values, words in (
            (series.ttc_s, "shortest time to collision, {:.1f} s"),
            (series.person_m, "nearest to a person, {:.1f} m"),
        ):
            if np.isfinite(values).any():
                k = int(np.nanargmin(values))
                row = int(series.rows[k])
                words_at = f"{words.format(values[k])}, at {scene.time_s[row]:.1f} s"
                return CriticalMoment(row=row, time_s=float(scene.time_s[row]), words=words_at)
    row = len(scene.time_s) - 1
    return CriticalMoment(row=row, time_s=float(scene.time_s[row]), words="the end of the episode")
