import hashlib
import json
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from live_server import environment
from record_scenes import write_episode

import jaywalk.record
from jaywalk.core.errors import DataError, UsageError
from jaywalk.record import SharedFiles, find_records, record_hash, remove_unfinished
from jaywalk.record._schema import BY_NAME, TABLES
from jaywalk.record.rows import KIND_VEHICLE
from jaywalk.record.writer import hash_table


@pytest.fixture
def folder(tmp_path):
    write_episode(tmp_path / "run" / "episodes" / "one", seed=3, end_reason="route completed")
    return tmp_path / "run" / "episodes" / "one"


@pytest.mark.parametrize("chunk_rows", [200_000, 37, 4])
def test_states_come_back_bit_for_bit(tmp_path, chunk_rows):
    frames = np.concatenate(write_episode(tmp_path / "e", chunk_rows=chunk_rows))
    states = jaywalk.record.open(tmp_path / "e").states.collect()
    expected = frames[np.lexsort((frames["tick"], frames["actor"]))]
    car = expected["family"] == KIND_VEHICLE
    vehicle_only = {
        "throttle",
        "steer",
        "brake",
        "gear",
        "speed_limit_kmh",
        "light_state",
        "lamps",
        "hand_brake",
        "reverse",
        "manual_gear",
        "at_light",
    }
    walker_only = {
        "walk_x",
        "walk_y",
        "walk_z",
        "walk_speed_mps",
        "jump",
        "clip_phase",
        "clip_blend",
    }
    for name in states.columns:
        column = states[name]
        if name == "clip":
            assert column.to_list() == [None if is_car else "stroll" for is_car in car]
            continue
        keep = np.full(len(expected), True)
        if name in vehicle_only | walker_only:
            keep = car if name in vehicle_only else ~car
            assert (column.is_null().to_numpy() == ~keep).all()
        values = column.filter(pl.Series(keep)).to_numpy()
        assert values.tobytes() == expected[name][keep].astype(values.dtype).tobytes(), name


def test_small_tables_and_episode_come_back(folder):
    record = jaywalk.record.open(folder)
    assert record.episode.seed == 3
    assert record.episode.end_reason == "route completed"
    assert record.ego.collect().row(0, named=True)["path_x_m"] == [0.0, 1.0]
    assert record.forecasts.collect()["x_m"].to_list() == [[0.25]]
    assert record.route.collect()["x_m"].to_list() == [0.1]
    assert record.weather.collect()["fog_density"].to_list() == [1.5]
    event = record.events.collect().row(0, named=True)
    assert (event["kind"], event["tick"], event["end_tick"], event["other"]) == ("contact", 3, 5, 2)
    assert record.ticks.collect()["time_s"].to_list() == [round(k * 0.05, 9) for k in range(40)]
    assert record.ego_states().collect()["time_s"].is_sorted()
    assert record.debug.collect().height == record.signals.collect().height == 1
    assert record.actors.collect().height == 4
    assert record.landmarks.collect().height == 0


def test_pyarrow_and_polars_read_the_same_schema(folder):
    for table in TABLES:
        assert pq.read_schema(folder / table.file_name).equals(table.arrow)
        assert pl.read_parquet(folder / table.file_name).columns == [k.name for k in table.columns]


def test_a_minute_with_sixty_actors_is_under_four_megabytes(tmp_path):
    write_episode(tmp_path / "e", ticks=1200, vehicles=30, walkers=30)
    size = sum(path.stat().st_size for path in (tmp_path / "e").iterdir())
    assert size < 4_000_000


def test_the_hash_knows_everything_but_the_wall(tmp_path, folder):
    first = record_hash(folder)
    write_episode(
        tmp_path / "other" / "one",
        seed=3,
        end_reason="route completed",
        wall={"seconds": 9.0, "address": "localhost:1"},
    )
    assert record_hash(tmp_path / "other" / "one") == first
    write_episode(tmp_path / "third" / "one", seed=4, end_reason="route completed")
    assert record_hash(tmp_path / "third" / "one") != first


