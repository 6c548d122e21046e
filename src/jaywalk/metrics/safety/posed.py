"""Posed people of a record, with bones recomputed from clip, phase and path."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from jaywalk.core.arrays import FloatArray
from jaywalk.core.errors import DataError
from jaywalk.core.walker_attributes import CARRIES
from jaywalk.motion import packaged_library
from jaywalk.motion.carla_rigs import RIG_NAMES, rig_for_walker
from jaywalk.motion.library.reading import EVERYDAY, library_digest, open_library
from jaywalk.motion.playback.bank import ClipBank
from jaywalk.motion.playback.holding import arm_tables, hold_things, holds_of
from jaywalk.motion.playback.overlay import bend_trunks, stoop_rad, turn_heads
from jaywalk.motion.playback.reposing import Played, repose
from jaywalk.motion.retarget import RigClip
from jaywalk.record import Record
from jaywalk.record import columns as c
from jaywalk.record.queries import actor_rows, state_rows

_COLUMNS: Final = (
    c.ACTOR,
    c.TICK,
    c.X_M,
    c.Y_M,
    c.Z_M,
    c.YAW_DEG,
    c.CLIP,
    c.CLIP_PHASE,
    c.CLIP_BLEND,
    c.GAZE_YAW_DEG,
    c.GAZE_PITCH_DEG,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PosedPerson:
    """One posed person, with one row per tick until the end or until they were knocked down.

    Attributes:
        actor: Number in the record.
        tick: (n,) ticks without gaps.
        clip: Names.
        weight: (n,) of the clip over the one before.
        motion: Poses; its ``actor`` has the ground's z.
    """

    actor: int
    tick: NDArray[np.int64]
    clip: tuple[str, ...]
    phase: FloatArray
    weight: FloatArray
    motion: RigClip


def bank_for(record: Record, motions: Path | None) -> ClipBank:
    """The clips a record's people were posed by.

    Args:
        record: Says which library it was.
        motions: Folder of that library; None: the one that comes along.

    Raises:
        DataError: The record's people were posed by another library.
    """
    library = str(record.episode.parameters.get("motions") or "")
    if motions is None:
        if library not in ("", EVERYDAY):
            raise DataError(
                f"{record.folder}: people were posed by the library '{library}'. Give its folder "
                "with --motions."
            )
        return ClipBank(packaged_library(library))
    digest = library_digest(motions)[:16]
    if not library.endswith(f"sha256:{digest}"):
        raise DataError(
            f"{record.folder}: people were posed by {library or 'our own library'}; {motions} is "
            f"sha256:{digest}. Give the library the run was made with."
        )
    return ClipBank(open_library(motions))


def posed_people(record: Record, bank: ClipBank) -> Iterator[PosedPerson]:
    """Yield all posed people of a record in the order of their actor numbers."""
    rows = state_rows(record, _COLUMNS, posed=True)
    about = {int(row[c.ACTOR]): row for row in actor_rows(record, "walker").iter_rows(named=True)}
    step_s = record.episode.step_s or 0.05
    for (number,), own in rows.group_by(c.ACTOR, maintain_order=True):
        actor = int(number)
        yield _person(actor, own, about[actor], bank, step_s)


def _person(
    actor: int, own: pl.DataFrame, about: dict[str, object], bank: ClipBank, step_s: float
) -> PosedPerson:
    tick = own[c.TICK].to_numpy().astype(np.int64)
    gap = np.flatnonzero(np.diff(tick) != 1)
    if len(gap):  # after a gap another controller moved them
        own, tick = own.head(int(gap[0]) + 1), tick[: int(gap[0]) + 1]
    attributes = json.loads(str(about[c.ATTRIBUTES] or "{}"))
    rig = rig_for_walker({key: str(attributes.get(key, "")) for key in ("gender", "age")})
    sole_m = float(about[c.OFFSET_Z_M] or 0.0) - float(about[c.HALF_Z_M] or 0.0)  # type: ignore[arg-type]
    way = np.column_stack(
        [own[name].to_numpy().astype(np.float64) for name in (c.X_M, c.Y_M, c.Z_M, c.YAW_DEG)]
    )
    way[:, 2] += sole_m
    way[:, 3] = np.unwrap(np.radians(way[:, 3]))
    clip, phase, weight = own[c.CLIP].to_list(), own[c.CLIP_PHASE], own[c.CLIP_BLEND]
    played = Played(
        rig=rig.name,
        clip=clip,
        phase=phase.to_numpy().astype(np.float64),
        weight=weight.to_numpy().astype(np.float64),
        actor=way,
        delta_s=step_s,
    )
    motion = repose(bank, played)
    gaze_deg = np.column_stack(
        [own[name].fill_null(0.0).to_numpy() for name in (c.GAZE_YAW_DEG, c.GAZE_PITCH_DEG)]
    )
    if own[c.GAZE_YAW_DEG].is_not_null().any():  # people who react
        bend = stoop_rad(str(attributes.get("age", "")), str(about[c.TYPE_ID]))
        bend_trunks(motion.turns, np.full(len(tick), bend))
    turn_heads(motion.turns, np.radians(gaze_deg, dtype=np.float64))
    holds = holds_of([(rig.name, str(attributes.get(CARRIES, "")))])
    if holds.held.any():
        rigs = np.full(len(tick), RIG_NAMES.index(rig.name), np.int64)
        each = holds.of([0] * len(tick))
        hold_things(motion.turns, motion.hips_m, rigs, arm_tables(), each)
    return PosedPerson(
        actor=actor,
        tick=tick,
        clip=tuple(clip),
        phase=played.phase,
        weight=played.weight,
        motion=motion,
    )
