"""The clip with the fitted people drawn into it, to see whether the fit is right."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import numpy as np

from jaywalk.motion.rotation import FloatArray
from jaywalk.motion.smpl import JOINTS, PARENTS
from jaywalk.motion.video.frames import Picture, read_frames
from jaywalk.motion.video.reading import Person, Reading

_COLOURS: Final = {"left": (255, 80, 60), "right": (60, 160, 255), "middle": (255, 230, 60)}


def draw_overlay(
    clip: Path,
    out: Path,
    people: list[Person],
    reading: Reading,
    *,
    rate_hz: float | None = None,
) -> None:
    """Write the clip with skeletons over it: left red, right blue, each with its name."""
    import av

    shown = [(one, reading.camera.project(one.motion.joints_m())) for one in people]
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
