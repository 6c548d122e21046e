"""Trial of a clip on one walker of a server, as observed by a client.

All reported values come back over the wire (``get_bones`` and snapshots), not from the library:
they are what sensors and other clients see.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import carla
import numpy as np
from numpy.typing import NDArray

from jaywalk.actors.posed.control import PosedPeople
from jaywalk.client.bones import BoneLine
from jaywalk.core.arrays import FloatArray
from jaywalk.core.errors import DataError, UsageError
from jaywalk.geometry.angle import wrap_degrees
from jaywalk.motion.carla_rigs import load_rig
from jaywalk.motion.playback.bank import ClipBank
from jaywalk.motion.playback.players import Cue
from jaywalk.town.ground import Ground

#: Attributes of the walkers that have each rig.
_ATTRIBUTES: Final = {
    "man": ("adult", "male"),
    "woman": ("adult", "female"),
    "girl": ("child", "female"),
    "boy": ("child", "male"),
}
_DROP_M: Final = 1.0
_SETTLE_TICKS: Final = 5
_LONGEST_TICKS: Final = 12000
_LEVEL: Final = 0.03  # of slope: choose a place flatter than this
_PLACES: Final = 40  # number of candidates


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedWalker:
    """Observations of a walker, tick by tick. Frame: CARLA's left-handed metres.

    Attributes:
        rig: Rig of the walker.
        bones_m: (ticks, bones, 3) positions in the world, in the rig's order.
        relative: (ticks, bones, 6) ``x y z pitch yaw roll`` relative to the parent, degrees.
        actor: (ticks, 4) ``x y z yaw``; z is the ground's under the soles, yaw in radians.
        velocity_mps: (ticks, 3) velocity from the snapshot.
        clips: Name of the clip on every tick.
        joining: (ticks,) True while two clips are joined.
        delta_s: Length of a tick in seconds.
    """

    rig: str
    bones_m: FloatArray
    relative: FloatArray
    actor: FloatArray
    velocity_mps: FloatArray
    clips: list[str]
    joining: NDArray[np.bool_]
    delta_s: float


def spawn_walker(world: carla.World, rig: str, pose: carla.Transform) -> Any:
    """Spawn a walker with a given rig.

    Raises:
        UsageError: The rig is unknown.
        DataError: The server has no walker with this rig, or no room for it.
    """
    if rig not in _ATTRIBUTES:
        raise UsageError(f"unknown rig {rig!r}; expected {', '.join(_ATTRIBUTES)}")
    age, gender = _ATTRIBUTES[rig]
    models = [
        model
        for model in world.get_blueprint_library().filter("walker.pedestrian.*")
        if model.get_attribute("age").as_str() == age
        and model.get_attribute("gender").as_str() == gender
    ]
    if not models:
        raise DataError(f"The server has no walker with age {age!r} and gender {gender!r}.")
    model = min(models, key=lambda blueprint: str(blueprint.id))
    actor = world.try_spawn_actor(model, pose)
    if actor is None:
        raise DataError(f"There is no room for {model.id} at {pose.location}.")
    return actor


def level_place(world: carla.World) -> Any:
    """Find an empty, level place on a straight road; return its pose, with z on the ground."""
    best = None
    for pose in world.get_map().get_spawn_points()[:_PLACES]:
        here = world.get_map().get_waypoint(pose.location)
        ahead = here.next(12.0) if here is not None and not here.is_junction else []
        if not ahead:
            continue
        rise = abs(ahead[0].transform.location.z - here.transform.location.z) / 12.0
        turned = abs(wrap_degrees(ahead[0].transform.rotation.yaw - here.transform.rotation.yaw))
        score = rise / _LEVEL + turned / 10.0
        if best is None or score < best[0]:
            best = (score, here.transform)
    if best is None:
        raise DataError("The town has no spawn point on a road to play a clip at.")
    return best[1]


def play_clips(
    client: carla.Client,
    line: BoneLine,
    world: carla.World,
    bank: ClipBank,
    rig: str,
    cues: list[Cue],
    seconds: float,
    ground: Ground | None = None,
) -> ObservedWalker:
    """Play cues, one after the other, on a walker of a synchronous world and observe it.

    Without ``ground`` the walker stays at the height of the place, which is level. With ``seconds``
    of 0 the trial ends with the last clip.
    """
    delta_s = world.get_settings().fixed_delta_seconds
    place = level_place(world)
    start = carla.Transform(place.location + carla.Location(z=_DROP_M), place.rotation)
    actor = spawn_walker(world, rig, start)
    try:
        for _ in range(_SETTLE_TICKS):
            world.tick()
        people = PosedPeople(client, line, bank, ground, delta_s)
        people.take(actor, cues[0], cues[1:])
        ticks = round(seconds / delta_s) if seconds else _LONGEST_TICKS
        return _watch(world, people, actor, rig, ticks, delta_s)
    finally:
        actor.destroy()


def _watch(
    world: carla.World,
    people: PosedPeople,
    actor: carla.Walker,
    rig: str,
    ticks: int,
    delta_s: float,
) -> ObservedWalker:
    names = load_rig(rig).bones
    half_m = actor.bounding_box.extent.z
    bones, relative, poses, velocity, clips, joining = [], [], [], [], [], []
    for tick in range(ticks):
        people.step(world.get_snapshot())
        world.tick()
        if tick == 0:  # moved here from where it had settled; not a motion of the clip
            continue
        state = world.get_snapshot().find(actor.id)
        pose, speed = state.get_transform(), state.get_velocity()
        by_name = {bone.name: bone for bone in actor.get_bones().bone_transforms}
        bones.append([_xyz(by_name[name].world.location) for name in names])
        relative.append([_six(by_name[name].relative) for name in names])
        poses.append(
            (pose.location.x, pose.location.y, pose.location.z - half_m, pose.rotation.yaw)
        )
        velocity.append(_xyz(speed))
        now = people.playing(actor.id)
        clips.append(now.clip)
        joining.append(now.weight < 1.0)
        if now.ended and ticks == _LONGEST_TICKS:
            break
    path = np.array(poses)
    path[:, 3] = np.unwrap(np.deg2rad(path[:, 3]))
    return ObservedWalker(
        rig=rig,
        bones_m=np.array(bones),
        relative=np.array(relative),
        actor=path,
        velocity_mps=np.array(velocity),
        clips=clips,
        joining=np.array(joining),
        delta_s=delta_s,
    )


def _xyz(vector: Any) -> tuple[float, float, float]:
    return vector.x, vector.y, vector.z


def _six(pose: carla.Transform) -> tuple[float, ...]:
    turn = pose.rotation
    return (*_xyz(pose.location), turn.pitch, turn.yaw, turn.roll)
