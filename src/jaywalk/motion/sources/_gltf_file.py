"""Reader of skeletal animations in glTF 2.0 files (.glb, .gltf): joints, without conversion.

Only what a skeleton needs is read: nodes, the joints of skins, one animation. Bytes, joints and
frames are bounded; buffers lie in the file or in its folder.

https://registry.khronos.org/glTF/specs/2.0/glTF-2.0.html
"""

from __future__ import annotations

import base64
import binascii
import json
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote

import numpy as np
from scipy.spatial.transform import Rotation

from jaywalk.core.arrays import FloatArray
from jaywalk.core.errors import DataError
from jaywalk.core.files import read_bytes
from jaywalk.geometry.rotation import conjugate, multiply, normalise, rotate, slerp
from jaywalk.motion.sources._joint_motion import JointMotion

_LARGEST_BYTES: Final = 400_000_000
_MOST_JOINTS: Final = 1000
_MOST_VALUES: Final = 100_000_000  # frames times nodes
_RATES_HZ: Final = (30.0, 240.0)  # files leave out keys between which motion is straight
_MAGIC: Final = b"glTF"
_JSON_CHUNK: Final = 0x4E4F534A
_BIN_CHUNK: Final = 0x004E4942
_SIZES: Final = {"SCALAR": 1, "VEC3": 3, "VEC4": 4}
# Component type: numpy's, and the divisor that makes integers quaternions.
_TYPES: Final = {
    5120: ("<i1", 127.0),
    5121: ("<u1", 255.0),
    5122: ("<i2", 32767.0),
    5123: ("<u2", 65535.0),
    5126: ("<f4", 1.0),
}
_WIDTHS: Final = {"translation": 3, "rotation": 4, "scale": 3}
_W_FIRST: Final = [3, 0, 1, 2]  # glTF's quaternions end with w, ours begin with it
_UNEVEN: Final = 1e-3  # of a scale


@dataclass(frozen=True, slots=True)
class _File:
    """The JSON of a file and the bytes of its buffers."""

    path: Path
    document: dict[str, Any]
    binary: bytes  # the buffer inside a .glb file

    def items(self, key: str) -> list[dict[str, Any]]:
        """A top-level list of objects."""
        found = self.document.get(key, [])
        if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
            raise DataError(f"{self.path}: '{key}' is not a list of objects")
        return found


@dataclass(frozen=True, slots=True)
class _Skeleton:
    """Nodes of a file: parents before children, and which of them are joints."""

    names: tuple[str, ...]
    parents: tuple[int, ...]  # of every node
    order: tuple[int, ...]
    joints: tuple[int, ...]  # in the order of `order`
    joint_parents: tuple[int, ...]  # places in `joints`, -1 for the root


def read_gltf(path: Path) -> JointMotion:
    """Read the animation of a glTF file.

    Raises:
        DataError: The file is broken, or has no single animated skeleton; the message says which.
    """
    file = _open(path)
    with _named_errors(path):
        return _motion(file, _skeleton(file))


def read_joints(path: Path) -> tuple[str, ...]:
    """Read the names of the joints of a glTF file alone.

    Raises:
        DataError: The file is broken.
    """
    file = _open(path)
    with _named_errors(path):
        skeleton = _skeleton(file)
    return tuple(skeleton.names[node] for node in skeleton.joints)


@contextmanager
def _named_errors(path: Path) -> Iterator[None]:
    """Turn errors of a document that breaks the format into ours, with the file."""
    try:
        yield
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as problem:
        what = f"{type(problem).__name__}: {problem}"
        raise DataError(f"{path}: is no valid glTF 2.0 ({what})") from problem


# -- file ------------------------------------------------------------------------------------------


def _open(path: Path) -> _File:
    data = read_bytes(path, "a motion (.glb, .gltf)", _LARGEST_BYTES)
    text, binary = _chunks(path, data) if data[:4] == _MAGIC else (data, b"")
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as problem:
        raise DataError(f"{path}: is no glTF: its JSON cannot be read ({problem})") from problem
    version = document.get("asset", {}).get("version") if isinstance(document, dict) else None
    if not str(version).startswith("2."):
        raise DataError(f"{path}: is glTF version {version}; expected 2.0")
    return _File(path, document, binary)


