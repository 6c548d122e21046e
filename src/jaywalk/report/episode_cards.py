"""What the page shows of each episode: outcome, picture of the moment, series, replay."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from jaywalk.metrics.driving.scorecard import EpisodeScore, scenario_of
from jaywalk.record.reader import Record, open_record
from jaywalk.report.causes import cause_of, decisive, in_words
from jaywalk.report.ground_plan import GroundPlan, ground_plan, town_of
from jaywalk.report.labels import label_of, number
from jaywalk.report.moment_picture import moment_picture
from jaywalk.report.replay_data import (
    frames_of,
    map_area,
    map_data,
    pack,
    replay_data,
)
from jaywalk.report.scene import Scene, read_scene
from jaywalk.report.scored_runs import ScoredRun, is_doubled
from jaywalk.report.series import Series, ego_series
from jaywalk.report.series_figure import series_figure


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
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


def make_cards(runs: Sequence[ScoredRun], labels: Sequence[str], most: int) -> Cards:
    """Cards in order of scenario, seed and run; failures are drawn first if there are too many."""
    bare = sorted(_bare_cards(runs, labels), key=lambda c: (c.scenario, c.score.seed or 0, c.run))
    with_record = [card for card in bare if runs[card.run].episode_folder(card.score) is not None]
    drawn = {c.key for c in sorted(with_record, key=lambda card: card.score.success)[:most]}
    finished: list[EpisodeCard] = []
    scenes_of: dict[str, list[Scene]] = {}
    plans: dict[str, GroundPlan] = {}
    for card in bare:
        if card.key not in drawn:
            note = "" if card in with_record else "The record of this episode is not there."
            finished.append(replace(card, note=note or "Left out to keep the page small."))
            continue
        folder = runs[card.run].episode_folder(card.score)
        assert folder is not None  # only cards with a record are drawn
        record = open_record(folder)
        scene = read_scene(record)
        key = _plan_key(record, plans)
        finished.append(_drawn(card, scene, key, plans.get(key)))
        scenes_of.setdefault(key, []).append(scene)
    maps = {key: pack(map_data(plan.cut(map_area(scenes_of[key])))) for key, plan in plans.items()}
    return Cards(cards=tuple(finished), maps=maps, left_out=len(with_record) - len(drawn))


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
    """Key of the record's map, which is read when it is new; empty without a map."""
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
    rest = "" if rows[-1] == len(scene.time_s) - 1 else (
        f"The ego then stood still until {scene.time_s[-1]:.1f} s, which is not shown."
    )  # fmt: skip
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


def moment_of(score: EpisodeScore | None, scene: Scene, series: Series | None) -> Moment:
    """The moment to look at: the gravest infraction, else the closest call, else the end.

    A collision is shown at the last tick before it, when nobody has been pushed away yet.
    """
    event = None if score is None else decisive(score)
    if event is not None:
        row = scene.row_of_tick(event.tick)
        if any(abs(hit.row - row) <= 1 for hit in scene.hits):
            row = max(row - 1, 0)
        return Moment(row=row, time_s=float(scene.time_s[row]),
                      words=f"{in_words(event.kind)} at {event.time_s:.1f} s")  # fmt: skip
    if score is None and scene.hits:
        row = max(scene.hits[0].row - 1, 0)
        return Moment(row=row, time_s=float(scene.time_s[row]),
                      words=f"contact at {scene.time_s[row]:.1f} s")  # fmt: skip
    if series is not None and (score is None or score.success):
        for values, words in (
            (series.ttc_s, "shortest time to collision, {:.1f} s"),
            (series.person_m, "nearest to a person, {:.1f} m"),
        ):
            if np.isfinite(values).any():
                k = int(np.nanargmin(values))
                row = int(series.rows[k])
                told = f"{words.format(values[k])}, at {scene.time_s[row]:.1f} s"
                return Moment(row=row, time_s=float(scene.time_s[row]), words=told)
    row = len(scene.time_s) - 1
    return Moment(row=row, time_s=float(scene.time_s[row]), words="the end of the episode")
