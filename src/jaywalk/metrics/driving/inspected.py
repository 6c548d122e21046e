"""Routes, seeds and towns inspected while suites and drivers were tuned, thus not held out.

Add to these facts when a route, seed or town is inspected; never remove a fact.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from jaywalk.metrics.driving.summary import RunScore, scenario_of

DEVELOPMENT_SEEDS: Final = (1, 2, 3)
_TOWNS: Final = "Harbour, Orchard and Ridge are development towns"
_NUMBER: Final = re.compile(r"(\d+)$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Inspected:
    """Facts about one suite.

    Attributes:
        suite: Start of the suite's name.
        routes: Numbers at the end of the ids of routes that were inspected; None: all were.
        seeds: Seeds they were inspected with.
        text: The same in one line.
    """

    suite: str
    routes: frozenset[int] | None
    seeds: frozenset[int]
    text: str

    def covers(self, route: str, seed: int | None) -> bool:
        """Return whether an episode was inspected, or another seed of the same route."""
        if self.routes is None:
            return True
        number = _NUMBER.search(route)
        return number is None or int(number[1]) in self.routes


_SEEDS: Final = frozenset(DEVELOPMENT_SEEDS)
# Ids of public Bench2Drive routes: PDM-Lite's table, the rain test, and those driven with expert.
_BENCH2DRIVE: Final = frozenset(
    {24211, 24224, 24240, 24258, 24294, 24330, 24340, 24367, 24757, 24781, 24784, 24785, 24795}
    | {24841, 25300, 25358, 25863, 25951, 26394, 26401, 26406, 26408, 26944, 27494, 27529}
    | {24944, 25051}
    | {24948, 25538, 25727, 26023, 28087, 28093, 28147}
)
_HABIT: Final = frozenset({*range(1, 31), 34, 39, 45, 46, 77, 98, 105})
_OTHER_ROUTES: Final = "/files"  # end of the name of a suite that drives the user's route files
# The first that fits a suite counts. Routes are those of the suite in any version: a driver tuned
# on a route among scripted people has seen that route, whoever walks there now.
FACTS: Final = (
    Inspected(
        suite="jaywalk/habit-v3",
        routes=_HABIT,
        seeds=_SEEDS,
        text="routes 1-30 (and later 34, 39, 45, 46, 77, 98, 105) were inspected with seeds 1-3 "
        "and scripted people while tuning those people and expert; routes 1-8 were inspected with "
        "seed 1, expert, bold and cruise while building people who react",
    ),
    Inspected(
        suite="jaywalk/habit-",
        routes=_HABIT,
        seeds=_SEEDS,
        text="routes 1-30 (and later 34, 39, 45, 46, 77, 98, 105) were inspected with seeds 1-3 "
        "while tuning people and expert",
    ),
    Inspected(
        suite="jaywalk/fail2drive-",
        routes=None,
        seeds=_SEEDS,
        text="all 200 routes were inspected with seeds 1-3 while tuning routes, traffic and expert",
    ),
    Inspected(
        suite="jaywalk/smoke-v3",
        routes=None,
        seeds=_SEEDS,
        text="all 12 routes were inspected with seeds 1-3 and scripted people while tuning routes "
        "and drivers; route 5 was inspected while building people who react",
    ),
    Inspected(
        suite="jaywalk/smoke-",
        routes=None,
        seeds=_SEEDS,
        text="all 12 routes were inspected with seeds 1-3 while tuning routes and drivers",
    ),
    Inspected(
        suite="baselines/bench2drive-",
        routes=None,
        seeds=_SEEDS,
        text="all six routes are among those inspected while tuning the server and expert; "
        "seven more public routes (24948, 25538, 25727, 26023, 28087, 28093, 28147) were "
        "inspected with seeds 1-8",
    ),
    Inspected(
        suite="files",
        routes=_BENCH2DRIVE,
        seeds=frozenset(range(1, 9)),
        text="of route files, 34 public Bench2Drive routes were inspected while tuning the server "
        "and expert (docs/reference/baselines.md has their ids); nothing is recorded about others",
    ),
)


def facts_of(suite: str) -> Inspected | None:
    """Return the facts about a suite, by its name with version; None if there are none.

    A suite that drives the user's route files (``jaywalk/habit-v3/files``) has the facts about
    route files: its routes are not those of the suite, even if they have the same numbers.
    """
    name = "files" if suite.endswith(_OTHER_ROUTES) else suite
    return next((facts for facts in FACTS if name.startswith(facts.suite)), None)


def inspection_line(suite: str, seeds: Iterable[int | None] = ()) -> str:
    """One line for wherever a result is printed.

    Args:
        suite: Name of the suite.
        seeds: Seeds of the result.
    """
    facts = facts_of(suite)
    others = sorted({seed for seed in seeds if seed is not None} - {*DEVELOPMENT_SEEDS})
    parts = ["seeds 1-3 are development seeds"]
    if others:
        parts[0] += f" (here also {', '.join(map(str, others[:5]))}{', ...' if others[5:] else ''})"
    if facts is None:
        return f"{parts[0]}; nothing is recorded about tuning on these routes; {_TOWNS}"
    parts.append(facts.text)
    if not facts.suite.startswith("baselines/"):
        parts.append(_TOWNS)
    return "; ".join(parts)


def inspection_of(run: RunScore) -> str:
    """The line for a run."""
    return inspection_line(run.suite, [episode.seed for episode in run.episodes])


def split_inspected(run: RunScore) -> tuple[list[str], list[str]]:
    """Episodes on routes that were inspected, and the others."""
    facts = facts_of(run.suite)
    looked_at: list[str] = []
    others: list[str] = []
    for episode in run.episodes:
        covered = facts is not None and facts.covers(scenario_of(episode), episode.seed)
        (looked_at if covered else others).append(episode.episode_id)
    return looked_at, others
