"""Turns what a CARLA client gives into rows of a record; the only reader of the client's objects.

Nothing here imports ``carla``: the objects are taken as they come.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from jaywalk.core.frames import rotation_matrix_carla, rotator_from_matrix
from jaywalk.record import columns as c
from jaywalk.record.episode import canonical_json

_PLAUSIBLE_MIDDLE_M: Final = 0.5  # middle of the axles from the middle of the box


def kind_of(type_id: str) -> str:
    """Kind of an actor by its blueprint."""
    family, _, rest = type_id.partition(".")
    if family in {"vehicle", "walker", "sensor"}:
        return family
    if type_id == "traffic.traffic_light":
        return "light"
    if family == "traffic":
        return "sign"
    # Trigger volumes (friction) and the spectator are no bodies.
    return "prop" if family == "static" and rest.startswith("prop") else "other"


def pose_of(transform: Any) -> tuple[float, float, float, float, float, float]:
    """x, y, z, pitch, yaw, roll."""
    place, turn = transform.location, transform.rotation
    return place.x, place.y, place.z, turn.pitch, turn.yaw, turn.roll


def actor_row(actor: Any, kind: str) -> dict[str, Any]:
    """What an actor is; one call to the server, for the box of a body."""
    attributes = dict(actor.attributes)
    row: dict[str, Any] = {
        c.SERVER_ID: actor.id,
        c.KIND: kind,
        c.TYPE_ID: actor.type_id,
        c.ROLE_NAME: attributes.get("role_name", ""),
        c.ATTRIBUTES: canonical_json(attributes),
        c.SEMANTIC_TAGS: [int(tag) for tag in actor.semantic_tags],
    }
    if kind in {"vehicle", "walker", "prop"}:
        box = actor.bounding_box
        row |= _named(c.HALF_X_M, c.HALF_Y_M, c.HALF_Z_M, box.extent)
        row |= _named(c.OFFSET_X_M, c.OFFSET_Y_M, c.OFFSET_Z_M, box.location)
        turn = box.rotation
        row[c.BOX_PITCH_DEG], row[c.BOX_YAW_DEG], row[c.BOX_ROLL_DEG] = (
            turn.pitch, turn.yaw, turn.roll,
        )  # fmt: skip
    return row


def _named(x: str, y: str, z: str, vector: Any) -> dict[str, float]:
    return {x: vector.x, y: vector.y, z: vector.z}


def mount_row(child: Any, parent: Any) -> dict[str, float]:
    """Pose of an attached actor in its parent's frame, from both transforms."""
    (px, py, pz, *p_turn), (cx, cy, cz, *c_turn) = pose_of(parent), pose_of(child)
    to_parent = rotation_matrix_carla(*p_turn).T
    place = to_parent @ np.array([cx - px, cy - py, cz - pz])
    pitch, yaw, roll = rotator_from_matrix(to_parent @ rotation_matrix_carla(*c_turn))
    return {
        c.MOUNT_X_M: float(place[0]), c.MOUNT_Y_M: float(place[1]), c.MOUNT_Z_M: float(place[2]),
        c.MOUNT_PITCH_DEG: pitch, c.MOUNT_YAW_DEG: yaw, c.MOUNT_ROLL_DEG: roll,
    }  # fmt: skip


def chassis_row(vehicle: Any, transform: Any) -> dict[str, float]:
    """Mass and axles of a vehicle; one call to the server."""
    physics = vehicle.get_physics_control()
    x, y, z, *turn = pose_of(transform)
    forward = rotation_matrix_carla(*turn)[:, 0]
    row = {c.MASS_KG: physics.mass}
    wheels = list(physics.wheels)
    if not wheels:
        return row
    # CARLA gives wheels as centimetres in the world.
    along = [
        float(forward @ (np.array([w.position.x, w.position.y, w.position.z]) / 100.0 - [x, y, z]))
        for w in wheels
    ]
    row[c.MAX_STEER_DEG] = max(wheel.max_steer_angle for wheel in wheels)
    # They are of the moment of the answer: a watcher that lags behind a moving car gets no axles.
    middle_m = 0.5 * (max(along) + min(along)) - vehicle.bounding_box.location.x
    if abs(middle_m) < _PLAUSIBLE_MIDDLE_M:
        row[c.FRONT_AXLE_X_M], row[c.REAR_AXLE_X_M] = max(along), min(along)
    return row


def landmark_row(actor: Any) -> dict[str, Any]:
    """A traffic light or sign; ``actor`` and ``group_actors`` hold ids of the server."""
    row: dict[str, Any] = {c.ACTOR: actor.id, c.TYPE_ID: actor.type_id}
    names = (c.X_M, c.Y_M, c.Z_M, c.PITCH_DEG, c.YAW_DEG, c.ROLL_DEG)
    row |= dict(zip(names, pose_of(actor.get_transform()), strict=True))
    volume = actor.trigger_volume
    row |= _named(c.TRIGGER_X_M, c.TRIGGER_Y_M, c.TRIGGER_Z_M, volume.location)
    row |= _named(c.TRIGGER_HALF_X_M, c.TRIGGER_HALF_Y_M, c.TRIGGER_HALF_Z_M, volume.extent)
    turn = volume.rotation
    row[c.TRIGGER_PITCH_DEG], row[c.TRIGGER_YAW_DEG] = turn.pitch, turn.yaw
    row[c.TRIGGER_ROLL_DEG] = turn.roll
    if kind_of(actor.type_id) == "light":
        row[c.OPENDRIVE_ID] = actor.get_opendrive_id()
        row[c.POLE_INDEX] = actor.get_pole_index()
        row[c.GROUP] = sorted(light.id for light in actor.get_group_traffic_lights())
        row[c.STOP_WAYPOINTS] = [waypoint_row(point) for point in actor.get_stop_waypoints()]
        lanes = actor.get_affected_lane_waypoints()
        row[c.AFFECTED_WAYPOINTS] = [waypoint_row(point) for point in lanes]
    return row


def waypoint_row(point: Any) -> dict[str, Any]:
    """A waypoint of the map."""
    x, y, z, pitch, yaw, roll = pose_of(point.transform)
    return {
        c.X_M: x, c.Y_M: y, c.Z_M: z, c.PITCH_DEG: pitch, c.YAW_DEG: yaw, c.ROLL_DEG: roll,
        c.ROAD_ID: point.road_id, c.SECTION_ID: point.section_id, c.LANE_ID: point.lane_id,
        c.S_M: point.s, c.LANE_WIDTH_M: point.lane_width, c.IS_JUNCTION: point.is_junction,
    }  # fmt: skip


def weather_row(weather: Any) -> dict[str, float | None]:
    """All of CARLA's weather; what an older server lacks is null."""
    return {name: getattr(weather, name, None) for name in c.WEATHER_FIELDS}


def signal_row(light: Any, state: int, frozen: bool) -> dict[str, Any]:
    """A traffic light's clock, from the snapshot."""
    return {
        c.STATE: state,
        c.FROZEN: frozen,
        c.ELAPSED_S: light.get_elapsed_time(),
        c.GREEN_S: light.get_green_time(),
        c.YELLOW_S: light.get_yellow_time(),
        c.RED_S: light.get_red_time(),
    }