def test_the_hash_is_of_values_not_of_bytes(folder):
    before = record_hash(folder)
    path = folder / "states.parquet"
    size = path.stat().st_size
    pq.write_table(pq.read_table(path), path, compression="none", row_group_size=7)
    assert path.stat().st_size != size
    assert record_hash(folder) == before


@pytest.mark.parametrize(
    ("table", "column", "changes"),
    [
        ("states", "x_m", True),
        ("states", "steer", True),
        ("actors", "server_id", False),
        ("actors", "type_id", True),
        ("forecasts", "x_m", True),
        ("events", "end_tick", True),
    ],
)
def test_the_hash_sees_a_changed_value(folder, table, column, changes):
    before = record_hash(folder)
    path = folder / f"{table}.parquet"
    data = pq.read_table(path)
    values = data.column(column).to_pylist()
    first = next(k for k, value in enumerate(values) if value is not None)
    old = values[first]
    values[first] = [9.0] if isinstance(old, list) else "x" if isinstance(old, str) else old + 1
    where = data.schema.get_field_index(column)
    field = data.schema.field(where)
    pq.write_table(data.set_column(where, field, pa.array(values, field.type)), path)
    assert (record_hash(folder) != before) == changes


def test_texts_are_hashed_by_length_and_bytes():
    """Hashes of the baselines rely on this form, also for parts of arrays and empty ones."""
    words = ["", None, "walker", "Füßgänger 🚶", None, "x"]
    column = next(k for k in BY_NAME["actors"].columns if k.name == "type_id")
    table = replace(BY_NAME["actors"], columns=(column,))
    for part in (slice(0, 6), slice(2, 5), slice(1, 2), slice(0, 0)):
        some = words[part]
        data = pa.table({"type_id": pa.array(words).slice(part.start, len(some))})
        raw = [(word or "").encode() for word in some]
        plain = hashlib.sha256(f"{len(some)}".encode())
        plain.update(b"\0type_id:string\0")
        plain.update(np.packbits(np.array([word is not None for word in some], np.bool_)).tobytes())
        plain.update(np.array([len(word) for word in raw], "<i8").tobytes() + b"".join(raw))
        assert hash_table(table, data) == plain.digest()


def test_a_null_is_not_a_zero(tmp_path):
    for name, brake in (("null", {}), ("zero", {"command_brake": 0.0})):
        with jaywalk.record.EpisodeWriter(tmp_path / name) as writer:
            writer.add("ego", tick=0, **brake)
            writer.finish(jaywalk.record.Episode(episode_id="same"))
    assert record_hash(tmp_path / "null") != record_hash(tmp_path / "zero")


def damage(folder, how):
    states = folder / "states.parquet"
    if how == "truncated":
        states.write_bytes(states.read_bytes()[:-100])
    elif how == "missing":
        states.unlink()
    elif how == "column":
        pl.read_parquet(states).drop("yaw_deg").write_parquet(states)
    elif how == "type":
        pl.read_parquet(states).with_columns(pl.col("x_m").cast(pl.Float64)).write_parquet(states)
    elif how == "rows":
        pq.write_table(pq.read_table(states).slice(1), states)
    elif how == "json":
        (folder / "episode.json").write_text('{"episode_id": "o')
    elif how == "no json":
        (folder / "episode.json").unlink()
    else:
        info = json.loads((folder / "episode.json").read_text())
        info["schema_version" if how == "version" else "format"] = 99 if how == "version" else "x"
        (folder / "episode.json").write_text(json.dumps(info))


