"""The passive recorder takes every tick it is owed, and says so when it did not get them."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import jaywalk.record
from jaywalk.record import recorder as module
from jaywalk.record.recorder import PassiveRecorder, RecorderOptions, StopRequest, newest_frame

FIRST = 7


class Snapshot:
    """A world snapshot without actors."""

    def __init__(self, frame: int) -> None:
        self.frame, self.id = frame, 1
        elapsed_s = 0.05 * frame
        self.timestamp = SimpleNamespace(elapsed_seconds=elapsed_s, delta_seconds=0.05)

    def __iter__(self) -> Any:
        return iter(())

    def __len__(self) -> int:
        return 0


class FakeWorld:
    """A synchronous world whose handle says frame 0 until its first snapshot has come."""

    id = 1

    def __init__(self, newest: int, zeros: int) -> None:
        self._newest, self._zeros = newest, zeros
        self.asked = 0

    def get_snapshot(self) -> Snapshot:
        self.asked += 1
        return Snapshot(0 if self.asked <= self._zeros else self._newest)

    def on_tick(self, callback: Callable[[Any], None]) -> int:
        self.deliver = callback
        return 1

    def remove_on_tick(self, _: int) -> None:
        pass

    def get_map(self) -> Any:
        return SimpleNamespace(name="Carla/Maps/Here", to_opendrive=lambda: "<OpenDRIVE/>")

    def get_settings(self) -> Any:
        return SimpleNamespace(synchronous_mode=True, fixed_delta_seconds=0.05)

    def get_actors(self, *_: Any) -> Any:
        return SimpleNamespace(filter=lambda _: [])

    def get_weather(self) -> None:
        return None

    def get_vehicles_light_states(self) -> dict[int, int]:
        return {}


def record(
    monkeypatch: pytest.MonkeyPatch, folder: Path, frames: list[int], zeros: int = 5
) -> tuple[PassiveRecorder, Any]:
    """Record a world whose snapshots still wait in the wheel when the recorder is told to stop."""
    watched, fresh = FakeWorld(FIRST, 0), FakeWorld(frames[-1] if frames else FIRST, zeros)
    worlds = iter([watched, fresh])
    client = SimpleNamespace(
        set_timeout=lambda _: None,
        get_server_version=lambda: "0.9.16",
        get_world=lambda: next(worlds),
    )
    monkeypatch.setattr(module.carla, "Client", lambda *_: client)
    monkeypatch.setattr(module, "_STALLED_S", 0.5)
    stop = StopRequest()

    def stream() -> None:
        while not hasattr(watched, "deliver"):
            time.sleep(0.001)
        for frame in frames[:2]:
            watched.deliver(Snapshot(frame))
        stop.make()
        for frame in frames[2:]:
            time.sleep(0.01)
            watched.deliver(Snapshot(frame))

    thread = threading.Thread(target=stream)
    thread.start()
    options = RecorderOptions(out=folder, hero="", sample_ticks=10_000)
    recorder = PassiveRecorder(options)
    (path,) = recorder.run(stop)
    thread.join()
    return recorder, jaywalk.record.open(path)


def test_queued_ticks_are_taken_although_a_new_handle_says_frame_0(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    recorder, record_ = record(monkeypatch, tmp_path, list(range(FIRST, FIRST + 40)))
    assert record_.ticks.collect()["tick"].to_list() == list(range(40))
    assert record_.episode.complete
    assert record_.episode.wall.missing_ticks == 0
    assert recorder.incomplete == []


def test_a_gap_makes_a_record_incomplete(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    frames = [frame for frame in range(FIRST, FIRST + 20) if frame not in (12, 13, 20)]
    recorder, record_ = record(monkeypatch, tmp_path, frames)
    assert not record_.episode.complete
    assert record_.episode.wall.missing_ticks == 3
    assert recorder.incomplete == [record_.episode.episode_id]


def test_ticks_that_never_come_make_a_record_incomplete(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    real = FakeWorld.__init__

    def ahead(self: FakeWorld, newest: int, zeros: int) -> None:
        real(self, newest + 4 * (zeros > 0), zeros)  # the server is four ticks past the stream

    monkeypatch.setattr(FakeWorld, "__init__", ahead)
    _, record_ = record(monkeypatch, tmp_path, list(range(FIRST, FIRST + 10)))
    assert record_.ticks.collect().height == 10
    assert not record_.episode.complete
    assert record_.episode.wall.missing_ticks == 4


def test_the_newest_frame_is_waited_for_but_not_for_ever() -> None:
    assert newest_frame(FakeWorld(12, zeros=3)) == 12
    assert newest_frame(FakeWorld(12, zeros=10_000), patience_s=0.05) == 0
