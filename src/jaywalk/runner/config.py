"""``config.json`` of a run: all settings that decide its episodes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from jaywalk.core.errors import DataError, UsageError
from jaywalk.core.files import read_text, replacing
from jaywalk.forecasting.predictors.plugged import predictor_digest
from jaywalk.record.episode import EPISODE_FILE, Code, canonical_json
from jaywalk.record.run import RunFolder
from jaywalk.runner._code import code_differences, distinct, suite_digest
from jaywalk.runner.plan import AgentSpec, EpisodePlan
from jaywalk.scenarios.formats.route_xml import RouteFile, format_routes
from jaywalk.scenarios.suite import Suite, SuiteRoute

FORMAT: Final = "jaywalk-run"
_DECISIVE_PACKAGES: Final = ("jaywalk", "carla")
_WHEEL: Final = "carla"  # another version of it needs another run folder
_VERSIONED: Final = ("code", "packages", "suite")  # parts that another version may change
_NOTED_PACKAGES: Final = ("numpy", "numba", "scipy", "polars", "pyarrow")


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="allow")


class SuiteConfig(_Part):
    """Suite of a run; routes by id with a digest of their content."""

    name: str
    variant: str = ""
    routes: dict[str, str] = Field(default_factory=dict)


class AgentConfig(_Part):
    """Driver of a run, with the digests of its file and its predictor's file, if it has them."""

    name: str
    version: str = ""
    arguments: dict[str, Any] = Field(default_factory=dict)
    sha256: str = ""
    predictor_sha256: str = ""


class RunConfig(_Part):
    """Content of ``config.json``.

    Attributes:
        episodes: Announced episodes, in order; some may be missing.
        code: Versions of Jaywalk's code and data in the latest session of the run.
        earlier_code: Earlier versions, for a run that mixes them (``--allow-mixed-code``).
    """

    format: str = FORMAT
    suite: SuiteConfig
    agent: AgentConfig
    seeds: list[int]
    options: dict[str, Any] = Field(default_factory=dict)
    packages: dict[str, str] = Field(default_factory=dict)
    episodes: list[str] = Field(default_factory=list)
    code: Code = Code()
    earlier_code: list[Code] = Field(default_factory=list)


def resolve_config(
    suite: Suite,
    agent: AgentSpec,
    plans: Sequence[EpisodePlan],
    options: dict[str, Any],
    code: Code | None = None,
) -> RunConfig:
    """Return the config of a run that is about to start.

    Args:
        suite: Routes to drive, after all overrides.
        agent: The driver.
        plans: The episodes.
        options: Other settings of the episodes: traffic, motions, people, vehicles, server kind.
        code: Versions of Jaywalk's code and data.
    """
    routes = {item.id: route_digest(item) for item in suite.routes}
    code = (code or Code()).model_copy(update={"suite": suite_digest(routes)})
    file = Path(agent.name)
    digest = hashlib.sha256(file.read_bytes()).hexdigest() if file.is_file() else ""
    return RunConfig(
        suite=SuiteConfig(
            name=suite.name,
            variant=suite.variant,
            routes=routes,
        ),
        agent=AgentConfig(
            name=agent.name,
            version=code.driver,
            arguments=agent.arguments,
            sha256=digest,
            predictor_sha256=predictor_digest(str(agent.arguments.get("predictor", ""))),
        ),
        seeds=sorted({plan.seed for plan in plans}),
        options=options,
        packages=package_versions(),
        episodes=[plan.episode_id for plan in plans],
        code=code,
    )


def route_digest(item: SuiteRoute) -> str:
    """Return a short digest of a route with its background; a changed route gets another digest."""
    text = format_routes(RouteFile(routes=(item.route,)))
    about = f"{text}\0{item.vehicles}\0{item.traffic_speed}\0{item.people}\0{item.pair}"
    about += f"\0{item.wet_grip}"
    if item.posed:
        about += f"\0{item.posed}"
    if item.pair_scenarios:  # the background keeps off the lanes of both scenarios
        about += f"\0{[(element.attributes, element.elements) for element in item.pair_scenarios]}"
    return hashlib.sha256(about.encode()).hexdigest()[:16]


def package_versions() -> dict[str, str]:
    """Return the versions of the packages that compute an episode."""
    versions: dict[str, str] = {}
    for name in (*_DECISIVE_PACKAGES, *_NOTED_PACKAGES):
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            continue
    return versions


def differences(old: RunConfig, new: RunConfig) -> list[str]:
    """List differences that make two configs different runs; added routes and seeds do not."""
    pairs: dict[str, tuple[Any, Any]] = {
        "suite": (old.suite.name, new.suite.name),
        "variant": (old.suite.variant, new.suite.variant),
        "agent": (old.agent.name, new.agent.name),
        "agent arguments": (old.agent.arguments, new.agent.arguments),
        "content of the agent's file": (old.agent.sha256[:12], new.agent.sha256[:12]),
        "content of the predictor's file": (
            old.agent.predictor_sha256[:12],
            new.agent.predictor_sha256[:12],
        ),
    }
    for key in sorted(old.options.keys() | new.options.keys()):
        pairs[key] = (old.options.get(key), new.options.get(key))
    if "people_model_sha256" in pairs:
        there, here = (str(side or "")[:12] for side in pairs.pop("people_model_sha256"))
        pairs["content of the people model's file"] = (there, here)
    if "motions" in pairs:  # a digest, too long to read
        there, here = (str(side or "")[:12] or "ours" for side in pairs.pop("motions"))
        pairs["motion library"] = (there, here)
    pairs[f"version of {_WHEEL}"] = (old.packages.get(_WHEEL), new.packages.get(_WHEEL))
    return [f"{name}: {a!r} there, {b!r} here" for name, (a, b) in pairs.items() if a != b]


