"""The scene that sensors see at one tick: solids, ground, paint on the ground, light.

A :class:`SceneBuilder` belongs to a town. It prepares the scenery once and writes the moving solids
after it at every tick. Its scenes share that memory, so only the latest scene is valid.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, Final, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from jaywalk.core.carla_enums import ActorKind
from jaywalk.geometry.geodesy import DEFAULT_REFERENCE, GeoReference
from jaywalk.server.sensors._figure import (
    FIGURE_PARTS,
    MOST_VEHICLE_PARTS,
    PEDESTRIAN,
    RIDER,
    is_animal,
    is_vehicle_label,
    put_animal,
    put_figure,
    put_vehicle,
)
from jaywalk.server.sensors._instances import (
    Instances,
    place_actor_meshes,
    place_posed_mesh,
    put_instance,
)
from jaywalk.server.sensors._lamplight import (
    no_lamps,
    shown_bits,
    vehicle_lamps,
)
from jaywalk.server.sensors._mesh import (
    ActorMeshes,
    Meshes,
    MeshLibrary,
    PosedMeshes,
    SceneryMeshes,
    no_actor_meshes,
    no_posed_meshes,
    no_scenery_meshes,
)
from jaywalk.server.sensors._road_paint import RoadPaint, paint_of_labels
from jaywalk.server.sensors._shadows import ShadowCache
from jaywalk.server.sensors._solids import (
    CAPSULE,
    CYLINDER,
    PLAIN,
    SPHERE,
    WINDOWS,
    Paint,
    Pictures,
    Solids,
    as_int64,
    empty_solids,
    fill_axes,
    kernel,
    no_pictures,
    put_box,
    put_rod,
    with_room,
)
from jaywalk.server.sensors._terrain import Relief, measure_relief
from jaywalk.server.sensors._weather import Sky
from jaywalk.town.ground import Ground
from jaywalk.town.scenery import KINDS

_BUILDING: Final = KINDS.index("building")
_PARKED_CAR: Final = KINDS.index("parked_car")
_VEHICLE_KIND: Final = int(ActorKind.VEHICLE)
_WALKER_KIND: Final = int(ActorKind.WALKER)
_PROP_KIND: Final = int(ActorKind.PROP)
_SIGN_BEFORE_M: Final = 0.06  # middle of a plate before that of its post
_BALL_M: Final = 0.2  # a prop that is small and as high as it is long and wide is a ball
_WALK_SWING_RAD: Final = 0.42  # leg swing at 1.4 m/s


class RasterLike(Protocol):
    """The town's semantic raster: CARLA labels of the ground on a grid of square cells."""

    @property
    def x0_m(self) -> float:
        """Coordinate x at which column 0 begins, in metres."""

    @property
    def y0_m(self) -> float:
        """Coordinate y at which row 0 begins, in metres."""

    @property
    def cell_m(self) -> float:
        """Side of a cell, in metres."""

    @property
    def labels(self) -> NDArray[np.uint8]:
        """CARLA labels, (rows, columns)."""


class GroundPaint(NamedTuple):
    """Labels of the ground for kernels; cell (row j, column i) starts at (x0 + i c, y0 + j c)."""

    x0_m: float
    y0_m: float
    cell_m: float
    labels: NDArray[np.uint8]


GRAVITY_MPS2: Final = 9.81


@dataclass(frozen=True, slots=True, kw_only=True)
class SensorScene:
    """Everything a sensor may look at in one tick."""

    solids: Solids
    meshes: Meshes = field(default_factory=lambda: no_meshes())
    relief: Relief
    paint: GroundPaint
    actors: np.ndarray[Any, Any]
    rows: int
    sky: Sky
    geo: GeoReference
    road_source: Callable[[], RoadPaint]  # made when a picture in colour first needs it
    pictures: Pictures = field(default_factory=no_pictures)
    static: int = 0  # number of solids that are scenery; they come first
    shadows: ShadowCache = field(default_factory=ShadowCache)
    lamp_source: Callable[[], NDArray[np.float64]] = no_lamps  # see ``_lamplight``
    contacts: Sequence[Any] | NDArray[Any] = ()  # of this tick, for collision sensors
    gravity_mps2: float = GRAVITY_MPS2  # that accelerometers feel
    # Results shared by sensors at the same place; emptied with every new scene.
    shared: dict[Hashable, Any] = field(default_factory=dict)

    @property
    def road(self) -> RoadPaint:
        """Borders of roads and sidewalks, and paint on the road."""
        return self.road_source()


