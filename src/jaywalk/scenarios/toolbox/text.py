"""Text of a scenario file, in TOML or YAML by its name, with comments on its fields."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from jaywalk.core.errors import DataError
from jaywalk.core.toml_text import FieldWords, edit_text, format_toml, parse_toml
from jaywalk.scenarios.catalogue import SCENARIOS

_FIELDS: Final[dict[tuple[str, ...], str]] = {
    ("format",): "",
    ("name",): "id of the route in runs",
    ("id",): "id of the route in route files",
    ("town",): "jaywalk list towns",
    ("vehicles",): "background traffic near the route",
    ("people",): "ambient people",
    ("weather",): "cloudy, evening, fog, noon, rain, wet; or a list of CARLA's parameters",
    ("pair",): "both halves of a pair name it, and share traffic and seeds",
    ("half",): "base or generalization",
    ("shift",): "class of the shift",
    ("route", "points"): "the route passes these: x, y (and z) in metres, as CARLA has them",
    ("scenario", "name"): "names its random streams too",
    ("scenario", "type"): "jaywalk scenario new --list",
    ("scenario", "at"): "metres along the route: when the ego is here, it begins",
    ("scenario", "trigger"): "x, y, z, yaw: when the ego is here, it begins",
    ("scenario", "partner"): "base scenario of its pair: construction, accident, parked or none",
    ("scenario", "objects", "model"): "a thing relative to the lane; jaywalk list blueprints",
    ("scenario", "objects", "x"): "metres forward of the place 'distance' beyond the trigger",
    ("scenario", "objects", "y"): "metres to the right of the lane's middle",
    ("scenario", "objects", "z"): "metres up",
    ("scenario", "objects", "yaw"): "degrees, clockwise from above",
}
_PARAMETERS: Final[dict[str, str]] = {
    "acceleration": "m/s2",
    "behind_vehicle_distance": "m from the ego to the car parked behind it",
    "bicycle_drive_distance": "m the bicycles ride",
    "bicycle_speed": "km/h of the bicycles",
    "blocker_model": "blueprint of what hides the person, or none",
    "blocker_z": "m it is lifted",
    "cones": "0 or 1 each: four along the site, three across its end",
    "crossing_angle": "degrees; positive walks towards the ego",
    "debris": "a prop or none",
    "direction": "right or left, as the ego sees it",
    "distance": "m along the route from the trigger",
    "end_actor_flow": "where the cars vanish",
    "flow_distance": "m between the cars that pass",
    "flow_speed": "m/s of the cars",
    "frequency": "from, to: m between the cars that come",
    "front_vehicle_distance": "m from the ego to the car parked ahead",
    "image": "a prop with a picture, or none",
    "lead": "s it arrives earlier than the ego",
    "lead_in": "m before the trigger from which it leads",
    "offset": "m the oncoming cars are on the ego's side",
    "offset_x": "m forward",
    "offset_y": "m to the right",
    "offset_z": "m up",
    "overlay_direction": "right or left: where the public toolbox draws the partner; not used",
    "pedestrian": "blueprint",
    "pedestrian_center": "m from the trigger to the middle of the crowd",
    "pedestrian_radius": "m along the route, either way",
    "pedestrians": "how many, or blueprints",
    "prop": "a prop",
    "side": "right or left",
    "source_dist_interval": "from, to: m between the cars",
    "speed": "km/h, most that background traffic drives meanwhile",
    "start_actor_flow": "where the cars appear",
    "stop_time": "s it stands",
    "vehicle": "blueprint, * for any",
    "wait": "s from the trigger until everything is gone",
    "walker": "blueprint: walker.pedestrian.*, walker.animal.1001 to 1017",
    "walker_duration": "s they are there",
    "walker_speed": "m/s",
    "warning_sign": "a prop or none",
    "x": "m forward",
    "y": "m to the right",
    "y_offset": "m farther to the right",
    "yaw": "degrees",
}


def field_words(document: Mapping[str, Any]) -> FieldWords:
    """Return comments on each field of a document by its path, without list indices."""
    scenarios = document.get("scenario")
    first = scenarios[0] if isinstance(scenarios, list) and scenarios else {}
    kind = str(first.get("type", "")) if isinstance(first, Mapping) else ""

    def words(path: tuple[str, ...]) -> str:
        if path[:2] == ("scenario", "params") and len(path) == 3:
            return parameter_words(kind, path[2])
        return _FIELDS.get(path, "")

    return words


def parameter_words(kind: str, name: str) -> str:
    """Return the comment on a parameter: that of the type, or else the general one."""
    own = SCENARIOS.get(kind).parameter_words if kind in SCENARIOS else {}
    return own.get(name, _PARAMETERS.get(name, ""))


TOML: Final = (".toml",)
YAML: Final = (".yaml", ".yml")
SUFFIXES: Final = (*TOML, *YAML)


def is_yaml(name: str | Path) -> bool:
    """Return True if a file is YAML by its name."""
    return Path(name).suffix.lower() in YAML


def check_suffix(path: Path, what: str) -> Path:
    """Return the path if its suffix is valid for a scenario file."""
    if path.suffix.lower() not in SUFFIXES:
        raise DataError(f"{what} is '{path}'; expected a name with {', '.join(SUFFIXES)}.")
    return path


# YAML is imported only when a file needs it, as most do not.


def parse_text(text: str, name: str) -> dict[str, Any]:
    """Parse text to plain values; ``name`` decides the syntax and is used in errors."""
    if is_yaml(name):
        from jaywalk.core.yaml_text import parse_yaml

        return parse_yaml(text, name)
    return parse_toml(text, name)


def format_text(document: Mapping[str, Any], name: str | Path, head: Sequence[str] = ()) -> str:
    """Format plain values as text of a file, with a comment on each field where it first occurs."""
    words = field_words(document)
    above = "".join(f"# {line}\n" for line in head)
    if is_yaml(name):
        from jaywalk.core.yaml_text import format_yaml

        return above + format_yaml(document, words)
    return above + format_toml(document, words)


def edit_field(text: str, name: str, keys: Sequence[str], value: Any) -> str:
    """Return the text with one value changed; comments are kept if possible."""
    document = parse_text(text, name)
    words = field_words(document)
    if is_yaml(name):
        from jaywalk.core.yaml_text import edit_yaml

        return edit_yaml(text, document, keys, value, words)
    return edit_text(text, document, keys, value, words)