def _chunks(path: Path, data: bytes) -> tuple[bytes, bytes]:
    """JSON and binary chunk of a .glb file."""
    found: dict[int, bytes] = {}
    place = 12
    while place + 8 <= len(data):
        size, kind = struct.unpack_from("<II", data, place)
        if place + 8 + size > len(data):
            raise DataError(f"{path}: a chunk ends after the file; is the file cut short?")
        found.setdefault(kind, data[place + 8 : place + 8 + size])
        place += 8 + size
    if _JSON_CHUNK not in found:
        raise DataError(f"{path}: has no JSON chunk; is the file cut short?")
    return found[_JSON_CHUNK], found.get(_BIN_CHUNK, b"")


def _buffer(file: _File, number: int) -> bytes:
    uri = file.items("buffers")[number].get("uri")
    if uri is None:
        return file.binary
    if uri.startswith("data:"):
        try:
            return base64.b64decode(uri.partition(",")[2], validate=True)
        except binascii.Error as problem:
            raise DataError(f"{file.path}: buffer {number} is no base64 ({problem})") from problem
    folder = file.path.resolve().parent
    place = (folder / unquote(uri)).resolve()
    if "://" in uri or not place.is_relative_to(folder):
        raise DataError(f"{file.path}: buffer '{uri}' is outside the file's folder")
    return read_bytes(place, "the buffer that the .gltf file names", _LARGEST_BYTES)


def _accessor(file: _File, number: int) -> FloatArray:
    """Rows of an accessor."""
    about = file.items("accessors")[number]
    if "sparse" in about or "bufferView" not in about:
        raise DataError(f"{file.path}: accessor {number} is sparse; export without compression")
    view = file.items("bufferViews")[about["bufferView"]]
    if view.get("extensions"):
        kinds = ", ".join(view["extensions"])
        raise DataError(f"{file.path}: uses {kinds}; export the animation without compression")
    kind, divisor = _TYPES[about["componentType"]]
    width, count = _SIZES[about["type"]], int(about["count"])
    item = np.dtype(kind).itemsize * width
    start = int(view.get("byteOffset", 0)) + int(about.get("byteOffset", 0))
    stride = int(view.get("byteStride", item))
    data = _buffer(file, view["buffer"])
    if start < 0 or count < 1 or stride < item or start + stride * (count - 1) + item > len(data):
        raise DataError(f"{file.path}: accessor {number} is larger than its buffer")
    raw = np.ndarray((count, width), kind, data, start, (stride, np.dtype(kind).itemsize))
    return np.maximum(raw.astype(np.float64) / divisor, -1.0 if divisor > 1.0 else -np.inf)


# -- skeleton --------------------------------------------------------------------------------------


def _skeleton(file: _File) -> _Skeleton:
    nodes = file.items("nodes")
    parents = [-1] * len(nodes)
    for number, node in enumerate(nodes):
        for child in node.get("children", []):
            if parents[child] >= 0 or child == number:
                raise DataError(f"{file.path}: node {child} has two parents")
            parents[child] = number
    order = [number for number, parent in enumerate(parents) if parent < 0]
    for number in order:  # grows while it is read
        order += nodes[number].get("children", [])
    if len(order) != len(nodes):
        raise DataError(f"{file.path}: its nodes form a circle")
    names = tuple(str(node.get("name", f"node{k}")) for k, node in enumerate(nodes))
    wanted = {joint for skin in file.items("skins") for joint in skin["joints"]}
    if not wanted:  # an animation without a mesh: what moves, and what hangs on it
        wanted = {channel["target"].get("node", -1) for channel in _channels(file)} - {-1}
        for number in order:
            if parents[number] in wanted:
                wanted.add(number)
    joints = tuple(number for number in order if number in wanted)
    if not joints or len(joints) > _MOST_JOINTS:
        raise DataError(f"{file.path}: has {len(joints)} joints; expected 1 to {_MOST_JOINTS}")
    above = tuple(_joint_above(number, parents, joints) for number in joints)
    _check_joints(file, [names[number] for number in joints], above)
    return _Skeleton(names, tuple(parents), tuple(order), joints, above)


def _joint_above(number: int, parents: list[int], joints: tuple[int, ...]) -> int:
    number = parents[number]
    while number >= 0 and number not in joints:
        number = parents[number]
    return joints.index(number) if number >= 0 else -1


def _check_joints(file: _File, names: list[str], above: tuple[int, ...]) -> None:
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise DataError(f"{file.path}: two joints are named '{twice[0]}'; names must be unique")
    roots = [name for name, parent in zip(names, above, strict=True) if parent < 0]
    if len(roots) > 1:
        raise DataError(
            f"{file.path}: has {len(roots)} skeletons ({', '.join(roots[:5])}); expected one "
            "person a file"
        )


