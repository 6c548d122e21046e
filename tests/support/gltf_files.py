"""glTF files of a skeleton whose motion is known, and an oracle for its joints.

The writer puts our skeleton under an armature node that is turned and scaled, as exporters do.
"""

import base64
import json
import struct

import numpy as np
from scipy.spatial.transform import Rotation

from jaywalk.motion.smpl import BODY_OFFSETS_M, JOINTS, PARENTS

ARMATURE_TURN = Rotation.from_euler("x", -90, degrees=True)
ARMATURE_SCALE = 0.01


def write_gltf(
    path, motion, names, *, rest=None, kind="LINEAR", skin=True, keys=1, armature=True,
    edit=lambda document: None,
):  # fmt: skip
    """Write a ``Clip`` under other names.

    Args:
        path: The file, .glb, or .gltf with a .bin beside it.
        motion: A ``Clip``.
        names: Names of our joints in the file.
        rest: Rotation vector of our joints in the rest pose, by name.
        kind: Interpolation of the rotations.
        skin: Write a skin; otherwise the animation alone says which nodes are joints.
        keys: Every how many frames a key is written.
        armature: Put the skeleton under a turned and scaled node.
        edit: Last change of the JSON.
    """
    turn = ARMATURE_TURN if armature else Rotation.identity()
    scale = ARMATURE_SCALE if armature else 1.0
    frames = np.arange(0, motion.frames, keys)
    data, views, accessors = b"", [], []

    def accessor(values):
        nonlocal data
        values = np.asarray(values, dtype="<f4")
        width = 1 if values.ndim == 1 else values.shape[1]
        views.append({"buffer": 0, "byteOffset": len(data), "byteLength": values.nbytes})
        data += values.tobytes()
        kinds = {1: "SCALAR", 3: "VEC3", 4: "VEC4"}
        accessors.append(
            {"bufferView": len(views) - 1, "componentType": 5126, "count": len(values),
             "type": kinds[width]}
        )  # fmt: skip
        return len(accessors) - 1

    offsets = motion.body_scale * BODY_OFFSETS_M
    resting = {name: Rotation.from_rotvec((rest or {}).get(name, (0, 0, 0))) for name in JOINTS}
    nodes = [
        {
            "name": names[name],
            "translation": list(turn.inv().apply(offsets[j]) / scale),
            "rotation": list((turn.inv() * resting[name] * turn).as_quat()),
            "children": [k for k in range(22) if PARENTS[k] == j],
        }
        for j, name in enumerate(JOINTS)
    ]
    times = accessor(frames / motion.rate_hz)
    samplers, channels = [], []

    def animate(node, property_, values, interpolation="LINEAR"):
        if interpolation == "CUBICSPLINE":  # straight lines: tangents are the slopes
            slopes = np.gradient(values, frames / motion.rate_hz, axis=0)
            values = np.stack([slopes, values, slopes], axis=1).reshape(-1, values.shape[1])
        samplers.append(
            {"input": times, "output": accessor(values), "interpolation": interpolation}
        )
        target = {"node": node, "path": property_}
        channels.append({"sampler": len(samplers) - 1, "target": target})

    for j in range(22):
        local = Rotation.from_quat(motion.rotations[frames, j][:, [1, 2, 3, 0]])
        quaternions = (turn.inv() * local * turn).as_quat()
        flips = np.cumprod(
            np.where((quaternions[1:] * quaternions[:-1]).sum(axis=1) < 0.0, -1.0, 1.0)
        )
        quaternions[1:] *= flips[:, None]
        animate(j, "rotation", quaternions, kind)
    animate(0, "translation", turn.inv().apply(motion.root_m[frames]) / scale)
    if armature:
        nodes.append(
            {
                "name": "Armature",
                "children": [0],
                "rotation": list(turn.as_quat()),
                "scale": [scale] * 3,
            }
        )
    document = {
        "asset": {"version": "2.0"},
        "nodes": nodes,
        "animations": [{"name": "take", "samplers": samplers, "channels": channels}],
        "accessors": accessors,
        "bufferViews": views,
        "buffers": [{"byteLength": len(data)}],
    }
    if skin:
        document["skins"] = [{"joints": list(range(22))}]
    if path.suffix == ".gltf":
        document["buffers"][0]["uri"] = f"{path.stem}.bin"
    edit(document)
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".gltf":
        path.with_suffix(".bin").write_bytes(data)
        path.write_text(json.dumps(document))
        return path
    text = json.dumps(document).encode()
    text += b" " * (-len(text) % 4)
    data += b"\0" * (-len(data) % 4)
    chunks = struct.pack("<II", len(text), 0x4E4F534A) + text
    chunks += struct.pack("<II", len(data), 0x004E4942) + data
    path.write_bytes(b"glTF" + struct.pack("<II", 2, 12 + len(chunks)) + chunks)
    return path


def inline(document, data):
    """Put the buffer into the document as base64."""
    document["buffers"][0]["uri"] = "data:application/octet-stream;base64," + base64.b64encode(
        data
    ).decode("ascii")


def oracle_positions(motion):
    """(frames, 22, 3) joints of a ``Clip``, in metres with y up; by scipy alone."""
    out = np.zeros((motion.frames, 22, 3))
    turned = []
    offsets = motion.body_scale * BODY_OFFSETS_M
    for j in range(22):
        local = Rotation.from_quat(motion.rotations[:, j][:, [1, 2, 3, 0]])
        if PARENTS[j] < 0:
            turned.append(local)
            out[:, j] = motion.root_m
        else:
            turned.append(turned[PARENTS[j]] * local)
            out[:, j] = out[:, PARENTS[j]] + turned[PARENTS[j]].apply(offsets[j])
    return out
