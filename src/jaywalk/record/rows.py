"""Conversion of a CARLA client's objects into rows of a record, and sorting of the state rows.

Only this module reads the client's objects. It does not import ``carla``; it uses the attributes of
the objects that it receives.

State rows arrive tick by tick as numpy rows and are written sorted by actor and tick. Full chunks
are sorted and spilled to disk, and the file is assembled a few actors at a time. Memory therefore
does not grow with the length of an episode.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from jaywalk.core.walker_attributes import CARRIES
from jaywalk.geometry.rotation import rotation_matrix_carla, rotator_from_matrix
from jaywalk.record import columns as c
from jaywalk.record._schema import STATES, TEXT
from jaywalk.record.episode import canonical_json

_PLAUSIBLE_MIDDLE_M: Final = 0.5  # middle of the axles from the middle of the box

# Columns of a state as ``EpisodeCapture`` collects them: numbers of motion and control, integers.
MOTION_COLUMNS: Final = (
    c.X_M,
    c.Y_M,
    c.Z_M,
    c.PITCH_DEG,
    c.YAW_DEG,
    c.ROLL_DEG,
    c.VX_MPS,
    c.VY_MPS,
    c.VZ_MPS,
    c.WX_DPS,
    c.WY_DPS,
    c.WZ_DPS,
    c.AX_MPS2,
    c.AY_MPS2,
    c.AZ_MPS2,
)
CONTROL_COLUMNS: Final = (
    c.THROTTLE,
    c.STEER,
    c.BRAKE,
    c.SPEED_LIMIT_KMH,
    c.WALK_X,
    c.WALK_Y,
    c.WALK_Z,
    c.WALK_SPEED_MPS,
    c.CLIP_PHASE,
    c.CLIP_BLEND,
)
INTEGER_COLUMNS: Final = (
    c.ACTOR,
    c.TICK,
    "family",
    c.HAND_BRAKE,
    c.REVERSE,
    c.MANUAL_GEAR,
    c.GEAR,
    c.AT_LIGHT,
    c.LIGHT_STATE,
    c.LAMPS,
    c.JUMP,
    c.CLIP,
)


def kind_of(type_id: str) -> str:
    """Kind of an actor by its blueprint."""
    family, _, rest = type_id.partition(".")
    if family in {"vehicle", "walker", "sensor"}:
        return family
    if type_id == "traffic.traffic_light":
        return "light"
    if family == "traffic":
        return "sign"
    # Trigger volumes (friction) and the spectator are not bodies.
    return "prop" if family == "static" and rest.startswith("prop") else "other"


def pose_of(transform: Any) -> tuple[float, float, float, float, float, float]:
    """x, y, z, pitch, yaw, roll."""
    place, turn = transform.location, transform.rotation
    return place.x, place.y, place.z, turn.pitch, turn.yaw, turn.roll


def actor_row(actor: Any, kind: str) -> dict[str, Any]:
    """Return the row that describes an actor; the box of a body takes one call to the server."""
    attributes = dict(actor.attributes)
    if attributes.get(CARRIES) == "":  # nothing is carried: CARLA's walkers have no such attribute
        del attributes[CARRIES]
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
            turn.pitch,
            turn.yaw,
            turn.roll,
        )
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
        c.MOUNT_X_M: float(place[0]),
        c.MOUNT_Y_M: float(place[1]),
        c.MOUNT_Z_M: float(place[2]),
        c.MOUNT_PITCH_DEG: pitch,
        c.MOUNT_YAW_DEG: yaw,
        c.MOUNT_ROLL_DEG: roll,
    }


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
        c.X_M: x,
        c.Y_M: y,
        c.Z_M: z,
        c.PITCH_DEG: pitch,
        c.YAW_DEG: yaw,
        c.ROLL_DEG: roll,
        c.ROAD_ID: point.road_id,
        c.SECTION_ID: point.section_id,
        c.LANE_ID: point.lane_id,
        c.S_M: point.s,
        c.LANE_WIDTH_M: point.lane_width,
        c.IS_JUNCTION: point.is_junction,
    }


def weather_row(weather: Any) -> dict[str, float | None]:
    """Return all values of CARLA's weather; values that an older server lacks are null."""
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


NO_CLIP: Final = -1
NO_ACTOR: Final = 2**32 - 1
NO_GROUP: Final = 2**16 - 1
NO_REACTION: Final = 2**8 - 1
KIND_OTHER, KIND_VEHICLE, KIND_WALKER = 0, 1, 2

_NUMPY: Final = {
    "float": "f4",
    "uint16": "u2",
    "uint32": "u4",
    "int32": "i4",
    "int8": "i1",
    "uint8": "u1",
    "bool": "?",
}
STATE_DTYPE: Final = np.dtype(
    [("family", "u1")]
    + [(k.name, "i4" if k.type == TEXT else _NUMPY[str(k.type)]) for k in STATES.columns]
)
"""A row of states: the table's columns, the clip as a number (-1: none), and whose they are."""

