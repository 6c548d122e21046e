"""The model as a small file: 8-bit numbers with a scale each row or column, no pickles."""

from __future__ import annotations

import hashlib
import json
import zipfile
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, Final

import numpy as np

from jaywalk.core.arrays import FloatArray
from jaywalk.core.errors import DataError
from jaywalk.core.files import parse_arrays, read_bytes
from jaywalk.geometry.rotation import normalise
from jaywalk.motion.synthesis._action_model import PATH_STEP, POSE_STEP, ActionBank
from jaywalk.motion.synthesis._actions import ActionKind
from jaywalk.motion.synthesis._gait_model import GaitCodes, GaitModel
from jaywalk.motion.synthesis._stand_model import StandModel

VERSION: Final = 1
DEFAULT_FILE: Final = "default_motion_model.npz"
EVERYDAY_FILE: Final = "everyday_motion_model.npz"
ACKNOWLEDGEMENT: Final = (
    "Trained on data obtained from mocap.cs.cmu.edu. The database was created with funding from "
    "NSF EIA-0196217."
)
_LARGEST_BYTES: Final = 8_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class MotionModel:
    """Everything that generates motions.

    Attributes:
        means: (22, 4) mean rotation of every joint.
        gait: Walking and running.
        stand: Standing.
        facts: What it was trained on, and the acknowledgement.
        digest: Fingerprint of the file.
        actions: What everyday people do; None: a model of gait and standing only.
    """

    means: FloatArray
    gait: GaitModel
    stand: StandModel
    facts: dict[str, Any]
    digest: str = ""
    actions: ActionBank | None = None


def save_model(model: MotionModel, path: Path) -> None:
    """Write a model; the same model gives the same bytes."""
    codes = model.gait.codes
    arrays: dict[str, np.ndarray] = {"means": model.means.astype("<f4")}
    arrays |= _plain("gait", model.gait, ("mean", "signs", "regression", "within"))
    arrays |= _packed("gait.axes", model.gait.axes, 1)
    arrays |= _packed("codes.residuals", codes.residuals, 0)
    arrays |= _plain("codes", codes, ("log_speed", "turn_rad", "looks"), "<f2")
    arrays["codes.runs"] = np.packbits(codes.runs)
    arrays["codes.sequence"] = codes.sequence.astype("<u2")
    stand = model.stand
    arrays |= _plain("stand", stand, ("posture_mean", "quiet_log", "gesture_s"))
    for name in ("posture_axes", "move_axes", "gesture_axes"):
        arrays |= _packed(f"stand.{name}", getattr(stand, name), 1)
    for name in ("postures", "gestures"):
        arrays |= _packed(f"stand.{name}", getattr(stand, name), 0)
    arrays["stand.neutral"] = np.packbits(stand.neutral)
    if model.actions is not None:
        arrays |= _action_arrays(model.actions)
    facts = {"version": VERSION, **model.facts}
    arrays["facts"] = np.frombuffer(json.dumps(facts, sort_keys=True).encode(), dtype=np.uint8)
    with path.open("wb") as file:
        np.savez_compressed(file, **arrays)  # type: ignore[arg-type]


def _plain(prefix: str, thing: object, names: tuple[str, ...], kind: str = "<f4") -> dict[str, Any]:
    return {f"{prefix}.{name}": getattr(thing, name).astype(kind) for name in names}


def _packed(name: str, values: FloatArray, axis: int) -> dict[str, np.ndarray]:
    """8-bit numbers, scaled along one axis so that the largest is 127."""
    scale = np.maximum(np.abs(values).max(axis=axis, keepdims=True), 1e-12) / 127.0
    scale = scale.astype("<f4")
    return {name: np.rint(values / scale).astype(np.int8), f"{name}.scale": scale}


def _action_arrays(bank: ActionBank) -> dict[str, np.ndarray]:
    kinds = [list(ActionKind).index(kind) for kind in bank.kinds]
    return {
        "actions.kinds": np.array(kinds, np.uint8),
        "actions.seconds": bank.seconds.astype("<f4"),
        "actions.terms": bank.terms.astype("<u2"),
        **_packed("actions.pose_axes", bank.pose_axes, 1),
        **_stepped("actions.poses", bank.poses, POSE_STEP),
        **_stepped("actions.paths", bank.paths, PATH_STEP),
    }


def _stepped(name: str, values: FloatArray, step: float) -> dict[str, np.ndarray]:
    """Whole steps of 16 bits in two planes: the upper one is nearly empty and packs well."""
    whole = np.rint(values / step)
    if np.abs(whole).max(initial=0.0) > 32767.0:
        raise DataError(f"{name}: a value of {np.abs(values).max():g}; expected {32767 * step:g}")
    planes = np.ascontiguousarray(whole.T.astype("<i2")).view(np.uint8)
    planes = planes.reshape(*values.T.shape, 2)
    return {f"{name}.low": planes[..., 0].copy(), f"{name}.high": planes[..., 1].copy()}


def load_model(path: Path) -> MotionModel:
    """Read a model file.

    Raises:
        DataError: It is not a model, is broken, or has another version.
    """
    return _parse(read_bytes(path, "a motion model (.npz)", _LARGEST_BYTES), str(path))


