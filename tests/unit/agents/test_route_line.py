"""The line a driver follows."""

from __future__ import annotations

import numpy as np
import pytest
from driver_fakes import FakeActor, FakeWorld, dense_route, route_along_x, straight_map

from jaywalk.agents.driving._following import Manner
from jaywalk.agents.driving.perception import Perception
from jaywalk.agents.driving.route_driver import allowed_speeds
from jaywalk.agents.driving.route_line import STEP_M, lay_change, make_line
from jaywalk.agents.expert._lane_change import LaneChanges


@pytest.fixture(scope="module")
def road():
    return straight_map()


def changing_route(leap_m: float = 5.0):
    """Along y = 1.75, then within one step of the route onto y = -1.75, as planners do it."""
    first = np.arange(10.0, 101.0)
    second = np.arange(first[-1] + leap_m, 251.0)
    x = np.concatenate([first, second])
    y = np.concatenate([np.full(len(first), 1.75), np.full(len(second), -1.75)])
    return dense_route(np.column_stack([x, y, np.zeros(len(x))]))


def test_a_straight_route_gives_even_samples_and_runs_on(road) -> None:
    line = make_line(route_along_x(200.0), road, 8.0)
    assert np.hypot(*np.diff(line.xy_m, axis=0).T) == pytest.approx(STEP_M, abs=1e-6)
    assert line.xy_m[line.route_end] == pytest.approx([210.0, 1.75], abs=STEP_M)
    assert line.length_m == pytest.approx(260.0, abs=1.5)
    assert line.limit_mps == pytest.approx(50.0 / 3.6)
    assert line.lane_width_m == pytest.approx(3.5)
    assert np.abs(line.curvature_pm).max() < 1e-9


def test_a_change_of_lanes_becomes_smooth(road) -> None:
    line = make_line(changing_route(), road, 8.0)
    assert len(line.change_from) == 1
    steps = np.diff(line.xy_m, axis=0)
    assert np.abs(np.arctan2(steps[:, 1], steps[:, 0])).max() < np.deg2rad(12.0)
    assert line.xy_m[:, 1].max() == pytest.approx(1.75, abs=0.02)
    assert line.xy_m[line.xy_m[:, 0] > 150.0][:, 1] == pytest.approx(-1.75, abs=1e-6)
    assert np.all(np.diff(line.xy_m[:, 1]) <= 1e-9)
    assert np.all(np.diff(line.xy_m[:, 0]) > 0.0)


def test_a_change_can_be_put_off(road) -> None:
    line = make_line(changing_route(), road, 8.0)
    change = int(line.change_from[0])
    lay_change(line, change, change + int(30.0 / STEP_M))
    line.refresh()
    aside = np.interp([125.0, 128.0], line.xy_m[:, 0], line.xy_m[:, 1])
    assert aside == pytest.approx(1.75, abs=0.05)
    assert line.xy_m[-1, 1] == pytest.approx(-1.75, abs=1e-6)


def test_two_changes_in_a_row_add_up(road) -> None:
    x = np.concatenate([np.arange(10.0, 50.0), np.arange(54.0, 56.0), np.arange(60.0, 200.0)])
    y = np.repeat([5.25, 1.75, -1.75], [40, 2, 140])
    line = make_line(dense_route(np.column_stack([x, y, np.zeros(len(x))])), road, 8.0)
    assert len(line.change_from) == 2
    steps = np.diff(line.xy_m, axis=0)
    assert np.abs(np.arctan2(steps[:, 1], steps[:, 0])).max() < np.deg2rad(20.0)
    assert line.xy_m[line.xy_m[:, 0] > 140.0][:, 1] == pytest.approx(-1.75, abs=1e-6)


def test_doubled_and_backward_points_are_dropped(road) -> None:
    x = np.concatenate([np.arange(10.0, 60.0), [59.0, 58.0, 58.0], np.arange(59.0, 120.0)])
    line = make_line(dense_route(np.column_stack([x, np.full(len(x), 1.75), 0 * x])), road, 8.0)
    assert np.all(np.diff(line.xy_m[:, 0]) > 0.0)


