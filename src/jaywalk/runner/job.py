"""A run: one suite, one agent, some seeds and one folder; only missing episodes are run.

A run is verified as deterministic by driving every episode again and comparing record hashes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, Protocol

import jaywalk.record
from jaywalk.agents.catalogue import is_own_driver
from jaywalk.core.errors import JaywalkError, PrerequisiteError, UsageError
from jaywalk.core.user_code import failure_line
from jaywalk.record.episode import Code
from jaywalk.record.run import RunFolder
from jaywalk.runner._code import code_of_run
from jaywalk.runner._folder import RunLock, missing_plans, note_session, remove_traces
from jaywalk.runner._trial import try_agent
from jaywalk.runner.config import read_config, resolve_config, settle_config
from jaywalk.runner.local import LocalWorkers, cores
from jaywalk.runner.plan import (
    AgentSpec,
    EpisodeOptions,
    EpisodePlan,
    people_parameters,
    plan_episodes,
)
from jaywalk.runner.pool import DEFAULT_RETRIES, Pool, Scorer, Setup, Watcher, Workers
from jaywalk.runner.progress import Tally
from jaywalk.runner.selection import check_ids
from jaywalk.runner.state import DONE, FAILED, RunState
from jaywalk.runner.watchdog import DEFAULT_S
from jaywalk.scenarios.suite import Suite


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """Comparison of episodes with two records; episodes recorded only once are left out."""

    identical: tuple[str, ...]
    differing: tuple[str, ...]
    uncompared: tuple[str, ...]

    @property
    def compared(self) -> int:
        """Number of compared pairs."""
        return len(self.identical) + len(self.differing)


def compare_hashes(first: Mapping[str, str], second: Mapping[str, str]) -> Verification:
    """Compare the record hashes of two runs, by episode."""
    both = sorted(first.keys() & second.keys())
    return Verification(
        identical=tuple(name for name in both if first[name] == second[name]),
        differing=tuple(name for name in both if first[name] != second[name]),
        uncompared=tuple(sorted(first.keys() ^ second.keys())),
    )


LOCAL_CLUSTER: Final = "local"  # a cluster of this machine
VERIFY_FOLDER: Final = ".verify"  # hidden, so that the repeats are not scored


@dataclass(frozen=True, kw_only=True)
class WorkerOptions:
    """Options of where and how episodes are run; they do not change the records.

    Attributes:
        server: ``HOST:PORT`` of a running server; "" for embedded ones.
        cluster: "" for this machine, ``local`` or an address for Ray.
        workers: Episodes at a time; 0: one per core of this machine or of the cluster.
        watchdog_s: Wall seconds without progress after which an episode is ended.
        retries: Further attempts after a fault.
        allow_mixed_code: Continue in a folder with episodes of other code versions.
    """

    server: str = ""
    cluster: str = ""
    workers: int = 0
    watchdog_s: float = DEFAULT_S
    retries: int = DEFAULT_RETRIES
    allow_mixed_code: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRequest:
    """A run; the suite already has all overrides.

    Attributes:
        overrides: Overrides of the suite, for the config: people, vehicles, town.
        backwards: Run the last route first.
    """

    run_folder: Path
    suite: Suite
    agent: AgentSpec
    seeds: tuple[int, ...]
    overrides: dict[str, Any] = field(default_factory=dict)
    episodes: EpisodeOptions = field(default_factory=EpisodeOptions)
    workers: WorkerOptions = field(default_factory=WorkerOptions)
    backwards: bool = False

    def code(self) -> Code:
        """Versions of Jaywalk's code and data."""
        return code_of_run(
            self.suite,
            self.agent.name,
            motions=self.episodes.motions_sha256,
            opendrive=self.episodes.opendrive,
            server=self.workers.server,
        )

    def plans(self, code: Code | None = None) -> list[EpisodePlan]:
        """Return the requested episodes."""
        return plan_episodes(self.suite, self.agent, self.seeds, self.episodes, code)

    def repeat(self) -> RunRequest:
        """Return the same request in a subfolder and in reverse order, which must not matter."""
        folder = self.run_folder / VERIFY_FOLDER
        return replace(self, run_folder=folder, backwards=not self.backwards)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSummary:
    """State of a request after a session."""

    run_folder: Path
    total: int
    done: int
    failed: int
    agent_failures: int
    first_failure: str  # of the agent, with its place; empty if it never failed
    ran: int  # finished in this session
    hashes: dict[str, str]  # episode id -> record hash, of those done

    @property
    def always_failed(self) -> bool:
        """Whether the agent failed in every episode."""
        return 0 < self.agent_failures == self.done

    @property
    def is_complete(self) -> bool:
        """True if all requested episodes are recorded."""
        return self.done == self.total