def no_meshes() -> Meshes:
    """Return the tables of a scene without meshes."""
    return Instances(MeshLibrary()).meshes(0, 0, np.zeros((0, 3, 4)), no_posed_meshes())


def without_rows(scene: SensorScene, rows: list[int]) -> SensorScene:
    """Return the scene without the actors in the given rows, for a sensor that ignores them."""
    solids = scene.solids
    kept = np.flatnonzero(~np.isin(solids.owner[: solids.used], rows))
    columns = {name: getattr(solids, name)[kept] for name in Solids._fields[1:]}
    return replace(scene, solids=Solids(used=len(kept), **columns), shared={})


class SceneBuilder:
    """Builds the scenes of one town."""

    def __init__(
        self,
        scenery: np.ndarray[Any, Any],
        ground: Ground,
        raster: RasterLike,
        geo: GeoReference = DEFAULT_REFERENCE,
        faces: NDArray[np.uint8] | None = None,
        library: MeshLibrary | None = None,
        scenery_meshes: SceneryMeshes | None = None,
        road: Callable[[], RoadPaint] | None = None,
    ) -> None:
        """Prepare the scenery.

        Args:
            scenery: The town's.
            ground: Heights.
            raster: Labels of the ground.
            geo: Where on the globe.
            faces: Pattern of the picture of each row that is a sign's plate; PLAIN: no picture.
            library: Models of the scenery and of the actors.
            scenery_meshes: Models of the scenery; other rows are solids.
            road: Makes the exact ground; without it the raster's labels are the ground.
        """
        self._relief = measure_relief(ground)
        self._paint = GroundPaint(
            float(raster.x0_m),
            float(raster.y0_m),
            float(raster.cell_m),
            np.ascontiguousarray(raster.labels, dtype=np.uint8),
        )
        paint = self._paint
        self._road = cache(
            road or (lambda: paint_of_labels(paint.x0_m, paint.y0_m, paint.cell_m, paint.labels))
        )
        self._geo = geo
        solids = empty_solids(len(scenery) * MOST_VEHICLE_PARTS)
        faces = np.zeros(len(scenery), np.uint8) if faces is None else faces
        shown = scenery_meshes or no_scenery_meshes(len(scenery))
        self._instances = Instances(MeshLibrary() if library is None else library)
        models = int(np.count_nonzero(shown.model >= 0))
        meshes = self._instances.meshes(0, models, np.zeros((0, 3, 4)), no_posed_meshes())
        count = 0
        if len(scenery):
            count = _place_scenery(solids, scenery, faces, shown.model)
            _place_scenery_meshes(solids, count, scenery, meshes, self._library_tables(), shown)
            count += models
        self._static_count, self._static_meshes = count, models
        self._shadows = ShadowCache()
        self._solids = with_room(solids._replace(used=count), count + 1)

    @property
    def library(self) -> MeshLibrary:
        """Models of the scenery and of the actors."""
        return self._instances.library

    def _library_tables(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
        return (self.library.spans(), *self.library.boxes())

    def build(
        self,
        actors: np.ndarray[Any, Any],
        rows: int,
        label_by_row: NDArray[np.uint8],
        color_by_row: NDArray[np.uint8],
        sky: Sky = Sky(),  # noqa: B008  (immutable)
        pattern_by_row: NDArray[np.uint8] | None = None,
        pictures: Pictures | None = None,
        actor_meshes: ActorMeshes | None = None,
        posed: PosedMeshes | None = None,
        lamps: Callable[[], NDArray[np.float64]] = no_lamps,
    ) -> SensorScene:
        """Build the scene of this tick.

        Args:
            actors: The actor table.
            rows: Rows in use.
            label_by_row: CARLA label of each row.
            color_by_row: (n, 3) red, green, blue of each row.
            sky: The weather.
            pattern_by_row: Pattern of each prop: PLAIN, or see ``pictures.pattern_of``.
            pictures: Pictures that the patterns refer to.
            actor_meshes: Models of vehicles, animals and props; other actors are solids.
            posed: Meshes of people; all other people get a simple figure.
            lamps: Makes the table of lamps besides those of vehicles.
        """
        actor_meshes = no_actor_meshes(len(actors)) if actor_meshes is None else actor_meshes
        posed = no_posed_meshes() if posed is None else posed
        if pattern_by_row is None:
            pattern_by_row = np.zeros(len(actors), np.uint8)
        kinds = actors["kind"][:rows]
        need = self._static_count
        need += FIGURE_PARTS * int(np.count_nonzero(kinds == _WALKER_KIND))
        bodies = (kinds == _VEHICLE_KIND) | (kinds == _PROP_KIND)
        need += MOST_VEHICLE_PARTS * int(np.count_nonzero(bodies))
        models = int(np.count_nonzero(actor_meshes.model[:rows] >= 0)) + len(posed.row)
        models += int(np.count_nonzero(actor_meshes.rider[:rows] >= 0))
        need += models
        self._solids = with_room(self._solids, need + need // 4)
        meshes = self._instances.meshes(self._static_meshes, models, actor_meshes.part_pose, posed)
        solid = actor_meshes.model < 0  # rows that are not drawn otherwise
        solid[posed.row] = False
        start = self._static_count
        count = _place_actors(
            self._solids, start, actors, rows, label_by_row, color_by_row, pattern_by_row, solid
        )
        count = _place_meshes(
            self._solids,
            count,
            actors,
            rows,
            meshes,
            self._static_meshes,
            self._library_tables(),
            actor_meshes,
            posed,
            len(self.library.arrays()[0]),
            label_by_row,
            color_by_row,
        )
        lit = self._solids.lamps[start:count]
        lit[:] = shown_bits(lit, sky.time_s)
        return SensorScene(
            solids=self._solids._replace(used=count),
            static=start,
            shadows=self._shadows,
            lamp_source=lambda: np.concatenate([vehicle_lamps(actors[:rows], sky.time_s), lamps()]),
            meshes=meshes,
            relief=self._relief,
            paint=self._paint,
            road_source=self._road,
            actors=actors,
            rows=rows,
            sky=sky,
            geo=self._geo,
            pictures=no_pictures() if pictures is None else pictures,
        )


@kernel
def _scenery_paint(scenery: np.ndarray[Any, Any], index: int) -> Paint:
    item = scenery[index]
    # Instance numbers of scenery count down from the top, actor ids count up from the bottom.
    return Paint(
        as_int64(item.label),
        -1,
        0,
        65535 - index % 32768,
        as_int64(item.red),
        as_int64(item.green),
        as_int64(item.blue),
        WINDOWS if item.kind == _BUILDING else PLAIN,
    )


@kernel
def _place_scenery_meshes(
    solids: Solids,
    k: int,
    scenery: np.ndarray[Any, Any],
    meshes: Meshes,
    library: tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]],
    shown: SceneryMeshes,
) -> None:
    spans, first_box, boxes = library
    axes = np.empty((3, 3))
    origin = np.empty(3)
    instance = 0
    for index in range(len(scenery)):
        model = shown.model[index]
        if model < 0:
            continue
        item = scenery[index]
        fill_axes(axes, 0.0, item.yaw, 0.0)
        # The middle of a scenery row is that of its box; a model stands on its lower face.
        origin[0], origin[1], origin[2] = item.x, item.y, item.z - item.ez
        meshes.span[instance] = spans[model]
        meshes.slots[instance] = shown.slots[index]
        meshes.first_part[instance] = -1
        own = boxes[first_box[model] : first_box[model + 1]]
        paint = _scenery_paint(scenery, index)
        put_instance(solids, k, meshes, instance, origin, axes, shown.scale[index], own, paint)
        k += 1
        instance += 1