Rows = NDArray[np.void]

_VEHICLE_ONLY: Final = frozenset(
    {
        c.THROTTLE,
        c.STEER,
        c.BRAKE,
        c.HAND_BRAKE,
        c.REVERSE,
        c.MANUAL_GEAR,
        c.GEAR,
        c.SPEED_LIMIT_KMH,
        c.AT_LIGHT,
        c.LIGHT_STATE,
        c.LAMPS,
    }
)
_WALKER_ONLY: Final = frozenset({c.WALK_X, c.WALK_Y, c.WALK_Z, c.WALK_SPEED_MPS, c.JUMP})
_CLIP_ONLY: Final = frozenset({c.CLIP_PHASE, c.CLIP_BLEND})
# Value of a row that means null, for the columns of people who react.
_NULLS: Final[dict[str, float]] = {
    c.GAZE_YAW_DEG: np.nan,
    c.GAZE_PITCH_DEG: np.nan,
    c.GAZE_ACTOR: NO_ACTOR,
    c.ATTENTION: NO_REACTION,
    c.DECISION: NO_REACTION,
    c.EVIDENCE: np.nan,
    c.PERCEIVED_GAP_S: np.nan,
    c.PERCEIVED_ACTOR: NO_ACTOR,
    c.PEOPLE_GROUP: NO_GROUP,
}
REACTION_COLUMNS: Final = tuple(_NULLS)


def blank_states(count: int) -> Rows:
    """Return ``count`` state rows without any reactions."""
    rows = np.zeros(count, STATE_DTYPE)
    for name, null in _NULLS.items():
        rows[name] = null
    return rows


class StateSpool:
    """Spool that collects state rows in order of ticks and returns them in order of actors."""

    def __init__(self, folder: Path, chunk_rows: int = 200_000) -> None:
        self._folder = folder
        self._chunk_rows = chunk_rows
        self._open: list[Rows] = []
        self._open_rows = 0
        self._parts: list[Path] = []
        self.rows = 0

    def add(self, rows: Rows) -> None:
        """Take rows; they must not be changed afterwards."""
        self._open.append(rows)
        self._open_rows += len(rows)
        self.rows += len(rows)
        if self._open_rows >= self._chunk_rows:
            self._spill()

    def _sorted_chunk(self) -> Rows:
        rows = np.concatenate(self._open) if self._open else np.empty(0, STATE_DTYPE)
        self._open, self._open_rows = [], 0
        # Ticks come in order, so that a stable sort by actor is one by actor and tick.
        return rows[np.argsort(rows[c.ACTOR], kind="stable")]

    def _spill(self) -> None:
        path = self._folder / f"states-{len(self._parts)}.npy"
        np.save(path, self._sorted_chunk())
        self._parts.append(path)

    def batches(self, actors: int) -> Iterator[Rows]:
        """All rows sorted by actor and tick, in pieces of whole actors."""
        parts = [np.load(path, mmap_mode="r") for path in self._parts]
        parts.append(self._sorted_chunk())
        if self.rows <= self._chunk_rows:
            yield from (part for part in parts if len(part))
            return
        step = max(1, actors * self._chunk_rows // self.rows)
        for first in range(0, actors, step):
            pieces = []
            for part in parts:
                low, high = np.searchsorted(part[c.ACTOR], [first, first + step])
                pieces.append(np.asarray(part[low:high]))
            rows = np.concatenate(pieces)
            yield rows[np.argsort(rows[c.ACTOR], kind="stable")]

    def discard_parts(self) -> None:
        """Remove the spilled chunks."""
        for path in self._parts:
            path.unlink(missing_ok=True)


def states_to_table(rows: Rows, clips: list[str]) -> pa.Table:
    """Convert rows to the typed table; columns that do not apply to an actor become null."""
    family = rows["family"]
    no_clip = rows[c.CLIP] == NO_CLIP
    arrays: list[Any] = []
    for column in STATES.columns:
        values = np.ascontiguousarray(rows[column.name])
        mask = None
        if column.name in _VEHICLE_ONLY:
            mask = family != KIND_VEHICLE
        elif column.name in _WALKER_ONLY:
            mask = family != KIND_WALKER
        elif column.name in _CLIP_ONLY:
            mask = no_clip
        elif column.name in _NULLS:
            null = _NULLS[column.name]
            mask = np.isnan(values) if np.isnan(null) else values == null
        if column.name == c.CLIP:
            indices = pa.array(np.where(no_clip, 0, values), pa.int32(), mask=no_clip)
            names = pa.array(clips or [""], TEXT)
            arrays.append(pa.DictionaryArray.from_arrays(indices, names).cast(TEXT))
        else:
            arrays.append(pa.array(values, column.type, mask=mask))
    return pa.table(arrays, schema=STATES.arrow)
