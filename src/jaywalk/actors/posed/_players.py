"""People who are posed by clips: every bone and the way over the ground, on every tick.

Call :meth:`PosedPeople.step` once before each ``world.tick()``. Everybody's pose is computed at
once; one batch moves all people and one message sets all bones.
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
from jaywalk.motion.carla_rigs import Rig, rig_for_walker
from jaywalk.motion.playback.bank import ClipBank
from jaywalk.motion.playback.players import Cue, Players, Playing
from jaywalk.motion.retarget import DRIVEN, engine_angles_deg
from jaywalk.town.ground import Ground, surface_height

_RIGHT_PLACE_M: Final = 0.3  # who is farther from where they were put was moved by somebody else
_STEP_M: Final = 0.3  # before and behind, over which the height of the ground is averaged
_STEP_POINTS: Final = 4
_HIPS: Final = tuple(DRIVEN).index("crl_hips__C")


class PosedPeople:
    """Walkers led by clips.

    The walker is moved by ``ApplyWalkerState``, so its velocity is that of its way and it can be
    hit; who is knocked over is let go and lies as the server lets them lie.

    Example:
        >>> people = PosedPeople(client, BoneLine("127.0.0.1", 2000), bank)  # doctest: +SKIP
        >>> people.take(walker, Cue(clip="idle-0003", loop=True))  # doctest: +SKIP
        >>> while driving:  # doctest: +SKIP
        ...     people.step(world.get_snapshot())
        ...     world.tick()

    Attributes:
        players: The poses and ways; people have numbers there in the order they were taken.
        ids: Actor ids in that order.
    """

    def __init__(
        self,
        client: carla.Client,
        line: BoneLine,
        bank: ClipBank,
        ground: Ground | None = None,
        delta_s: float = 0.05,
    ) -> None:
        """Lead nobody yet.

        Args:
            client: A ``carla.Client``.
            line: To the same server.
            bank: Clips.
            ground: Heights of the town (``Town.ground``); None: everybody stays at the height they
                have when they are taken.
            delta_s: Length of a tick.
        """
        self._client, self._line, self._delta_s = client, line, delta_s
        self._ground = ground
        self.players = Players(bank)
        self.ids: list[int] = []
        self._row: dict[int, int] = {}
        self._actors: list[Any] = []
        self._form = BoneForm()
        self._led = np.zeros(0, np.bool_)
        self._put = np.zeros(0, np.bool_)  # moved at least once
        self._z_m = np.zeros(0)  # of the ground under everybody

    def take(
        self,
        actor: carla.Walker,
        cue: Cue,
        then: Sequence[Cue] = (),
        *,
        pose: carla.Transform | None = None,
    ) -> None:
        """Lead a walker from now on, posed from the next step on.

        Args:
            actor: A ``carla.Walker``.
            cue: Its first clip.
            then: Clips that follow.
            pose: A ``carla.Transform`` to put the person at; its z is the ground's. None: where the
                walker is.
        """
        if actor.id in self._row:
            raise UsageError(f"walker {actor.id} is led already")
        rig = rig_for_walker(
            {name: value for name, value in actor.attributes.items() if name in ("gender", "age")}
        )
        here = actor.get_transform() if pose is None else pose
        z_m = here.location.z - (actor.bounding_box.extent.z if pose is None else 0.0)
        row = self.players.add(
            rig.name,
            x_m=here.location.x,
            y_m=here.location.y,
            yaw_rad=math.radians(here.rotation.yaw),
        )
        self._row[actor.id] = row
        self.ids.append(actor.id)
        self._actors.append(actor)
        self._form.add(actor.id, _driven_bones(rig), _HIPS)
        self._led, self._put = np.append(self._led, True), np.append(self._put, False)
        self._z_m = np.append(self._z_m, z_m)
        self.players.play(row, cue, then)
        # bones that no clip moves, and the hands, are at rest from the first pose on
        self._line.send(request(actor.id, _rest_bones(rig))[0])
        self._pose([row])
        self._line.wait()
        actor.blend_pose(1.0)

    def play(self, actor_id: int, cue: Cue, then: Sequence[Cue] = ()) -> None:
        """Begin another clip, joined to what the person does now."""
        self.players.play(self._row[actor_id], cue, then)

    def steer(self, actor_id: int, radps: float) -> None:
        """Turn a person's way on top of the clip's."""
        self.players.steer(self._row[actor_id], radps)

    def playing(self, actor_id: int) -> Playing:
        """What a person plays."""
        return self.players.playing(self._row[actor_id])

    def phases(self) -> dict[int, tuple[str, float, float]]:
        """Clip, place in it and weight of everybody who is led, by actor id."""
        now = zip(self.ids, self._led.tolist(), self.players.phases(), strict=True)
        return {actor_id: phase for actor_id, led, phase in now if led}

    def row_of(self, actor_id: int) -> int:
        """Number of a person in ``players``."""
        return self._row[actor_id]

    def is_led(self, actor_id: int) -> bool:
        """Whether the person still follows clips: not released, not knocked over."""
        return actor_id in self._row and bool(self._led[self._row[actor_id]])

    def place_m(self, actor_id: int) -> tuple[float, float, float]:
        """Where a person was last put: x, y and the ground's z."""
        row, rows = self._row[actor_id], self.players.rows
        return float(rows.x_m[row]), float(rows.y_m[row]), float(self._z_m[row])

    def step(self, snapshot: carla.WorldSnapshot | None = None) -> list[int]:
        """Pose and move everybody for the coming tick; returns who was found knocked over.

        Args:
            snapshot: The last ``carla.WorldSnapshot``. With it, people who are not where they were
                put are released.
        """
        lost = [] if snapshot is None else self._lost(snapshot)
        for actor_id in lost:
            self.release(actor_id)
        self.players.advance(self._delta_s)
        led = np.flatnonzero(self._led)
        if len(led):
            self._pose(led.tolist())  # first: the server takes them while we write the ways
            self._move(led)
            self._line.wait()
        return lost

    def release(self, actor_id: int) -> None:
        """Let a person go: the server's own animation shows again, nobody leads them."""
        row = self._row[actor_id]
        if self._led[row]:
            self._led[row] = False
            self.players.stop(row)
            self._actors[row].blend_pose(0.0)

    def _lost(self, snapshot: carla.WorldSnapshot) -> list[int]:
        rows, lost = self.players.rows, []
        for row in np.flatnonzero(self._led & self._put).tolist():
            state = snapshot.find(self.ids[row])
            if state is None:
                lost.append(self.ids[row])
                continue
            place = state.get_transform().location
            if math.hypot(place.x - rows.x_m[row], place.y - rows.y_m[row]) > _RIGHT_PLACE_M:
                lost.append(self.ids[row])
        return lost

    def _move(self, led: NDArray[np.int64]) -> None:
        """One batch: where everybody is and how fast."""
        rows = self.players.rows
        self._put[led] = True
        if self._ground is not None:
            _heights(self._ground, rows.x_m, rows.y_m, rows.yaw_rad, self._z_m)
        state, pose = carla.command.ApplyWalkerState, carla.Transform
        place, angles = carla.Location, carla.Rotation
        columns = zip(
            led.tolist(),
            rows.x_m[led].tolist(),
            rows.y_m[led].tolist(),
            self._z_m[led].tolist(),
            np.rad2deg(rows.yaw_rad[led]).tolist(),
            rows.speed_mps[led].tolist(),
            strict=True,
        )
        self._client.apply_batch(
            [
                state(self.ids[row], pose(place(x, y, z), angles(0.0, yaw, 0.0)), speed)
                for row, x, y, z, yaw, speed in columns
            ]
        )

    def _pose(self, led: list[int]) -> None:
        """Send everybody's bones; they count from when the line was waited for."""
        angles = self.players.angles_deg(np.array(led, np.int64))
        hips = self.players.rows.hips_m[led]
        self._line.send(self._form.fill(led, angles, hips), len(led))


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
    """Heights of the ground under everybody, on the level they are on.

    A mean over a step's length, before and behind: nobody leaps up a kerb within a tick.
    """
    for i in range(x_m.shape[0]):
        cos, sin = math.cos(yaw_rad[i]), math.sin(yaw_rad[i])
        total = 0.0
        for k in range(-_STEP_POINTS, _STEP_POINTS + 1):
            ahead = _STEP_M * k / _STEP_POINTS
            total += surface_height(ground, x_m[i] + ahead * cos, y_m[i] + ahead * sin, z_m[i])
        z_m[i] = total / (2 * _STEP_POINTS + 1)