def _channels(file: _File) -> list[dict[str, Any]]:
    animations = file.items("animations")
    if len(animations) != 1:
        names = ", ".join(str(one.get("name", "unnamed")) for one in animations[:8]) or "none"
        raise DataError(
            f"{file.path}: has {len(animations)} animations ({names}); expected one a file"
        )
    channels: list[dict[str, Any]] = animations[0]["channels"]
    return channels


# -- animation -------------------------------------------------------------------------------------


def _motion(file: _File, skeleton: _Skeleton) -> JointMotion:
    tracks = _tracks(file)
    times_s, frame_time_s = _times(file, tracks, len(skeleton.names))
    turned, places = _globals(file, skeleton, tracks, times_s)
    rest_turned, rest_places = _globals(file, skeleton, {}, times_s[:1])
    # As in BVH, no joint is turned at rest: turns since the rest pose, offsets in the file's axes.
    since = multiply(turned, conjugate(rest_turned))
    rotations = since.copy()
    offsets = rest_places[0].copy()
    shifts = places.copy()
    for joint, parent in enumerate(skeleton.joint_parents):
        if parent >= 0:
            back = conjugate(since[:, parent])
            rotations[:, joint] = multiply(back, since[:, joint])
            shifts[:, joint] = rotate(back, places[:, joint] - places[:, parent])
            offsets[joint] = rest_places[0, joint] - rest_places[0, parent]
    size = max(float(np.abs(offsets[1:]).max(initial=0.0)), 1e-12)
    moves = np.abs(shifts[:, 1:] - offsets[1:]).max(initial=0.0) > 1e-4 * size
    return JointMotion(
        names=tuple(skeleton.names[node] for node in skeleton.joints),
        parents=np.array(skeleton.joint_parents, dtype=np.int64),
        offsets=offsets,
        rotations=normalise(rotations),
        root=places[:, 0].copy(),
        frame_time_s=frame_time_s,
        shifts=shifts if moves else None,
    )


@dataclass(frozen=True, slots=True)
class _Track:
    """Values of a property of a node at times, rows of `values`; cubic ones have tangents."""

    times_s: FloatArray
    values: FloatArray
    kind: str

    def at(self, times_s: FloatArray, *, turns: bool) -> FloatArray:
        """Values at any times; before the first and after the last key they stay."""
        keys = self.times_s
        clipped = np.clip(times_s, keys[0], keys[-1])
        left = np.clip(np.searchsorted(keys, clipped, side="right") - 1, 0, max(len(keys) - 2, 0))
        right = np.minimum(left + 1, len(keys) - 1)
        span = np.maximum(keys[right] - keys[left], 1e-12)
        share = ((clipped - keys[left]) / span)[:, None]
        if self.kind == "STEP":
            return np.asarray(self.values[np.where(share[:, 0] >= 1.0, right, left)])
        if self.kind == "CUBICSPLINE":
            out = self._cubic(left, right, span[:, None], share)
            return normalise(out) if turns else out
        if turns:
            return slerp(self.values[left], self.values[right], share[:, 0])
        return np.asarray((1.0 - share) * self.values[left] + share * self.values[right])

    def _cubic(self, left: Any, right: Any, span: FloatArray, share: FloatArray) -> FloatArray:
        before, points, after = self.values[0::3], self.values[1::3], self.values[2::3]
        two, three = share**2, share**3
        return np.asarray(
            (2.0 * three - 3.0 * two + 1.0) * points[left]
            + span * (three - 2.0 * two + share) * after[left]
            + (3.0 * two - 2.0 * three) * points[right]
            + span * (three - two) * before[right]
        )


_Tracks = dict[tuple[int, str], _Track]