def version_differences(old: RunConfig, new: RunConfig) -> list[str]:
    """List differences in code and data: sources, motions, towns, routes, driver."""
    lines = code_differences(old.code, new.code)
    if old.packages.get("jaywalk") != new.packages.get("jaywalk"):
        versions = (old.packages.get("jaywalk"), new.packages.get("jaywalk"))
        lines.append("version of jaywalk: {} there, {} here".format(*versions))
    both = old.suite.routes.keys() & new.suite.routes.keys()
    changed = sorted(key for key in both if old.suite.routes[key] != new.suite.routes[key])
    if changed:
        names = ", ".join(changed[:3]) + (", ..." if len(changed) > 3 else "")
        lines.append(f"content of {len(changed)} routes ({names})")
    return lines


def merge(old: RunConfig, new: RunConfig) -> RunConfig:
    """Return the union of two configs of one run; differing versions are kept side by side."""
    routes = {**old.suite.routes, **new.suite.routes}
    towns = {**old.code.towns, **new.code.towns}
    earlier = [*old.earlier_code, *([old.code] if version_differences(old, new) else [])]
    return new.model_copy(
        update={
            "suite": new.suite.model_copy(update={"routes": routes}),
            "code": new.code.model_copy(
                update={
                    "towns": towns,
                    "motions": new.code.motions or old.code.motions,
                    "suite": suite_digest(routes),
                }
            ),
            "earlier_code": distinct(earlier),
            "seeds": sorted({*old.seeds, *new.seeds}),
            "episodes": list(dict.fromkeys([*old.episodes, *new.episodes])),
        }
    )


def read_config(run_folder: Path) -> RunConfig | None:
    """Read the config of a run folder; None if there is none."""
    path = RunFolder(run_folder).config_file
    if not path.is_file():
        return None
    try:
        config = RunConfig.model_validate_json(read_text(path, "a run's config"))
    except (ValidationError, UnicodeDecodeError) as problem:
        said = " ".join(str(problem).split())[:200]
        raise DataError(f"{path} is not a run config: {said}. Choose another --out.") from problem
    if config.format != FORMAT:
        raise DataError(f"{path} has format '{config.format}', expected '{FORMAT}'.")
    return config


def settle_config(
    run_folder: Path, wanted: RunConfig, *, allow_mixed_code: bool = False
) -> RunConfig:
    """Write the config, merged with the existing one; an incompatible one is refused.

    A config without any record is left over from a command that failed; it is replaced.

    Args:
        run_folder: Folder of the run.
        wanted: Config of the episodes that are about to be driven.
        allow_mixed_code: Continue although the folder holds episodes of other code versions.

    Raises:
        UsageError: The folder holds another run, or one of other code versions.
    """
    there = on_disk = read_config(run_folder)
    if there is not None and not has_records(run_folder) and differences(there, wanted):
        there = None
        RunFolder(run_folder).state_file.unlink(missing_ok=True)  # it announces other episodes
    if there is not None:
        reasons = differences(there, wanted)
        if reasons:
            raise UsageError(
                f"{run_folder} holds a run with another config; {'; '.join(reasons)}. "
                "Choose another folder with --out, or remove that one."
            )
    written = _codes_of_records(run_folder)
    if there is not None and not written and version_differences(there, wanted):
        # No episode was driven with the old versions.
        there = there.model_copy(update={name: getattr(wanted, name) for name in _VERSIONED})
    reasons = [] if there is None else version_differences(there, wanted)
    if there is None:
        reasons = [line for code in written for line in code_differences(code, wanted.code)]
        wanted = wanted.model_copy(update={"earlier_code": written if reasons else []})
    if reasons and not allow_mixed_code:
        raise UsageError(
            f"{run_folder} holds episodes driven with other versions of code or data; "
            f"{'; '.join(dict.fromkeys(reasons))}. Choose another folder with --out; or go on with "
            "--allow-mixed-code, and every score and report will say so."
        )
    if there is not None:
        wanted = merge(there, wanted)
    if on_disk != wanted:
        _write(
            RunFolder(run_folder).config_file,
            canonical_json(wanted.model_dump(mode="json"), 2) + "\n",
        )
    return wanted


def has_records(run_folder: Path) -> bool:
    """Return whether a run folder holds any record, readable or not."""
    folders = RunFolder(run_folder).episodes.glob(f"[!.]*/{EPISODE_FILE}")
    return next(folders, None) is not None


def _codes_of_records(run_folder: Path) -> list[Code]:
    """Return the versions in the records of a folder; unreadable records are handled later."""
    codes: list[Code] = []
    for path in sorted(run_folder.glob(f"episodes/[!.]*/{EPISODE_FILE}")):
        try:
            code = Code.model_validate(json.loads(path.read_bytes()).get("code", {}))
        except (OSError, ValueError, AttributeError):
            continue
        codes.append(code.model_copy(update={"suite": ""}))
    return distinct(codes)


def _write(path: Path, text: str) -> None:
    """Write a file completely or not at all."""
    with replacing(path, durable=True) as file:
        file.write(text.encode())
