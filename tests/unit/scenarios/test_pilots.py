"""Scenario vehicles without a server: where they steer, when they brake, what they see."""

from __future__ import annotations

import math

import numpy as np
import pytest
from shapely.geometry import LineString, Polygon

from jaywalk.actors.lane_paths import LanePath
from jaywalk.actors.pilots import Pilot, follow

BODY = np.array([2.3, 0.95, 0.1])
NO_PEOPLE = np.zeros((0, 5))


def arc(radius_m=60.0, length_m=90.0):
    along = np.arange(0.0, length_m, 1.0)
    turn = along / radius_m
    x, y = radius_m * np.sin(turn), radius_m * (1.0 - np.cos(turn))
    return LanePath(np.column_stack([x, y, np.zeros(len(turn))]), along, np.rad2deg(turn))


def look(path, at, boxes, people=NO_PEOPLE, reach=40.0):
    out = np.zeros(5)
    pose = np.array([*path.points_m[at, :2], math.radians(path.yaw_deg[at]), 8.0])
    follow(path.points_m, path.arc_m, at, pose, BODY, reach, boxes, people, out)
    return out


def test_the_gap_agrees_with_polygons():
    path, random = arc(), np.random.default_rng(3)
    line = LineString(path.points_m[5:, :2])
    agreed = {True: 0, False: 0}
    for _ in range(600):
        x, y, yaw = random.uniform(0, 60), random.uniform(-5, 40), random.uniform(0, 6.3)
        box = np.array([[x, y, math.cos(yaw), math.sin(yaw), 2.2, 0.9, 0.0, 0.0]])
        corners = [
            (
                x + a * 2.2 * box[0, 2] - b * 0.9 * box[0, 3],
                y + a * 2.2 * box[0, 3] + b * 0.9 * box[0, 2],
            )
            for a, b in ((1, 1), (1, -1), (-1, -1), (-1, 1))
        ]
        clear = Polygon(corners).distance(line) - (BODY[1] + 0.3)
        first = line.project(Polygon(corners).centroid)
        if abs(clear) < 0.25 or not 8.0 < first < 36.0:
            continue  # at the edge, where sampling may differ
        agreed[clear < 0.0] += 1
        assert np.isfinite(look(path, 5, box)[2]) == (clear < 0.0)
    assert min(agreed.values()) > 20


def test_it_does_not_see_itself_nor_what_is_behind():
    path = arc()
    place = path.points_m[30]
    yaw = math.radians(path.yaw_deg[30])
    own = [place[0], place[1], math.cos(yaw), math.sin(yaw), 2.3, 0.95, 8.0, 0.0]
    back = [*path.points_m[20, :2], 1.0, 0.0, 2.3, 0.95, 8.0, 0.0]
    assert look(path, 30, np.array([own, back]))[2] == np.inf


def test_a_person_on_the_way_is_seen():
    path = arc()
    person = np.array([[*path.points_m[50, :2], 0.0, 0.0, 0.35]])
    out = look(path, 30, np.zeros((0, 8)), person)
    assert out[2] == pytest.approx(20.0 - BODY[0] - BODY[2] - 0.35, abs=0.05)


def test_it_keeps_the_path_of_a_kinematic_bicycle():
    """Steering to the path from half a metre aside comes back to it."""
    path, base = arc(), 1.2 * BODY[0]
    x, y, yaw, at = -0.3, 0.5, 0.0, 0
    away = []
    for _ in range(160):
        out = np.zeros(5)
        pose = np.array([x, y, yaw, 8.0])
        at = follow(
            path.points_m, path.arc_m, at, pose, BODY, 0.0, np.zeros((0, 8)), NO_PEOPLE, out
        )
        away.append(out[4])
        yaw += 8.0 * 0.05 * 0.78 * out[1] / base
        x, y = x + 8.0 * 0.05 * math.cos(yaw), y + 8.0 * 0.05 * math.sin(yaw)
    assert max(away[60:]) < 0.25


class Still:
    """A snapshot's row that stands in a place."""

    def __init__(self, x, speed):
        self.transform = type("T", (), {})()
        self.transform.location = type("L", (), {"x": x, "y": 0.0, "z": 0.0})()
        self.transform.rotation = type("R", (), {"yaw": 0.0})()
        self.velocity = type("V", (), {"x": speed, "y": 0.0, "z": 0.0})()

    def get_transform(self):
        return self.transform

    def get_velocity(self):
        return self.velocity


def straight(length_m=300.0):
    along = np.arange(0.0, length_m, 1.0)
    nothing = np.zeros(len(along))
    return LanePath(np.column_stack([along, nothing, nothing]), along, nothing)


def drive(pilot, boxes, ticks):
    x, speeds = 0.0, []
    for _ in range(ticks):
        speed, _ = pilot.decide(Still(x, pilot.command_mps), boxes(x), NO_PEOPLE, 0.05)
        x += speed * 0.05
        speeds.append(speed)
    return x, np.array(speeds)


def test_it_accelerates_as_told_and_arrives_on_time():
    pilot = Pilot(actor_id=1, path=straight(), speed_mps=12.0, acceleration_mps2=5.0, heeds=False)
    x, speeds = drive(pilot, lambda _: np.zeros((0, 8)), 100)
    assert speeds[-1] == pytest.approx(12.0, abs=0.01)
    assert np.diff(speeds, prepend=0.0).max() == pytest.approx(0.25, abs=1e-6)
    assert x == pytest.approx(12.0 * 5.0 - 12.0**2 / (2 * 5.0), abs=1.0)


def test_it_stops_behind_what_stands_and_follows_what_drives():
    wall = np.array([[80.0, 0.0, 1.0, 0.0, 2.0, 0.9, 0.0, 0.0]])
    pilot = Pilot(actor_id=1, path=straight(), speed_mps=10.0, command_mps=10.0)
    x, speeds = drive(pilot, lambda _: wall, 400)
    assert speeds[-1] == 0.0
    assert 1.0 < 78.0 - (x + 2.3) < 4.5
    assert np.diff(speeds).min() > -7.6 * 0.05


def test_one_that_was_hit_is_left_alone():
    pilot = Pilot(actor_id=1, path=straight(), speed_mps=10.0, command_mps=10.0, heeds=False)
    pilot.decide(Still(0.0, 10.0), np.zeros((0, 8)), NO_PEOPLE, 0.05)
    assert not pilot.knocked
    pilot.decide(Still(0.5, 5.0), np.zeros((0, 8)), NO_PEOPLE, 0.05)
    assert pilot.knocked
