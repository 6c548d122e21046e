"""Tables of a record: columns, types, meanings, order of rows and storage.

A change that an older reader would misread raises ``SCHEMA_VERSION``; a new nullable column at the
end of a table does not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import pyarrow as pa

from jaywalk.record import columns as c

SCHEMA_VERSION: Final = 1

I8: Final = pa.int8()
I16: Final = pa.int16()
I32: Final = pa.int32()
U8: Final = pa.uint8()
U16: Final = pa.uint16()
U32: Final = pa.uint32()
F32: Final = pa.float32()
F64: Final = pa.float64()
BOOL: Final = pa.bool_()
TEXT: Final = pa.string()
F32_LIST: Final = pa.list_(F32)

WAYPOINT: Final = pa.struct(
    [
        (c.X_M, F32),
        (c.Y_M, F32),
        (c.Z_M, F32),
        (c.PITCH_DEG, F32),
        (c.YAW_DEG, F32),
        (c.ROLL_DEG, F32),
        (c.ROAD_ID, I32),
        (c.SECTION_ID, I32),
        (c.LANE_ID, I32),
        (c.S_M, F64),
        (c.LANE_WIDTH_M, F64),
        (c.IS_JUNCTION, BOOL),
    ]
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One column: its meaning, and whether a value may be missing.

    A ``later`` column was added to an existing schema version: a file without it reads as null,
    and the record hash covers the column only where it has values.
    """

    name: str
    type: pa.DataType
    meaning: str
    nullable: bool = False
    hashed: bool = True
    later: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TableSchema:
    """One table of a record; its rows are sorted by ``order``."""

    name: str
    meaning: str
    order: tuple[str, ...]
    columns: tuple[Column, ...]

    @property
    def file_name(self) -> str:
        """Name of its file in the folder of an episode."""
        return f"{self.name}.parquet"

    @property
    def arrow(self) -> pa.Schema:
        """The schema pyarrow and polars see."""
        return pa.schema([pa.field(k.name, k.type, nullable=k.nullable) for k in self.columns])

    def column(self, name: str) -> Column:
        """The column called ``name``."""
        return next(column for column in self.columns if column.name == name)


def _col(name: str, kind: pa.DataType, meaning: str, null: bool = False) -> Column:
    return Column(name=name, type=kind, meaning=meaning, nullable=null)


def _opt(name: str, kind: pa.DataType, meaning: str) -> Column:
    return _col(name, kind, meaning, null=True)


def _later(name: str, kind: pa.DataType, meaning: str) -> Column:
    return Column(name=name, type=kind, meaning=meaning, nullable=True, later=True)


def _group(
    names: tuple[str, ...], kind: pa.DataType, meaning: str, null: bool = False
) -> list[Column]:
    return [_col(name, kind, meaning, null) for name in names]


EVENT_KINDS: Final = (
    "contact",
    "trigger",
    "scenario_start",
    "scenario_end",
    "scenario_timeout",
    "criterion_switch",
    "agent_failure",
    "note",
)

_PLACE: Final = (c.X_M, c.Y_M, c.Z_M)
_ROTATION: Final = (c.PITCH_DEG, c.YAW_DEG, c.ROLL_DEG)

TICKS: Final = TableSchema(
    name="ticks",
    meaning="One row per recorded tick. A gap in `tick` is a snapshot that never arrived.",
    order=(c.TICK,),
    columns=(
        _col(c.TICK, I32, "server frame minus the episode's first frame"),
        _col(c.TIME_S, F64, "game time since the first tick, rounded to 1 ns"),
        _col(c.DELTA_S, F32, "length of the step that ended here"),
    ),
)

ROUTE: Final = TableSchema(
    name="route",
    meaning="The route; `route.dense` in episode.json: points 1 m apart, or key points alone.",
    order=(c.INDEX,),
    columns=(
        _col(c.INDEX, I32, "position along the route"),
        *_group(_PLACE, F64, "point of the route"),
        *_group(_ROTATION, F64, "heading of the lane there", null=True),
        _opt(
            c.ROAD_OPTION,
            TEXT,
            "road option in the planner's words, e.g. LANEFOLLOW, LEFT, CHANGELANERIGHT",
        ),
        _opt(c.ROAD_ID, I32, "OpenDRIVE road of the waypoint"),
        _opt(c.SECTION_ID, I32, "lane section of the waypoint"),
        _opt(c.LANE_ID, I32, "OpenDRIVE lane of the waypoint"),
        _opt(c.S_M, F64, "distance along the road"),
        _opt(c.IS_JUNCTION, BOOL, "whether the waypoint lies in a junction"),
    ),
)

