"""Plans and outcomes of episodes.

A run has one plan per episode, derived from suite, agent, seeds and options alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jaywalk.actors.reactive.custom import CUSTOM, policy_digest, policy_label
from jaywalk.actors.reactive.traits import PEOPLE_VERSION, SCRIPTED
from jaywalk.motion.library.reading import EVERYDAY
from jaywalk.record.episode import Code
from jaywalk.scenarios.suite import Suite, SuiteRoute


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeOutcome:
    """Outcome of a recorded episode; a failure of the agent is recorded too."""

    episode_id: str
    end_reason: str
    failure: str  # exception of the agent, with its traceback
    record_hash: str
    simulated_s: float
    wall_s: float
    folder: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentSpec:
    """Driver of a run: a registered name or a file, with its arguments."""

    name: str
    arguments: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class EpisodeChoices:
    """Options of the user that decide the episodes of a run, beside suite, agent and seed.

    Attributes:
        traffic: Who drives the background traffic: ``own`` or ``traffic-manager``.
        motions: Folder of the people's motion library; "" for the default one.
    """

    traffic: str = "own"
    motions: str = ""


@dataclass(frozen=True, kw_only=True)
class EpisodeOptions(EpisodeChoices):
    """These options with the content of the files that they name.

    Attributes:
        motions_sha256: Digest of the motion library's content.
        opendrive: Text of the town, if the server does not have it by name.
    """

    motions_sha256: str = ""
    opendrive: str | None = None

    def config(self) -> dict[str, Any]:
        """Part of the run's config; another value needs another run folder."""
        return {"traffic": self.traffic, "motions": self.motions_sha256}

    def parameters(self) -> dict[str, Any]:
        """Part of each record's parameters."""
        library = f"{Path(self.motions).name} sha256:{self.motions_sha256[:16]}"
        return {"traffic": self.traffic, "motions": library if self.motions else ""}


def packaged_motions(model: str) -> str:
    """Name of the library for posed people of a model, if the user gave none."""
    return "" if model == SCRIPTED else EVERYDAY


def people_parameters(model: str, *, own_motions: bool, policy: str = "") -> dict[str, Any]:
    """People model and library for configs and records; scripted people keep their hashes.

    Args:
        model: ``scripted``, or how people react.
        own_motions: Whether no one is posed by a motion library that is sent with the run.
        policy: The user's own model of posed people; "" if there is none.
    """
    if model == SCRIPTED:
        return {}
    named = {"people_model": f"{model}-{PEOPLE_VERSION}"}
    if policy:
        named = {
            "people_model": f"{CUSTOM}:{policy_label(policy)}",
            "people_model_sha256": policy_digest(policy),
        }
    return named if own_motions else named | {"motions": packaged_motions(model)}


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodePlan:
    """One episode; equal plans give equal records on the same server.

    Attributes:
        people_model: ``scripted``, or how posed and ambient people react.
        people_policy: The user's own model of posed people; "" if there is none.
        drawn_as: Suite whose name keys the random draws, if it is not ``suite``.
    """

    suite: str
    variant: str
    item: SuiteRoute
    seed: int
    agent: AgentSpec
    options: EpisodeOptions = field(default_factory=EpisodeOptions)
    code: Code = field(default_factory=Code)  # versions of the run; the worker adds its own sources
    people_model: str = SCRIPTED
    people_policy: str = ""
    drawn_as: str = ""

    @classmethod
    def of_suite(cls, suite: Suite, item: SuiteRoute, **rest: Any) -> EpisodePlan:
        """Plan an episode on a route of a suite."""
        return cls(
            suite=suite.name,
            variant=suite.variant,
            item=item,
            people_model=suite.people_model,
            people_policy=suite.people_policy,
            drawn_as=suite.scripted_name,
            **rest,
        )

    @property
    def episode_id(self) -> str:
        """Id of the episode, unique in a run and safe as a folder name."""
        return f"{self.item.id}-s{self.seed}"


def plan_episodes(
    suite: Suite,
    agent: AgentSpec,
    seeds: Sequence[int],
    options: EpisodeOptions | None = None,
    code: Code | None = None,
) -> list[EpisodePlan]:
    """Return all episodes of a run: routes in the suite's order, each with every seed."""
    return [
        EpisodePlan.of_suite(
            suite,
            item,
            seed=seed,
            agent=agent,
            options=options or EpisodeOptions(),
            code=code or Code(),
        )
        for item in suite.routes
        for seed in seeds
    ]