@kernel
def _place_scenery(
    solids: Solids,
    scenery: np.ndarray[Any, Any],
    faces: NDArray[np.uint8],
    models: NDArray[np.int32],
) -> int:
    axes = np.empty((3, 3))
    origin = np.empty(3)
    k = 0
    for index in range(len(scenery)):
        if models[index] >= 0:
            continue
        item = scenery[index]
        fill_axes(axes, 0.0, item.yaw, 0.0)
        origin[0], origin[1], origin[2] = item.x, item.y, item.z
        half = (item.ex, item.ey, item.ez)
        centre = (0.0, 0.0, 0.0)
        paint = _scenery_paint(scenery, index)
        if item.kind == _PARKED_CAR:
            k = put_vehicle(solids, k, origin, axes, centre, half, paint)
            continue
        if faces[index] != PLAIN:
            _put_sign(solids, k, origin, axes, half, paint)
            solids.pattern[k] = faces[index]
        elif item.shape == 1:
            put_rod(
                solids,
                k,
                CYLINDER,
                origin,
                axes,
                (0.0, 0.0, -item.ez),
                (0.0, 0.0, item.ez),
                item.ex,
                paint,
            )
        elif item.shape == 2:
            put_rod(solids, k, SPHERE, origin, axes, centre, centre, item.ex, paint)
        else:
            put_box(solids, k, origin, axes, centre, half, paint)
        k += 1
    return k


