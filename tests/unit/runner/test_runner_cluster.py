"""Episodes on Ray; skipped where the extra ``cluster`` is not installed."""

import os
import signal
import sys
import threading
import time
from importlib.util import find_spec

import pytest
from fake_episodes import WORKER
from test_runner_pool import request, rows, run, starts

import jaywalk.runner._cluster
import jaywalk.runner.local
from jaywalk.core.errors import PrerequisiteError

REMOTE_WORKER = jaywalk.runner._cluster.RemoteWorker
needs_ray = pytest.mark.skipif(find_spec("ray") is None, reason="the extra 'cluster' is absent")


class FakeRemoteWorker(REMOTE_WORKER):
    """A Ray actor whose worker process runs made-up episodes."""

    def __init__(self, *args):
        jaywalk.runner.local.WORKER_PROGRAM = WORKER
        super().__init__(*args)


def test_without_ray_the_fix_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(PrerequisiteError, match=r"pip install 'jaywalk\[cluster\]'"):
        run(request(tmp_path, "ok-1", cluster="local"))


@needs_ray
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("visible", [True, False])
def test_same_records_as_here_and_a_lost_worker_is_survived(tmp_path, visible, monkeypatch):
    ids = ("slow-1", "slow-2", "agent-fails", "raise-once")
    if visible:
        ids = (*ids, "hang-once")  # until its machine is lost
    else:
        monkeypatch.setattr(jaywalk.runner._cluster, "_TOKEN_FILE", ".token-nobody-looks-for")
    here, _ = run(request(tmp_path / "here", *ids, watchdog_s=2.0))
    monkeypatch.setattr(jaywalk.runner._cluster, "RemoteWorker", FakeRemoteWorker)
    if visible:
        threading.Thread(target=kill_the_hanging, args=(tmp_path / "there",), daemon=True).start()
    there, _ = run(request(tmp_path / "there", *ids, cluster="local", watchdog_s=200.0))
    assert there.hashes == here.hashes
    assert there.is_complete
    if visible:
        row = rows(tmp_path / "there")["hang-once-s1"]
        assert row.attempts == 2
        assert "the worker was lost" in row.error
        assert starts(tmp_path / "there")["slow-1-s1"] == 1
    again, _ = run(request(tmp_path / "there", *ids, cluster="local"))
    assert again.ran == 0


def kill_the_hanging(folder):
    """Kill the Ray worker above our worker process."""
    import psutil

    while True:
        log = folder / "started.log"
        lines = log.read_text().splitlines() if log.exists() else []
        for line in lines:
            if line.startswith("hang-once"):
                parent = psutil.Process(int(line.split()[1])).ppid()
                time.sleep(0.5)
                os.kill(parent, signal.SIGKILL)
                return
        time.sleep(0.1)