def _tracks(file: _File) -> _Tracks:
    channels = _channels(file)
    samplers = file.items("animations")[0]["samplers"]
    tracks: _Tracks = {}
    for channel in channels:
        target, sampler = channel["target"], samplers[channel["sampler"]]
        path, node = target["path"], target.get("node")
        if node is None or path not in _WIDTHS:
            continue  # weights of morph targets
        times_s = _accessor(file, sampler["input"])[:, 0]
        values = _accessor(file, sampler["output"])
        kind = sampler.get("interpolation", "LINEAR")
        rows = len(times_s) * (3 if kind == "CUBICSPLINE" else 1)
        where = f"{file.path}: the {path} of node {node}"
        if not (np.isfinite(times_s).all() and np.isfinite(values).all()):
            raise DataError(f"{where} has values that are not finite")
        if values.shape != (rows, _WIDTHS[path]) or (np.diff(times_s) <= 0.0).any():
            raise DataError(f"{where} is broken: {values.shape} values for {len(times_s)} times")
        if path == "rotation":
            values = values[:, _W_FIRST]
            values = values if kind == "CUBICSPLINE" else normalise(values)
        tracks[int(node), path] = _Track(times_s, values, kind)
    if not any(path == "rotation" for _, path in tracks):
        raise DataError(f"{file.path}: its animation turns no joint")
    return tracks


def _times(file: _File, tracks: _Tracks, nodes: int) -> tuple[FloatArray, float]:
    """Frames at even times: as dense as the densest keys, within bounds."""
    keys = [track.times_s for track in tracks.values()]
    steps = [float(np.median(np.diff(one))) for one in keys if len(one) > 1]
    if not steps:
        raise DataError(f"{file.path}: its animation has a single key; it is a pose, no motion")
    rate_hz = float(np.clip(round(1.0 / min(steps)), *_RATES_HZ))
    first, last = min(one[0] for one in keys), max(one[-1] for one in keys)
    count = int((last - first) * rate_hz + 1e-6) + 1
    if count * nodes > _MOST_VALUES:
        raise DataError(f"{file.path}: {last - first:.0f} s are too long; split the file")
    return first + np.arange(count) / rate_hz, 1.0 / rate_hz


def _globals(
    file: _File, skeleton: _Skeleton, tracks: _Tracks, times_s: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Global rotations (frames, joints, 4) and places (frames, joints, 3)."""
    nodes = file.items("nodes")
    turned: dict[int, FloatArray] = {}
    places: dict[int, FloatArray] = {}
    sizes: dict[int, FloatArray] = {}
    for number in skeleton.order:
        place, turn, size = (
            _property(nodes[number], number, path, tracks, times_s) for path in _WIDTHS
        )
        size = _even(file, skeleton.names[number], size)
        above = skeleton.parents[number]
        if above >= 0:
            place = places[above] + rotate(turned[above], sizes[above] * place)
            turn = multiply(turned[above], turn)
            size = sizes[above] * size
        places[number], turned[number], sizes[number] = place, normalise(turn), size
    joints = skeleton.joints
    return np.stack([turned[j] for j in joints], 1), np.stack([places[j] for j in joints], 1)


def _property(
    node: dict[str, Any], number: int, path: str, tracks: _Tracks, times_s: FloatArray
) -> FloatArray:
    """Values of a node's property, (frames, 3 or 4)."""
    track = tracks.get((number, path))
    if track is not None:
        return track.at(times_s, turns=path == "rotation")
    return np.repeat(_still(node, path)[None], len(times_s), axis=0)


def _still(node: dict[str, Any], path: str) -> FloatArray:
    """A property that is not animated."""
    if "matrix" in node:
        matrix = np.array(node["matrix"], dtype=np.float64).reshape(4, 4).T
        sizes = np.linalg.norm(matrix[:3, :3], axis=0)
        parts = {"translation": matrix[:3, 3], "scale": sizes}
        if path in parts:
            return np.asarray(parts[path])
        return np.asarray(Rotation.from_matrix(matrix[:3, :3] / sizes).as_quat()[_W_FIRST])
    usual = {"translation": [0, 0, 0], "rotation": [0, 0, 0, 1], "scale": [1, 1, 1]}[path]
    values = np.array(node.get(path, usual), dtype=np.float64)
    if values.shape != (_WIDTHS[path],) or not np.isfinite(values).all():
        raise ValueError(f"{path} {node.get(path)}")
    return normalise(values[_W_FIRST]) if path == "rotation" else values


def _even(file: _File, name: str, sizes: FloatArray) -> FloatArray:
    """Scale of a node, (frames, 1); bones must keep their shape."""
    mean = sizes.mean(axis=1, keepdims=True)
    if (mean <= 0.0).any() or (np.abs(sizes - mean) > _UNEVEN * mean).any():
        raise DataError(f"{file.path}: '{name}' is stretched or mirrored; apply its scale first")
    return np.asarray(mean)
