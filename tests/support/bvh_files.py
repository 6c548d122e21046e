"""BVH files of any naming convention, written from a motion with known answers, and an oracle.

The writer changes names, axes, unit, rest pose and the joints of the trunk. The oracle reads such a
file with code of its own and computes where its joints are.
"""

import re

import numpy as np
from scipy.spatial.transform import Rotation

from jaywalk.motion.smpl import BODY_OFFSETS_M, JOINTS, PARENTS

_SIDES = (("left", "L"), ("right", "R"))


def _both(pattern, parts):
    return {
        f"{long}_{ours}": pattern(long, short, theirs)
        for long, short in _SIDES
        for ours, theirs in parts.items()
    }


#: Names of our joints in conventions that programs use.
CONVENTIONS = {
    "mixamo": {
        "pelvis": "mixamorig:Hips", "spine1": "mixamorig:Spine", "spine2": "mixamorig:Spine1",
        "spine3": "mixamorig:Spine2", "neck": "mixamorig:Neck", "head": "mixamorig:Head",
        **_both(lambda side, _, part: f"mixamorig:{side.title()}{part}", {
            "hip": "UpLeg", "knee": "Leg", "ankle": "Foot", "foot": "ToeBase", "collar": "Shoulder",
            "shoulder": "Arm", "elbow": "ForeArm", "wrist": "Hand"}),
    },
    "xsens": {
        "pelvis": "Hips", "spine1": "Chest", "spine2": "Chest2", "spine3": "Chest4",
        "neck": "Neck", "head": "Head",
        **_both(lambda side, _, part: f"{side.title()}{part}", {
            "hip": "Hip", "knee": "Knee", "ankle": "Ankle", "foot": "Toe", "collar": "Collar",
            "shoulder": "Shoulder", "elbow": "Elbow", "wrist": "Wrist"}),
    },
    "rokoko": {
        "pelvis": "Hips", "spine1": "Spine", "spine2": "Spine2", "spine3": "Spine4",
        "neck": "Neck", "head": "Head",
        **_both(lambda side, _, part: f"{side.title()}{part}", {
            "hip": "Thigh", "knee": "Shin", "ankle": "Foot", "foot": "Toe", "collar": "Shoulder",
            "shoulder": "Arm", "elbow": "ForeArm", "wrist": "Hand"}),
    },
    "smpl": {
        "pelvis": "m_avg_Pelvis", "spine1": "m_avg_Spine1", "spine2": "m_avg_Spine2",
        "spine3": "m_avg_Spine3", "neck": "m_avg_Neck", "head": "m_avg_Head",
        **_both(lambda _, side, part: f"m_avg_{side}_{part}", {
            "hip": "Hip", "knee": "Knee", "ankle": "Ankle", "foot": "Foot", "collar": "Collar",
            "shoulder": "Shoulder", "elbow": "Elbow", "wrist": "Wrist"}),
    },
    "biped": {
        "pelvis": "Bip01 Pelvis", "spine1": "Bip01 Spine", "spine2": "Bip01 Spine1",
        "spine3": "Bip01 Spine2", "neck": "Bip01 Neck", "head": "Bip01 Head",
        **_both(lambda _, side, part: f"Bip01 {side} {part}", {
            "hip": "Thigh", "knee": "Calf", "ankle": "Foot", "foot": "Toe0", "collar": "Clavicle",
            "shoulder": "UpperArm", "elbow": "Forearm", "wrist": "Hand"}),
    },
    "blender": {
        "pelvis": "pelvis", "spine1": "spine_01", "spine2": "spine_02", "spine3": "spine_03",
        "neck": "neck_01", "head": "head",
        **_both(lambda side, _, part: f"{part}.{side[0].upper()}", {
            "hip": "thigh", "knee": "shin", "ankle": "foot", "foot": "toe", "collar": "clavicle",
            "shoulder": "upper_arm", "elbow": "forearm", "wrist": "hand"}),
    },
}  # fmt: skip