@kernel
def _put_sign(
    solids: Solids,
    k: int,
    origin: NDArray[np.float64],
    axes: NDArray[np.float64],
    half: tuple[float, float, float],
    paint: Paint,
) -> None:
    """Write the plate of a sign before its post; the upper face has the picture.

    The face points towards its readers, along the plate's second axis in the scenery.
    """
    facing = np.empty((3, 3))
    facing[0], facing[1], facing[2] = axes[0], -axes[2], axes[1]
    before = (0.0, 0.0, _SIGN_BEFORE_M)
    grey = Paint(paint.label, paint.owner, paint.object_id, paint.instance, 140, 142, 144, PLAIN)
    put_box(solids, k, origin, facing, before, (half[0], half[2], 0.01), grey)


@kernel
def _actor_paint(
    actors: np.ndarray[Any, Any],
    row: int,
    label_by_row: NDArray[np.uint8],
    color_by_row: NDArray[np.uint8],
) -> Paint:
    actor_id = as_int64(actors[row].id)
    return Paint(
        as_int64(label_by_row[row]),
        row,
        actor_id,
        actor_id & 0xFFFF,
        as_int64(color_by_row[row, 0]),
        as_int64(color_by_row[row, 1]),
        as_int64(color_by_row[row, 2]),
        PLAIN,
    )


@kernel
def _place_actors(
    solids: Solids,
    k: int,
    actors: np.ndarray[Any, Any],
    rows: int,
    label_by_row: NDArray[np.uint8],
    color_by_row: NDArray[np.uint8],
    pattern_by_row: NDArray[np.uint8],
    solid: NDArray[np.bool_],
) -> int:
    axes = np.empty((3, 3))
    origin = np.empty(3)
    for row in range(rows):
        actor = actors[row]
        if actor.id == 0 or not solid[row] or not _VEHICLE_KIND <= actor.kind <= _PROP_KIND:
            continue
        fill_axes(axes, actor.pitch, actor.yaw, actor.roll)
        origin[0], origin[1], origin[2] = actor.x, actor.y, actor.z
        centre = (actor.cx, actor.cy, actor.cz)
        half = (actor.ex, actor.ey, actor.ez)
        paint = _actor_paint(actors, row, label_by_row, color_by_row)
        if actor.kind == _WALKER_KIND:
            k = _place_walker(solids, k, actors, row, origin, axes, paint)
        elif is_vehicle_label(paint.label):
            first = k
            k = put_vehicle(solids, k, origin, axes, centre, half, paint)
            solids.lamps[first:k] = actor.light_flags
        elif half[0] == half[1] == half[2] < _BALL_M:
            put_rod(solids, k, CAPSULE, origin, axes, centre, centre, half[0], paint)
            k += 1
        else:
            put_box(solids, k, origin, axes, centre, half, paint)
            solids.pattern[k] = pattern_by_row[row]
            k += 1
    return k


