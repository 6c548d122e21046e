"""The world: actors in a town, advanced by ticks only.

This module does not depend on sockets, clients or the wall clock. Poses that enter or leave the
world are in metres and degrees, as in CARLA; the actor table holds radians.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from jaywalk.core.arrays import FloatArray
from jaywalk.core.carla_enums import SemanticTag
from jaywalk.core.units import RAD_TO_DEG
from jaywalk.geometry.rotation import rotation_matrix_carla, rotator_from_matrix
from jaywalk.server.world import _areas as areas
from jaywalk.server.world._areas import FrictionVolumes, follow_parents
from jaywalk.server.world._blueprint_types import Blueprint
from jaywalk.server.world._collisions import Collisions
from jaywalk.server.world._lights import TrafficLights, street_lights
from jaywalk.server.world._people import BoneTransforms, WalkerBodies
from jaywalk.server.world._scenery_index import SceneryIndex
from jaywalk.server.world._tables import Actor, ActorColumns, Kind, SpawnError
from jaywalk.server.world._vehicle_models import VEHICLE_MODEL, vehicle_model
from jaywalk.server.world._vehicle_physics import default_physics
from jaywalk.server.world._walker_dynamics import step_props, step_walkers
from jaywalk.server.world.vehicle_dynamics import step_vehicles
from jaywalk.town.town import Town

Vector = tuple[float, float, float]
Transform = tuple[Vector, Vector]

COLLISION_AT_SPAWN: Final = "Spawn failed because of collision at spawn position"
ALL_DOORS: Final = 6  # CARLA's VehicleDoor: four doors, bonnet, boot, all
_PUSH_FIELDS: Final = {"impulse": "imp", "force": "force"}
_MOTION: Final = ("vx", "vy", "vz", "wx", "wy", "wz", "ax", "ay", "az")
_KIND_WORDS: Final = {
    Kind.VEHICLE: "Vehicle",
    Kind.WALKER: "Walker",
    Kind.LIGHT: "traffic light",
    Kind.SIGN: "traffic sign",
    Kind.SENSOR: "sensor",
    Kind.PROP: "prop",
    Kind.OTHER: "actor",
}
_LABELS: Final = {Kind.LIGHT: SemanticTag.TRAFFIC_LIGHT, Kind.SIGN: SemanticTag.TRAFFIC_SIGN}


class UnknownActorError(KeyError):
    """No such actor, or not of the kind that the request needs; in CARLA's words."""

    def __init__(self, actor_id: int, problem: str = "Actor could not be found in the registry"):
        super().__init__(actor_id, problem)

    def __str__(self) -> str:
        actor_id, problem = self.args
        return f"{problem}.  Actor Id: {actor_id}"