ACTORS: Final = TableSchema(
    name="actors",
    meaning="Every actor of the episode, numbered by first appearance, then by server id.",
    order=(c.ACTOR,),
    columns=(
        _col(c.ACTOR, U32, "number of the actor in this record, from 0"),
        Column(
            name=c.SERVER_ID,
            type=U32,
            meaning="the server's id; not hashed, for it depends on what ran before",
            hashed=False,
        ),
        _col(c.KIND, TEXT, "vehicle, walker, prop, sensor, light, sign or other"),
        _col(c.TYPE_ID, TEXT, "blueprint, e.g. vehicle.lincoln.mkz_2020"),
        _col(c.ROLE_NAME, TEXT, "role_name attribute, empty if none"),
        _opt(c.PARENT, U32, "actor it is attached to"),
        _col(c.FIRST_TICK, I32, "first tick in which it existed"),
        _col(c.LAST_TICK, I32, "last tick in which it existed"),
        *_group(
            (c.HALF_X_M, c.HALF_Y_M, c.HALF_Z_M),
            F32,
            "half extent of its box; half_x_m is the radius of a walker",
            null=True,
        ),
        *_group(
            (c.OFFSET_X_M, c.OFFSET_Y_M, c.OFFSET_Z_M),
            F32,
            "centre of the box in the actor's frame",
            null=True,
        ),
        *_group(
            (c.BOX_PITCH_DEG, c.BOX_YAW_DEG, c.BOX_ROLL_DEG),
            F32,
            "rotation of the box in the actor's frame",
            null=True,
        ),
        *_group(
            (c.MOUNT_X_M, c.MOUNT_Y_M, c.MOUNT_Z_M),
            F32,
            "place of an attached actor in its parent's frame",
            null=True,
        ),
        *_group(
            (c.MOUNT_PITCH_DEG, c.MOUNT_YAW_DEG, c.MOUNT_ROLL_DEG),
            F32,
            "rotation of an attached actor in its parent's frame",
            null=True,
        ),
        _opt(c.MASS_KG, F32, "mass of a vehicle, if asked for"),
        _opt(c.FRONT_AXLE_X_M, F32, "front axle in the actor's frame, if asked for"),
        _opt(c.REAR_AXLE_X_M, F32, "rear axle in the actor's frame, if asked for"),
        _opt(c.MAX_STEER_DEG, F32, "largest road-wheel angle, if asked for"),
        _opt(
            c.RIG,
            TEXT,
            "skeleton of a walker if known; else chosen by its attributes gender and age",
        ),
        _opt(c.CLIP, TEXT, "motion clip given to a walker at its spawn"),
        _opt(c.SCALE, F32, "scale of the body"),
        _opt(c.INTENDED_CLASS, TEXT, "class of motion that the scenario intends for this person"),
        _opt(c.SEMANTIC_TAGS, pa.list_(U8), "semantic tags that the server gives the actor"),
        _col(c.ATTRIBUTES, TEXT, "all attributes as JSON with sorted keys"),
    ),
)

LANDMARKS: Final = TableSchema(
    name="landmarks",
    meaning="Traffic lights and signs as the server gave them at the start of the episode.",
    order=(c.ACTOR,),
    columns=(
        _col(c.ACTOR, U32, "the light or sign"),
        _col(c.TYPE_ID, TEXT, "e.g. traffic.traffic_light, traffic.stop, traffic.speed_limit.30"),
        _opt(c.OPENDRIVE_ID, TEXT, "id of the OpenDRIVE signal"),
        _opt(c.POLE_INDEX, I32, "number of a light in its group"),
        _opt(c.GROUP, pa.list_(U32), "lights of the same junction"),
        *_group(_PLACE, F32, "where the light or sign stands"),
        *_group(_ROTATION, F32, "its rotation"),
        *_group(
            (c.TRIGGER_X_M, c.TRIGGER_Y_M, c.TRIGGER_Z_M),
            F32,
            "centre of the trigger volume in the actor's frame",
            null=True,
        ),
        *_group(
            (c.TRIGGER_HALF_X_M, c.TRIGGER_HALF_Y_M, c.TRIGGER_HALF_Z_M),
            F32,
            "half extent of the trigger volume",
            null=True,
        ),
        *_group(
            (c.TRIGGER_PITCH_DEG, c.TRIGGER_YAW_DEG, c.TRIGGER_ROLL_DEG),
            F32,
            "rotation of the trigger volume",
            null=True,
        ),
        _opt(c.STOP_WAYPOINTS, pa.list_(WAYPOINT), "where a vehicle has to stop for a light"),
        _opt(c.AFFECTED_WAYPOINTS, pa.list_(WAYPOINT), "lanes a light governs"),
    ),
)

