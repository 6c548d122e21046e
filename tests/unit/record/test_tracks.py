"""Reading a record to arrays: held poses, gaps, tenths of a second, lights."""

import numpy as np
import polars as pl
import pytest
from hand_records_safety import Scene, straight

from jaywalk.core.errors import DataError
from jaywalk.metrics.driving.criteria._track import mean_speed_by_tick
from jaywalk.record import columns as c
from jaywalk.record.queries import state_rows
from jaywalk.record.tracks import (
    VX,
    PoseReader,
    X,
    light_states,
    load_tracks,
    read_tracks,
    resample,
    tenth_ticks,
)
from jaywalk.report._scene import read_scene

EGO, CAR = 0, 1


def two_cars(seconds=2.0):
    scene = Scene(seconds=seconds)
    scene.add("vehicle", straight(0.0, 0.0, 0.0, 8.0))
    scene.add("vehicle", straight(0.0, 5.0, 0.0, 4.0))
    return scene


def without_rows(record, actor, ticks):
    """The states with some rows of an actor missing."""
    missing = (pl.col(c.ACTOR) == actor) & pl.col(c.TICK).is_in(ticks)
    return record.states.filter(~missing)


def test_a_body_without_a_row_keeps_its_pose_and_stands(tmp_path):
    record = two_cars().write(tmp_path / "episode")
    tracks = load_tracks(record)
    reader = PoseReader(tracks.bodies)
    gap = [0, 1, 10, 11, 12]
    states = reader.read(without_rows(record, CAR, gap), tracks.tick)
    assert states.source[CAR, 9:14].tolist() == [9, 9, 9, 9, 13]
    np.testing.assert_array_equal(states.pose[CAR, 10:13, X], tracks.pose[CAR, 9, X])
    assert states.pose[CAR, 10:13, VX].tolist() == [0.0] * 3
    np.testing.assert_array_equal(states.pose[CAR, 13], tracks.pose[CAR, 13])
    # Before its first row it is unknown, and placed where it will appear.
    assert states.known[CAR, :3].tolist() == [False, False, True]
    assert states.pose[CAR, 0, X] == tracks.pose[CAR, 2, X]


@pytest.mark.parametrize("cut", [1, 9, 11, 13, 30])
def test_two_stretches_read_as_one(tmp_path, cut):
    record = two_cars().write(tmp_path / "episode")
    tracks = load_tracks(record)
    states = without_rows(record, CAR, [10, 11, 12])
    whole = PoseReader(tracks.bodies).read(states, tracks.tick)
    reader = PoseReader(tracks.bodies)
    parts = [reader.read(states, part) for part in (tracks.tick[:cut], tracks.tick[cut:])]
    np.testing.assert_array_equal(np.hstack([part.pose for part in parts]), whole.pose)
    np.testing.assert_array_equal(np.hstack([part.yaw_rad for part in parts]), whole.yaw_rad)
    np.testing.assert_array_equal(np.hstack([part.known for part in parts]), whole.known)


def test_chosen_ticks_are_those_of_the_whole(tmp_path):
    record = two_cars().write(tmp_path / "episode")
    tick = np.array([2, 4, 10])
    whole = read_tracks(record, columns=(c.Z_M, c.PITCH_DEG))
    some = read_tracks(record, tick=tick, columns=(c.PITCH_DEG,))
    np.testing.assert_array_equal(some.pose, whole.pose[:, tick])
    np.testing.assert_array_equal(some.time_s, whole.time_s[tick])
    np.testing.assert_array_equal(some.values(CAR, c.X_M), whole.values(CAR, c.X_M)[tick])
    np.testing.assert_array_equal(whole.dense(c.X_M)[CAR], whole.values(CAR, c.X_M)[:, 0])


def test_tenths_show_a_gap_as_a_jump(tmp_path):
    """Both users agree: a dataset keeps what follows a gap, a window ends before it."""
    scene = two_cars(seconds=25.0)
    scene.lost = set(range(300, 310))
    record = scene.write(tmp_path / "episode")
    tenths = tenth_ticks(record)
    assert tenths.k[148:152].tolist() == [148, 149, 155, 156]
    assert tenths.tick[148:152].tolist() == [296, 298, 310, 312]
    stretch = tenths.first_stretch()
    assert stretch.k.tolist() == list(range(150))
    np.testing.assert_array_equal(stretch.tick, tenths.tick[:150])


def test_ticks_off_the_tenths_are_refused(tmp_path):
    record = two_cars().write(tmp_path / "episode")
    shifted = record.ticks.with_columns(pl.col(c.TIME_S) * 0.77).collect()
    shifted.write_parquet(record.folder / "ticks.parquet")
    with pytest.raises(DataError, match="do not fall on tenths"):
        tenth_ticks(record)


def test_resampling_ends_with_the_rows():
    time_s, values = np.array([1.0, 2.0, 4.0]), np.array([0.0, 10.0, 30.0])
    at_s = np.array([0.9, 1.0, 1.5, 3.0, 4.0, 4.1])
    expected = [np.nan, 0.0, 5.0, 20.0, 30.0, np.nan]
    np.testing.assert_array_equal(resample(time_s, values, at_s), expected)


def test_a_light_is_unknown_before_it_is_seen(tmp_path):
    scene = two_cars()
    light = scene.add_light(30.0, 0.0, 0.0, [(0.5, 0), (1.0, 2)])
    record = scene.write(tmp_path / "episode")
    states = light_states(record, np.arange(41))[light]
    assert states.tolist() == [-1] * 10 + [0] * 10 + [2] * 21


def test_an_ego_that_is_missing_is_named(tmp_path):
    scene = two_cars()
    scene.episode = {"ego_actor": None}
    record = scene.write(tmp_path / "episode")
    assert load_tracks(record) is None
    with pytest.raises(DataError, match="no ego"):
        _ = read_tracks(record).ego
    assert read_scene(record).ego is None


def test_mean_traffic_speed_is_summed_in_a_fixed_order(tmp_path):
    scene = two_cars()
    for k in range(60):
        scene.add("vehicle", straight(0.0, 10.0 + 4.0 * k, 13.0 * k, 1.0 + 0.37 * k))
    record = scene.write(tmp_path / "episode")
    rows = state_rows(record)
    first = mean_speed_by_tick(rows)
    for seed in range(3):
        mixed = rows.sample(fraction=1.0, shuffle=True, seed=seed)
        assert mean_speed_by_tick(mixed).equals(first)
    expected = rows.filter(pl.col(c.TICK) == 7).select(
        (pl.col(c.VX_MPS).cast(pl.Float64) ** 2 + pl.col(c.VY_MPS).cast(pl.Float64) ** 2).sqrt()
    )
    assert first["traffic_mps"][7] == pytest.approx(expected.to_series().mean(), rel=1e-12)
