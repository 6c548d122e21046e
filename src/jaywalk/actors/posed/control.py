"""Control of people posed by clips: all bones and the motion over the ground, on every tick.

Call :meth:`PosedPeople.step` once before each ``world.tick()``. The poses of all people are
computed at once; one batch moves them and one message sets all bones.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

import carla
import numpy as np
from numpy.typing import NDArray

from jaywalk.client.bones import Bone, BoneForm, BoneLine, request
from jaywalk.core.arrays import FloatArray
from jaywalk.core.errors import UsageError
from jaywalk.core.kernels import kernel
from jaywalk.core.walker_attributes import CARRIES
from jaywalk.geometry.pose import yaw_rad
from jaywalk.motion.carla_rigs import Rig, rig_for_walker
from jaywalk.motion.playback._feet import ball_places, leg_tables, raise_feet
from jaywalk.motion.playback._kernels import angles_of
from jaywalk.motion.playback.bank import ClipBank, Rows
from jaywalk.motion.playback.holding import Holds, arm_tables, hold_things, holds_of
from jaywalk.motion.playback.overlay import GazeOverlay, bend_trunks, stoop_rad, turn_heads
from jaywalk.motion.playback.players import Cue, Players, Playing
from jaywalk.motion.retarget import DRIVEN, engine_angles_deg
from jaywalk.town.ground import Ground, surface_height

_RIGHT_PLACE_M: Final = 0.3  # a walker farther than this from its set position is released
_STEP_M: Final = 0.3  # the height of the ground is averaged this far ahead and behind
_STEP_POINTS: Final = 4
_FOOT_M: Final = 0.1
_MOST_RAISED_M: Final = 0.2
_HIPS: Final = tuple(DRIVEN).index("crl_hips__C")


class PosedPeople:
    """Walkers controlled by clips.

    ``ApplyWalkerState`` moves the walker, so its velocity is that of its motion and it can be hit.
    A person who is knocked over is released and lies as the server simulates it.

    Example:
        >>> people = PosedPeople(client, BoneLine("127.0.0.1", 2000), bank)  # doctest: +SKIP
        >>> people.take(walker, Cue(clip="idle-0003", loop=True))  # doctest: +SKIP
        >>> while driving:  # doctest: +SKIP
        ...     people.step(world.get_snapshot())
        ...     world.tick()

    Attributes:
        players: Poses and motions; people are numbered there in the order they were taken.
        ids: Actor ids in the same order.
        gaze: Where people look, added to the clips; then seniors also stoop, and feet fit the
            ground one by one. None: as in the clips.
    """

    def __init__(
        self,
        client: carla.Client,
        line: BoneLine,
        bank: ClipBank,
        ground: Ground | None = None,
        delta_s: float = 0.05,
    ) -> None:
        """Start without people.

        Args:
            client: A ``carla.Client``.
            line: Bone connection to the same server.
            bank: Clips.
            ground: Heights of the town (``Town.ground``); None: people stay at the height they have
                when they are taken.
            delta_s: Length of a tick in seconds.
        """
        self._client, self._line, self._delta_s = client, line, delta_s
        self._ground = ground
        self.players = Players(bank)
        self.ids: list[int] = []
        self._row: dict[int, int] = {}
        self._actors: list[Any] = []
        self._form = BoneForm()
        self.gaze: GazeOverlay | None = None
        self._carried: list[tuple[str, str]] = []
        self._stoop_rad = np.zeros(0)
        self._holds: Holds | None = None  # None: nobody holds anything
        self._legs = leg_tables()
        self._controlled = np.zeros(0, np.bool_)
        self._put = np.zeros(0, np.bool_)  # moved at least once
        self._z_m = np.zeros(0)  # ground height under each person

    def take(
        self,
        actor: carla.Walker,
        cue: Cue,
        then: Sequence[Cue] = (),
        *,
        pose: carla.Transform | None = None,
    ) -> None:
        """Control a walker from now on; it is posed from the next step on.

        Args:
            actor: A ``carla.Walker``.
            cue: Its first clip.
            then: Clips that follow.
            pose: A ``carla.Transform`` for the person, with the ground's z; None: the walker's
                present position.
        """
        if actor.id in self._row:
            raise UsageError(f"walker {actor.id} is already controlled by clips")
        rig = rig_for_walker(
            {name: value for name, value in actor.attributes.items() if name in ("gender", "age")}
        )
        start = actor.get_transform() if pose is None else pose
        z_m = start.location.z - (actor.bounding_box.extent.z if pose is None else 0.0)
        row = self.players.add(
            rig.name,
            x_m=start.location.x,
            y_m=start.location.y,
            yaw_rad=yaw_rad(start),
        )
        self._row[actor.id] = row
        self.ids.append(actor.id)
        self._actors.append(actor)
        self._form.add(actor.id, _driven_bones(rig), _HIPS)
        self._carried.append((rig.name, actor.attributes.get(CARRIES, "")))
        age = actor.attributes.get("age", "")
        self._stoop_rad = np.append(self._stoop_rad, stoop_rad(age, actor.type_id))
        holds = holds_of(self._carried)
        self._holds = holds if holds.held.any() else None
        self._controlled, self._put = np.append(self._controlled, True), np.append(self._put, False)
        self._z_m = np.append(self._z_m, z_m)
        self.players.play(row, cue, then)
        # bones that no clip moves, and the hands, are at rest from the first pose on
        self._line.send(request(actor.id, _rest_bones(rig))[0])
        self._pose([row])
        self._line.wait()
        actor.blend_pose(1.0)

    def play(self, actor_id: int, cue: Cue, then: Sequence[Cue] = ()) -> None:
        """Begin another clip, joined to the present motion."""
        self.players.play(self._row[actor_id], cue, then)

    def steer(self, actor_id: int, radps: float) -> None:
        """Add a yaw rate in rad/s to that of the clip."""
        self.players.steer(self._row[actor_id], radps)

    def playing(self, actor_id: int) -> Playing:
        """Clip that a person plays now."""
        return self.players.playing(self._row[actor_id])

    def phases(self) -> dict[int, tuple[str, float, float]]:
        """Clip, position in it and weight for all controlled people, by actor id."""
        now = zip(self.ids, self._controlled.tolist(), self.players.phases(), strict=True)
        return {actor_id: phase for actor_id, controlled, phase in now if controlled}

    def row_of(self, actor_id: int) -> int:
        """Number of a person in ``players``."""
        return self._row[actor_id]

    def is_controlled(self, actor_id: int) -> bool:
        """Return True if the person still follows clips: not released and not knocked over."""
        return actor_id in self._row and bool(self._controlled[self._row[actor_id]])

    def place_m(self, actor_id: int) -> tuple[float, float, float]:
        """Position set last for a person: x, y and the ground's z, in metres."""
        row, rows = self._row[actor_id], self.players.rows
        return float(rows.x_m[row]), float(rows.y_m[row]), float(self._z_m[row])

    def step(self, snapshot: carla.WorldSnapshot | None = None) -> list[int]:
        """Pose and move all people for the coming tick; return the ids of those knocked over.

        Args:
            snapshot: The last ``carla.WorldSnapshot``. If given, people who are not at the position
                set last are released.
        """
        lost = [] if snapshot is None else self._lost(snapshot)
        for actor_id in lost:
            self.release(actor_id)
        self.players.advance(self._delta_s)
        controlled = np.flatnonzero(self._controlled)
        if len(controlled):
            self._pose(controlled.tolist())  # first, so that the server works on it meanwhile
            self._move(controlled)
            self._line.wait()
        return lost

    def release(self, actor_id: int) -> None:
        """Release a person: the server's own animation shows again, and no code controls them."""
        row = self._row[actor_id]
        if self._controlled[row]:
            self._controlled[row] = False
            self.players.stop(row)
            self._actors[row].blend_pose(0.0)

    def _lost(self, snapshot: carla.WorldSnapshot) -> list[int]:
        rows, displaced = self.players.rows, []
        for row in np.flatnonzero(self._controlled & self._put).tolist():
            state = snapshot.find(self.ids[row])
            if state is None:
                displaced.append(self.ids[row])
                continue
            place = state.get_transform().location
            if math.hypot(place.x - rows.x_m[row], place.y - rows.y_m[row]) > _RIGHT_PLACE_M:
                displaced.append(self.ids[row])
        return displaced

    def _move(self, controlled: NDArray[np.int64]) -> None:
        """Send positions and velocities of all people in one batch."""
        rows = self.players.rows
        self._put[controlled] = True
        if self._ground is not None:
            _heights(self._ground, rows.x_m, rows.y_m, rows.yaw_rad, self._z_m)
        state, pose = carla.command.ApplyWalkerState, carla.Transform
        place, angles = carla.Location, carla.Rotation
        columns = zip(
            controlled.tolist(),
            rows.x_m[controlled].tolist(),
            rows.y_m[controlled].tolist(),
            self._z_m[controlled].tolist(),
            np.rad2deg(rows.yaw_rad[controlled]).tolist(),
            rows.speed_mps[controlled].tolist(),
            strict=True,
        )
        self._client.apply_batch(
            [
                state(self.ids[row], pose(place(x, y, z), angles(0.0, yaw, 0.0)), speed)
                for row, x, y, z, yaw, speed in columns
            ]
        )

    def _pose(self, controlled: list[int]) -> None:
        """Send the bones of all people; they take effect once the line has been waited for."""
        shown = self._shown()
        angles = angles_of(shown.turns, np.array(controlled, np.int64))
        hips = shown.hips_m[controlled]
        self._line.send(self._form.fill(controlled, angles, hips), len(controlled))

    def _shown(self) -> Rows:
        """Poses of the clips, with feet on the ground, gaze and held things."""
        rows = self.players.rows
        if self.gaze is None and self._holds is None:
            return rows
        rows = rows._replace(turns=rows.turns.copy(), hips_m=rows.hips_m.copy())
        if self.gaze is not None:
            if self._ground is not None:
                _heights(self._ground, rows.x_m, rows.y_m, rows.yaw_rad, self._z_m)
                balls = ball_places(rows, self._legs)
                raised = _raised(self._ground, balls, rows.yaw_rad, self._z_m)
                raise_feet(rows, self._legs, raised)
            bend_trunks(rows.turns, self._stoop_rad)
            turn_heads(rows.turns, self.gaze.shown_rad)
        if self._holds is not None:
            hold_things(rows.turns, rows.hips_m, rows.rig, arm_tables(), self._holds)
        return rows