class World:
    """Everything that exists in one episode."""

    def __init__(self, town: Town, ids: Iterator[int], *, road_limits: bool) -> None:
        """Build the town's fixed actors.

        Args:
            town: Where this happens.
            ids: Source of actor ids; shared by all episodes of a server so that none is reused.
            road_limits: Take speed limits from the road records (else 30 km/h everywhere).
        """
        self.town = town
        self.map_name = f"Carla/Maps/{town.name}"
        self.columns = ActorColumns()
        self.actors: dict[int, Actor] = {}
        self.time_s = 0.0
        self.wetness_percent = 0.0
        self.scenery = SceneryIndex(town)
        self.street_lights = street_lights(town.scenery)
        self.collisions = Collisions(self.scenery)
        self.people = WalkerBodies()
        self._ids = ids
        self._models = np.zeros(0, VEHICLE_MODEL)
        self._road_limits = road_limits
        self.open_doors: dict[int, int] = {}  # by actor id, bit n: door n of CARLA's VehicleDoor
        self._rolled_m = np.zeros(0)  # by row: way along the own axis since the spawn
        self._released_pedals: set[int] = set()  # rows whose controls hold for one tick only
        self.friction = FrictionVolumes()
        self._frame = 0
        self.spectator = self._add(Kind.OTHER, "spectator")
        self._place_signals()
        self.spawn_points: list[Transform] = [
            ((pose.x, pose.y, pose.z), (pose.pitch, pose.yaw, pose.roll))
            for pose in town.spawn_points
        ]

    # -- set-up ----------------------------------------------------------------------------------

    def _place_signals(self) -> None:
        lights, signs = self.town.lights, self.town.signs
        specs = [(spec, "traffic.traffic_light", Kind.LIGHT) for spec in lights]
        specs += [(spec, spec.type_id, Kind.SIGN) for spec in signs]  # type: ignore[misc]
        self.sign_names = np.zeros((max(len(specs), 1), 32), np.uint8)
        self.sign_lights = np.full(max(len(specs), 1), -1, np.int32)
        light_ids = []
        for index, (spec, type_id, kind) in enumerate(specs):
            actor = self._add(kind, type_id)
            actor.box_centre, actor.box_extent = spec.trigger.centre_m, spec.trigger.half_m
            actor.label = _LABELS[kind]
            pose = spec.pose
            self._set_pose(actor.row, ((pose.x, pose.y, pose.z), (pose.pitch, pose.yaw, pose.roll)))
            name = spec.signal_id.encode("ascii", "replace")[:31]
            self.sign_names[index, : len(name)] = np.frombuffer(name, np.uint8)
            self.columns.model[actor.row] = index
            if kind is Kind.LIGHT:
                self.sign_lights[index] = index
                light_ids.append(actor.id)
        self.lights = TrafficLights([(spec.group, spec.stage) for spec in lights], light_ids)
        boxes = [spec.stops for spec in lights]
        self._stop_boxes = np.concatenate(boxes) if boxes else np.zeros((0, 7))
        self._stop_owner = np.repeat(np.arange(len(boxes)), [len(box) for box in boxes])

    def _add(self, kind: Kind, type_id: str) -> Actor:
        row = self.columns.take_row()
        actor = Actor(id=next(self._ids), row=row, kind=kind, type_id=type_id)
        self.last_id = actor.id
        self.columns.id[row] = actor.id
        self.columns.kind[row] = kind
        self.columns.parent_row[row] = -1
        self.actors[actor.id] = actor
        return actor

    # -- actors ----------------------------------------------------------------------------------

    def actor(self, actor_id: int) -> Actor:
        """Return the actor with an id."""
        try:
            return self.actors[actor_id]
        except KeyError:
            raise UnknownActorError(actor_id) from None

    def serial(self, actor: Actor) -> int:
        """Return the number of earlier ids in this episode; equal when an episode is repeated."""
        return actor.id - self.spectator.id

    def actor_of_kind(self, actor_id: int, kind: Kind) -> Actor:
        """Return the actor with an id; it must be of the given kind."""
        actor = self.actor(actor_id)
        if actor.kind is not kind:
            raise UnknownActorError(actor_id, f"Actor is not a {_KIND_WORDS[kind]}")
        return actor

    def spawn(self, blueprint: Blueprint, pose: Transform, parent: Actor | None = None) -> Actor:
        """Create an actor; a vehicle or walker must not overlap another actor."""
        body = blueprint.body
        moving = blueprint.kind in (Kind.VEHICLE, Kind.WALKER)
        free_standing = parent is None and moving
        if free_standing and self.collisions.blocked(self.columns, blueprint.kind, pose, body):
            raise SpawnError(COLLISION_AT_SPAWN)
        actor = self._add(blueprint.kind, blueprint.id)
        actor.parent_id = parent.id if parent else 0
        actor.box_centre, actor.box_extent = body.centre_m, body.half_extents_m
        actor.label = body.label
        row, columns = actor.row, self.columns
        columns.cx[row], columns.cy[row], columns.cz[row] = body.centre_m
        columns.ex[row], columns.ey[row], columns.ez[row] = body.half_extents_m
        columns.mass[row] = body.mass_kg
        columns.physics[row] = columns.gravity[row] = moving
        columns.collides[row] = blueprint.kind in (Kind.VEHICLE, Kind.WALKER, Kind.PROP)
        if parent is None:
            self._set_pose(row, pose)
        else:
            self._attach(row, parent.row, pose)
        if blueprint.kind is Kind.VEHICLE:
            self._prepare_vehicle(actor, blueprint)
        elif blueprint.kind is Kind.WALKER:
            columns.model[row] = self.people.add(actor.id, row, blueprint, self.serial(actor))
        return actor

    def _prepare_vehicle(self, actor: Actor, blueprint: Blueprint) -> None:
        base_type = blueprint.value("base_type")
        model = vehicle_model(blueprint.id, base_type, *blueprint.body.half_extents_m)
        # One model row per vehicle, so that its physics control can be changed alone.
        if actor.row >= len(self._models):
            grown = np.zeros(2 * actor.row + 16, VEHICLE_MODEL)
            grown[: len(self._models)] = self._models
            self._models = grown
        model["mass_kg"] = blueprint.body.mass_kg
        self._models[actor.row] = model
        self.columns.model[actor.row] = actor.row
        actor.physics = default_physics(blueprint)
        self.columns.speed_limit_kmh[actor.row] = areas.DEFAULT_LIMIT_KMH
        self.columns.light_state[actor.row] = 2
        if self._road_limits:
            x, y, z = (float(self.columns.table[actor.row][axis]) for axis in "xyz")
            yaw_deg = float(self.columns.yaw[actor.row]) * RAD_TO_DEG
            limit = self.town.speed_limit_kmh(x, y, z, yaw_deg)
            if not math.isnan(limit):
                self.columns.speed_limit_kmh[actor.row] = limit

    def _attach(self, row: int, parent_row: int, pose: Transform) -> None:
        columns = self.columns
        columns.attached[row], columns.parent_row[row] = 1, parent_row
        columns.rel_x[row], columns.rel_y[row], columns.rel_z[row] = pose[0]
        pitch, yaw, roll = (angle / RAD_TO_DEG for angle in pose[1])
        columns.rel_pitch[row], columns.rel_yaw[row], columns.rel_roll[row] = pitch, yaw, roll
        follow_parents(columns.table, columns.rows)

    def destroy(self, actor_id: int) -> bool:
        """Remove an actor, but not its attached actors; return False if that is not possible."""
        actor = self.actors.get(actor_id)
        if actor is None or actor.kind in (Kind.LIGHT, Kind.SIGN) or actor is self.spectator:
            return False
        columns = self.columns
        orphans = (columns.attached == 1) & (columns.parent_row == actor.row) & (columns.id != 0)
        columns.attached[orphans] = 0
        columns.parent_row[orphans] = -1
        for name in _MOTION:  # they were their parent's; nothing else would ever clear them
            getattr(columns, name)[orphans] = 0.0
        if actor.kind is Kind.WALKER:
            self.people.remove(actor_id)
        self._released_pedals.discard(actor.row)
        self.open_doors.pop(actor_id, None)
        self.friction.remove(actor_id)
        columns.release_row(actor.row)
        del self.actors[actor_id]
        return True

    # -- poses and motion ------------------------------------------------------------------------

    def pose(self, actor: Actor) -> Transform:
        """Present pose in metres and degrees."""
        columns, row = self.columns, actor.row
        return (
            (float(columns.x[row]), float(columns.y[row]), float(columns.z[row])),
            (
                float(columns.pitch[row]) * RAD_TO_DEG,
                float(columns.yaw[row]) * RAD_TO_DEG,
                float(columns.roll[row]) * RAD_TO_DEG,
            ),
        )

    def _set_pose(self, row: int, pose: Transform) -> None:
        columns = self.columns
        columns.x[row], columns.y[row], columns.z[row] = pose[0]
        pitch, yaw, roll = (angle / RAD_TO_DEG for angle in pose[1])
        columns.pitch[row], columns.yaw[row], columns.roll[row] = pitch, yaw, roll
        columns.prev_x[row], columns.prev_y[row], columns.prev_z[row] = pose[0]
        columns.prev_yaw[row] = yaw

    def teleport(self, actor: Actor, pose: Transform) -> None:
        """Move an actor at once; an attached one keeps its new place relative to its parent."""
        columns, row = self.columns, actor.row
        if columns.attached[row]:
            self._attach(row, int(columns.parent_row[row]), self._relative(actor, pose))
            return
        columns.x[row], columns.y[row], columns.z[row] = pose[0]
        pitch, yaw, roll = (angle / RAD_TO_DEG for angle in pose[1])
        columns.pitch[row], columns.yaw[row], columns.roll[row] = pitch, yaw, roll
        columns.teleported[row] = 1
        self._turn_velocity(row)

    def _turn_velocity(self, row: int) -> None:
        """After a teleport the body keeps its speed in its own frame."""
        columns = self.columns
        cos, sin = math.cos(columns.yaw[row]), math.sin(columns.yaw[row])
        if columns.kind[row] == Kind.VEHICLE and columns.physics[row]:
            along, across = columns.v_long[row], columns.v_lat[row]
            columns.vx[row] = along * cos - across * sin
            columns.vy[row] = along * sin + across * cos

    def _relative(self, actor: Actor, pose: Transform) -> Transform:
        parent = self.columns.table[int(self.columns.parent_row[actor.row])]
        angles = (float(parent[name]) * RAD_TO_DEG for name in ("pitch", "yaw", "roll"))
        outer = rotation_matrix_carla(*angles)
        offset = np.array([pose[0][k] - float(parent[axis]) for k, axis in enumerate("xyz")])
        x, y, z = outer.T @ offset
        rotation = rotator_from_matrix(outer.T @ rotation_matrix_carla(*pose[1]))
        return (float(x), float(y), float(z)), rotation

    def set_velocity(self, actor: Actor, velocity: Vector) -> None:
        """Set the velocity at once, world frame."""
        columns, row = self.columns, actor.row
        columns.vx[row], columns.vy[row], columns.vz[row] = velocity
        cos, sin = math.cos(columns.yaw[row]), math.sin(columns.yaw[row])
        columns.v_long[row] = velocity[0] * cos + velocity[1] * sin
        columns.v_lat[row] = velocity[1] * cos - velocity[0] * sin

    def set_angular_velocity(self, actor: Actor, velocity_deg: Vector) -> None:
        """Set the angular velocity at once; only the turn about z lasts."""
        columns, row = self.columns, actor.row
        columns.wx[row], columns.wy[row], columns.wz[row] = (w / RAD_TO_DEG for w in velocity_deg)
        columns.yaw_rate[row] = velocity_deg[2] / RAD_TO_DEG

    def set_constant_velocity(self, actor: Actor, velocity: Vector | None) -> None:
        """Hold a velocity given in the actor's frame, or stop holding it."""
        columns, row = self.columns, actor.row
        columns.const_vel[row] = velocity is not None
        columns.cvx[row], columns.cvy[row], columns.cvz[row] = velocity or (0.0, 0.0, 0.0)

    def push(self, actor: Actor, kind: str, value: Vector, at: Vector | None = None) -> None:
        """Add an impulse, force, angular impulse or torque to the next step."""
        columns, row = self.columns, actor.row
        if kind in ("angular_impulse", "torque"):
            field = columns.imp_yaw if kind == "angular_impulse" else columns.torque_yaw
            field[row] += value[2]
            return
        prefix = _PUSH_FIELDS[kind]
        for axis, amount in zip("xyz", value, strict=True):
            getattr(columns, f"{prefix}_{axis}")[row] += amount
        if at is not None:
            lever = (at[0] - float(columns.x[row]), at[1] - float(columns.y[row]))
            turn = lever[0] * value[1] - lever[1] * value[0]
            (columns.imp_yaw if kind == "impulse" else columns.torque_yaw)[row] += turn

    def set_physics(self, actor: Actor, enabled: bool) -> None:
        """Let physics move the actor, or only teleports."""
        self.columns.physics[actor.row] = enabled
        if enabled:
            self.columns.settled[actor.row] = 0

    def knock_down(self, actor: Actor) -> None:
        """Make a walker fall and stay down."""
        if actor.kind is Kind.WALKER:
            self.columns.down_s[actor.row] = math.inf

    # -- vehicles --------------------------------------------------------------------------------

    def control_vehicle(
        self,
        actor: Actor,
        throttle: float,
        steer: float | None,
        brake: float,
        hand_brake: bool,
        reverse: bool,
        manual: bool,
        gear: int,
    ) -> None:
        """Latch a control; ``steer`` None keeps the last one."""
        columns, row = self.columns, actor.row
        columns.throttle[row] = throttle
        if steer is not None:
            columns.steer[row] = steer
        columns.brake[row] = brake
        columns.hand_brake[row] = hand_brake
        columns.reverse[row] = reverse
        columns.manual_gear[row] = manual
        # An automatic box takes no orders; which forward gear it is in follows from the speed.
        columns.gear[row] = max(-1, min(gear, 8)) if manual else -1 if reverse else 1
        columns.ackermann[row] = 0

    def control_ackermann(self, actor: Actor, values: list[float]) -> None:
        """Latch an Ackermann control: steer, steer speed, speed, acceleration, jerk."""
        columns, row = self.columns, actor.row
        columns.ackermann[row] = 1
        columns.hand_brake[row] = columns.manual_gear[row] = 0
        names = ("ack_steer", "ack_steer_speed", "ack_speed", "ack_accel", "ack_jerk")
        for name, value in zip(names, values, strict=True):
            getattr(columns, name)[row] = value

    def release_pedals_each_tick(self, actor: Actor) -> None:
        """Make controls hold for one tick only (``sticky_control`` = false)."""
        self._released_pedals.add(actor.row)

    def set_light_flags(self, actor: Actor, flags: int) -> None:
        """Switch lamps."""
        self.columns.light_flags[actor.row] = flags & 0xFFFFFFFF

    def light_flags(self) -> list[list[int]]:
        """[id, flags] of every vehicle."""
        columns = self.columns
        vehicles = np.flatnonzero((columns.kind == Kind.VEHICLE) & (columns.id != 0))
        pairs: list[list[int]] = np.stack(
            [columns.id[vehicles], columns.light_flags[vehicles]], axis=1
        ).tolist()
        return pairs

    def wheel_angle_deg(self, actor: Actor) -> float:
        """Angle of the front wheels."""
        return float(self.columns.wheel_angle[actor.row]) * RAD_TO_DEG

    def model(self, actor: Actor) -> Any:
        """Return the vehicle's writable row in the model table."""
        return self._models[actor.row : actor.row + 1]

    # -- walkers ---------------------------------------------------------------------------------

    def control_walker(self, actor: Actor, direction: Vector, speed: float, jump: bool) -> None:
        """Latch a walker control."""
        columns, row = self.columns, actor.row
        columns.dir_x[row], columns.dir_y[row], columns.dir_z[row] = direction
        columns.walk_speed[row] = speed
        columns.jump[row] = jump
        if columns.ai[row]:
            # The client's navigation had switched physics off; control restores it.
            columns.ai[row], columns.physics[row] = 0, 1

    def set_walker_state(self, actor: Actor, pose: Transform, speed: float) -> None:
        """Place a walker for the client's navigation; z is the ground, the origin mid-body."""
        columns, row = self.columns, actor.row
        if columns.down_s[row] > 0.0:
            return
        (x, y, z), rotation = pose
        self.teleport(actor, ((x, y, z + float(columns.ez[row])), (0.0, rotation[1], 0.0)))
        columns.walk_speed[row] = speed
        columns.ai[row] = 1
        # The client switches collisions off for its walkers; people can still be hit.
        columns.collides[row] = 1

    def set_bones(self, actor: Actor, bones: Any) -> None:
        """Set a custom pose: (name, transform relative to the parent bone) pairs."""
        self.people.set_bones(actor.id, bones, self.columns, self.time_s)

    def bones(self, actor: Actor) -> BoneTransforms:
        """Return the world, component and relative transforms of a walker's bones."""
        return self.people.bones(actor.id, self.columns, self.time_s)

    def pose_from_animation(self, actor: Actor) -> None:
        """Make the present animated pose the custom one."""
        self.people.capture(actor.id, self.columns, self.time_s)

    # -- time ------------------------------------------------------------------------------------

    def step(self, delta_s: float, substeps: int) -> None:
        """Advance by one tick."""
        columns = self.columns
        table, rows = columns.table, columns.rows
        self._frame += 1
        self.time_s += delta_s
        self.lights.step(delta_s)
        step_vehicles(
            table, rows, self._models, self.town.ground, self.wetness_percent, delta_s, substeps
        )
        step_walkers(table, rows, self.town.ground, delta_s)
        step_props(table, rows, self.town.ground, delta_s)
        self.collisions.step(columns, delta_s)
        follow_parents(table, rows)
        self._roll(delta_s)
        for row in self._released_pedals:
            columns.throttle[row] = columns.steer[row] = columns.brake[row] = 0.0
        self.friction.step(self)
        areas.mark_lights(table, rows, self._stop_boxes, self._stop_owner, self.lights.lights)
        if self._road_limits:
            areas.update_limits(table, rows, self.town.limits, self._frame)

    def set_door(self, actor: Actor, door: int, *, is_open: bool) -> None:
        """Open or close a door for show; it has no body for contacts."""
        bits = (1 << ALL_DOORS) - 1 if door == ALL_DOORS else 1 << door
        old = self.open_doors.get(actor.id, 0)
        self.open_doors[actor.id] = old | bits if is_open else old & ~bits

    def _all_rolled_m(self) -> FloatArray:
        rolled = np.zeros(len(self.columns.table))
        rolled[: len(self._rolled_m)] = self._rolled_m
        return rolled

    def _roll(self, delta_s: float) -> None:
        columns, rolled = self.columns, self._all_rolled_m()
        along = columns.vx * np.cos(columns.yaw) + columns.vy * np.sin(columns.yaw)
        self._rolled_m = np.where(columns.id == 0, 0.0, rolled + along * delta_s)

    def rolled_m(self, row: int) -> float:
        """Distance an actor has rolled since its spawn, for wheels; negative backwards."""
        return float(self._rolled_m[row]) if row < len(self._rolled_m) else 0.0

    def set_rolled_m(self, row: int, distance_m: float) -> None:
        """Set the distance rolled by an actor whose motion is not simulated."""
        self._rolled_m = self._all_rolled_m()
        self._rolled_m[row] = distance_m
