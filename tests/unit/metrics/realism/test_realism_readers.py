"""Readers of Waymo messages against messages written here byte by byte."""

import json
import struct

import numpy as np
import pytest
from realism_scenes import LANE, ROAD, red_signal, replay, scene
from typer.testing import CliRunner

from jaywalk.cli.main import app
from jaywalk.core.errors import DataError, JaywalkError
from jaywalk.metrics.realism.challenge import CONFIGS
from jaywalk.metrics.realism.score import score_case
from jaywalk.rollouts.cases._protobuf import _TABLE, _crc32c, masked_crc, read_tfrecord
from jaywalk.rollouts.inputs import read_cases

SCENE = scene(
    [(lambda s: s * 1.0, 0.2, 0.0), (lambda s: 60.0 + s * 0.5, 0.0, 0.0)],
    name="abc123",
    types=[1, 3],
    signals=red_signal(),
)


def varint(value):
    value &= (1 << 64) - 1
    out = b""
    while value > 0x7F:
        out += bytes([value & 0x7F | 0x80])
        value >>= 7
    return out + bytes([value])


def integer(number, value):
    return varint(number << 3) + varint(value)


def block(number, data):
    return varint(number << 3 | 2) + varint(len(data)) + data


def double(number, value):
    return varint(number << 3 | 1) + struct.pack("<d", value)


def single(number, value):
    return varint(number << 3 | 5) + struct.pack("<f", value)


def point(xyz):
    return b"".join(double(k + 1, v) for k, v in enumerate(xyz))


def state(of, i, t):
    names = ("x_m", "y_m", "z_m")
    out = b"".join(double(k + 2, float(getattr(of, n)[i, t])) for k, n in enumerate(names))
    names = ("length_m", "width_m", "height_m", "heading_rad")
    out += b"".join(single(k + 5, float(getattr(of, n)[i, t])) for k, n in enumerate(names))
    return out + single(9, 1.5) + integer(11, int(of.valid[i, t]))


def scenario(of):
    out = block(5, of.name.encode()) + double(1, 0.0)
    for i in range(len(of.object_id)):
        track = integer(1, int(of.object_id[i])) + integer(2, int(of.object_type[i]))
        out += block(2, track + b"".join(block(3, state(of, i, t)) for t in range(91)))
    for _ in range(91):
        signal = integer(1, 7) + integer(2, 4) + block(3, point((20.5, 0.0, 0.0)))
        out += block(7, block(1, signal))
    lane = integer(2, 2) + b"".join(block(8, point(p)) for p in LANE)
    out += block(8, integer(1, 7) + block(3, lane))
    for k, line in enumerate(ROAD):
        edge = integer(1, 1) + b"".join(block(2, point(p)) for p in line)
        out += block(8, integer(1, 100 + k) + block(5, edge))
    out += integer(6, 0) + integer(10, 10)
    return out + b"".join(block(11, integer(1, i)) for i in range(len(of.object_id)))


def as_json(of):
    def points(line):
        return [{"x": x, "y": y, "z": z} for x, y, z in line]

    names = {
        "centerX": "x_m",
        "centerY": "y_m",
        "centerZ": "z_m",
        "heading": "heading_rad",
        "length": "length_m",
        "width": "width_m",
        "height": "height_m",
    }
    return {
        "scenarioId": of.name,
        "currentTimeIndex": 10,
        "sdcTrackIndex": 0,
        "tracksToPredict": [{"trackIndex": 0}, {"trackIndex": 1, "difficulty": "LEVEL_1"}],
        "tracks": [
            {
                "id": int(of.object_id[i]),
                "objectType": ("", "TYPE_VEHICLE", "", "TYPE_CYCLIST")[of.object_type[i]],
                "states": [
                    {k: float(getattr(of, n)[i, t]) for k, n in names.items()} | {"valid": True}
                    for t in range(91)
                ],
            }
            for i in range(len(of.object_id))
        ],
        "dynamicMapStates": [
            {"laneStates": [{"lane": "7", "state": "LANE_STATE_STOP", "stopPoint": {"x": 20.5}}]}
        ]
        * 91,
        "mapFeatures": [
            {"id": "7", "lane": {"type": "TYPE_SURFACE_STREET", "polyline": points(LANE)}},
            *(
                {"id": str(100 + k), "roadEdge": {"polyline": points(e)}}
                for k, e in enumerate(ROAD)
            ),
        ],
    }


def tfrecord(records):
    out = b""
    for data in records:
        head = struct.pack("<Q", len(data))
        out += head + struct.pack("<I", masked_crc(head)) + data
        out += struct.pack("<I", masked_crc(data))
    return out


def submission(case, order):
    ids = case.scene.object_id[case.scene.simulated_index]
    out = block(1, case.scene.name.encode())
    names = ("x_m", "y_m", "z_m", "heading_rad")
    for k in range(len(case.rollouts)):
        joint = b""
        for row in order:
            track = integer(6, int(ids[row]))
            for number, n in enumerate(names, start=2):
                track += block(number, getattr(case.rollouts, n)[k, row].astype("<f4").tobytes())
            joint += block(1, track)
        out += block(2, joint)
    return out


CASE = replay(SCENE, 4)


@pytest.fixture
def rollouts(tmp_path):
    path = tmp_path / "sub.binproto"
    path.write_bytes(block(1, submission(CASE, [1, 0])) + integer(2, 1) + block(3, b"me"))
    return path