def test_refreshing_a_part_equals_refreshing_all(road) -> None:
    line = make_line(route_along_x(200.0), road, 8.0)
    line.offset_m[100:160] = np.sin(np.linspace(0.0, np.pi, 60))
    line.refresh(100, 160)
    part = line.xy_m.copy(), line.yaw_rad.copy(), line.curvature_pm.copy()
    line.refresh()
    for before, after in zip(part, (line.xy_m, line.yaw_rad, line.curvature_pm), strict=True):
        assert before == pytest.approx(after, abs=1e-12)


def test_locating_follows_the_samples(road) -> None:
    line = make_line(route_along_x(200.0), road, 8.0)
    assert line.locate(57.3, 2.5, near=90) == pytest.approx(47.3)
    assert line.locate(9.0, 1.75, near=0) == 0.0
    assert line.point_at(47.3) == pytest.approx((57.3, 1.75))


def test_speed_is_lowered_before_a_bend() -> None:
    angle = np.linspace(0.0, np.pi / 2.0, 25)
    bend = np.column_stack([100.0 + 15.0 * np.sin(angle), 15.0 - 15.0 * np.cos(angle)])
    straight = np.column_stack([np.arange(0.0, 100.0), np.zeros(100)])
    xy = np.vstack([straight, bend])
    yaw = np.rad2deg(np.concatenate([np.zeros(100), angle]))
    line = make_line(
        dense_route(np.column_stack([xy, np.zeros(len(xy))]), yaw), straight_map(), 13.9
    )
    line.limit_mps[:] = 13.9
    manner = Manner(speed_factor=1.0, lateral_mps2=2.4, braking_mps2=2.5)
    allowed = allowed_speeds(line, manner)
    in_bend = int(110.0 / STEP_M)
    assert allowed[in_bend] == pytest.approx(np.sqrt(2.4 * 15.0), rel=0.05)
    assert allowed[0] == pytest.approx(13.9)
    squares = allowed**2
    assert np.diff(squares)[: in_bend - 4].min() >= -2.0 * 2.0 * STEP_M - 1e-6


@pytest.mark.parametrize(
    ("behind_m", "waited_s", "waits"),
    [(13.0, 0.0, True), (13.0, 10.0, False), (7.0, 10.0, True), (40.0, 0.0, False)],
)
def test_who_waits_long_changes_lanes_where_the_next_car_need_not_brake_hard(
    behind_m: float, waited_s: float, waits: bool
) -> None:
    first = np.arange(10.0, 101.0)
    second = np.arange(first[-1] + 5.0, 251.0)
    x = np.concatenate([first, second])
    y = np.concatenate([np.full(len(first), 1.75), np.full(len(second), 5.25)])
    road = straight_map(lanes=2)
    line = make_line(dense_route(np.column_stack([x, y, np.zeros(len(x))])), road, 8.0)
    changes = LaneChanges(line, road)
    changes.latest = list(changes.begin)
    here = line.change_from[0] * STEP_M - 3.0
    ego = FakeActor(1, "vehicle.ego", 10.0 + here, 1.75, half=(2.4, 0.9, 0.75))
    # From the ego's rear to the front of a car that comes 8 m/s faster in the other lane.
    comes = FakeActor(5, "vehicle.comes", ego.x - 2.4 - behind_m - 2.3, 5.25, speed_mps=8.0)
    world = FakeWorld([ego, comes])
    perception, snapshot = Perception(world, ego), world.snapshot()
    changes._waited_s = waited_s
    gap = changes.update(perception.own(snapshot), here, perception.look(snapshot))
    assert np.isfinite(gap) == waits
    # With 3 m/s2 of its own and 2 of the other, 6.4 m are lost: enough is left of 13 m.
    assert changes.trusted == (frozenset({5}) if waited_s and not waits else frozenset())
