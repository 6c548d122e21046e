"""A camera in the world of a record: at the driver's place, behind or above the ego, or a person's.

Pictures are those of the server's colour camera. Films have up to 20 frames per second of game
time and play at real speed.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from io import BytesIO
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jaywalk.core.errors import DataError, UsageError
from jaywalk.geometry.rotation import rotation_matrix_carla
from jaywalk.rendering._lives import ActorLife
from jaywalk.rendering.recorded_world import RecordedWorld
from jaywalk.report.replay import FilmEncoder, film_rows
from jaywalk.report.svg import claim
from jaywalk.server.sensors._readings import ImageReading
from jaywalk.server.sensors._scene import SensorScene
from jaywalk.server.world._world import Transform

Pixels = NDArray[np.uint8]  # (rows, columns, 3): red, green, blue

CAMERAS: Final = ("front", "chase", "top")
PERSON: Final = "person:"
SIZE_PX: Final = (1280, 720)
FOV_DEG: Final = 90.0
_LARGEST_PX: Final = 4096
_EYE_AHEAD_M: Final = 1.5  # the driver's eye before the middle of the ego
_EYE_UP_M: Final = 1.6
_EYE_SHARE: Final = 0.8  # of the height of a tall vehicle
_CHASE_BACK_M: Final = 4.5  # behind the rear end
_CHASE_UP_M: Final = 1.9  # above the roof
_CHASE_DOWN_DEG: Final = 14.0
_TOP_UP_M: Final = 30.0
_FACE_M: Final = 0.13  # the eyes before the joint of the head
_BROW_M: Final = 0.09


class CameraChoice(NamedTuple):
    """A camera as the user named it: one of ``CAMERAS``, or that of a person."""

    name: str
    person: int | None = None


def parse_camera(text: str) -> CameraChoice:
    """Return the camera that a text names.

    Raises:
        UsageError: It names none.
    """
    if text in CAMERAS:
        return CameraChoice(text)
    number = text.removeprefix(PERSON)
    if text.startswith(PERSON) and number.isascii() and number.isdigit():
        return CameraChoice("person", int(number))
    raise UsageError(
        f"--camera {text!r} is not known. Expected {', '.join(CAMERAS)} or {PERSON}NUMBER, "
        "with the person's number in the record."
    )


def parse_size(text: str) -> tuple[int, int]:
    """Return width and height in pixels from a text such as ``1280x720``."""
    parts = text.lower().split("x")
    if len(parts) == 2 and all(part.isascii() and part.isdigit() for part in parts):
        width, height = int(parts[0]), int(parts[1])
        if all(16 <= side <= _LARGEST_PX and side % 2 == 0 for side in (width, height)):
            return width, height
    raise UsageError(
        f"--size {text!r} is not WIDTHxHEIGHT with even numbers from 16 to {_LARGEST_PX}, such as "
        "1280x720."
    )


class ReplayCamera:
    """Renders a record through one camera."""

    def __init__(
        self,
        world: RecordedWorld,
        choice: CameraChoice,
        *,
        size_px: tuple[int, int] = SIZE_PX,
        fov_deg: float = FOV_DEG,
    ) -> None:
        """Set the camera up.

        Args:
            world: Of the record.
            choice: Where the camera is.
            size_px: Width and height of the pictures.
            fov_deg: Horizontal field of view.
        """
        if not 1.0 <= fov_deg <= 170.0:
            raise UsageError(f"--fov {fov_deg:g} is not an angle from 1 to 170 degrees.")
        self.world, self.choice, self.size_px = world, choice, size_px
        self.fov_deg = fov_deg
        self.carrier = self._find_carrier()
        lens = {
            "image_size_x": str(size_px[0]),
            "image_size_y": str(size_px[1]),
            "fov": f"{fov_deg:g}",
        }
        self._sensor = world.add_sensor("sensor.camera.rgb", lens)

    def _find_carrier(self) -> ActorLife:
        if self.choice.person is not None:
            return self.world.person(self.choice.person)
        ego = self.world.ego
        if ego is None:
            raise DataError(
                f"{self.world.record.folder} has no ego, which the camera '{self.choice.name}' "
                f"follows. Choose {PERSON}NUMBER."
            )
        return ego

    def picture(self, index: int) -> Pixels:
        """Return the picture at one of the record's ticks."""
        scene = self.world.show(index)
        return self.shoot(scene, int(self.world.ticks[index]))

    def shoot(self, scene: SensorScene, tick: int) -> Pixels:
        """Return the picture of a scene that the world shows."""
        own = self.carrier.number
        hidden = () if self.choice.name in ("chase", "top") else (own,)
        (reading,) = self.world.measure(self._sensor, self.pose(tick), scene, hidden)
        assert isinstance(reading, ImageReading)
        return np.ascontiguousarray(reading.pixels[..., 2::-1])

    def pose(self, tick: int) -> Transform:
        """Return the camera's pose (metres, degrees) at a tick that the world shows."""
        life = self.carrier
        row = life.row_at(min(max(tick, life.first_tick), life.last_tick))
        x, y, z, pitch, yaw, roll = life.pose[max(row, 0)].tolist()
        half_x, _, half_z = life.half_m
        height = 2.0 * half_z
        if self.choice.name == "top":
            return (x, y, z + _TOP_UP_M), (-90.0, yaw, 0.0)
        if self.choice.name == "person":
            return self._person_pose(life, row, (x, y, z), yaw)
        if self.choice.name == "chase":
            back, up = half_x + _CHASE_BACK_M, height + _CHASE_UP_M
            turn = math.radians(yaw)
            place = (x - back * math.cos(turn), y - back * math.sin(turn), z + up)
            return place, (-_CHASE_DOWN_DEG, yaw, 0.0)
        eye = np.array([_EYE_AHEAD_M, 0.0, max(_EYE_UP_M, _EYE_SHARE * height)])
        at = np.array([x, y, z]) + rotation_matrix_carla(pitch, yaw, roll) @ eye
        return (float(at[0]), float(at[1]), float(at[2])), (pitch, yaw, roll)

    def _person_pose(
        self, life: ActorLife, row: int, origin: tuple[float, float, float], yaw_deg: float
    ) -> Transform:
        gaze_yaw, gaze_pitch = life.gaze_deg[max(row, 0)].tolist()
        facing = math.radians(yaw_deg + gaze_yaw)
        x, y, z = self.world.head_m(life) if self.world.is_shown(life) else origin
        x, y = x + _FACE_M * math.cos(facing), y + _FACE_M * math.sin(facing)
        return (x, y, z + _BROW_M), (gaze_pitch, yaw_deg + gaze_yaw, 0.0)

    def write_picture(self, path: Path, time_s: float) -> float:
        """Write the picture at a game time as PNG; return the time of its tick."""
        from PIL import Image

        index = self.world.index_at(time_s)
        Image.fromarray(self.picture(index)).save(claim(path), format="PNG")
        return float(self.world.time_s[index])

    def write_film(self, path: Path, progress: Callable[[float], None]) -> int:
        """Write the episode as MP4; return the number of frames."""
        rows = self.rows()
        times_s = self.world.time_s[rows]
        step = float(np.median(np.diff(times_s))) if len(rows) > 1 else self.world.step_s
        rate = Fraction(1.0 / step).limit_denominator(1000)
        with FilmEncoder(path, rate, self.size_px) as encoder:
            for done, index in enumerate(rows, start=1):
                encoder.add(self.picture(index))
                progress(done / len(rows))
        return len(rows)

    def rows(self) -> list[int]:
        """Ticks that become frames: those at which the actor with the camera exists."""
        ticks, life = self.world.ticks, self.carrier
        return [
            row
            for row in film_rows(self.world.time_s)
            if life.first_tick <= ticks[row] <= life.last_tick
        ]


def jpeg(pixels: Pixels, quality: int = 82) -> bytes:
    """Return a picture as JPEG."""
    from PIL import Image

    out = BytesIO()
    Image.fromarray(pixels).save(out, format="JPEG", quality=quality)
    return out.getvalue()