@kernel
def _place_walker(
    solids: Solids,
    k: int,
    actors: np.ndarray[Any, Any],
    row: int,
    origin: NDArray[np.float64],
    axes: NDArray[np.float64],
    paint: Paint,
) -> int:
    actor = actors[row]
    height = 2.0 * actor.ez
    feet = origin.copy()
    # The actor's origin is mid-body; the figure starts at the feet.
    for i in range(3):
        feet[i] += axes[2, i] * (actor.cz - actor.ez)
    swing = _WALK_SWING_RAD * min(math.sqrt(actor.vx**2 + actor.vy**2) / 1.4, 1.6)
    if is_animal(actor.ex, actor.ey):
        size = (actor.ex, actor.ey, actor.ez)
        return put_animal(solids, k, feet, axes, size, actor.gait_phase, swing, paint)
    if actor.down_s > 0.0:
        lying = np.empty((3, 3))
        # On the back: the figure's up axis lies along the ground, against the facing direction.
        lying[0], lying[1], lying[2] = axes[2], axes[1], -axes[0]
        for i in range(3):
            feet[i] += axes[2, i] * 0.1 * height + axes[0, i] * 0.5 * height
        return put_figure(solids, k, feet, lying, height, 0.1, 0.2, paint)
    return put_figure(solids, k, feet, axes, height, actor.gait_phase, swing, paint)


@kernel
def _person_paint(
    actors: np.ndarray[Any, Any],
    row: int,
    label_by_row: NDArray[np.uint8],
    color_by_row: NDArray[np.uint8],
    own_label: int,
) -> Paint:
    """Paint of a part of a person; ``own_label`` 0: the label of the actor."""
    paint = _actor_paint(actors, row, label_by_row, color_by_row)
    label = paint.label if paint.label != 0 else PEDESTRIAN
    label = as_int64(own_label) if own_label != 0 else label
    return Paint(
        label,
        paint.owner,
        paint.object_id,
        paint.instance,
        paint.red,
        paint.green,
        paint.blue,
        PLAIN,
    )


@kernel
def _place_meshes(
    solids: Solids,
    k: int,
    actors: np.ndarray[Any, Any],
    rows: int,
    meshes: Meshes,
    instance: int,
    library: tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]],
    shown: ActorMeshes,
    posed: PosedMeshes,
    first_point: int,
    label_by_row: NDArray[np.uint8],
    color_by_row: NDArray[np.uint8],
) -> int:
    """Write the models of actors and of posed people after the other solids."""
    axes = np.empty((3, 3))
    origin = np.empty(3)
    for row in range(rows):
        actor = actors[row]
        if shown.model[row] < 0 or actor.id == 0:
            continue
        fill_axes(axes, actor.pitch, actor.yaw, actor.roll)
        # The origin of a model lies on the ground: for vehicles that is the actor's own origin.
        drop = actor.cz - actor.ez if actor.kind == _WALKER_KIND else 0.0
        for i in range(3):
            origin[i] = (actor.x if i == 0 else actor.y if i == 1 else actor.z) + axes[2, i] * drop
        paint = _actor_paint(actors, row, label_by_row, color_by_row)
        frame = (origin, axes)
        place_actor_meshes(
            solids, k, meshes, instance, row, as_int64(shown.model[row]),
            as_int64(shown.first_part[row]), frame, library, shown, paint,
        )  # fmt: skip
        solids.lamps[k] = actor.light_flags
        k += 1
        instance += 1
        if shown.rider[row] >= 0:
            paint = _person_paint(actors, row, label_by_row, color_by_row, RIDER)
            place_actor_meshes(
                solids, k, meshes, instance, row, as_int64(shown.rider[row]), -1, frame, library,
                shown, paint,
            )  # fmt: skip
            k += 1
            instance += 1
    for index in range(len(posed.row)):
        row = as_int64(posed.row[index])
        span = library[0][posed.model[index]]
        paint = _person_paint(actors, row, label_by_row, color_by_row, posed.label[index])
        first_point = place_posed_mesh(
            solids, k, meshes, instance, span, first_point, posed.slots[index], paint
        )
        if actors[row].id == 0:
            continue
        k += 1
        instance += 1
    return k
