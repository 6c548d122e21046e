"""Scenery that follows from the map itself: poles of lights and signs, and traffic islands."""

from __future__ import annotations

import math
from typing import Any
from xml.etree.ElementTree import Element

import numpy as np
from numpy.typing import NDArray

from jaywalk.town.frontage import MapLike
from jaywalk.town.scenery_table import SCENERY, SIGN_LABEL, Shape, rows

Table = NDArray[np.void]
LIGHT = "1000001"
PLATES = {"206": (178, 24, 28), "205": (236, 220, 90), "274": (240, 240, 240)}
POLE_SPACING_M = 0.5


def _spots(landmarks: list[Any]) -> list[tuple[float, float, float, float, str]]:
    """Foot, yaw and type of the landmarks, one for those that share a spot."""
    seen: set[tuple[int, int]] = set()
    spots = []
    for mark in sorted(landmarks, key=lambda mark: (mark.type != LIGHT, str(mark.id))):
        place = mark.transform.location
        cell = (round(place.x / POLE_SPACING_M), round(place.y / POLE_SPACING_M))
        if cell in seen:
            continue
        seen.add(cell)
        yaw = math.radians(mark.transform.rotation.yaw)
        spots.append((place.x, place.y, place.z - mark.z_offset, yaw, str(mark.type)))
    return spots


def signal_poles(carla_map: MapLike) -> tuple[Table, Table]:
    """Poles of lights and signs, and the plates of the signs (same order as their poles last)."""
    wanted = {LIGHT, *PLATES}
    spots = _spots([mark for mark in carla_map.get_all_landmarks() if str(mark.type) in wanted])
    lights = np.array([spot[:3] for spot in spots if spot[4] == LIGHT]).reshape(-1, 3)
    signs = [spot for spot in spots if spot[4] != LIGHT]
    feet = np.array([spot[:3] for spot in signs]).reshape(-1, 3)
    poles = np.concatenate(
        [
            rows("traffic_light_pole", Shape.CYLINDER, lights, (0.1, 0.1, 2.6), 0.0, (64, 66, 68)),
            rows("sign_post", Shape.CYLINDER, feet, (0.05, 0.05, 1.3), 0.0, (132, 134, 136)),
        ]
    )
    turned = np.array([spot[3] + math.pi / 2.0 for spot in signs])
    tints = np.array([PLATES[spot[4]] for spot in signs]).reshape(-1, 3)
    plates = rows(
        "sign_post", Shape.BOX, feet + np.array([0.0, 0.0, 2.0]), (0.35, 0.02, 0.35), turned, tints,
        solid=False,
    )  # fmt: skip
    plates["label"] = SIGN_LABEL
    return poles, plates


def islands(carla_map: MapLike, root: Element) -> Table:
    """Bodies of the traffic islands that the map gives as objects with an outline."""
    tables = [np.zeros(0, SCENERY)]
    for road in root.iter("road"):
        for item in road.iterfind("objects/object"):
            if item.get("type") != "trafficIsland":
                continue
            waypoint = carla_map.get_waypoint_xodr(
                int(road.get("id", "0")), -1, float(item.get("s", "0"))
            )
            corners = [
                (float(corner.get("u", "0")), float(corner.get("v", "0")))
                for corner in item.iter("cornerLocal")
            ]
            if waypoint is None or len(corners) < 3:
                continue
            tables += _island(waypoint, np.array(corners))
    return np.concatenate(tables)


def _island(waypoint: Any, corners: NDArray[np.float64]) -> list[Table]:
    place, yaw = waypoint.transform.location, math.radians(waypoint.transform.rotation.yaw)
    ahead = np.array([math.cos(yaw), math.sin(yaw)])
    left = np.array([ahead[1], -ahead[0]])  # left-handed frame
    reference = np.array([place.x, place.y]) + left * waypoint.lane_width / 2.0
    low, high = corners.min(axis=0), corners.max(axis=0)
    middle = reference + ahead * (low[0] + high[0]) / 2.0 + left * (low[1] + high[1]) / 2.0
    half = (*((high - low) / 2.0), 0.09)
    foot = np.array([[*middle, place.z]])
    post = foot + np.array([[0.0, 0.0, 0.18]])
    return [
        rows("island", Shape.BOX, foot, half, yaw, (170, 168, 160)),
        rows("bollard", Shape.CYLINDER, post, (0.1, 0.1, 0.5), 0.0, (226, 196, 52)),
    ]
