"""Who waits for whom while a client changes worlds."""

from jaywalk.server.protocol._load_gate import LoadGate

ANSWER = b"loaded"
SETTINGS = [0, 7, "get_episode_settings", [[]]]


def shut(now_s: float = 10.0) -> LoadGate:
    gate = LoadGate()
    gate.shut(ANSWER, now_s)
    return gate


def test_an_open_gate_holds_nothing() -> None:
    gate = LoadGate()
    assert not gate.holds("get_episode_settings", SETTINGS)
    assert gate.take_answer(1.0) == b""
    assert gate.take_held("get_sensor_token", 1.0) == []


def test_the_load_is_answered_once_another_thread_waits() -> None:
    gate = shut()
    assert gate.take_answer(10.0) == b""
    assert gate.holds("get_episode_settings", SETTINGS)
    assert gate.take_answer(10.01) == ANSWER
    assert gate.take_answer(10.02) == b""


def test_the_other_thread_is_answered_once_the_client_has_its_episode() -> None:
    gate = shut()
    gate.holds("get_episode_settings", SETTINGS)
    gate.take_answer(10.0)
    for name in ("version", "get_episode_info"):
        assert not gate.holds(name, [0, 8, name, [[]]])
        assert gate.take_held(name, 10.1) == []
    assert not gate.holds("get_sensor_token", [0, 9, "get_sensor_token", [[], 1]])
    assert gate.take_held("get_sensor_token", 10.1) == [SETTINGS]
    assert gate.until_s is None


def test_nobody_waits_for_ever() -> None:
    gate = shut()
    assert gate.take_answer(11.0) == ANSWER  # no other thread has asked for anything
    gate.holds("get_episode_settings", SETTINGS)
    assert gate.take_held(None, 11.1) == []
    assert gate.take_held(None, 20.0) == [SETTINGS]
    flooded = shut()
    kept = sum(flooded.holds("get_episode_settings", SETTINGS) for _ in range(10_000))
    assert kept < 1000


def test_a_second_load_is_not_held() -> None:
    gate = shut()
    assert not gate.holds("load_new_episode", [0, 8, "load_new_episode", [[]]])


def test_a_stream_of_another_thread_does_not_open_the_gate() -> None:
    gate = shut()
    listen = [0, 9, "get_sensor_token", [[], 1]]
    assert gate.holds("get_sensor_token", listen, 100)
    assert gate.held_bytes == 100
    assert gate.take_answer(10.0) == ANSWER
    assert gate.take_held("get_sensor_token", 10.0) == []
    assert gate.take_held(None, 20.0) == [listen]
    assert gate.held_bytes == 0