@cache
def default_model() -> MotionModel:
    """The model of HABIT's people that comes with the package."""
    return _packaged(DEFAULT_FILE)


@cache
def everyday_model() -> MotionModel:
    """The model of everyday people that comes with the package."""
    return _packaged(EVERYDAY_FILE)


def _packaged(name: str) -> MotionModel:
    place = resources.files("jaywalk.motion") / "data" / name
    return _parse(place.read_bytes(), name)


def _parse(content: bytes, name: str) -> MotionModel:
    try:
        if len(content) > _LARGEST_BYTES:
            raise DataError(f"{name}: {len(content)} bytes; no motion model is that large")
        arrays = parse_arrays(content, name, "a motion model (.npz)")
        facts = json.loads(arrays["facts"].tobytes())
        if facts.get("version") != VERSION:
            raise DataError(
                f"{name}: model version {facts.get('version')}; this program reads {VERSION}. "
                "Train it again with 'jaywalk motion model train'."
            )
        digest = hashlib.blake2b(content, digest_size=8).hexdigest()
        return MotionModel(
            means=normalise(arrays["means"].astype(np.float64)),
            gait=_gait(arrays),
            stand=_stand(arrays),
            facts=facts,
            digest=digest,
            actions=_actions(arrays) if "actions.kinds" in arrays else None,
        )
    except (
        ValueError,
        KeyError,
        OSError,
        EOFError,
        zipfile.BadZipFile,
        AttributeError,
        IndexError,
    ) as problem:
        raise DataError(f"{name}: is not a motion model ({problem!r})") from problem


def _unpacked(arrays: dict[str, np.ndarray], name: str) -> FloatArray:
    return np.asarray(arrays[name].astype(np.float64) * arrays[f"{name}.scale"].astype(np.float64))


def _double(arrays: dict[str, np.ndarray], name: str) -> FloatArray:
    values = np.asarray(arrays[name].astype(np.float64))
    if not np.isfinite(values).all():
        raise ValueError(f"{name} holds values that are not finite")
    return values


def _gait(arrays: dict[str, np.ndarray]) -> GaitModel:
    residuals = _unpacked(arrays, "codes.residuals")
    count = len(residuals)
    codes = GaitCodes(
        residuals=residuals,
        log_speed=_double(arrays, "codes.log_speed"),
        turn_rad=_double(arrays, "codes.turn_rad"),
        runs=np.unpackbits(arrays["codes.runs"], count=count).astype(bool),
        sequence=arrays["codes.sequence"].astype(np.int64),
        looks=_double(arrays, "codes.looks"),
    )
    signs = _double(arrays, "gait.signs")
    return GaitModel(
        mean=_double(arrays, "gait.mean"),
        axes=_unpacked(arrays, "gait.axes"),
        signs=signs,
        regression=_double(arrays, "gait.regression"),
        within=_double(arrays, "gait.within"),
        codes=codes.with_twins(signs),
    )


def _stand(arrays: dict[str, np.ndarray]) -> StandModel:
    postures = _unpacked(arrays, "stand.postures")
    neutral = np.unpackbits(arrays["stand.neutral"], count=len(postures)).astype(bool)
    return StandModel(
        posture_mean=_double(arrays, "stand.posture_mean"),
        posture_axes=_unpacked(arrays, "stand.posture_axes"),
        postures=postures,
        neutral=neutral,
        move_axes=_unpacked(arrays, "stand.move_axes"),
        quiet_log=_double(arrays, "stand.quiet_log"),
        gesture_axes=_unpacked(arrays, "stand.gesture_axes"),
        gestures=_unpacked(arrays, "stand.gestures"),
        gesture_s=_double(arrays, "stand.gesture_s"),
    )


def _actions(arrays: dict[str, np.ndarray]) -> ActionBank:
    kinds = list(ActionKind)
    bank = ActionBank(
        kinds=tuple(kinds[number] for number in arrays["actions.kinds"].tolist()),
        seconds=_double(arrays, "actions.seconds"),
        terms=arrays["actions.terms"].astype(np.int64),
        pose_axes=_unpacked(arrays, "actions.pose_axes"),
        poses=_from_steps(arrays, "actions.poses", POSE_STEP),
        paths=_from_steps(arrays, "actions.paths", PATH_STEP),
    )
    rows = int(bank.terms.sum())
    if not len(bank.kinds) == len(bank.seconds) == len(bank.terms):
        raise ValueError("kinds, durations and terms of actions differ in number")
    if rows != len(bank.poses) or rows != len(bank.paths) or (bank.terms < 1).any():
        raise ValueError(f"{rows} terms of actions; {len(bank.poses)} are stored")
    if not ((bank.seconds > 0.2) & (bank.seconds < 60.0)).all():
        raise ValueError("an action lasts less than 0.2 or more than 60 seconds")
    return bank


def _from_steps(arrays: dict[str, np.ndarray], name: str, step: float) -> FloatArray:
    planes = np.stack([arrays[f"{name}.low"], arrays[f"{name}.high"]], axis=-1)
    whole = np.ascontiguousarray(planes, np.uint8).view("<i2")[..., 0]
    return np.asarray(step * whole.T.astype(np.float64))