@pytest.mark.parametrize(
    ("how", "says"),
    [
        ("truncated", "states.parquet is cut off"),
        ("missing", "states.parquet is missing"),
        ("column", "lacks the column 'yaw_deg'"),
        ("type", "'x_m' is double, expected float"),
        ("rows", "has 159 rows, episode.json says 160"),
        ("json", "episode.json is cut off"),
        ("no json", "holds no episode.json"),
        ("version", "schema version 99"),
        ("format", "has format 'x'"),
    ],
)
def test_broken_records_are_refused_with_the_place(folder, how, says):
    damage(folder, how)
    with pytest.raises(DataError, match=says):
        jaywalk.record.open(folder)


def test_an_existing_episode_is_never_written_over(folder):
    before = record_hash(folder)
    with pytest.raises(UsageError, match="exists already"):
        write_episode(folder)
    assert record_hash(folder) == before


def test_a_failing_episode_leaves_nothing(tmp_path):
    with pytest.raises(RuntimeError), jaywalk.record.EpisodeWriter(tmp_path / "e"):
        raise RuntimeError("agent")
    assert list(tmp_path.iterdir()) == []


def test_ticks_come_in_order(tmp_path):
    with jaywalk.record.EpisodeWriter(tmp_path / "e") as writer:
        writer.add_tick(5, 0.0, 0.05)
        with pytest.raises(ValueError, match="tick 5 after tick 5"):
            writer.add_tick(5, 0.05, 0.05)


_ENDLESS = """
import sys
sys.path.insert(0, {support!r})
from pathlib import Path
from record_scenes import write_episode
out = Path({out!r})
for k in range(1000):
    write_episode(out / f"e{{k}}", ticks=200, vehicles=10, walkers=10, chunk_rows=500)
    print(k, flush=True)
"""


def test_a_killed_writer_leaves_only_whole_episodes(tmp_path):
    out = tmp_path / "episodes"
    support = str(Path(__file__).parents[2] / "support")
    code = _ENDLESS.format(support=support, out=str(out))
    whole = 0
    for delay_s in (0.013, 0.041, 0.077):
        child = subprocess.Popen(
            [sys.executable, "-c", code], env=environment(), text=True, stdout=subprocess.PIPE
        )
        child.stdout.readline()
        time.sleep(delay_s)
        child.send_signal(signal.SIGKILL)
        child.wait()
        child.stdout.close()
        found = list(find_records(out))
        assert len(found) >= 1
        for folder in found:
            assert jaywalk.record.open(folder).states.collect().height == 4000
        whole += len(found)
        remove_unfinished(out)
        assert sorted(out.iterdir()) == found
        shutil.rmtree(out)
    assert whole >= 3


def test_shared_files_are_kept_once_and_checked(tmp_path):
    files = SharedFiles(tmp_path)
    first, second = files.add(b"town", ".xodr"), files.add(b"town", ".xodr")
    assert first == second
    assert first.sha256 == hashlib.sha256(b"town").hexdigest()
    assert [path.name for path in files.folder.iterdir()] == [first.name]
    write_episode(tmp_path / "episodes" / "e", files={"opendrive": first})
    record = jaywalk.record.open(tmp_path / "episodes" / "e")
    assert record.shared_file("opendrive").read_bytes() == b"town"
    with pytest.raises(DataError, match="no shared file 'scenery'"):
        record.shared_file("scenery")
    (files.folder / first.name).write_bytes(b"other")
    with pytest.raises(DataError, match="was changed after the recording"):
        record.shared_file("opendrive")
    (files.folder / first.name).unlink()
    with pytest.raises(DataError, match="needs the shared file"):
        record.shared_file("opendrive")


def test_a_release_alone_changes_no_hash():
    def hashed(**packages):
        return jaywalk.record.Episode(episode_id="e", packages=packages).hashed_json()

    assert hashed(jaywalk="0.1.0", numpy="2.3.1") == hashed(jaywalk="9.9.9", numpy="2.3.1")
    assert hashed(jaywalk="0.1.0", numpy="2.3.1") != hashed(jaywalk="0.1.0", numpy="2.3.2")
