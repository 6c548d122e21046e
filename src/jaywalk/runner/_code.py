"""Code versions of a run, and differences between the versions of two runs."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from functools import cache

from jaywalk.agents.catalogue import driver_version
from jaywalk.core.errors import RegistryError
from jaywalk.core.source_digest import SHORT, sources_digest
from jaywalk.record.episode import Code
from jaywalk.runner.motions import plays_clips
from jaywalk.runner.plan import packaged_motions
from jaywalk.scenarios.suite import Suite
from jaywalk.town.town import Town, load_town

_UNKNOWN = "not recorded"


def code_of_run(
    suite: Suite, agent: str, *, motions: str = "", opendrive: str | None = None, server: str = ""
) -> Code:
    """Return the versions of all Jaywalk code and data that decide a run's episodes, except routes.

    Args:
        suite: Routes to drive.
        agent: Name, file or address of the driver.
        motions: Digest of the user's motion library; "" for the default one.
        opendrive: Text of the town, if the user gave a file.
        server: Address of an external server, whose towns are unknown.
    """
    posed = any(item.posed or plays_clips(item.route) for item in suite.routes)
    library = packaged_motions(suite.people_model) if any(i.posed for i in suite.routes) else ""
    return Code(
        sources=sources_digest(),
        motions=(motions or packaged_motions_digest(library)) if posed else "",
        towns={} if server else _towns(suite, opendrive),
        driver=driver_version(agent),
    )


def code_of_episode(code: Code, town: str, route: str) -> Code:
    """Return the versions for a record: those of the run, with the sources of this process.

    Args:
        code: Versions of the run.
        town: Town of the episode.
        route: Digest of its route.
    """
    towns = {town: code.towns[town]} if town in code.towns else {}
    return code.model_copy(update={"sources": sources_digest(), "towns": towns, "suite": route})


def suite_digest(routes: Mapping[str, str]) -> str:
    """Return the digest of a set of routes from their digests."""
    text = "\n".join(f"{name}\0{digest}" for name, digest in sorted(routes.items()))
    return hashlib.sha256(text.encode()).hexdigest()


def code_differences(old: Code, new: Code) -> list[str]:
    """List differences between the versions of two runs, one text per part.

    Towns are compared only if both runs have them.

    Routes are compared elsewhere, one by one, because a run may gain routes.
    """
    pairs = {
        "our sources": (old.sources, new.sources),
        "driver version": (old.driver, new.driver),
    }
    if old.motions and new.motions:  # a run may gain routes with posed people
        pairs["motion library"] = (old.motions, new.motions)
    for town in sorted(old.towns.keys() & new.towns.keys()):
        pairs[f"town {town}"] = (old.towns[town], new.towns[town])
    return [
        f"{name}: {_short(a)} there, {_short(b)} here" for name, (a, b) in pairs.items() if a != b
    ]


def distinct(codes: Iterable[Code]) -> list[Code]:
    """Return each version once, in order."""
    kinds: list[Code] = []
    for code in codes:
        if code not in kinds:
            kinds.append(code)
    return kinds


@cache
def packaged_motions_digest(name: str) -> str:
    """Return the digest of a motion library that comes along; it is generated if needed."""
    from jaywalk.motion import library_digest, packaged_library

    return library_digest(packaged_library(name).folder)


def _towns(suite: Suite, opendrive: str | None) -> dict[str, str]:
    names = sorted({item.route.town for item in suite.routes})
    if opendrive is not None:
        return {name: Town(name=name, opendrive=opendrive).sha256 for name in names}
    return {name: digest for name in names if (digest := _town_digest(name))}


def _town_digest(name: str) -> str:
    try:
        return load_town(name).sha256
    except RegistryError:  # the server reports it
        return ""


def _short(value: str) -> str:
    if not value:
        return _UNKNOWN
    is_digest = len(value) == hashlib.sha256().digest_size * 2
    return value[:SHORT] if is_digest else value
