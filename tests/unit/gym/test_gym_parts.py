"""Parts of the environment without a server."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from jaywalk.agents.driving.perception import PERSON, PROP, VEHICLE, EgoVehicle, Observation
from jaywalk.core.errors import UsageError
from jaywalk.runner.live_episode import EgoHit

pytest.importorskip("gymnasium", reason="the extra 'gym' is not installed")

from jaywalk.gym.__main__ import CruisePolicy
from jaywalk.gym._bev import draw_ground
from jaywalk.gym._options import DriveOptions
from jaywalk.gym._reward import CollisionReader, RewardWeights, reward_terms
from jaywalk.gym._views import (
    EGO_FIELDS,
    EGO_SIZE,
    ROUTE_AHEAD_M,
    STATE_SIZE,
    TickState,
    state_vector,
)
from jaywalk.runner.ending import BLOCKED, COMPLETED


class _Straight:
    """A line along the x axis, from the origin on."""

    def point_at(self, along_m: float) -> tuple[float, float]:
        return along_m, 0.0


def _look(yaw_deg: float = 0.0, x_m: float = 0.0, y_m: float = 0.0, **more: Any) -> TickState:
    seen = [(VEHICLE, 20.0, 3.0), (PERSON, 0.0, 10.0), (PROP, -5.0, 0.0), (PERSON, 90.0, 0.0)]
    n = len(seen)
    kind = np.array([one[0] for one in seen])
    given: dict[str, Any] = {
        "own": EgoVehicle(
            x_m=x_m,
            y_m=y_m,
            z_m=0.0,
            yaw_rad=np.deg2rad(yaw_deg),
            speed_mps=6.0,
            yaw_rate_radps=0.0,
            half_length_m=2.4,
            half_width_m=1.0,
            front_m=2.4,
        ),
        "acceleration_mps2": (1.0, 0.0),
        "control": (0.5, 0.0, 0.1),
        "seen": Observation(
            actor_id=np.arange(n),
            kind=kind,
            xy_m=np.array([one[1:] for one in seen]),
            z_m=np.zeros(n),
            cos=np.ones(n),
            sin=np.zeros(n),
            half_m=np.full((n, 2), 1.0),
            height_m=np.ones(n),
            velocity_mps=np.tile([0.0, 3.0], (n, 1)),
            yaw_rate_radps=np.zeros(n),
            acceleration_mps2=np.zeros(n),
        ),
        "line": _Straight(),
        "signals": SimpleNamespace(lights=[], signs=[]),
        "along_m": 0.0,
        "offset_m": 0.0,
        "heading_rad": 0.0,
        "limit_mps": 15.0,
        "share": 0.25,
        **more,
    }
    return TickState(**given)


def test_the_state_is_seen_from_the_ego() -> None:
    state = state_vector(_look(yaw_deg=90.0))  # it looks along y; x is to its left
    assert state.shape == (STATE_SIZE,)
    assert state.dtype == np.float32
    ego = dict(zip(EGO_FIELDS, state[:EGO_SIZE].tolist(), strict=True))
    assert ego["speed"] == pytest.approx(0.2)
    assert ego["red_light"] == ego["stop_sign"] == 1.0
    route = state[EGO_SIZE : EGO_SIZE + 20].reshape(-1, 2) * 60.0
    assert np.allclose(route[:, 0], 0.0, atol=1e-4)
    assert np.allclose(route[:, 1], -np.array(ROUTE_AHEAD_M), atol=1e-4)
    things = state[EGO_SIZE + 20 : EGO_SIZE + 92].reshape(8, 9)
    assert things[:, 8].tolist() == [0.5, 1.0, 0, 0, 0, 0, 0, 0]  # the prop is nearer
    assert things[1, :2] * 60.0 == pytest.approx([3.0, -20.0], abs=1e-4)
    assert things[1, 4:6] * 30.0 == pytest.approx([3.0, 0.0], abs=1e-4)
    people = state[EGO_SIZE + 92 :].reshape(8, 5)
    assert people[0, :2] * 60.0 == pytest.approx([10.0, 0.0], abs=1e-4)
    assert people[1:].sum() == 0.0  # the other one is out of range


def test_the_ground_is_cut_out_turned() -> None:
    labels = np.random.default_rng(1).choice(np.array([1, 2, 10, 24], np.uint8), (80, 90))
    out = np.zeros((8, 32, 32), np.uint8)
    x, y, yaw, pixel = 21.3, 18.7, 0.8, 0.5
    draw_ground(out, labels, 0.0, 0.0, 0.5, x, y, yaw, pixel, 24)
    for row, column in [(0, 0), (24, 16), (31, 31), (5, 20), (12, 3)]:
        ahead, right = (24 - row - 0.5) * pixel, (column + 0.5 - 16) * pixel
        place = np.array([x, y]) + ahead * np.array([np.cos(yaw), np.sin(yaw)])
        place += right * np.array([-np.sin(yaw), np.cos(yaw)])
        label = labels[int(place[1] / 0.5), int(place[0] / 0.5)]
        expected = [label in (1, 24), label == 24, label == 2]
        assert (out[:3, row, column] == 255).tolist() == expected


def test_a_contact_is_told_once_and_two_ticks_later() -> None:
    hits = [
        EgoHit(frame=10, other_id=7, other_type_id="walker.pedestrian.0001"),
        EgoHit(frame=11, other_id=7, other_type_id="walker.pedestrian.0001"),
        EgoHit(frame=11, other_id=0, other_type_id="static.building"),
    ]
    stage: Any = SimpleNamespace(hits=hits, snapshot=SimpleNamespace(frame=11))
    reader = CollisionReader(stage)
    assert reader.read_new() == []
    stage.snapshot.frame = 12
    assert [one.kind for one in reader.read_new()] == ["person"]
    stage.snapshot.frame = 13
    assert [one.kind for one in reader.read_new()] == ["static"]
    hits.append(EgoHit(frame=60, other_id=7, other_type_id="walker.pedestrian.0001"))
    stage.snapshot.frame = 62
    assert [one.kind for one in reader.read_new()] == ["person"]


def test_reward_terms() -> None:
    weights = RewardWeights.of({"progress_per_m": 2.0})
    terms = reward_terms(weights, _look(offset_m=-2.0, limit_mps=4.0), 0.3, 0.5, [], "")
    assert terms["progress"] == pytest.approx(0.6)
    assert terms["offset"] == pytest.approx(-0.1 * 2.0 * 0.05)
    assert terms["speeding"] == pytest.approx(-0.5 * (6.0 - 4.2) * 0.05)
    assert terms["jerky"] == pytest.approx(-0.01)
    assert terms["ending"] == 0.0
    assert reward_terms(weights, _look(), 0.0, 0.0, [], COMPLETED)["ending"] == 50.0
    assert reward_terms(weights, _look(), 0.0, 0.0, [], BLOCKED)["ending"] == -20.0


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"observation": "radar"}, "expected state or bev or sensors"),
        ({"action": "buttons"}, "expected pedals or joined"),
        ({"reward": {"fun": 1.0}}, "'fun', which is not a weight"),
        ({"routes": "99-nowhere"}, "'99-nowhere', which is not a route"),
        ({"ticks_per_step": 0}, "expected 1 or more"),
        ({"server": "here"}, "expected HOST:PORT"),
        ({"sensors": [{"type": "sensor.nose", "id": "n"}]}, "Illegal sensor 'sensor.nose'"),
    ],
)
def test_wrong_options_are_named(options: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        DriveOptions.of(**options)


def test_cruise_stops_for_somebody_on_the_route_and_goes_when_nobody_is() -> None:
    clear = CruisePolicy().act(state_vector(_look(y_m=-30.0)))
    assert clear[0] > 0.3
    assert clear[1] == 0.0
    seen = _look().seen
    person = seen.where(np.array([False, True, False, False]))
    person.xy_m[0] = (9.0, 0.5)
    stopping = CruisePolicy().act(state_vector(_look(seen=person)))
    assert stopping[0] == 0.0
    assert stopping[1] > 0.5