class Show(Watcher, AbstractContextManager[Any], Protocol):
    """A watcher that is open during a run."""


ShowMaker = Callable[[Tally], Show]


def run_request(
    request: RunRequest,
    show: ShowMaker,
    *,
    say: Callable[[str], None] = lambda text: None,
    score: Scorer | None = None,
) -> RunSummary:
    """Run the missing episodes of a request.

    Args:
        request: The run.
        show: Makes the display from the tally.
        say: Called with messages for the user.
        score: Scores a finished episode for the display.

    Raises:
        UsageError: The folder holds a run with another config, or the agent is broken.
        PrerequisiteError: The folder is in use, or no world can be opened.
    """
    folder = request.run_folder
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"--out is the file {folder}, expected a folder.")
    check_ids(request.suite.routes)
    code = request.code()
    plans = request.plans(code)
    options = {
        **request.overrides,
        **request.episodes.config(),
        **people_parameters(
            request.suite.people_model,
            own_motions=bool(request.episodes.motions)
            or not any(route.posed for route in request.suite.routes),
            policy=request.suite.people_policy,
        ),
        "server": "attached" if request.workers.server else "embedded",
    }
    wanted = resolve_config(request.suite, request.agent, plans, options, code)
    is_new = read_config(folder) is None
    absent = [parent for parent in folder.parents if not parent.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise PrerequisiteError(
            f"Cannot write into '{folder}': {problem.strerror}. Give another folder with --out."
        ) from problem
    try:
        with RunLock(folder) as lock:
            settle_config(folder, wanted, allow_mixed_code=request.workers.allow_mixed_code)
            note_session(folder)
            with RunState(folder) as state:
                missing = missing_plans(folder, plans, state, say)
                if missing:
                    _try_agent(request, missing, say)
                    order = missing[::-1] if request.backwards else missing
                    _work(request, order, plans, state, lock, show, score)
                    jaywalk.record.remove_unfinished(RunFolder(folder).episodes)
                return _summarise(folder, plans, state, len(missing))
    except JaywalkError:
        if is_new:
            remove_traces(folder, absent)
        raise


def _try_agent(request: RunRequest, plans: list[EpisodePlan], say: Callable[[str], None]) -> None:
    """Refuse a broken agent before the first episode; on other machines it may load otherwise."""
    options = request.workers
    here = options.cluster in ("", LOCAL_CLUSTER)
    if here and plans and not is_own_driver(request.agent.name, request.agent.arguments):
        say(f"loading {request.agent.name} and setting it up once before the first episode")
        try_agent(plans[0], server=options.server, watchdog_s=options.watchdog_s)


def _work(
    request: RunRequest,
    missing: list[EpisodePlan],
    plans: list[EpisodePlan],
    state: RunState,
    lock: RunLock,
    show: ShowMaker,
    score: Scorer | None,
) -> None:
    rows = state.rows()
    workers = _make_workers(request.run_folder, request.workers, len(missing), lock)
    tally = Tally(total=len(plans))
    for plan in plans:
        tally.count_old(rows[plan.episode_id])
    try:
        with show(tally) as watcher:
            retries = request.workers.retries
            Pool(request.run_folder, state, workers, watcher, retries=retries, score=score).run(
                missing
            )
    finally:
        workers.close()


def _make_workers(
    run_folder: Path, options: WorkerOptions, episodes: int, lock: RunLock
) -> Workers:
    setup = Setup(
        run_folder=run_folder.resolve(), server=options.server, watchdog_s=options.watchdog_s
    )
    if options.cluster:
        from jaywalk.runner._cluster import ClusterWorkers

        return ClusterWorkers(setup, options.cluster, options.workers, episodes)
    # An external server can run only one world at a time.
    size = 1 if options.server else max(1, min(options.workers or cores(), episodes))
    return LocalWorkers(setup, size, lock_fd=lock.fileno())


def _summarise(folder: Path, plans: list[EpisodePlan], state: RunState, missing: int) -> RunSummary:
    rows = [row for name, row in state.rows().items() if name in {p.episode_id for p in plans}]
    done = [row for row in rows if row.state == DONE]
    failures = [row.failure for row in done if row.failure]
    return RunSummary(
        run_folder=folder,
        total=len(plans),
        done=len(done),
        failed=sum(row.state == FAILED for row in rows),
        agent_failures=len(failures),
        first_failure=failure_line(failures[0]) if failures else "",
        ran=missing - (len(plans) - len(done)),
        hashes={row.episode_id: row.record_hash for row in done},
    )
