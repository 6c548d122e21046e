"""Bodies of the walkers: rigs, animation and poses set by programs.

Poses are computed only when a client asks for bones or a sensor measures.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import numpy as np

from jaywalk.core.arrays import FloatArray
from jaywalk.core.seeds import derive_seed
from jaywalk.motion.carla_rigs import RIG_NAMES, Rig, load_rig, rig_for_walker
from jaywalk.motion.kinematics import bone_report
from jaywalk.motion.pose import PoseOverride
from jaywalk.motion.posing import rig_tables
from jaywalk.motion.walk_cycle import animate_walkers
from jaywalk.server.world import _wheelchair
from jaywalk.server.world._blueprint_types import Blueprint
from jaywalk.server.world._tables import ActorColumns
from jaywalk.server.world.walker_blueprints import ANIMAL_BY_BLUEPRINT

log = logging.getLogger("jaywalk.people")

_MOST_PENDING: Final = 8


@dataclass(slots=True, kw_only=True, eq=False)
class WalkerBody:
    """One walker's body: its rig, its animation and the pose that a program set."""

    row: int
    rig: Rig
    style: float  # any fixed number in 0..1; small differences between people
    in_wheelchair: bool = False
    is_animal: bool = False  # keeps a person's bones for programs, but does not look like them
    override: PoseOverride = field(default_factory=PoseOverride)
    pending: list[Any] = field(default_factory=list)  # bone lists not yet decoded


class BoneTransforms(NamedTuple):
    """Transforms of a walker's bones."""

    names: tuple[str, ...]
    # (bones, 3, 2, 3): world, component and relative transforms, each [location, rotation in deg].
    transforms: FloatArray


def _names(bones: Any) -> list[Any] | None:
    """Return the names of the bones in an unchecked list; None if it has none."""
    try:
        return [bone[0] for bone in bones]
    except (TypeError, IndexError, KeyError):
        return None


class WalkerBodies:
    """All walkers' bodies, by actor id."""

    def __init__(self) -> None:
        self._people: dict[int, WalkerBody] = {}

    def add(self, actor_id: int, row: int, blueprint: Blueprint, serial: int) -> int:
        """Give a walker its rig and a style by its serial number; returns the rig's index."""
        rig = rig_for_walker({name: blueprint.value(name) for name in ("gender", "age")})
        style = derive_seed(0, "style", serial) / 2**64
        animal = blueprint.id in ANIMAL_BY_BLUEPRINT
        self._people[actor_id] = WalkerBody(
            row=row,
            rig=rig,
            style=style,
            in_wheelchair=blueprint.body is _wheelchair.BODY,
            is_animal=animal,
        )
        return RIG_NAMES.index(rig.name)

    def remove(self, actor_id: int) -> None:
        """Forget a walker."""
        self._people.pop(actor_id, None)

    def set_bones(self, actor_id: int, bones: Any, columns: ActorColumns, time_s: float) -> None:
        """Store a list of (name, transform) pairs; it is decoded when a pose is needed.

        The first list is decoded at once, because bones that it does not name keep the present
        animation frame.
        """
        person = self._people[actor_id]
        if person.override.snapshot is None:
            person.override.capture(self._animated(person, columns, time_s))
        if len(bones) >= len(person.rig.bones):
            person.pending.clear()
        elif not isinstance(bones, list | tuple):  # packed: its names are needed now
            self.set_bones(actor_id, bones.decoded(), columns, time_s)
            return
        elif person.pending and _names(person.pending[-1]) == _names(bones):
            person.pending.pop()  # a player that names the same bones on every tick
        person.pending.append(bones)
        if len(person.pending) > _MOST_PENDING:
            self._decode(person)

    def set_blend(self, actor_id: int, weight: float) -> None:
        """Weight of the custom pose over the animation."""
        self._people[actor_id].override.weight = weight

    def capture(self, actor_id: int, columns: ActorColumns, time_s: float) -> None:
        """Make the present animation frame the custom pose."""
        person = self._people[actor_id]
        person.pending.clear()
        person.override.capture(self._animated(person, columns, time_s))

    def show(self, actor_id: int, pose: FloatArray | None) -> None:
        """Show a pose (bones, 7) in place of the animation; None: the animation."""
        person = self._people[actor_id]
        person.pending.clear()
        person.override.snapshot = pose
        person.override.weight = 0.0 if pose is None else 1.0

    def bones(self, actor_id: int, columns: ActorColumns, time_s: float) -> BoneTransforms:
        """Return the transforms of every bone as displayed."""
        person = self._people[actor_id]
        row = columns.table[person.row]
        pose = np.array([float(row[name]) for name in ("x", "y", "z", "pitch", "yaw", "roll")])
        shown = self._shown(person, columns, time_s)
        report = bone_report(shown, person.rig.parents, pose, float(row["ez"]))
        return BoneTransforms(person.rig.bones, report)

    def _shown(self, person: WalkerBody, columns: ActorColumns, time_s: float) -> FloatArray:
        self._decode(person)
        return person.override.shown(self._animated(person, columns, time_s))

    @staticmethod
    def _decode(person: WalkerBody) -> None:
        for bones in person.pending:
            try:
                if not isinstance(bones, list | tuple):
                    bones = bones.decoded()
                base = person.override.snapshot
                person.override.set_bones(
                    person.rig, person.rig.rest_local if base is None else base, bones
                )
            except Exception as problem:  # untrusted input, decoded late
                log.warning("a bone list was dropped: %s", problem)
        person.pending.clear()

    @staticmethod
    def _animated(person: WalkerBody, columns: ActorColumns, time_s: float) -> FloatArray:
        row = columns.table[person.row]
        if person.in_wheelchair and row["down_s"] <= 0.0:
            return _wheelchair.seated_pose(person.rig.name).copy()
        speed = float(np.hypot(row["vx"], row["vy"]))
        poses = animate_walkers(
            rig_tables(),
            np.array([person.rig.index]),
            np.array([speed]),
            np.array([float(row["gait_phase"])]),
            time_s,
            np.array([person.style]),
            np.array([1.0 if row["down_s"] > 0.0 else 0.0]),
        )
        pose: FloatArray = poses[0]
        return pose

    def local_poses(self, columns: ActorColumns, time_s: float) -> tuple[list[int], FloatArray]:
        """Rows and (walkers, bones, 7) shown poses of all people, for sensors; not of animals."""
        people = [person for person in self._people.values() if not person.is_animal]
        rows = [person.row for person in people]
        if not rows:
            return rows, np.zeros((0, len(load_rig("man").bones), 7))
        table = columns.table[rows]
        poses: FloatArray = animate_walkers(
            rig_tables(),
            np.array([person.rig.index for person in people]),
            np.hypot(table["vx"], table["vy"]),
            np.ascontiguousarray(table["gait_phase"]),
            time_s,
            np.array([person.style for person in people]),
            (table["down_s"] > 0.0).astype(np.float64),
        )
        for index, person in enumerate(people):
            if person.in_wheelchair and table["down_s"][index] <= 0.0:
                poses[index] = _wheelchair.seated_pose(person.rig.name)
            if person.override.weight > 0.0 and person.override.snapshot is not None:
                self._decode(person)
                poses[index] = person.override.shown(poses[index])
        return rows, poses

    def seated_rows(self) -> set[int]:
        """Rows of the people in wheelchairs."""
        return {person.row for person in self._people.values() if person.in_wheelchair}
