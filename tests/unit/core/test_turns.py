"""Processes that start together share work that is needed once."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from jaywalk.core.process import run_once_across_processes

# Each job takes a while, once; a job that was done before returns at once.
_WORKER = """
import sys, time
from pathlib import Path
from jaywalk.core.process import run_once_across_processes
folder, me = Path(sys.argv[1]), sys.argv[2]
def job(name):
    def work():
        if (folder / name).exists():
            return
        with (folder / f"{name}.log").open("a") as log:
            log.write(me + "\\n")
        time.sleep(0.5)
        (folder / name).touch()
    return work
run_once_across_processes(folder / "turns", {name: job(name) for name in ("a", "b")})
assert (folder / "a").exists() and (folder / "b").exists()
"""


def test_every_job_is_called(tmp_path: Path) -> None:
    called: list[str] = []
    run_once_across_processes(
        tmp_path, {name: lambda name=name: called.append(name) for name in "abc"}
    )
    assert called == ["a", "b", "c"]


def test_two_processes_do_every_job_once_between_them(tmp_path: Path) -> None:
    both = [
        subprocess.Popen([sys.executable, "-c", _WORKER, str(tmp_path), str(k)]) for k in range(2)
    ]
    assert [one.wait(300) for one in both] == [0, 0]
    for name in "ab":
        assert len((tmp_path / f"{name}.log").read_text().split()) == 1
