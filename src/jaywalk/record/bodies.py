"""Shapes of the bodies in a record, defined once for all readers of records.

People are upright cylinders. All other bodies, including animals, are upright boxes. A prop that
lies on its side has the upright box that encloses its tilted box.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from jaywalk.core.arrays import FloatArray
from jaywalk.geometry.box import upright_box
from jaywalk.record import columns as c

IS_ROUND: Final = "is_round"  # column that ``body_shapes`` adds
LOW_PROP_M: Final = 0.24  # lower props are driven over
_BODIES: Final = ("vehicle", "walker", "prop")
_BOX: Final = (c.HALF_X_M, c.HALF_Y_M, c.HALF_Z_M, c.OFFSET_X_M, c.OFFSET_Y_M, c.OFFSET_Z_M)
_ROUND_RATIO: Final = 1.2  # people are cylinders; a walker longer than this is a box
_TIPPED_DEG: Final = 20.0  # a prop tilted more than this lies on a side; less is a slope


def body_shapes(actors: pl.DataFrame, states: pl.LazyFrame) -> pl.DataFrame:
    """The actors with the shapes that count.

    Args:
        actors: Table ``actors``, or some of its rows.
        states: Table ``states``, for the props that lie on a side.

    Returns:
        The same rows. Boxes are upright ones. The column ``is_round`` is true for a cylinder, whose
        radius is both ``half_x_m`` and ``half_y_m``.
    """
    is_round = (
        (pl.col(c.KIND) == "walker")
        & pl.col(c.HALF_X_M).is_not_null()
        & (
            pl.col(c.HALF_X_M).cast(pl.Float64)
            <= _ROUND_RATIO * pl.col(c.HALF_Y_M).cast(pl.Float64)
        )
    ).fill_null(False)
    half_y = pl.when(IS_ROUND).then(c.HALF_X_M).otherwise(c.HALF_Y_M).alias(c.HALF_Y_M)
    upright = _upright_props(actors, states)
    return upright.with_columns(is_round.alias(IS_ROUND)).with_columns(half_y)


def solid_bodies(shapes: pl.DataFrame) -> pl.DataFrame:
    """Return the actors that can be touched, by number: no sensors, parts or low props."""
    low = (pl.col(c.KIND) == "prop") & (2.0 * pl.col(c.HALF_Z_M) < LOW_PROP_M)
    return shapes.filter(
        pl.col(c.KIND).is_in(_BODIES)
        & (pl.col(c.HALF_X_M).fill_null(0.0) > 0.0)
        & pl.col(c.PARENT).is_null()
        & ~low.fill_null(False)
    ).sort(c.ACTOR)


def box_places(rows: pl.DataFrame, bodies: pl.DataFrame, who: NDArray[np.int64]) -> FloatArray:
    """Return centres (m) and headings (rad) of the boxes of some states, (n, 4).

    Args:
        rows: States with place and yaw.
        bodies: Shaped actors.
        who: (n,) row of ``bodies`` of each state.
    """
    offset = bodies.select(c.OFFSET_X_M, c.OFFSET_Y_M, c.OFFSET_Z_M).fill_null(0.0)
    dx, dy, dz = offset.to_numpy().astype(np.float64)[who].T
    turn = bodies[c.BOX_YAW_DEG].fill_null(0.0).to_numpy().astype(np.float64)[who]
    yaw_deg = rows[c.YAW_DEG].to_numpy().astype(np.float64)
    yaw = np.radians(yaw_deg)
    cos, sin = np.cos(yaw), np.sin(yaw)
    x = rows[c.X_M].to_numpy() + dx * cos - dy * sin
    y = rows[c.Y_M].to_numpy() + dx * sin + dy * cos
    z = rows[c.Z_M].to_numpy() + dz
    return np.column_stack([x, y, z, np.radians(yaw_deg + turn)])


def _upright_props(actors: pl.DataFrame, states: pl.LazyFrame) -> pl.DataFrame:
    """Return the actors with upright boxes around props that lie on a side and stay there."""
    high = actors.filter(
        (pl.col(c.KIND) == "prop")
        & pl.col(c.HALF_X_M).is_not_null()
        & (2.0 * pl.col(c.HALF_Z_M) >= LOW_PROP_M)
    )
    if not high.height or c.ROLL_DEG not in states.collect_schema().names():
        return actors
    tilted = (
        states.filter(pl.col(c.ACTOR).is_in(high[c.ACTOR].to_list()))
        .filter(
            (pl.col(c.PITCH_DEG).abs() > _TIPPED_DEG) | (pl.col(c.ROLL_DEG).abs() > _TIPPED_DEG)
        )
        .group_by(c.ACTOR)
        .agg(pl.col(c.PITCH_DEG).first(), pl.col(c.ROLL_DEG).first())
        .collect()
    )
    turns = {row[c.ACTOR]: row for row in tilted.iter_rows(named=True)}
    if not turns:
        return actors
    changed = []
    for actor in actors.iter_rows(named=True):
        turn = turns.get(actor[c.ACTOR])
        box: dict[str, float] = {}
        if turn is not None:
            hx, hy, hz, cx, cy, cz = (float(actor[name] or 0.0) for name in _BOX)
            pitch, roll = math.radians(turn[c.PITCH_DEG]), math.radians(turn[c.ROLL_DEG])
            values = upright_box(hx, hy, hz, cx, cy, cz, pitch, roll)
            box = dict(zip(_BOX, values, strict=True))
        changed.append({**actor, **box})
    return pl.DataFrame(changed, schema=actors.schema)
