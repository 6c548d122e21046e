"""Scores of result files from other evaluators under a public protocol."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from jaywalk.core.errors import UsageError
from jaywalk.metrics.driving import _leaderboard as leaderboard
from jaywalk.metrics.driving import bench2drive
from jaywalk.metrics.driving.penalties import PROTOCOLS, protocol_named
from jaywalk.metrics.driving.results import read_results
from jaywalk.metrics.driving.summary import jsonable
from jaywalk.metrics.generalization import _public as fail2drive
from jaywalk.metrics.generalization.split import read_split


def score_results(
    path: Path,
    protocol: str,
    *,
    method: str | None = None,
    routes: Path | None = None,
    rounding: str = "none",
    requires_completion: bool = False,
) -> dict[str, Any]:
    """Score result files.

    Args:
        path: Folder, archive or JSON file.
        protocol: Name of the rules.
        method: Which system, where the files hold several.
        routes: Route file, folder or archive that was driven.
        rounding: ``parser`` rounds before the harmonic mean, as the parser of Fail2Drive does.
        requires_completion: A success must reach the end of its route.

    Returns:
        Scores, intervals and warnings as JSON values.

    Raises:
        UsageError: The protocol cannot score result files, or an option is not for it.
    """
    if protocol == "jaywalk":
        raise UsageError(
            "Protocol 'jaywalk' needs a recorded run, result files do not say enough. "
            f"Choose with --protocol: {', '.join(PROTOCOLS)}."
        )
    rules = protocol_named(protocol)
    if rounding != "none" and rules.name != "fail2drive":
        raise UsageError("--rounding parser belongs to --protocol fail2drive.")
    if requires_completion and rules.success_forgives is None:
        raise UsageError(f"--success-requires-completion: {rules.name} has no success rate.")
    found = read_results(path, method)
    scored: dict[str, Any]
    if rules.name == "fail2drive":
        scored = fail2drive.score(
            found,
            routes=None if routes is None else read_split(routes),
            rounding="parser" if rounding == "parser" else "none",
            success_requires_completion=requires_completion,
        )
    elif rules.name == "bench2drive":
        scored = bench2drive.score(
            found,
            routes=None if routes is None else bench2drive.read_routes(routes),
            success_requires_completion=requires_completion,
        )
    else:
        scored = leaderboard.score(found, rules)
    values: dict[str, Any] = jsonable(scored)
    return values