def same(read):
    for field in ("x_m", "y_m", "z_m", "heading_rad", "length_m", "valid", "object_type"):
        np.testing.assert_array_equal(
            getattr(read.scene, field), getattr(SCENE, field), err_msg=field
        )
    assert read.scene.name == SCENE.name
    np.testing.assert_array_equal(read.rollouts.x_m, CASE.rollouts.x_m)
    a, b = score_case(read, CONFIGS["2025"]), score_case(CASE, CONFIGS["2025"])
    assert a == b
    assert a.rates["traffic_light_violation"] == 0.5


def test_the_sum_has_its_published_check_value():
    assert _crc32c(np.frombuffer(b"123456789", np.uint8), _TABLE) == 0xE3069283


def test_a_tfrecord_with_a_submission(tmp_path, rollouts):
    path = tmp_path / "val.tfrecord-00000-of-00001"
    path.write_bytes(tfrecord([scenario(SCENE)]))
    same(read_cases(path, rollouts)[0])


def test_a_single_message_with_the_rollouts_of_one_scenario(tmp_path):
    path, other = tmp_path / "scene.binproto", tmp_path / "rollouts.binproto"
    path.write_bytes(scenario(SCENE))
    other.write_bytes(submission(CASE, [0, 1]))
    same(read_cases(path, other)[0])


def test_json_with_archived_rollouts(tmp_path):
    path, other = tmp_path / "scene.json", tmp_path / "rollouts.npz"
    path.write_text(json.dumps(as_json(SCENE)))
    r = CASE.rollouts
    np.savez(
        other,
        sim_x=r.x_m[:, ::-1],
        sim_y=r.y_m[:, ::-1],
        sim_z=r.z_m[:, ::-1],
        sim_heading=r.heading_rad[:, ::-1],
        sim_object_id=SCENE.object_id[::-1],
    )
    same(read_cases(path, other)[0])


def test_broken_files_are_named(tmp_path, rollouts):
    whole = tfrecord([scenario(SCENE)])
    path = tmp_path / "x.tfrecord"
    path.write_bytes(whole[:-9])
    with pytest.raises(DataError, match="cut off"):
        list(read_tfrecord(path))
    path.write_bytes(whole[:5000] + b"?" + whole[5001:])
    with pytest.raises(DataError, match=r"x\.tfrecord.*data fail"):
        read_cases(path, rollouts)
    path.write_bytes(tfrecord([scenario(SCENE)[:-300]]))
    with pytest.raises(DataError, match=r"x\.tfrecord"):
        read_cases(path, rollouts)
    path.write_bytes(whole)
    with pytest.raises(JaywalkError, match="--rollouts"):
        read_cases(path)
    rollouts.write_bytes(block(1, submission(CASE, [1])))
    with pytest.raises(DataError, match=r"objects \[10\] are missing"):
        read_cases(path, rollouts)
    (tmp_path / "bad.json").write_text("{")
    with pytest.raises(DataError, match="not JSON"):
        read_cases(tmp_path / "bad.json", rollouts)
    (tmp_path / "bad.npz").write_bytes(b"no zip")
    with pytest.raises(DataError, match=r"bad\.npz"):
        read_cases(tmp_path / "bad.npz")


def test_commands_print_the_agreed_fields(tmp_path, rollouts):
    path = tmp_path / "val.tfrecord"
    path.write_bytes(tfrecord([scenario(SCENE)]))
    source = [str(path), "--rollouts", str(rollouts)]

    def run(*words):
        done = CliRunner().invoke(app, ["realism", *words])
        assert done.exit_code == 0, done.output
        return json.loads(done.stdout)

    found = run("score", *source, "--json", "--per-scenario", "--bounds")
    assert set(found) == {
        "config",
        "metametric",
        "intervals",
        "likelihoods",
        "buckets",
        "ade_m",
        "min_ade_m",
        "rates",
        "n_scenarios",
        "n_agents",
        "scenarios",
        "bounds",
        "normalised",
    }
    assert found["config"] == "2025"
    assert set(found["rates"]) == {"collision", "offroad", "traffic_light_violation"}
    assert len(found["likelihoods"]) == 10
    assert found["n_agents"] == 2
    assert found["scenarios"][0]["name"] == "abc123"
    assert found["normalised"]["random"]["value"] == pytest.approx(1.0)
    puffer = run("score", *source, "--json", "--config", "pufferdrive-2.0")
    assert puffer["likelihoods"]["traffic_light_violation"] is None
    former = CliRunner().invoke(app, ["realism", "score", *source, "--config", "pufferdrive"])
    assert former.exit_code == 0
    assert "is now called 'pufferdrive-2.0'" in former.stderr
    assert "metametric (pufferdrive-2.0)" in former.stdout
    assert run("score", *source, "--json", "--config", "pufferdrive-2026")["ade_m"] is not None
    generation = ["realism", "score", *source, "--config", "2025-scenario-gen"]
    told = CliRunner().invoke(app, generation)
    assert "rollouts of 80 steps" in told.stderr
    assert "ADE" not in told.stdout
    assert run(*generation[1:], "--json")["ade_m"] is None
    better = run("score", *source, "--json", "--config", "jaywalk-1")
    assert better["likeness"]["value"] == pytest.approx(1.0)
    assert set(better["safety"]) == set(found["rates"])
    assert run("audit", str(path), "--json")["events"]["offroad"]["agents"] == 0
    assert len(run("weights", *source, "--json")["rows"]) == 10
    png = tmp_path / "study.png"
    assert run("study", "collisions", str(path), "--png", str(png), "--json")["numbers"]
    assert png.stat().st_size > 5000
