"""Normal equations of least squares over a sequence of frames.

Every term couples a frame with at most the next two. The matrix is stored as blocks and solved as a
band, with one common unknown (the body's size) on its border.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.linalg import LinAlgError

from jaywalk.core.arrays import FloatArray
from jaywalk.core.kernels import kernel
from jaywalk.motion.video.camera import UNKNOWNS, Placed

REACH: Final = 2


@dataclass(slots=True)
class NormalEquations:
    """Blocks of ``J'WJ`` and ``J'Wr``; terms add to them."""

    frames: int
    blocks: list[FloatArray] = field(init=False)
    pull: FloatArray = field(init=False)
    border: FloatArray = field(init=False)
    corner: float = 0.0
    corner_pull: float = 0.0

    def __post_init__(self) -> None:
        self.blocks = [
            np.zeros((max(self.frames - reach, 0), UNKNOWNS, UNKNOWNS))
            for reach in range(REACH + 1)
        ]
        self.pull = np.zeros((self.frames, UNKNOWNS))
        self.border = np.zeros((self.frames, UNKNOWNS))

    def add(self, slopes: FloatArray, growth: FloatArray, miss: FloatArray) -> None:
        """Add a term of single frames: (frames, rows, UNKNOWNS), (frames, rows), (frames, rows).

        All three are already multiplied by the square root of the weight.
        """
        turned = slopes.transpose(0, 2, 1)
        self.blocks[0] += turned @ slopes
        self.pull += (turned @ miss[..., None])[..., 0]
        self.border += (turned @ growth[..., None])[..., 0]
        self.corner += float((growth * growth).sum())
        self.corner_pull += float((growth * miss).sum())

    def add_chained(self, placed: Placed, chosen: list[int], mixed: list[FloatArray]) -> None:
        """Add a term ``sum over t, u of mixed[u - t][t] * p_t . p_u`` of chosen points.

        Args:
            placed: Points and slopes.
            chosen: Indices of the points.
            mixed: For each distance between frames 0, 1, 2: (frames - distance, chosen, 3)
                entries of the symmetric matrix that acts on the points' coordinates.
        """
        slopes = placed.slopes[:, chosen]
        growth = placed.growth[:, chosen]
        force = chained_product(placed.points_m[:, chosen], mixed)
        stretch = chained_product(growth, mixed)
        flat = slopes.reshape(self.frames, -1, UNKNOWNS)
        turned = flat.transpose(0, 2, 1)
        for reach, weight in enumerate(mixed):
            if self.frames <= reach or not weight.any():
                continue
            weighted = slopes[reach:] * weight[..., None]
            right = weighted.reshape(len(weighted), -1, UNKNOWNS)
            self.blocks[reach] += turned[: self.frames - reach] @ right
        self.pull += (turned @ force.reshape(self.frames, -1, 1))[..., 0]
        self.border += (turned @ stretch.reshape(self.frames, -1, 1))[..., 0]
        self.corner += float((growth * stretch).sum())
        self.corner_pull += float((growth * force).sum())

    def solve(self, damping: float) -> tuple[FloatArray, float]:
        """Return the step that lowers the sum, with Levenberg-Marquardt damping.

        Raises:
            numpy.linalg.LinAlgError: The matrix is not positive definite; use more damping.
        """
        band = self._band(damping)
        right = np.stack([-self.pull.ravel(), self.border.ravel()], axis=1)
        if not solve_band(band, right):
            raise LinAlgError("the matrix is not positive")
        both = right
        step, lean = both[:, 0], both[:, 1]
        border = self.border.ravel()
        rest = self.corner * (1.0 + damping) + 1e-9 - float(border @ lean)
        if rest <= 0.0:
            raise LinAlgError("the common unknown is not held")
        scale_step = (-self.corner_pull - float(border @ step)) / rest
        step = step - scale_step * lean
        return step.reshape(self.frames, UNKNOWNS), float(scale_step)

    def _band(self, damping: float) -> FloatArray:
        n = UNKNOWNS
        band = np.zeros((self.frames * n, (REACH + 1) * n))
        for column in range(n):
            band[column::n, : n - column] = self.blocks[0][:, column:, column]
            for reach in range(1, REACH + 1):
                if self.frames <= reach:
                    continue
                first = reach * n - column
                rows = slice(column, (self.frames - reach) * n, n)
                band[rows, first : first + n] = self.blocks[reach][:, column, :]
        band[:, 0] *= 1.0 + damping
        band[:, 0] += 1e-6
        return band


@kernel
def solve_band(band: FloatArray, right: FloatArray) -> bool:
    """Solve a symmetric positive definite band system in place by Cholesky decomposition.

    LAPACK is not used: on many threads with such narrow blocks it takes ten times as long, and its
    result depends on the number of threads.

    Args:
        band: (n, width) ``band[j, d]`` is entry (j + d, j); overwritten.
        right: (n, k) right-hand sides; the solutions on return.

    Returns:
        True if the matrix was positive definite.
    """
    n, width = band.shape
    for j in range(n):
        if not band[j, 0] > 0.0:
            return False
        pivot = np.sqrt(band[j, 0])
        reach = min(width, n - j)
        while reach > 1 and band[j, reach - 1] == 0.0:
            reach -= 1
        for d in range(reach):
            band[j, d] /= pivot
        for d in range(1, reach):
            factor = band[j, d]
            for e in range(d, reach):
                band[j + d, e - d] -= factor * band[j, e]
    for k in range(right.shape[1]):
        for j in range(n):
            right[j, k] /= band[j, 0]
            for d in range(1, min(width, n - j)):
                right[j + d, k] -= band[j, d] * right[j, k]
        for j in range(n - 1, -1, -1):
            total = right[j, k]
            for d in range(1, min(width, n - j)):
                total -= band[j, d] * right[j + d, k]
            right[j, k] = total / band[j, 0]
    return True


def chained_product(values: FloatArray, mixed: list[FloatArray]) -> FloatArray:
    """Multiply the symmetric matrix of ``mixed`` by values (frames, points, 3)."""
    out = mixed[0] * values
    for reach in range(1, len(mixed)):
        if len(values) <= reach:
            break
        out[:-reach] += mixed[reach] * values[reach:]
        out[reach:] += mixed[reach] * values[:-reach]
    return np.asarray(out)
