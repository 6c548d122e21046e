"""MediaPipe's pose network as a source of landmarks, and an overlay to check the fit.

This is the only file that needs the extra `video`. The overlay is the video with the fitted people
drawn into it.
"""

from __future__ import annotations

import os
import warnings
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import numpy as np

from jaywalk.core.arrays import FloatArray
from jaywalk.core.errors import PrerequisiteError
from jaywalk.motion.smpl import JOINTS, PARENTS
from jaywalk.motion.video.landmarks import LANDMARK_COUNT, Box, Picture, Sighting, read_frames
from jaywalk.motion.video.reading import Person, VideoReading

_COLOURS: Final = {"left": (255, 80, 60), "right": (60, 160, 255), "middle": (255, 230, 60)}


def draw_overlay(
    clip: Path,
    out: Path,
    people: list[Person],
    reading: VideoReading,
    *,
    rate_hz: float | None = None,
) -> None:
    """Write the video with named skeletons drawn over it: left side red, right side blue."""
    import av

    shown = [(person, reading.camera.project(person.motion.joints_m())) for person in people]
    width, height = reading.width_px // 2 * 2, reading.height_px // 2 * 2
    with av.open(str(out), "w") as container:
        stream = container.add_stream("libx264", rate=max(1, round(reading.rate_hz)))
        stream.width, stream.height, stream.pix_fmt = width, height, "yuv420p"
        for frame in read_frames(clip, rate_hz=rate_hz):
            picture = _drawn(frame.picture, frame.time_s, shown)[:height, :width]
            image = av.VideoFrame.from_ndarray(np.ascontiguousarray(picture), format="rgb24")
            container.mux(stream.encode(image))
        container.mux(stream.encode(None))


def _drawn(picture: Picture, time_s: float, shown: list[tuple[Person, FloatArray]]) -> Picture:
    from PIL import Image, ImageDraw

    image = Image.fromarray(picture)
    draw = ImageDraw.Draw(image)
    for person, joints in shown:
        index = round((time_s - person.first_s) * person.motion.rate_hz)
        if not 0 <= index < len(joints):
            continue
        places = joints[index]
        for joint in range(1, len(JOINTS)):
            side = JOINTS[joint].partition("_")[0]
            ends = [tuple(places[PARENTS[joint]]), tuple(places[joint])]
            draw.line(ends, fill=_COLOURS.get(side, _COLOURS["middle"]), width=2)
        top = places.min(axis=0)
        draw.text((top[0], top[1] - 14), person.motion.name[-3:], fill=_COLOURS["middle"])
    return np.asarray(image)


# Side of the square given to the network, as a multiple of the box height; tried in order.
_ROOMS: Final = (1.5, 2.0, 1.2)
_DIFFERENT: Final = 25  # grey levels between a person and the background
_LEARNT: Final = 25  # pictures whose median is the background
_HOG_HEIGHT: Final = 128  # pixels; window of the HOG detector


def need_extra() -> None:
    """Check that MediaPipe is installed.

    Raises:
        PrerequisiteError: It is missing; the message names the extra.
    """
    missing = [name for name in ("mediapipe", "cv2") if find_spec(name) is None]
    if missing:
        raise PrerequisiteError(
            f"people are read from video with MediaPipe; not installed: {', '.join(missing)}. "
            "Install the extra: pip install 'jaywalk[video]'"
        )