STATES: Final = TableSchema(
    name="states",
    meaning="Vehicles and walkers at every tick; props at their first tick and when they moved.",
    order=(c.ACTOR, c.TICK),
    columns=(
        _col(c.ACTOR, U32, "number of the actor"),
        _col(c.TICK, I32, "when"),
        *_group(_PLACE, F32, "position of the actor's origin"),
        *_group(_ROTATION, F32, "rotation"),
        *_group((c.VX_MPS, c.VY_MPS, c.VZ_MPS), F32, "velocity, world frame"),
        *_group((c.WX_DPS, c.WY_DPS, c.WZ_DPS), F32, "angular velocity, degrees per second"),
        *_group((c.AX_MPS2, c.AY_MPS2, c.AZ_MPS2), F32, "acceleration, world frame"),
        _opt(c.THROTTLE, F32, "vehicle: 0 to 1"),
        _opt(c.STEER, F32, "vehicle: -1 (left) to 1"),
        _opt(c.BRAKE, F32, "vehicle: 0 to 1"),
        _opt(c.HAND_BRAKE, BOOL, "vehicle"),
        _opt(c.REVERSE, BOOL, "vehicle"),
        _opt(c.MANUAL_GEAR, BOOL, "vehicle"),
        _opt(c.GEAR, I8, "vehicle"),
        _opt(c.SPEED_LIMIT_KMH, F32, "vehicle: limit that holds for it"),
        _opt(c.AT_LIGHT, BOOL, "vehicle: inside a light's trigger volume"),
        _opt(c.LIGHT_STATE, U8, "vehicle: 0 red, 1 yellow, 2 green, 3 off, 4 unknown"),
        _opt(c.LAMPS, U32, "vehicle: CARLA's VehicleLightState bits, sampled (see `sampling`)"),
        *_group((c.WALK_X, c.WALK_Y, c.WALK_Z), F32, "walker: commanded direction", null=True),
        _opt(c.WALK_SPEED_MPS, F32, "walker: commanded speed"),
        _opt(c.JUMP, BOOL, "walker: commanded jump"),
        _opt(c.CLIP, TEXT, "walker: motion clip being played"),
        _opt(c.CLIP_PHASE, F32, "walker: place in the clip, 0 to 1"),
        _opt(
            c.CLIP_BLEND,
            F32,
            "walker: weight of the clip over the one before it, 0 to 1",
        ),
        _later(
            c.GAZE_YAW_DEG, F32, "reacting person: turn of the head from the body, positive right"
        ),
        _later(c.GAZE_PITCH_DEG, F32, "reacting person: turn of the head, positive upward"),
        _later(c.GAZE_ACTOR, U32, "reacting person: vehicle that they look at"),
        _later(
            c.ATTENTION,
            U8,
            "reacting person: 0 no vehicle in mind, 1 noticed from the corner of the eye, 2 looks, "
            "3 on the phone",
        ),
        _later(
            c.DECISION,
            U8,
            "reacting person: 0 none, 1 wants to cross, 2 waits, 3 committed, 4 yields, 5 hurries, "
            "6 steps back, 7 evades",
        ),
        _later(c.EVIDENCE, F32, "reacting person: evidence for stepping out; goes above 0.5"),
        _later(c.PERCEIVED_GAP_S, F32, "reacting person: time gap that they perceive"),
        _later(c.PERCEIVED_ACTOR, U32, "reacting person: vehicle of that gap"),
        _later(c.PEOPLE_GROUP, U16, "reacting person: number of their group; null: alone"),
    ),
)

SIGNALS: Final = TableSchema(
    name="signals",
    meaning="Traffic lights: the first state of each, then every change.",
    order=(c.ACTOR, c.TICK),
    columns=(
        _col(c.ACTOR, U32, "the light"),
        _col(c.TICK, I32, "first tick in which this holds"),
        _col(c.STATE, U8, "0 red, 1 yellow, 2 green, 3 off, 4 unknown"),
        _col(c.FROZEN, BOOL, "whether its clock stands"),
        _col(c.ELAPSED_S, F32, "time in this state when the row was written"),
        _col(c.GREEN_S, F32, "programmed green"),
        _col(c.YELLOW_S, F32, "programmed yellow"),
        _col(c.RED_S, F32, "programmed red"),
    ),
)

