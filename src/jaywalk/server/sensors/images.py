"""Image payloads: width, height and field of view, then the pixels."""

from __future__ import annotations

import struct
from typing import Final

import numpy as np
from numpy.typing import NDArray

_IMAGE: Final = struct.Struct("<IIf")
DVS_EVENT: Final = np.dtype([("x", "<u2"), ("y", "<u2"), ("t_ns", "<i8"), ("polarity", "?")])
DEPTH_RANGE_M: Final = 1000.0  # what the 24 bits of a depth pixel span
_DEPTH_STEPS: Final = 2**24 - 1


def encode_image(pixels: NDArray[np.uint8], fov_deg: float) -> bytes:
    """Encode (height, width, 4) BGRA pixels."""
    height, width = pixels.shape[:2]
    return _IMAGE.pack(width, height, fov_deg) + pixels.tobytes()


def encode_flow(flow: NDArray[np.float32], fov_deg: float) -> bytes:
    """Encode (height, width, 2) optical flow."""
    height, width = flow.shape[:2]
    return _IMAGE.pack(width, height, fov_deg) + flow.astype("<f4", copy=False).tobytes()


def encode_events(events: NDArray[np.void], width: int, height: int, fov_deg: float) -> bytes:
    """Encode events of dtype :data:`DVS_EVENT`, 13 bytes each."""
    return _IMAGE.pack(width, height, fov_deg) + events.tobytes()


def depth_to_bgra(depth_m: NDArray[np.float64]) -> NDArray[np.uint8]:
    """Code depth along the camera axis into 24 bits: R lowest, B highest; far ends at 1000 m."""
    share = np.clip(np.asarray(depth_m, dtype=np.float64) / DEPTH_RANGE_M, 0.0, 1.0)
    code = np.rint(share * _DEPTH_STEPS).astype(np.uint32)
    pixels = np.empty((*code.shape, 4), np.uint8)
    pixels[..., 2] = code & 0xFF
    pixels[..., 1] = (code >> 8) & 0xFF
    pixels[..., 0] = code >> 16
    pixels[..., 3] = 255
    return pixels


def bgra_to_depth(pixels: NDArray[np.uint8]) -> NDArray[np.float64]:
    """Metres from a coded depth picture; the inverse of :func:`depth_to_bgra`."""
    wide = pixels.astype(np.float64)
    code = wide[..., 2] + 256.0 * wide[..., 1] + 65536.0 * wide[..., 0]
    return DEPTH_RANGE_M * code / _DEPTH_STEPS
