"""Bytes of the remote protocol: exact, plain, and careful with what comes in."""

from __future__ import annotations

import math
import struct
from dataclasses import replace

import msgpack
import numpy as np
import pytest

from jaywalk_agent import Answer, Control, Forecast, Plan, ProtocolError
from jaywalk_agent.trial import _briefing, _moment, _person, _route
from jaywalk_agent.wire import answer_from, as_map, briefing_from, moment_from, pack, unpack


def _there_and_back(value: object) -> object:
    return unpack(pack({"type": "t", "value": value}))["value"]


@pytest.mark.parametrize("value", [0.1, -0.0, 5e-324, 1.7976931348623157e308, math.inf, 1 / 3])
def test_reals_travel_exactly(value: float) -> None:
    for form in (value, np.float64(value), np.array([value])):
        back = _there_and_back(form)
        number = float(back[0]) if isinstance(back, np.ndarray) else back
        assert struct.pack("<d", number) == struct.pack("<d", value)


@pytest.mark.parametrize("kind", ["bool", "u1", "i2", ">i4", "u8", "f4", ">f8"])
def test_arrays_keep_shape_and_values(kind: str) -> None:
    array = (np.arange(24).reshape(2, 3, 4) % 2).astype(kind)[:, ::-1]
    back = _there_and_back(array)
    assert back.shape == array.shape
    assert back.dtype == array.dtype.newbyteorder("<")
    assert np.array_equal(back, array)
    back[0, 0, 0] = 1  # it is the agent's own


def test_briefing_and_moment_come_back_whole() -> None:
    route = _route()
    told = replace(_briefing(route), seed=2**64 - 1, arguments={"a": [1, {"b": None}]}, config="x")
    back = briefing_from(unpack(pack({"type": "setup", **as_map(told)})))
    assert back.seed == 2**64 - 1
    assert back.arguments == told.arguments
    assert back.gps_reference_deg == told.gps_reference_deg
    assert np.array_equal(back.route.gps, route.gps)
    assert back.route.in_junction.dtype == np.bool_
    seen = _moment(3, 0.1, 0.2, 0.3, 4.0, _person(route, 30.0))
    seen = replace(seen, sensors={"cam": (3, np.zeros((2, 2, 4), np.uint8))})
    again = moment_from(unpack(pack({"type": "step", **as_map(seen)})))
    assert again.ego.speed_mps == 4.0
    assert again.actors.type_id == seen.actors.type_id
    assert again.sensors["cam"][0] == 3
    assert np.array_equal(again.ego.velocity_mps, seen.ego.velocity_mps)


def test_answers_come_back_whole() -> None:
    said = Answer(
        Control(throttle=0.1, steer=-0.2, hand_brake=True),
        forecasts=[Forecast(time_s=[1.0], mean_m=np.ones((1, 1, 2)), actor_id=np.int64(7))],
        plan=Plan(path_m=[(1, 2), (3, 4)]),
        debug={"why": {"n": np.int32(3)}},
    )
    back = answer_from(unpack(pack({"type": "act", **as_map(said)})))
    assert back.control == said.control
    assert (back.forecasts[0].actor_id, back.plan.path_m) == (7, [[1, 2], [3, 4]])
    assert back.debug == {"why": {"n": 3}}


def test_what_a_later_version_adds_is_left_out() -> None:
    parts = {"control": {"throttle": 1.0, "gear": 3}, "mood": "good"}
    assert answer_from(parts).control == Control(throttle=1.0)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"\xc1", "not msgpack"),
        (b"", "not msgpack"),
        (msgpack.packb([1]), "without a 'type'"),
        (msgpack.packb({"type": msgpack.ExtType(5, b"")}), "Extension type 5"),
        (
            msgpack.packb({"type": "t", "a": msgpack.ExtType(1, msgpack.packb(["|O", [1], b"x"]))}),
            "array of",
        ),
        (
            msgpack.packb(
                {"type": "t", "a": msgpack.ExtType(1, msgpack.packb(["<f8", [9], b"x"]))}
            ),
            "in 1 bytes",
        ),
        (
            msgpack.packb(
                {"type": "t", "a": msgpack.ExtType(1, msgpack.packb(["<f8", [-1], b""]))}
            ),
            "shape",
        ),
        (b"\x91" * 100_000 + b"\x01", "not msgpack"),
    ],
)
def test_broken_bytes_are_refused(data: bytes, words: str) -> None:
    with pytest.raises(ProtocolError, match=words):
        unpack(data)


def test_what_has_no_form_is_refused() -> None:
    with pytest.raises(TypeError, match="cannot be sent"):
        pack({"type": "t", "a": np.array([object()])})
    with pytest.raises(TypeError, match="cannot be sent"):
        pack({"type": "t", "a": object()})
    with pytest.raises(ProtocolError, match="'control' is a NoneType"):
        answer_from({})