def write_convention(
    path, motion, names, *, unit_m=0.01, up="y", rest=None, channels="ZXY", rate_hz=None,
    all_positions=False, end_sites=True, drop=(), edit=lambda text: text,
):  # fmt: skip
    """Write a motion under other names, axes, unit and rest pose.

    Args:
        path: The file.
        motion: A ``Clip``.
        names: Names of our joints in the file.
        unit_m: Metres in one unit.
        up: ``y`` or ``z``.
        rest: Rotation vector of our joints in the rest pose, by name; children follow.
        channels: Order of the rotations; "" for positions alone.
        rate_hz: In the header; the motion's by default.
        all_positions: Six channels on every joint.
        end_sites: Write them.
        drop: Joints left out; their children hang on their parents.
        edit: Last change of the text.
    """  # fmt: skip
    axes = Rotation.identity() if up == "y" else Rotation.from_euler("x", 90, degrees=True)
    frames = motion.frames
    turned = _globals(
        [Rotation.from_quat(motion.rotations[:, j][:, [1, 2, 3, 0]]) for j in range(22)]
    )
    places = _places(turned, motion.root_m, motion.body_scale * BODY_OFFSETS_M)
    at_rest = [Rotation.from_rotvec((rest or {}).get(name, (0, 0, 0))) for name in JOINTS]
    resting = _globals([Rotation.from_quat(np.atleast_2d(turn.as_quat())) for turn in at_rest])
    kept = [j for j in range(22) if JOINTS[j] not in drop]
    above = {j: _kept_parent(j, kept) for j in kept}
    rest_places = _places(resting, np.zeros((1, 3)), motion.body_scale * BODY_OFFSETS_M)[0]
    new = [axes * turned[j] * resting[j].inv() * axes.inv() for j in range(22)]

    def offset(j):
        away = rest_places[j] - rest_places[above[j]] if above[j] >= 0 else np.zeros(3)
        return axes.apply(away) / unit_m

    columns = []

    def place(j):
        if above[j] < 0:
            return axes.apply(places[:, j]) / unit_m
        moved = axes.apply(places[:, j] - places[:, above[j]]) / unit_m
        return moved if not channels else new[above[j]].inv().apply(moved)

    def block(j, depth):
        word = "ROOT" if above[j] < 0 else "JOINT"
        kinds = []
        if above[j] < 0 or all_positions or not channels:
            kinds += ["Xposition", "Yposition", "Zposition"]
            columns.append(place(j))
        if channels:
            kinds += [f"{axis}rotation" for axis in channels]
            local = new[j] if above[j] < 0 else new[above[j]].inv() * new[j]
            columns.append(local.as_euler(channels, degrees=True))
        x, y, z = offset(j)
        below = [k for k in kept if above[k] == j]
        inner = "".join(block(k, depth + 1) for k in below)
        if not below and end_sites:
            inner = "End Site\n{\nOFFSET 0.0 0.1 0.0\n}\n"
        return (
            f"{word} {names[JOINTS[j]]}\n{{\nOFFSET {x!r} {y!r} {z!r}\n".replace("np.float64", "")
            + f"CHANNELS {len(kinds)} {' '.join(kinds)}\n{inner}}}\n"
        )

    head = "HIERARCHY\n" + re.sub(r"\((-?[\d.e-]+)\)", r"\1", block(0, 0))
    rows = np.concatenate(columns, axis=1)
    lines = "\n".join(" ".join(f"{value:.9f}" for value in row) for row in rows)
    head += f"MOTION\nFrames: {frames}\nFrame Time: {1.0 / (rate_hz or motion.rate_hz):.7f}\n"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(edit(head + lines + "\n"), encoding="utf-8")
    return path


def _kept_parent(j, kept):
    parent = int(PARENTS[j])
    while parent >= 0 and parent not in kept:
        parent = int(PARENTS[parent])
    return parent


def _globals(local):
    out = []
    for j, turn in enumerate(local):
        out.append(turn if PARENTS[j] < 0 else out[PARENTS[j]] * turn)
    return out


def _places(turned, root, offsets):
    out = np.zeros((len(root), len(offsets), 3))
    out[:, 0] = root
    for j in range(1, len(offsets)):
        parent = int(PARENTS[j])
        out[:, j] = out[:, parent] + turned[parent].apply(offsets[j])
    return out


def oracle_positions(path):
    """Joints of a BVH file by name, (frames, 3) each, in its units; reads the text on its own."""
    text = path.read_text(encoding="utf-8")
    head, tail = re.split(r"^MOTION$", text, maxsplit=1, flags=re.M)
    rows = np.array([line.split() for line in tail.strip().split("\n")[2:]], dtype=float)
    stack, found, column = [], {}, 0
    name = None
    for line in head.split("\n"):
        words = line.split()
        if not words:
            continue
        if words[0] in ("ROOT", "JOINT", "End"):
            name = None if words[0] == "End" else line.split(None, 1)[1].strip()
        elif words[0] == "{":
            stack.append(name)
        elif words[0] == "}":
            stack.pop()
        elif words[0] == "OFFSET" and stack[-1] is not None:
            offset = np.array(words[1:], dtype=float)
        elif words[0] == "CHANNELS":
            part = rows[:, column : column + int(words[1])]
            column += int(words[1])
            kinds = words[2:]
            moved = [part[:, k] for k, kind in enumerate(kinds) if kind.endswith("position")]
            turns = [k for k, kind in enumerate(kinds) if kind.endswith("rotation")]
            order = "".join(kinds[k][0] for k in turns)
            local = Rotation.from_euler(order, part[:, turns], degrees=True) if order else None
            shift = np.stack(moved, axis=1) if moved else np.tile(offset, (len(rows), 1))
            parent = stack[-2] if len(stack) > 1 else None
            turn = local if local is not None else Rotation.identity(len(rows))
            if parent is None:
                found[stack[-1]] = (shift, turn)
            else:
                place, above = found[parent]
                found[stack[-1]] = (place + above.apply(shift), above * turn)
    return {name: place for name, (place, _) in found.items()}
