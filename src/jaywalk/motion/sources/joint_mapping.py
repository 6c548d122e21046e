"""Mapping of the joints of any skeleton to ours: as a file that people write, edit and keep.

.. code-block:: toml

    format = "jaywalk-mapping-1"
    up = "y"        # axis of the file that points up: x, y, z, -x, -y or -z
    unit_m = 0.01   # metres in one unit of the file
    rest = "file"   # the pose without rotations; first: the first frame; fitted: from the motion

    [joints]
    pelvis = "Hips"
    left_hip = "LeftUpLeg"
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from jaywalk.core.errors import DataError
from jaywalk.core.files import read_text
from jaywalk.core.toml_text import format_toml, parse_toml
from jaywalk.core.yaml_text import format_yaml, parse_yaml
from jaywalk.motion.smpl import JOINTS

FORMAT: Final = "jaywalk-mapping-1"
AXES: Final = ("x", "y", "z", "-x", "-y", "-z")
RESTS: Final = ("file", "first", "fitted")
REQUIRED: Final = (
    "pelvis",
    *(
        f"{side}_{part}"
        for part in ("hip", "knee", "ankle", "shoulder", "elbow", "wrist")
        for side in ("left", "right")
    ),
)
_YAML: Final = (".yaml", ".yml")
_WORDS: Final = {
    ("format",): "",
    ("up",): f"axis of the file that points up: {', '.join(AXES)}",
    ("unit_m",): "metres in one unit of the file",
    ("rest",): "file: the pose without rotations; first: the first frame; fitted: from the motion",
    ("joints", "pelvis"): "ours = the file's; leave out joints that the file does not have",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class JointMapping:
    """Joints of a skeleton by our names, and its axes, unit and rest pose.

    Attributes:
        joints: Joint of the file for each of ours (``jaywalk.motion.smpl.JOINTS``).
        up: Axis of the file that points up.
        unit_m: Metres in one unit of the file.
        rest: Pose in which the person stands upright: ``file``, the pose without rotations;
            ``first``, the first frame, which is then dropped; ``fitted``: neither, rotations are
            fitted to the positions of the joints.
    """

    joints: Mapping[str, str]
    up: str = "y"
    unit_m: float = 0.01
    rest: str = "file"

    def check(self, names: tuple[str, ...], where: str) -> None:
        """Raise unless a skeleton has these joints.

        Raises:
            DataError: A joint is missing; the message names it and similar ones.
        """
        for ours, theirs in self.joints.items():
            if theirs not in names:
                near = difflib.get_close_matches(theirs, names, n=1, cutoff=0.6)
                hint = f" Did you mean '{near[0]}'?" if near else ""
                raise DataError(f"{where}: has no joint '{theirs}', mapped to {ours}.{hint}")


def check_required(joints: Mapping[str, str], where: str, names: tuple[str, ...] = ()) -> None:
    """Raise unless all joints that a clip needs are mapped."""
    missing = [joint for joint in REQUIRED if joint not in joints]
    if not ({"neck", "head"} & joints.keys()):
        missing.append("neck or head")
    if missing:
        has = f" The file has: {', '.join(names[:60])}." if names else ""
        raise DataError(
            f"{where}: no joint for {', '.join(missing)}.{has} Write the mapping with 'jaywalk "
            "motion map FILE -o mapping.toml', complete it, and give it with --mapping."
        )


def format_mapping(mapping: JointMapping, path: Path, names: tuple[str, ...] = ()) -> str:
    """Return the text of a mapping file, TOML or YAML by its name.

    Args:
        mapping: The mapping.
        path: The file.
        names: Joints of the skeleton, listed in a comment.
    """
    document: dict[str, Any] = {
        "format": FORMAT,
        "up": mapping.up,
        "unit_m": mapping.unit_m,
        "rest": mapping.rest,
        "joints": {joint: mapping.joints[joint] for joint in JOINTS if joint in mapping.joints},
    }
    unused = [name for name in names if name not in mapping.joints.values()]
    lacking = [joint for joint in JOINTS if joint not in mapping.joints]
    head = "# Joint mapping for 'jaywalk motion build --files FILE --mapping THIS'.\n"
    head += f"# Ours without a joint: {', '.join(lacking) or 'none'}\n"
    head += f"# Joints of the file that are not used: {', '.join(map(repr, unused)) or 'none'}\n"

    def words(place: tuple[str, ...]) -> str:
        return _WORDS.get(place, "")

    write = format_yaml if path.suffix.lower() in _YAML else format_toml
    return head + write(document, words)


def read_mapping(path: Path) -> JointMapping:
    """Read a mapping file.

    Raises:
        DataError: It cannot be read; the message names the field.
    """
    if path.suffix.lower() not in (".toml", *_YAML):
        raise DataError(f"--mapping is '{path}'; expected a name with .toml, .yaml, .yml.")
    text = read_text(path, "a joint mapping (.toml, .yaml)", 1_000_000)
    parse = parse_yaml if path.suffix.lower() in _YAML else parse_toml
    return mapping_of(parse(text, str(path)), f"'{path}'")


def mapping_of(document: Mapping[str, Any], where: str) -> JointMapping:
    """Check plain values and return the mapping; ``where`` is used in errors."""
    known = ("format", "up", "unit_m", "rest", "joints")
    for key in document:
        if key not in known:
            raise DataError(f"{where}, {key}: no such field. Known: {', '.join(known)}.")
    if document.get("format", FORMAT) != FORMAT:
        raise DataError(f"{where}, format: is {document['format']!r}; expected '{FORMAT}'.")
    up, rest = document.get("up", "y"), document.get("rest", "file")
    for key, value, choices in (("up", up, AXES), ("rest", rest, RESTS)):
        if value not in choices:
            raise DataError(f"{where}, {key}: is {value!r}; expected one of {', '.join(choices)}.")
    unit_m = document.get("unit_m", 0.01)
    if isinstance(unit_m, bool) or not isinstance(unit_m, int | float) or not 1e-6 < unit_m < 1e3:
        raise DataError(
            f"{where}, unit_m: is {unit_m!r}; expected metres in one unit, such as 0.01 for cm."
        )
    joints = document.get("joints")
    if not isinstance(joints, Mapping):
        raise DataError(f"{where}, joints: is missing; expected a table of OURS = 'THEIRS'.")
    mapping: dict[str, str] = {}
    for ours, theirs in joints.items():
        if ours not in JOINTS:
            near = difflib.get_close_matches(str(ours), JOINTS, n=1, cutoff=0.5)
            hint = f" Did you mean '{near[0]}'?" if near else ""
            raise DataError(
                f"{where}, joints.{ours}: no such joint.{hint} Known: {', '.join(JOINTS)}."
            )
        if not isinstance(theirs, str):
            raise DataError(f"{where}, joints.{ours}: is {theirs!r}; expected a joint's name.")
        if not theirs:
            continue
        if theirs in mapping.values():
            raise DataError(f"{where}, joints.{ours}: '{theirs}' is mapped twice.")
        mapping[str(ours)] = theirs
    check_required(mapping, where)
    assert math.isfinite(unit_m)
    return JointMapping(joints=mapping, up=str(up), unit_m=float(unit_m), rest=str(rest))
