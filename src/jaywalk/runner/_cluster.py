"""Episodes on a Ray cluster, with one supervised worker process per Ray actor.

Workers that do not see the run folder send each record packed into bytes.
"""

from __future__ import annotations

import contextlib
import io
import logging
import os
import secrets
import shutil
import socket
import sys
import tarfile
import tempfile
import time
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import jaywalk.record
from jaywalk.core.errors import DataError, PrerequisiteError
from jaywalk.core.files import sync_file
from jaywalk.record.files import FILES_FOLDER, SharedFiles
from jaywalk.record.run import RunFolder
from jaywalk.runner.local import LocalWorkers
from jaywalk.runner.plan import EpisodePlan
from jaywalk.runner.pool import Broken, Event, Fault, Finished, Setup

_RECORD: Final = "record"


def pack(run_folder: Path, episode_id: str) -> bytes:
    """Pack a record and the shared files it needs into bytes."""
    folder = RunFolder(run_folder).episode(episode_id)
    record = jaywalk.record.open(folder)
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        for path in sorted(folder.iterdir()):
            tar.add(path, f"{_RECORD}/{path.name}", recursive=False)
        for role, file in sorted(record.episode.files.items()):
            tar.add(record.shared_file(role), f"{FILES_FOLDER}/{file.name}", recursive=False)
    return buffer.getvalue()


def unpack(data: bytes, run_folder: Path, episode_id: str) -> Path:
    """Write a packed record into a run folder, completely or not at all; return its folder.

    Raises:
        DataError: The data are not a record, or hold anything but plain files at the two places.
    """
    target = RunFolder(run_folder).episode(episode_id)
    target.parent.mkdir(parents=True, exist_ok=True)
    # Named like a writer's temporary folder, so that the usual cleanup removes leftovers of a kill.
    temporary = Path(tempfile.mkdtemp(prefix=f".unfinished-{episode_id}-", dir=target.parent))
    try:
        for place, name, content in _members(data):
            if place == _RECORD:
                (temporary / name).write_bytes(content)
                sync_file(temporary / name)
            elif SharedFiles(run_folder).add(content, "".join(Path(name).suffixes)).name != name:
                raise DataError(f"The shared file {name} came with another content.")
        jaywalk.record.open(temporary)
        os.chmod(temporary, 0o755)
        os.rename(temporary, target)
        sync_file(target.parent)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return target


def _members(data: bytes) -> list[tuple[str, str, bytes]]:
    """Return place, name and content of each member; no path may lead out of the two places."""
    members: list[tuple[str, str, bytes]] = []
    try:
        with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as tar:
            for member in tar:
                place, _, name = member.name.partition("/")
                plain = name and "/" not in name and "\\" not in name and not name.startswith(".")
                if place not in (_RECORD, FILES_FOLDER) or not plain or not member.isreg():
                    raise DataError(
                        f"A worker sent '{member.name}', which is not part of a record."
                    )
                stream = tar.extractfile(member)
                assert stream is not None
                members.append((place, name, stream.read()))
    except tarfile.TarError as problem:
        raise DataError(f"A worker sent a damaged record: {problem}.") from problem
    return members


LOCAL: Final = "local"
_TOKEN_FILE: Final = ".cluster-token"
_CLOSE_S: Final = 15.0
_POLL_S: Final = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Result:
    """Result of a remote worker; ``parcel`` is set if it does not see the run folder."""

    event: Finished | Broken
    parcel: bytes | None = None


class RemoteWorker:
    """Ray actor with one supervised worker process on its machine."""

    def __init__(self, setup: Setup, token: str, working_folder: str) -> None:
        # Paths of agents are relative to the user's working folder.
        if Path(working_folder).is_dir():
            os.chdir(working_folder)
        self._own: Path | None = None
        if not _sees(setup.run_folder, token):
            self._own = Path(tempfile.mkdtemp(prefix="jaywalk-"))
            setup = replace(setup, run_folder=self._own)
        self._folder = setup.run_folder
        self._workers = LocalWorkers(setup, 1, log_prefix=f"{socket.gethostname()}-{os.getpid()}-")

    def run(self, plan: EpisodePlan) -> _Result:
        """Run one episode and return its result, success or failure."""
        missing = _missing_file(plan)
        if missing:
            return _Result(event=_refusal(plan, missing))
        self._workers.start(0, plan)
        while True:
            for event in self._workers.wait(_POLL_S):
                if isinstance(event, Finished):
                    return _Result(event=event, parcel=self._parcel(plan.episode_id))
                if isinstance(event, Broken):
                    return _Result(event=event)

    def _parcel(self, episode_id: str) -> bytes | None:
        if self._own is None:
            return None
        data = pack(self._folder, episode_id)
        shutil.rmtree(RunFolder(self._folder).episode(episode_id))
        return data

    def close(self) -> None:
        """End the worker with its server."""
        self._workers.close()
        if self._own is not None:
            shutil.rmtree(self._own, ignore_errors=True)


def _sees(run_folder: Path, token: str) -> bool:
    """Return True if this machine sees the run folder itself, not another one of the same name."""
    try:
        return (run_folder / _TOKEN_FILE).read_text(encoding="utf-8") == token
    except OSError:
        return False


def _missing_file(plan: EpisodePlan) -> str:
    for name in (plan.agent.name if plan.agent.name.endswith(".py") else "", plan.options.motions):
        if name and not Path(name).exists():
            return name
    return ""