class MediaPipeSource:
    """Detector of people by movement and outline, with landmarks from MediaPipe's full model.

    Use it as a context manager.
    """

    def __init__(self) -> None:
        need_extra()
        os.environ.setdefault("GLOG_minloglevel", "2")
        os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                import cv2  # type: ignore[import-not-found, unused-ignore]
                import mediapipe  # type: ignore[import-not-found, unused-ignore]
        except ImportError as problem:  # OpenCV needs libGL, which minimal systems lack
            raise PrerequisiteError(
                f"MediaPipe or OpenCV cannot be loaded ({problem}); if a libGL is missing: pip "
                "install --force-reinstall --no-deps opencv-contrib-python-headless"
            ) from problem
        solutions = getattr(mediapipe, "solutions", None)
        if solutions is None:
            raise PrerequisiteError(
                f"mediapipe {mediapipe.__version__} carries no pose model; install the version of "
                "the extra: pip install 'jaywalk[video]'"
            )
        self._cv2: Any = cv2
        # the model of complexity 1 is in the wheel; others would be downloaded
        self._pose: Any = solutions.pose.Pose(static_image_mode=True, model_complexity=1)
        self._hog: Any = cv2.HOGDescriptor()
        self._hog.setSVMDetector(cv2.HOGDescriptor_getDefaultPeopleDetector())
        self._background: Picture | None = None

    def __enter__(self) -> MediaPipeSource:
        return self

    def __exit__(self, *_: object) -> None:
        self._pose.close()

    def learn(self, pictures: list[Picture]) -> None:
        """Learn the background as the median of pictures of the whole video."""
        if len(pictures) >= 5:
            chosen = np.linspace(0, len(pictures) - 1, min(_LEARNT, len(pictures))).astype(int)
            stack = np.stack([pictures[i] for i in chosen])
            self._background = np.median(stack, axis=0).astype(np.uint8)

    def propose(self, picture: Picture, *, thorough: bool) -> list[Box]:
        """Return boxes that may hold people: moving areas and, if thorough, human outlines."""
        boxes = self._moving(picture)
        if thorough:
            boxes += self._outlined(picture)
            whole = self.look(picture, None)
            if whole is not None:
                boxes.append(whole.box)
        return boxes

    def look(self, picture: Picture, box: Box | None) -> Sighting | None:
        """Return the landmarks of the person in a box, or in the whole picture."""
        if box is None:
            return self._seen(picture, 0.0, 0.0)
        for room in _ROOMS:
            sighting = self._seen(*self._crop(picture, box, room))
            if sighting is not None:
                return sighting
        return None

    def _seen(self, crop: Picture, left: float, top: float) -> Sighting | None:
        if crop.size == 0:
            return None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # protobuf's own warnings
            result = self._pose.process(crop)
        if result.pose_landmarks is None or result.pose_world_landmarks is None:
            return None
        height, width = crop.shape[:2]
        marks = result.pose_landmarks.landmark
        world = result.pose_world_landmarks.landmark
        if len(marks) != LANDMARK_COUNT:
            return None
        return Sighting(
            image_px=np.array([[left + m.x * width, top + m.y * height] for m in marks]),
            world_m=np.array([[m.x, m.y, m.z] for m in world]),
            confidence=np.array([m.visibility for m in marks]),
        )

    def _crop(self, picture: Picture, box: Box, room: float) -> tuple[Picture, float, float]:
        """Crop a square around a box, padded at the edges of the picture."""
        side = max(8, round(room * max(box.height, 0.7 * box.width)))
        left = round((box.left + box.right - side) / 2.0)
        top = round((box.top + box.bottom - side) / 2.0)
        height, width = picture.shape[:2]
        if left >= width or top >= height or left + side <= 0 or top + side <= 0:
            return picture[:0], 0.0, 0.0
        part = picture[max(top, 0) : top + side, max(left, 0) : left + side]
        over = (
            max(-top, 0),
            max(top + side - height, 0),
            max(-left, 0),
            max(left + side - width, 0),
        )
        if any(over):
            part = self._cv2.copyMakeBorder(part, *over, self._cv2.BORDER_REPLICATE)
        return np.ascontiguousarray(part), float(left), float(top)

    def _moving(self, picture: Picture) -> list[Box]:
        if self._background is None:
            return []
        cv2 = self._cv2
        apart = cv2.absdiff(picture, self._background).max(axis=2)
        mask = (apart > _DIFFERENT).astype(np.uint8)
        size = max(3, picture.shape[0] // 200)
        mask = cv2.morphologyEx(mask, cv2.MORPH_OPEN, np.ones((size, size), np.uint8))
        mask = cv2.morphologyEx(mask, cv2.MORPH_CLOSE, np.ones((5 * size, 2 * size), np.uint8))
        stats = cv2.connectedComponentsWithStats(mask)[2][1:]
        return [
            Box(left=float(x), top=float(y), right=float(x + w), bottom=float(y + h))
            for x, y, w, h, _ in stats
            if h > 0.8 * w
        ]

    def _outlined(self, picture: Picture) -> list[Box]:
        cv2 = self._cv2
        # large pictures are shrunk, because the cost grows with the number of pixels
        factor = min(1.0, 720.0 / picture.shape[0]) if picture.shape[0] > _HOG_HEIGHT else 0.0
        if factor == 0.0 or picture.shape[1] * factor < _HOG_HEIGHT // 2:
            return []
        small = cv2.resize(picture, None, fx=factor, fy=factor)
        boxes, _ = self._hog.detectMultiScale(small, winStride=(8, 8), scale=1.1)
        return [
            # the detector's window is larger than the person
            Box(
                left=float(x + 0.15 * w) / factor,
                top=float(y + 0.08 * h) / factor,
                right=float(x + 0.85 * w) / factor,
                bottom=float(y + 0.92 * h) / factor,
            )
            for x, y, w, h in boxes
        ]
