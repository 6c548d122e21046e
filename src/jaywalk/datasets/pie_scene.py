"""Derives signs, crossings and lights per frame from the objects drawn in a PIE video."""

from __future__ import annotations

from jaywalk.datasets.behaviour_tables import LIGHT_GREEN, LIGHT_NONE, LIGHT_RED, LIGHT_YELLOW
from jaywalk.datasets.cvat import CvatVideo

_PEDESTRIAN_SIGNS = frozenset({"ped_blue", "ped_yellow", "ped_white", "ped_text"})
_LIGHTS = {"red": LIGHT_RED, "yellow": LIGHT_YELLOW, "green": LIGHT_GREEN}


def scene_rows(video: str, parsed: CvatVideo) -> list[dict[str, object]]:
    """Return one row for every frame in which a sign, a crosswalk or a light is drawn.

    Where several lights are visible, the one that comes last in the file counts, as in the
    benchmark; it may face another road.
    """
    rows: dict[int, dict[str, object]] = {}
    for track in parsed.tracks:
        for i, frame in enumerate(track.frames):
            change = _seen(track.label, track.attributes, i)
            if not change:
                continue
            row = rows.setdefault(
                frame,
                {
                    "video": video,
                    "frame": frame,
                    "ped_crossing": False,
                    "ped_sign": False,
                    "stop_sign": False,
                    "light": LIGHT_NONE,
                },
            )
            row.update(change)
    return [rows[frame] for frame in sorted(rows)]


def _seen(label: str, attributes: dict[str, list[str | None]], i: int) -> dict[str, object]:
    if label == "crosswalk":
        return {"ped_crossing": True}
    if label == "traffic_light":
        return {"light": _LIGHTS.get(str(_at(attributes, "state", i)), LIGHT_NONE)}
    if label == "sign":
        kind = _at(attributes, "type", i)
        if kind in _PEDESTRIAN_SIGNS:
            return {"ped_sign": True}
        if kind == "stop_sign":
            return {"stop_sign": True}
    return {}


def _at(attributes: dict[str, list[str | None]], name: str, i: int) -> str | None:
    values = attributes.get(name)
    return values[i] if values else None