def _refusal(plan: EpisodePlan, missing: str) -> Broken:
    error = (
        f"{socket.gethostname()} does not see {missing}; put it where all machines of the cluster "
        "find it under the same path"
    )
    return Broken(slot=0, episode_id=plan.episode_id, fault=Fault.PLAN, error=error)


class ClusterWorkers:
    """:class:`~jaywalk.runner.pool.Workers` on Ray actors; a lost actor is replaced when needed."""

    def __init__(self, setup: Setup, address: str, workers: int, episodes: int) -> None:
        """Connect to a cluster.

        Args:
            setup: Settings for the workers.
            address: ``local`` for a cluster on this machine, else that of a running one.
            workers: Episodes at a time; 0: as many as the cluster has CPUs.
            episodes: Number of episodes to run.
        """
        self._ray = _import_ray()
        self._setup = setup
        _connect(self._ray, address, workers)
        cpus = int(self._ray.cluster_resources().get("CPU", 1))
        size = max(1, min(workers or cpus, cpus, episodes))
        self._actors: list[Any] = [None] * size
        self._plans: dict[int, EpisodePlan] = {}
        self._calls: dict[Any, int] = {}
        self._token = secrets.token_hex(16)
        (setup.run_folder / _TOKEN_FILE).write_text(self._token, encoding="utf-8")
        self._class = self._ray.remote(num_cpus=1, max_restarts=0)(RemoteWorker)

    @property
    def size(self) -> int:
        """Number of slots."""
        return len(self._actors)

    def name(self, slot: int) -> str:
        """Slot and Ray actor."""
        actor = self._actors[slot]
        return f"ray:{actor._actor_id.hex()}" if actor is not None else ""

    def start(self, slot: int, plan: EpisodePlan) -> None:
        """Begin an episode in a free slot."""
        if self._actors[slot] is None:
            self._actors[slot] = self._class.remote(self._setup, self._token, os.getcwd())
        self._plans[slot] = plan
        self._calls[self._actors[slot].run.remote(plan)] = slot

    def wait(self, timeout_s: float) -> list[Event]:
        """Return events; returns before the timeout if there are any."""
        self._release_idle()
        if not self._calls:
            time.sleep(timeout_s)
            return []
        ready, _ = self._ray.wait(list(self._calls), timeout=timeout_s)
        return [self._collect(call) for call in ready]

    def _release_idle(self) -> None:
        """Release CPUs: a slot that is idle now gets no more work, except for retries."""
        for slot, actor in enumerate(self._actors):
            if actor is not None and slot not in self._plans:
                actor.close.remote()
                self._actors[slot] = None

    def _collect(self, call: Any) -> Event:
        slot = self._calls.pop(call)
        plan = self._plans.pop(slot)
        try:
            result: _Result = self._ray.get(call)
            event: Finished | Broken = replace(result.event, slot=slot)
            if isinstance(event, Finished) and result.parcel is not None:
                folder = unpack(result.parcel, self._setup.run_folder, plan.episode_id)
                event = replace(event, outcome=replace(event.outcome, folder=folder))
        except self._ray.exceptions.RayError as problem:
            self._actors[slot] = None
            said = " ".join(str(problem).split())[:300]
            return _lost(slot, plan, f"the worker was lost: {said}")
        except (DataError, OSError) as problem:
            return _lost(slot, plan, str(problem))
        return event

    def close(self, *, at_once: bool = False) -> None:
        """End all workers with their servers, and the connection."""
        actors = [actor for actor in self._actors if actor is not None]
        if actors and not at_once:
            closing = [actor.close.remote() for actor in actors]
            self._ray.wait(closing, num_returns=len(closing), timeout=_CLOSE_S)
        for actor in actors:
            self._ray.kill(actor)
        self._actors = [None] * len(self._actors)
        self._calls.clear()
        self._plans.clear()
        with contextlib.suppress(OSError):
            (self._setup.run_folder / _TOKEN_FILE).unlink()
        self._ray.shutdown()


def _lost(slot: int, plan: EpisodePlan, error: str) -> Broken:
    return Broken(slot=slot, episode_id=plan.episode_id, fault=Fault.EPISODE, error=error)


def _import_ray() -> Any:
    try:
        return import_module("ray")
    except ImportError as problem:
        raise PrerequisiteError(
            f"--cluster needs Ray, which is not installed ({problem}). "
            f"Run: {sys.executable} -m pip install 'jaywalk[cluster]'"
        ) from problem


def _connect(ray: Any, address: str, workers: int) -> None:
    # If a driver dies, Ray ends its actors, and our processes end with them.
    options: dict[str, Any] = {
        "logging_level": logging.ERROR,
        "log_to_driver": False,
        "runtime_env": {"env_vars": {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}},
    }
    if address == LOCAL:
        options |= {"include_dashboard": False}
        options |= {"num_cpus": workers} if workers else {}
    else:
        options |= {"address": address}
    try:
        ray.init(**options)
    except (ConnectionError, ValueError, RuntimeError) as problem:
        said = " ".join(str(problem).split())[:300]
        raise PrerequisiteError(
            f"No Ray cluster at --cluster {address}: {said}. Start one with 'ray start --head' or "
            "use --cluster local."
        ) from problem
