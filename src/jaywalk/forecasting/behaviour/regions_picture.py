"""Picture of the risk regions over a frame: stripes by weight, people's boxes and their regions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from matplotlib import colormaps
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from jaywalk.core.errors import UsageError
from jaywalk.datasets.behaviour_tables import BehaviourData
from jaywalk.forecasting.behaviour._targets import risk_region
from jaywalk.forecasting.behaviour.tasks import N_REGIONS
from jaywalk.metrics.behaviour.instances import centrality_weights


def draw_regions(
    data: BehaviourData, video: str, frame: int, png: Path, picture: Path | None = None
) -> int:
    """Draw a frame with its risk regions and return the number of people in it.

    Args:
        data: The dataset.
        video: Name of the video, for example ``video_0005``.
        frame: Number of the frame.
        png: Picture to write.
        picture: The frame itself if the clips are available; else the background is plain.
    """
    sizes = data.videos.filter(pl.col("video") == video).select("width_px", "height_px")
    if sizes.is_empty():
        raise UsageError(f"There is no video '{video}' here; '{data.videos['video'][0]}' is one.")
    width_px, height_px = sizes.row(0)
    boxes = data.boxes.filter((pl.col("video") == video) & (pl.col("frame") == frame))
    figure = Figure(figsize=(width_px / 160, height_px / 160), dpi=100)
    FigureCanvasAgg(figure)
    axes = figure.add_axes((0, 0, 1, 1), xlim=(0, width_px), ylim=(height_px, 0))
    axes.set_axis_off()
    if picture is not None:
        axes.imshow(_read_picture(picture), extent=(0, width_px, height_px, 0))
    _draw_stripes(axes, width_px, height_px)
    for row in boxes.select("xtl_px", "ytl_px", "xbr_px", "ybr_px").iter_rows():
        _draw_person(axes, row, width_px)
    figure.savefig(png, metadata={"Software": None})
    return boxes.height


def _draw_stripes(axes: Any, width_px: int, height_px: int) -> None:
    weights = centrality_weights(np.arange(N_REGIONS), N_REGIONS)
    shades = (weights - weights.min()) / (weights.max() - weights.min())
    stripe_px = width_px // N_REGIONS
    for i, shade in enumerate(shades):
        colour = colormaps["RdYlGn_r"](float(shade))
        axes.add_patch(
            Rectangle(
                (i * stripe_px, 0), stripe_px, height_px, facecolor=colour, alpha=0.35, ec="white"
            )
        )
        axes.text((i + 0.5) * stripe_px, 40, f"{i + 1}\n{weights[i]:.2f}", ha="center", va="center")


def _draw_person(axes: Any, corners_px: tuple[float, ...], width_px: int) -> None:
    left, top, right, bottom = corners_px
    region = risk_region((left + right) / 2, width_px, N_REGIONS)
    axes.add_patch(
        Rectangle((left, top), right - left, bottom - top, fill=False, ec="black", lw=1.5)
    )
    axes.text(left, top - 8, f"{region + 1}", fontsize=9)


def _read_picture(path: Path) -> Any:
    from matplotlib.image import imread

    try:
        return imread(path)
    except (OSError, ValueError, SyntaxError) as error:
        raise UsageError(f"'{path}' cannot be read as a picture: {error}.") from error