def _driven_bones(rig: Rig) -> list[Bone]:
    places = [rig.rest_local[rig.bone_index[name], :3].tolist() for name in DRIVEN]
    return [(name, place, (0.0, 0.0, 0.0)) for name, place in zip(DRIVEN, places, strict=True)]


def _rest_bones(rig: Rig) -> list[Bone]:
    angles = engine_angles_deg(rig.rest_local[:, 3:]).tolist()
    places = rig.rest_local[:, :3].tolist()
    return list(zip(rig.bones, places, angles, strict=True))


@kernel
def _heights(
    ground: Ground, x_m: FloatArray, y_m: FloatArray, yaw_rad: FloatArray, z_m: FloatArray
) -> None:
    """Compute the heights of the ground under all people, on the level that they are on.

    A height is the mean over a step's length ahead and behind, so that no person jumps up a kerb
    within one tick.
    """
    for i in range(x_m.shape[0]):
        cos, sin = math.cos(yaw_rad[i]), math.sin(yaw_rad[i])
        total = 0.0
        for k in range(-_STEP_POINTS, _STEP_POINTS + 1):
            ahead = _STEP_M * k / _STEP_POINTS
            total += surface_height(ground, x_m[i] + ahead * cos, y_m[i] + ahead * sin, z_m[i])
        z_m[i] = total / (2 * _STEP_POINTS + 1)


@kernel
def _raised(ground: Ground, balls: FloatArray, yaw_rad: FloatArray, z_m: FloatArray) -> FloatArray:
    """Height (n, 2) of the ground under each foot over that under the person.

    It is averaged over the length of a foot, so that a foot does not jump up a kerb.
    """
    out = np.zeros((balls.shape[0], 2))
    for i in range(balls.shape[0]):
        cos, sin = math.cos(yaw_rad[i]), math.sin(yaw_rad[i])
        for side in range(2):
            x, y = balls[i, side, 0], balls[i, side, 1]
            for k in range(-1, 2):
                ahead = _FOOT_M * k
                out[i, side] += surface_height(ground, x + ahead * cos, y + ahead * sin, z_m[i])
            out[i, side] = min(max(out[i, side] / 3.0 - z_m[i], -_MOST_RAISED_M), _MOST_RAISED_M)
    return out