EGO: Final = TableSchema(
    name="ego",
    meaning="Inputs and commands of the driver; rows only where known.",
    order=(c.TICK,),
    columns=(
        _col(c.TICK, I32, "when"),
        _opt(c.COMMAND, TEXT, "navigation command"),
        _opt(c.ROUTE_INDEX, I32, "row of the route the ego has passed"),
        _opt(c.SPEED_LIMIT_KMH, F32, "limit as the server gives it"),
        _opt(c.COMMAND_THROTTLE, F32, "what the agent returned, before any limit"),
        _opt(c.COMMAND_STEER, F32, "what the agent returned"),
        _opt(c.COMMAND_BRAKE, F32, "what the agent returned"),
        _opt(c.PATH_X_M, F32_LIST, "planned path; null: as in the row before"),
        _opt(c.PATH_Y_M, F32_LIST, "planned path"),
        _opt(c.PATH_TIME_S, F32_LIST, "time from now at each point, if the plan has times"),
    ),
)

EVENTS: Final = TableSchema(
    name="events",
    meaning="Geometric and scripted facts; no protocol's counting rule is applied.",
    order=(c.TICK, c.EVENT),
    columns=(
        _col(c.EVENT, I32, "number of the event"),
        _col(c.TICK, I32, "first tick"),
        _col(c.END_TICK, I32, "last tick; equals `tick` for a moment"),
        _col(c.KIND, TEXT, "what happened; see the kinds of events"),
        _col(c.SOURCE, TEXT, "geometry, collision-sensor, scenario, runner or recorder"),
        _opt(c.NAME, TEXT, "scenario, criterion or trigger"),
        _opt(c.ACTOR, U32, "contact: the ego or else the lower number; other events: who acted"),
        _opt(c.OTHER, U32, "contact: the other actor; null for scenery"),
        _opt(c.OTHER_TYPE_ID, TEXT, "contact: type of the other in CARLA's words, also of scenery"),
        *_group(_PLACE, F32, "where it began", null=True),
        _opt(c.SPEED_MPS, F32, "contact: speed of `actor` at the last tick before"),
        _opt(c.OTHER_SPEED_MPS, F32, "contact: speed of `other` at the last tick before"),
        _opt(
            c.CLOSING_MPS, F32, "contact: approach along the normal at the last tick before, >= 0"
        ),
        _opt(
            c.IMPULSE_NS,
            F32,
            "contact: sum of impulses over the interval, if a sensor reported them",
        ),
        *_group(
            (c.NORMAL_X, c.NORMAL_Y), F32, "contact: unit vector from `other` to `actor`", null=True
        ),
        _opt(c.DETAIL, TEXT, "anything else, as JSON with sorted keys"),
    ),
)

WEATHER: Final = TableSchema(
    name="weather",
    meaning="CARLA's weather parameters at the start and at every change seen (see `sampling`).",
    order=(c.TICK,),
    columns=(
        _col(c.TICK, I32, "first tick in which this was seen"),
        *_group(c.WEATHER_FIELDS, F32, "as CARLA defines it", null=True),
    ),
)

FORECASTS: Final = TableSchema(
    name="forecasts",
    meaning="An agent's predictions of people: one row per sample or mixture mode.",
    order=(c.TICK, c.ACTOR, c.SOURCE, c.MODE),
    columns=(
        _col(c.TICK, I32, "when it was predicted"),
        _col(c.ACTOR, U32, "the predicted actor"),
        _col(c.SOURCE, TEXT, "agent or predictor, with its version"),
        _col(c.MODE, I16, "number of the sample or mode"),
        _col(c.FRAME, TEXT, "world or ego (at that tick), left-handed metres"),
        _col(c.WEIGHT, F32, "probability of the mode; 1 / n for samples"),
        _col(c.TIME_S, F32_LIST, "horizons, seconds from `tick`"),
        _col(c.X_M, F32_LIST, "predicted position (mean of the mode)"),
        _col(c.Y_M, F32_LIST, "predicted position (mean of the mode)"),
        _opt(c.VAR_XX_M2, F32_LIST, "covariance; null: the row is a sample"),
        _opt(c.VAR_XY_M2, F32_LIST, "covariance"),
        _opt(c.VAR_YY_M2, F32_LIST, "covariance"),
    ),
)

DEBUG: Final = TableSchema(
    name="debug",
    meaning="What the agent reports that it saw and planned.",
    order=(c.TICK, c.TOPIC),
    columns=(
        _col(c.TICK, I32, "when"),
        _col(c.TOPIC, TEXT, "e.g. leader, brake_reason, detections"),
        _col(c.DETAIL, TEXT, "JSON with sorted keys"),
    ),
)

TABLES: Final = (
    TICKS,
    ROUTE,
    ACTORS,
    LANDMARKS,
    STATES,
    SIGNALS,
    EGO,
    EVENTS,
    WEATHER,
    FORECASTS,
    DEBUG,
)
BY_NAME: Final = {table.name: table for table in TABLES}
