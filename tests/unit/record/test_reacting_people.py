"""Perception and decisions of people in records, and records written before these columns."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from record_scenes import write_episode

import jaywalk.record
from jaywalk.core.errors import DataError
from jaywalk.record import Episode, record_hash
from jaywalk.record._schema import STATES
from jaywalk.record.capture import EpisodeCapture, Reacting
from jaywalk.record.queries import state_rows
from jaywalk.record.rows import REACTION_COLUMNS

CAR, CALM, ALERT = 40, 50, 60


class Vector(SimpleNamespace):
    """A vector of the wheel."""

    def __init__(self) -> None:
        super().__init__(x=0.0, y=0.0, z=0.0)


class Actor:
    """An actor of the wheel, its handle and its state in a snapshot."""

    parent = None
    semantic_tags = ()
    attributes: dict[str, str] = {}  # noqa: RUF012
    bounding_box = SimpleNamespace(
        extent=Vector(), location=Vector(), rotation=SimpleNamespace(pitch=0.0, yaw=0.0, roll=0.0)
    )

    def __init__(self, number: int, type_id: str) -> None:
        self.id, self.type_id = number, type_id

    def get_control(self) -> Any:
        values = dict.fromkeys(("throttle", "steer", "brake", "speed"), 0.0)
        flags = dict.fromkeys(("hand_brake", "reverse", "manual_gear_shift", "gear", "jump"), 0)
        return SimpleNamespace(direction=Vector(), **values, **flags)

    def get_speed_limit(self) -> float:
        return 30.0

    def is_at_traffic_light(self) -> bool:
        return False

    def get_traffic_light_state(self) -> int:
        return 0

    def get_transform(self) -> Any:
        turn = SimpleNamespace(pitch=0.0, yaw=0.0, roll=0.0)
        return SimpleNamespace(location=Vector(), rotation=turn)

    def get_velocity(self) -> Vector:
        return Vector()

    get_angular_velocity = get_acceleration = get_velocity


class Snapshot(list):  # type: ignore[type-arg]
    """A world snapshot."""

    def __init__(self, frame: int, actors: list[Actor]) -> None:
        super().__init__(actors)
        self.frame = frame
        self.timestamp = SimpleNamespace(elapsed_seconds=0.05 * frame, delta_seconds=0.05)

    def find(self, number: int) -> Actor | None:
        return next((actor for actor in self if actor.id == number), None)


def test_perception_and_decisions_are_recorded_where_they_are_known(tmp_path: Path) -> None:
    actors = [
        Actor(CAR, "vehicle.mini.cooper"),
        Actor(CALM, "walker.pedestrian.0001"),
        Actor(ALERT, "walker.pedestrian.0002"),
    ]
    capture = EpisodeCapture(tmp_path / "one", lambda ids: [a for a in actors if a.id in ids])
    for frame in range(3):
        if frame == 1:  # the last person reacts to the car, in this tick alone
            capture.reactions = Reacting(
                ids=np.array([ALERT]),
                gaze_deg=np.array([[30.0, -5.0]]),
                gaze_id=np.array([CAR]),
                attention=np.array([2]),
                decision=np.array([4]),
                evidence=np.array([0.25]),
                perceived_gap_s=np.array([np.inf]),
                perceived_id=np.array([0]),
                group=np.array([-1]),
            )
        else:
            capture.reactions = None
        capture.observe(Snapshot(frame, actors))
    capture.finish(Episode(episode_id="one"))
    rows = state_rows(jaywalk.record.open(tmp_path / "one"), ("actor", "tick", *REACTION_COLUMNS))
    told = rows.filter(pl.col("decision").is_not_null())
    assert told.to_dicts() == [
        {
            "actor": 2,
            "tick": 1,
            "gaze_yaw_deg": 30.0,
            "gaze_pitch_deg": -5.0,
            "gaze_actor": 0,
            "attention": 2,
            "decision": 4,
            "evidence": 0.25,
            "perceived_gap_s": None,
            "perceived_actor": None,
            "group": None,
        }
    ]
    others = rows.filter(pl.col("decision").is_null())
    assert others.height == 8
    assert all(others[name].null_count() == 8 for name in REACTION_COLUMNS)


def test_older_records_are_read_and_keep_their_hash(tmp_path: Path) -> None:
    write_episode(tmp_path / "now")
    path = tmp_path / "now/states.parquet"
    data = pq.read_table(path)
    for name in REACTION_COLUMNS:  # as people who react to nothing
        where = data.schema.get_field_index(name)
        field = data.schema.field(where)
        data = data.set_column(where, field, pa.nulls(data.num_rows, field.type))
    pq.write_table(data, path)
    now = record_hash(tmp_path / "now")
    pq.write_table(data.drop_columns(list(REACTION_COLUMNS)), path)
    record = jaywalk.record.open(tmp_path / "now")
    assert record_hash(tmp_path / "now") == now
    states = record.states.collect()
    assert states.columns == [column.name for column in STATES.columns]
    assert all(states[name].null_count() == states.height for name in REACTION_COLUMNS)
    pq.write_table(data.drop_columns(["clip_blend"]), path)
    with pytest.raises(DataError, match="clip_blend"):
        jaywalk.record.open(tmp_path / "now")
