"""Static camera over level ground, and the points of a moving SMPL body with their derivatives.

The camera is found from ground points. The world has SMPL's axes: y up, the ground at y = 0. The
file's ground axes (x, y) become the world's x and -z; if they are left-handed as seen from above
(as CARLA's are), y is reversed.

The unknowns of a frame are the position of the pelvis (3) and, for each joint that a landmark
constrains, a small turn after its rotation (3). One body size is common to all frames.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import least_squares

from jaywalk.core.arrays import FloatArray
from jaywalk.core.errors import DataError
from jaywalk.geometry.rotation import (
    from_matrix,
    from_rotvec,
    multiply,
    normalise,
    rotate,
    to_matrix,
    to_rotvec,
)
from jaywalk.motion.smpl import (
    BODY_OFFSETS_M,
    JOINT_COUNT,
    LEFT_BALL,
    PARENTS,
    RIGHT_BALL,
    global_rotations,
    joint_positions,
)
from jaywalk.motion.video.ground import GroundPoints, homography
from jaywalk.motion.video.landmarks import MARK_JOINTS, MARK_OFFSETS_M, MARKS

#: Joints whose rotation is solved for; the others keep their parent's.
ACTIVE: Final = (0, 1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17, 18, 19)
UNKNOWNS: Final = 3 + 3 * len(ACTIVE)
# After the landmarks: pelvis, neck, and the balls of the feet, which stand on the ground.
_FURTHER: Final = ((0, 0), (12, 12), (LEFT_BALL, LEFT_BALL), (RIGHT_BALL, RIGHT_BALL))
_POINT_JOINTS: Final = np.concatenate([MARK_JOINTS, [joint for joint, _ in _FURTHER]])
_POINT_OFFSETS: Final = np.concatenate([MARK_OFFSETS_M, np.zeros((len(_FURTHER), 3))])
MARK_POINTS: Final = len(MARKS)
POINTS: Final = len(_POINT_JOINTS)
PELVIS_POINT: Final = MARK_POINTS
BALL_POINTS: Final = (MARK_POINTS + 2, MARK_POINTS + 3)


def _chain(joint: int) -> set[int]:
    segments = set()
    while joint >= 0:
        segments.add(joint)
        joint = int(PARENTS[joint])
    return segments


#: (active joints, points) mask, True if a point moves with a joint.
_MOVES: Final[NDArray[np.bool_]] = np.array(
    [[active in _chain(int(joint)) for joint in _POINT_JOINTS] for active in ACTIVE]
)


@dataclass(frozen=True, slots=True, kw_only=True)
class BodyTrack:
    """Body over time: local rotations (frames, 22, 4), pelvis (frames, 3), size."""

    rotations: FloatArray
    root_m: FloatArray
    scale: float

    def moved(self, step: FloatArray, scale_step: float) -> BodyTrack:
        """Return the body after a step (frames, UNKNOWNS) of the unknowns."""
        rotations = self.rotations.copy()
        turns = from_rotvec(step[:, 3:].reshape(len(step), -1, 3))
        rotations[:, ACTIVE] = normalise(multiply(rotations[:, ACTIVE], turns))
        return BodyTrack(
            rotations=rotations,
            root_m=self.root_m + step[:, :3],
            scale=self.scale + scale_step,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """Points of a body with their derivatives.

    Attributes:
        points_m: (frames, POINTS, 3) positions of the landmarks, then pelvis, neck, balls.
        slopes: (frames, POINTS, 3, UNKNOWNS) derivatives by the unknowns.
        growth: (frames, POINTS, 3) derivatives by the size.
    """

    points_m: FloatArray
    slopes: FloatArray
    growth: FloatArray


def place(body: BodyTrack, *, slopes: bool = True) -> Placed:
    """Compute the positions of all points; without ``slopes`` the derivatives are left empty."""
    turned = global_rotations(np.ascontiguousarray(body.rotations), PARENTS)
    offsets = body.scale * BODY_OFFSETS_M
    joints = joint_positions(turned, np.ascontiguousarray(body.root_m), offsets, PARENTS)
    local = rotate(turned[:, _POINT_JOINTS], body.scale * _POINT_OFFSETS)
    points = joints[:, _POINT_JOINTS] + local
    frames = len(points)
    if not slopes:
        return Placed(
            points_m=points, slopes=np.empty((0, POINTS, 3, UNKNOWNS)), growth=np.empty((0,))
        )
    out = np.zeros((frames, POINTS, 3, UNKNOWNS))
    out[..., 0, 0] = out[..., 1, 1] = out[..., 2, 2] = 1.0
    matrices = to_matrix(turned)
    for place_in, joint in enumerate(ACTIVE):
        with_it = np.flatnonzero(_MOVES[place_in])
        arm = points[:, with_it] - joints[:, [joint]]
        column = 3 + 3 * place_in
        axes = matrices[:, None, joint]  # columns: the joint's axes in the world
        for axis in range(3):
            out[..., column + axis][:, with_it] = np.cross(axes[..., axis], arm)
    return Placed(
        points_m=points,
        slopes=out,
        growth=(points - body.root_m[:, None]) / body.scale,
    )


def full_rotations(rotations: FloatArray) -> FloatArray:
    """Return the rotations, with the identity for joints that are not solved for."""
    out = rotations.copy()
    rest = [joint for joint in range(JOINT_COUNT) if joint not in ACTIVE]
    out[:, rest] = np.array([1.0, 0.0, 0.0, 0.0])
    return out


# A focal length outside this range, in picture widths, comes from noise in the points.
_SHORTEST, _LONGEST, _USUAL = 0.35, 8.0, 1.1
_TOO_FAR_PX: Final = 25.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Camera:
    """Pinhole camera with square pixels.

    Attributes:
        turn: (3, 3) world to camera axes (x right, y down, z forward).
        place_m: (3,) position in the world.
        focal_px: Focal length.
        centre_px: (2,) principal point.
        fit_px: Root mean square error of the ground points.
        guessed_focal: True if the points do not determine the focal length.
    """

    turn: FloatArray
    place_m: FloatArray
    focal_px: float
    centre_px: FloatArray
    fit_px: float = 0.0
    guessed_focal: bool = False

    def to_camera(self, points_m: FloatArray) -> FloatArray:
        """Transform world points (..., 3) to camera axes."""
        return np.asarray((points_m - self.place_m) @ self.turn.T)

    def project(self, points_m: FloatArray) -> FloatArray:
        """Project world points (..., 3) to pixels (..., 2); depth is kept away from zero."""
        seen = self.to_camera(points_m)
        depth = np.maximum(seen[..., 2:], 0.05)
        return np.asarray(self.focal_px * seen[..., :2] / depth + self.centre_px)

    def rays(self, pixels: FloatArray) -> FloatArray:
        """Unit directions (..., 3) in the world of the rays through pixels (..., 2)."""
        flat = (pixels - self.centre_px) / self.focal_px
        seen = np.concatenate([flat, np.ones_like(flat[..., :1])], axis=-1)
        seen = seen / np.linalg.norm(seen, axis=-1, keepdims=True)
        return np.asarray(seen @ self.turn)

    def on_ground(self, pixels: FloatArray, height_m: float = 0.0) -> FloatArray:
        """World points (..., 3) at a height, under pixels (..., 2); NaN above the horizon."""
        rays = self.rays(pixels)
        down = np.where(rays[..., 1] < -1e-3, rays[..., 1], np.nan)
        along = (height_m - self.place_m[1]) / down
        return np.asarray(self.place_m + along[..., None] * rays)

    def facing(self, pixels: FloatArray) -> FloatArray:
        """Rotations (..., 3, 3) to the world from axes that look along a pixel's ray.

        A network that sees a crop measures depth along the ray to the crop, not along the optical
        axis of the whole picture.
        """
        forward = self.rays(pixels)
        down = np.broadcast_to(self.turn[1], forward.shape)
        right = np.cross(down, forward)
        right = right / np.linalg.norm(right, axis=-1, keepdims=True)
        return np.stack([right, np.cross(forward, right), forward], axis=-1)


def find_camera(ground: GroundPoints, width_px: int, height_px: int) -> Camera:
    """Find the camera that projects the ground points to their pixels.

    The principal point is assumed at the centre of the picture. If the points do not determine the
    focal length (for example in a picture from straight above), a typical value is used.

    Raises:
        DataError: Points lie outside the picture, or fit no camera.
    """
    ground.check_inside(width_px, height_px)
    centre = 0.5 * np.array([width_px, height_px], dtype=np.float64)
    flat = ground.ground_m
    matrix = homography(flat, ground.image_px - centre)
    focal = ground.focal_px or _focal_px(matrix)
    guessed = focal is None or not _SHORTEST * width_px <= focal <= _LONGEST * max(
        width_px, height_px
    )
    if ground.focal_px is not None:
        guessed = False
    chosen = _USUAL * width_px if guessed or focal is None else focal
    turn, place = _pose(matrix, chosen, flat)
    if place[1] < 0.0:  # camera below the ground: the file's axes are left-handed
        flat = flat * np.array([1.0, -1.0])
        matrix = homography(flat, ground.image_px - centre)
        turn, place = _pose(matrix, chosen, flat)
    camera = Camera(turn=turn, place_m=place, focal_px=chosen, centre_px=centre)
    free_focal = not guessed and ground.focal_px is None
    camera = _refined(camera, flat, ground.image_px, free_focal=free_focal, guessed=guessed)
    if not camera.place_m[1] > 0.05 or camera.fit_px > _TOO_FAR_PX:
        raise DataError(
            f"{ground.name}: the points fit no camera above level ground (best miss "
            f"{camera.fit_px:.0f} px); check their order and their metres"
        )
    return camera


def to_world(ground_m: FloatArray) -> FloatArray:
    """Convert ground points (..., 2) in right-handed axes to world points."""
    x, y = ground_m[..., 0], ground_m[..., 1]
    return np.stack([x, np.zeros_like(x), -y], axis=-1)


def _focal_px(matrix: FloatArray) -> float | None:
    """Focal length for which the two columns are perpendicular and of equal length."""
    a, b = matrix[:, 0], matrix[:, 1]
    rows = np.array([a[:2] @ b[:2], a[:2] @ a[:2] - b[:2] @ b[:2]])
    want = -np.array([a[2] * b[2], a[2] ** 2 - b[2] ** 2])
    size = float(rows @ rows)
    inverse = float(rows @ want) / size if size > 0.0 else 0.0
    return 1.0 / np.sqrt(inverse) if inverse > 0.0 else None


def _pose(matrix: FloatArray, focal: float, flat: FloatArray) -> tuple[FloatArray, FloatArray]:
    columns = matrix / np.array([focal, focal, 1.0])[:, None]
    columns = columns * 2.0 / (np.linalg.norm(columns[:, 0]) + np.linalg.norm(columns[:, 1]))
    depths = flat @ columns[2, :2] + columns[2, 2]
    if np.median(depths) < 0.0:
        columns = -columns
    first, second, offset = columns.T
    # columns: ground x, ground y, up; the world's are x, up, -y
    raw = np.stack([first, np.cross(first, second), -second], axis=1)
    u, _, vt = np.linalg.svd(raw)
    turn = u @ np.diag([1.0, 1.0, np.linalg.det(u @ vt)]) @ vt
    return turn, -turn.T @ offset


def _refined(
    camera: Camera, flat: FloatArray, pixels: FloatArray, *, free_focal: bool, guessed: bool
) -> Camera:
    points = to_world(flat)
    start = np.concatenate([to_rotvec(from_matrix(camera.turn)), camera.place_m, [0.0]])

    def at(x: FloatArray) -> Camera:
        return Camera(
            turn=to_matrix(from_rotvec(x[:3])),
            place_m=x[3:6],
            focal_px=camera.focal_px * float(np.exp(x[6] if free_focal else 0.0)),
            centre_px=camera.centre_px,
            guessed_focal=guessed,
        )

    def miss(x: FloatArray) -> FloatArray:
        return np.asarray((at(x).project(points) - pixels).ravel())

    fit = least_squares(miss, start, x_scale=np.array([0.1] * 3 + [1.0] * 3 + [0.1]))
    best = at(fit.x)
    return Camera(
        turn=best.turn,
        place_m=best.place_m,
        focal_px=best.focal_px,
        centre_px=best.centre_px,
        fit_px=float(np.sqrt((fit.fun**2).sum() / len(points))),
        guessed_focal=guessed,
    )
