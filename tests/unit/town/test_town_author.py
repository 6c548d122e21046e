"""The author's parts that need no SUMO; where SUMO is installed, that it rebuilds the files."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from jaywalk.core.errors import PrerequisiteError
from town_author import netconvert
from town_author.build import PLANS, build_town
from town_author.curves import RoadPose, bow, joining_line, smooth_line
from town_author.roads import WidthPiece

DATA = Path(__file__).parents[3] / "src" / "jaywalk" / "town" / "data"


def test_a_smooth_line_through_an_arc_has_its_length_and_headings() -> None:
    radius = 40.0
    angles = np.radians(np.arange(0.0, 91.0, 9.0))
    points = np.column_stack([radius * np.cos(angles), radius * np.sin(angles), np.zeros(11)])
    line = smooth_line(points)
    assert line.length_m == pytest.approx(radius * math.pi / 2.0, rel=1e-4)
    for share in (0.0, 0.3, 0.5, 0.77, 1.0):
        pose = line.pose(share * line.length_m)
        assert math.hypot(pose.x, pose.y) == pytest.approx(radius, abs=2e-3)
        assert pose.heading_rad == pytest.approx(math.pi / 2.0 * (1.0 + share), abs=2e-3)


def test_a_straight_before_a_bend_stays_straight() -> None:
    bend = [(100.0 + 20.0 * math.sin(a), 20.0 - 20.0 * math.cos(a), 0.0) for a in (0.2, 0.4, 0.6)]
    line = smooth_line(np.array([(0.0, 0.0, 0.0), (100.0, 0.0, 0.0), *bend]))
    assert max(abs(line.pose(s).y) for s in np.linspace(0.0, 90.0, 50)) < 0.02


def test_heights_follow_the_points() -> None:
    x = np.linspace(0.0, 200.0, 21)
    line = smooth_line(np.column_stack([x, np.zeros(21), 4.0 * np.sin(x / 40.0)]))
    for s in np.linspace(5.0, 195.0, 30):
        pose = line.pose(float(s))
        assert pose.z == pytest.approx(4.0 * math.sin(s / 40.0), abs=0.05)
        assert pose.slope == pytest.approx(0.1 * math.cos(s / 40.0), abs=0.01)


@pytest.mark.parametrize("turn_deg", [-90.0, -45.0, 30.0, 90.0])
def test_a_joining_line_meets_both_ends(turn_deg: float) -> None:
    turn = math.radians(turn_deg)
    end = RoadPose(x=14.0, y=math.copysign(11.0, turn), z=0.5, heading_rad=turn)
    line = joining_line(RoadPose(x=0.0, y=0.0, z=0.0, heading_rad=0.0), end)
    last = line.pose(line.length_m)
    assert (last.x, last.y, last.z) == pytest.approx((end.x, end.y, end.z), abs=1e-6)
    assert math.remainder(last.heading_rad - turn, math.tau) == pytest.approx(0.0, abs=1e-6)


def test_a_right_turn_is_as_wide_as_its_shorter_leg() -> None:
    end = RoadPose(x=9.0, y=-14.0, z=0.0, heading_rad=-math.pi / 2.0)
    line = joining_line(RoadPose(x=0.0, y=0.0, z=0.0, heading_rad=0.0), end)
    step = 0.05
    headings = [line.pose(s).heading_rad for s in np.arange(0.0, line.length_m, step)]
    tightest = step / np.abs(np.diff(headings)).max()
    assert tightest == pytest.approx(9.0, rel=0.05)


def test_a_width_piece_is_the_same_curve_from_any_origin() -> None:
    piece = WidthPiece(begin_m=10.0, end_m=20.0, coefficients=(1.0, 0.2, -0.03, 0.004))
    a, b, c, d = piece.from_station(14.0)
    for s in (14.0, 16.5, 20.0):
        h, g = s - 10.0, s - 14.0
        expected = 1.0 + 0.2 * h - 0.03 * h**2 + 0.004 * h**3
        assert a + b * g + c * g**2 + d * g**3 == pytest.approx(expected)


def test_a_bow_leaves_and_arrives_as_told() -> None:
    points = [(0.0, 0.0), *bow((0.0, 0.0), 20.0, (100.0, 0.0), -20.0, 2.0), (100.0, 0.0)]
    first = math.atan2(points[1][1], points[1][0])
    assert math.degrees(first) == pytest.approx(20.0, abs=1.5)
    assert max(y for _, y in points) == pytest.approx(8.6, abs=1.0)


@pytest.mark.parametrize("name", sorted(PLANS))
def test_plans_are_complete(name: str) -> None:
    plan = PLANS[name]()
    for edge in plan.edges.values():
        assert {edge.start, edge.end} <= set(plan.nodes)
    named = {strip.edge for strip in plan.strips} | {zebra.edge for zebra in plan.zebras}
    linked = {link.source for link in plan.connections} | {link.target for link in plan.connections}
    assert named | linked <= set(plan.edges)


def test_orchard_has_no_right_before_left_junctions() -> None:
    kinds = {node.kind for node in PLANS["orchard"]().nodes.values()}
    assert kinds == {"priority", "priority_stop", "allway_stop"}


def test_missing_netconvert_names_the_fix(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(netconvert.sys, "executable", "/nowhere/python")
    monkeypatch.setattr(netconvert.shutil, "which", lambda _name: None)
    with pytest.raises(PrerequisiteError, match=r"pip install 'jaywalk\[town\]'"):
        netconvert.find_netconvert()


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(PLANS))
def test_the_shipped_files_are_what_the_author_writes(name: str, tmp_path: Path) -> None:
    try:
        netconvert.find_netconvert()
    except PrerequisiteError as error:
        pytest.skip(str(error))
    for path in build_town(name, tmp_path):
        assert path.read_bytes() == (DATA / path.name).read_bytes()
