"""Tags of reacting people in an export: looks, reactions, intention, the first step, groups."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from street_episode import LANE_Y_M, PERSON, PERSON_X_M, ego_x, person_y, write_street

from jaywalk.datasets.behaviour_tables import BOX_SCHEMA, BehaviourData, write_tables
from jaywalk.forecasting.behaviour.sampling import draw_samples, load_dataset
from jaywalk.forecasting.behaviour.sim_export import export_runs
from jaywalk.forecasting.behaviour.tasks import find_task
from jaywalk.record.reactions import PersonAttention, PersonDecision

INTENDS, COMMITS, STEPS_OUT, LEAVES = 20, 70, 84, 150
LOOKS = (30, 50)  # ticks
HURRIES = (100, 120)
WEAK_UNTIL = 45
REACTING = {"people_model": "reactive-1"}


def reactions(tick: int) -> dict[str, float]:
    """Somebody who looks at the car, waits, and goes; the head turns exactly as far as needed."""
    decision = PersonDecision.NONE if tick < INTENDS else PersonDecision.WANTS
    if tick >= COMMITS:
        decision = (
            PersonDecision.HURRIES if HURRIES[0] <= tick < HURRIES[1] else PersonDecision.COMMITTED
        )
    looks = LOOKS[0] <= tick < LOOKS[1]
    bearing = math.degrees(math.atan2(LANE_Y_M - person_y(tick), ego_x(tick) - PERSON_X_M))
    off = 24.0 if tick < 40 else 26.0  # within 25 degrees at first, then beyond
    return {
        "attention": PersonAttention.LOOKS if looks else PersonAttention.NOTICED,
        "decision": decision,
        "evidence": 0.1 if tick < WEAK_UNTIL else 0.4,
        "gaze_yaw_deg": (bearing + 90.0 + off + 180.0) % 360.0 - 180.0,
        "perceived_actor": 0,
    }


def notes(**role: Any) -> list[tuple[int, dict[str, Any]]]:
    return [
        (0, {"what": "role", "intended": "crossing", "age": "adult", **role}),
        (INTENDS, {"what": "intends", "via_m": [PERSON_X_M, 3.6]}),
        (COMMITS, {"what": "commits"}),
        (STEPS_OUT, {"what": "enters the road"}),
        (LEAVES, {"what": "leaves the road"}),
    ]


def ticks(frames: np.ndarray) -> np.ndarray:
    return np.floor(frames / 30.0 / 0.05 + 1e-6)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("reacting")
    for k in range(3):
        write_street(
            root / "run",
            f"e{k}",
            scenario=f"route-{k}",
            parameters=REACTING,
            notes=notes(traits={"group": -1}),
            reactions=reactions,
        )
    return root / "run"


@pytest.fixture(scope="module")
def data(runs: Path) -> BehaviourData:
    return export_runs([runs])


@pytest.fixture(scope="module")
def boxes(data: BehaviourData) -> pl.DataFrame:
    return data.boxes.filter(pl.col("pedestrian_id") == f"run/e0/{PERSON}-0")


def test_looks_are_looks_of_the_head_at_the_car(boxes: pl.DataFrame) -> None:
    at = ticks(boxes["frame"].to_numpy())
    expected = (at >= LOOKS[0]) & (at < 40)
    assert boxes["looking"].to_list() == expected.astype(int).tolist()


def test_reactions_have_the_words_of_jaad(boxes: pl.DataFrame) -> None:
    at = ticks(boxes["frame"].to_numpy())
    hurries = (at >= HURRIES[0]) & (at < HURRIES[1])
    words = ["speed_up" if hurry else None for hurry in hurries]
    assert boxes["reaction"].to_list() == words


def test_intention_follows_the_event_and_is_unsure_with_weak_evidence(
    data: BehaviourData, boxes: pl.DataFrame
) -> None:
    at = ticks(boxes["frame"].to_numpy())
    kerb = np.array([abs(person_y(tick) - 3.6) < 3.0 for tick in at])
    unsure = (at >= INTENDS) & (at < WEAK_UNTIL) & kerb
    expected = np.where(at < INTENDS, 0.0, np.where(unsure, 0.5, 1.0))
    # An event may fall between two frames of 1/30 s.
    sure = ~np.isin(at, (INTENDS - 1, INTENDS, WEAK_UNTIL - 1, WEAK_UNTIL))
    assert boxes["intention_prob"].to_numpy()[sure].tolist() == expected[sure].tolist()
    person = data.pedestrians.filter(pl.col("pedestrian_id") == f"run/e0/{PERSON}-0")
    samples = draw_samples(data, find_task("intention", "sim"), "all")
    mine = samples.filter(pl.col("pedestrian_id") == person["pedestrian_id"][0])
    labels = dict(zip(ticks(mine["last_frame"].to_numpy()), mine["label"], strict=True))
    assert labels
    for tick, label in labels.items():
        if tick not in (INTENDS, WEAK_UNTIL):
            assert label == (0 if tick < INTENDS else 1 if tick < WEAK_UNTIL else 2)


def test_the_first_step_is_the_event_and_the_commitment_ends_the_clip(data: BehaviourData) -> None:
    person = data.pedestrians.row(0, named=True)
    assert person["crossing"] == 1
    assert person["crossing_point"] == pytest.approx(STEPS_OUT * 1.5, abs=1)
    assert person["decision_point"] == pytest.approx(COMMITS * 1.5, abs=1)
    assert person["critical_point"] == person["decision_point"]
    assert person["group_size"] == 1


def test_scripted_people_have_none_of_these_tags(tmp_path: Path, data: BehaviourData) -> None:
    for name, more in (("a", {}), ("b", {"notes": notes(traits={"group": 0})})):
        write_street(tmp_path / name, "e0", scenario="route-0", **more)
    plain, noted = (export_runs([tmp_path / name]) for name in "ab")
    for table in (plain, noted):
        for column in ("looking", "reaction", "intention_prob"):
            assert table.boxes[column].is_null().all()
        assert table.pedestrians["group_size"].is_null().all()
        assert table.pedestrians["decision_point"].is_null().all()
    assert noted.boxes.drop("video", "pedestrian_id").equals(
        plain.boxes.drop("video", "pedestrian_id")
    )
    # The lane's edge, not the event, is where scripted people begin to cross.
    assert plain.pedestrians["crossing_point"][0] == pytest.approx(120, abs=3)


def test_earlier_exports_can_be_read(data: BehaviourData, tmp_path: Path) -> None:
    write_tables(data, tmp_path, {})
    file = tmp_path / "boxes.parquet"
    pl.read_parquet(file).drop("reaction", "intention_prob").write_parquet(file)
    again = load_dataset("sim", tmp_path)
    assert again.boxes.schema == BOX_SCHEMA
    assert again.boxes["reaction"].is_null().all()
