"""Roles of the posed people of an episode, each drawn from its own seed stream, and their spots."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from jaywalk.actors.crowd.places import PlaceKind
from jaywalk.actors.crowd.state import ATTEMPTING, NOT_CROSSING, WILL_CROSS
from jaywalk.actors.posed._spots import Spots
from jaywalk.actors.posed.repertoire import HabitManner, Repertoire, Use
from jaywalk.core.seeds import stream

_SPREAD_M: Final = 25.0  # typical distance of a person from their share of the route
_KIND_BONUS: Final = {
    PlaceKind.CROSSWALK: 0.8,
    PlaceKind.BUS_STOP: 1.2,
    PlaceKind.PARKED_GAP: 0.8,
    PlaceKind.SHOP_FRONT: 0.3,
}
_ROAMS_M: Final = 0.25
_SHORT: Final = 0.2  # share of a short route, at its beginning, without crossing people
CHOICES: Final = 80  # number of spots to try for one person


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonRole:
    """Role of a person, before they have a place.

    Attributes:
        number: Number of the person.
        intended: ``not_crossing``, ``attempting`` or ``crossing``.
        kind: Subcategory: the behaviour of the dynamic clip, or ``stroll``.
        child: Whether a child.
        model: 0..1, selects the blueprint.
        idle: Clip before the trigger and after the role has ended.
        clip: The dynamic clip.
        carry: Clip to loop if the dynamic one does not lead far enough; "" if it does.
        reach_rad: Direction of the dynamic clip's farthest point, relative to the first heading.
        roams: The dynamic clip moves about the spot by more than a step.
        trigger_m: Distance of the ego at which the person begins.
        strolls: Walks along the sidewalk.
        facing_rad: Angle between the spot's direction and the person's heading while idle.
        share: Wanted position, as a share of the route.
    """

    number: int
    intended: str
    kind: str
    child: bool
    model: float
    idle: str
    clip: str
    carry: str
    reach_rad: float
    roams: bool
    trigger_m: float
    strolls: bool
    facing_rad: float
    share: float


def draw_roles(
    seed: int, count: int, manner: HabitManner, repertoire: Repertoire
) -> list[PersonRole]:
    """Draw ``count`` people; apart from their places, they are the same in every town."""
    crossing, attempting = round(manner.crossing * count), round(manner.attempting * count)
    classes = [WILL_CROSS] * crossing + [ATTEMPTING] * attempting
    classes = (classes + [NOT_CROSSING] * count)[:count]
    order = stream(seed, "habit", "classes").permutation(count)
    share = stream(seed, "habit", "shares").permutation(count)
    return [
        _draw(seed, n, classes[int(order[n])], (int(share[n]), count), manner, repertoire)
        for n in range(count)
    ]


def _draw(
    seed: int,
    number: int,
    intended: str,
    share: tuple[int, int],
    manner: HabitManner,
    repertoire: Repertoire,
) -> PersonRole:
    random = stream(seed, "habit", "person", number)
    child, model, along, where, strolls = random.random(5)
    is_child = bool(child < manner.children)
    idles = repertoire.fitting(repertoire.idle, is_child)
    idle = _pick_any(random, idles) if repertoire.everyday else _pick(random, idles)
    near_m, far_m = manner.trigger_m
    role_strolls = intended == NOT_CROSSING and bool(strolls < manner.strolling)
    pools = {
        WILL_CROSS: repertoire.crossing,
        ATTEMPTING: repertoire.attempting,
        NOT_CROSSING: repertoire.walking if role_strolls else repertoire.staying,
    }
    ordinary = repertoire.fitting(repertoire.ordinary, is_child)
    use = _pick(random, repertoire.fitting(pools[intended], is_child))
    carry = ordinary[int(random.random() * len(ordinary))]
    if intended == WILL_CROSS and random.random() < manner.ordinary:
        use = ordinary[int(random.random() * len(ordinary))]
    moves = intended != ATTEMPTING
    return PersonRole(
        number=number,
        intended=intended,
        kind="stroll" if role_strolls else use.kind,
        child=is_child,
        model=float(model),
        idle=idle.name,
        clip=use.name,
        carry=carry.name if moves and not use.walks else "",
        reach_rad=use.reach_rad,
        roams=use.reach_m > _ROAMS_M,
        trigger_m=near_m + (far_m - near_m) * float(along) * (1.5 if role_strolls else 1.0),
        strolls=role_strolls,
        facing_rad=float(random.uniform(-0.5, 0.5)),
        share=(share[0] + float(where)) / share[1],
    )


def _pick(random: np.random.Generator, uses: tuple[Use, ...]) -> Use:
    """Draw a behaviour, then one of its clips, so that rare behaviours get an equal share."""
    kinds = sorted({use.kind for use in uses})
    kind = kinds[int(random.random() * len(kinds))]
    fitting = [use for use in uses if use.kind == kind]
    return fitting[int(random.random() * len(fitting))]


def _pick_any(random: np.random.Generator, uses: tuple[Use, ...]) -> Use:
    """Draw one of many clips, all alike."""
    return uses[int(random.random() * len(uses))]


def choices(
    role: PersonRole, spots: Spots, seed: int, manner: HabitManner, length_m: float
) -> NDArray[np.int64]:
    """Return the person's spots in the order of preference."""
    first_m = min(manner.first_m, _SHORT * length_m)
    usable = np.flatnonzero(spots.along_m >= first_m)
    if manner.side != "both":
        usable = usable[spots.right[usable] == (manner.side == "right")]
    if not len(usable):
        return usable
    random = stream(seed, "habit", "spot", role.number)
    wanted_m = first_m + role.share * max(length_m - first_m, 0.0)
    away = np.abs(spots.along_m[usable] - wanted_m) / _SPREAD_M
    bonus = np.array([_KIND_BONUS.get(PlaceKind(int(k)), 0.0) for k in spots.kind[usable]])
    # Gumbel draws: a spot's chance falls off with its distance from the wanted position.
    score = bonus - away + random.gumbel(size=len(usable))
    return np.asarray(usable[np.argsort(-score, kind="stable")][:CHOICES])
