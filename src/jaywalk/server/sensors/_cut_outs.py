"""Flat pictures that are cut out: where they are transparent, a camera sees what is behind them."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from jaywalk.server.sensors._solids import (
    CUT_OUT,
    LOWER,
    UPPER,
    Pictures,
    Solids,
    as_int64,
    ink_at,
    kernel,
)
from jaywalk.server.sensors._visibility import NEAR_M, CameraView, Visible, pixel_ray


@kernel
def draw_cut_outs(
    solids: Solids, pictures: Pictures, view: CameraView, rows: tuple[int, int], seen: Visible
) -> None:
    """Draw the solids that ``look_rows`` leaves out, in front of or behind what it found."""
    window = np.empty(4, np.int64)
    for k in range(solids.used):
        if solids.pattern[k] >= CUT_OUT and _window(solids.form, k, view, window):
            window[2], window[3] = max(window[2], rows[0]), min(window[3], rows[1])
            _draw(solids, pictures, k, view, window, seen)


@kernel
def _window(form: NDArray[np.float64], k: int, view: CameraView, out: NDArray[np.int64]) -> bool:
    """Pixels (left, right, top, bottom) around a plate; False: it is out of sight."""
    left, right, top, bottom = math.inf, -math.inf, math.inf, -math.inf
    before = 0
    for corner in range(8):
        x, y, z = 0.0, 0.0, 0.0
        for m in range(3):
            at = form[k, m] - view.origin[m]
            for axis in range(3):
                half = form[k, 12 + axis]
                at += (half if (corner >> axis) & 1 else -half) * form[k, 3 + 3 * axis + m]
            x += view.axes[0, m] * at
            y += view.axes[1, m] * at
            z += view.axes[2, m] * at
        if x < NEAR_M:
            continue
        before += 1
        u = 0.5 * view.width + view.focal_px * y / x
        v = 0.5 * view.height - view.focal_px * z / x
        left, right = min(left, u), max(right, u)
        top, bottom = min(top, v), max(bottom, v)
    if before == 0:
        return False
    if before < 8:
        left, right, top, bottom = 0.0, float(view.width), 0.0, float(view.height)
    out[0] = math.floor(max(left - 1.0, 0.0))
    out[1] = math.ceil(min(right + 1.0, float(view.width)))
    out[2] = math.floor(max(top - 1.0, 0.0))
    out[3] = math.ceil(min(bottom + 1.0, float(view.height)))
    return bool(out[0] < out[1] and out[2] < out[3])


@kernel
def _draw(
    solids: Solids,
    pictures: Pictures,
    k: int,
    view: CameraView,
    window: NDArray[np.int64],
    seen: Visible,
) -> None:
    """Cast the rays of the pixels around a plate; it is seen from above or below, never edge on."""
    form, pattern = solids.form, as_int64(solids.pattern[k])
    ox, oy, oz = view.origin[0], view.origin[1], view.origin[2]
    px, py, pz = ox - form[k, 0], oy - form[k, 1], oz - form[k, 2]
    above = form[k, 9] * px + form[k, 10] * py + form[k, 11] * pz
    if abs(above) <= form[k, 14]:
        return
    part = UPPER if above > 0.0 else LOWER
    gap = abs(above) - form[k, 14]
    sign = -1.0 if above > 0.0 else 1.0
    for v in range(window[2], window[3]):
        for u in range(window[0], window[1]):
            dx, dy, dz = pixel_ray(view, u + 0.5, v + 0.5)
            toward = sign * (form[k, 9] * dx + form[k, 10] * dy + form[k, 11] * dz)
            if toward <= 1e-12:
                continue
            t = gap / toward
            value = np.float32(1.0 / t)
            if t < NEAR_M or value <= seen.inverse_depth[v, u]:
                continue
            x, y, z = px + t * dx, py + t * dy, pz + t * dz
            if abs(form[k, 3] * x + form[k, 4] * y + form[k, 5] * z) > form[k, 12]:
                continue
            if abs(form[k, 6] * x + form[k, 7] * y + form[k, 8] * z) > form[k, 13]:
                continue
            place = (ox + t * dx, oy + t * dy, oz + t * dz)
            if ink_at(pictures, form, pattern, k, part, place, t / view.focal_px)[3]:
                seen.inverse_depth[v, u] = value
                seen.surface[v, u] = k * 8 + part
