"""``jaywalk realism rollout``: closed-loop rollouts from a recorded start."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from jaywalk.cli.output import finish, print_json, say
from jaywalk.core.address import parse_address


def rollout(
    source: Annotated[
        Path,
        typer.Argument(help="A run, an episode, archives (.npz) or Waymo scenarios."),
    ],
    policy: Annotated[
        str,
        typer.Option(
            "--policy",
            help="log-replay, constant-velocity, random, lanes: any scene, no server. traffic, or "
            "a driver for the ego (expert, cruise, FILE.py, ...): runs of ours, on a server.",
        ),
    ],
    n: Annotated[int, typer.Option("--n", help="Rollouts of each scene.")] = 32,
    out: Annotated[
        Path | None,
        typer.Option("--out", help="Folder of the archives; for a run RUN/realism/POLICY."),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", help="All seeds derive from it.")] = 0,
    scenes: Annotated[int, typer.Option("--scenes", help="Windows of each episode of a run.")] = 1,
    at_s: Annotated[
        float | None, typer.Option("--at", help="Current time (s) of the only window instead.")
    ] = None,
    range_m: Annotated[
        float, typer.Option("--range-m", help="Who of a run takes part: so near to the ego.")
    ] = 100.0,
    server: Annotated[
        str, typer.Option(help="HOST:PORT of a running server instead of our own.")
    ] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Roll recorded scenes out with a policy, for 'realism score'.

    The same command again makes only what is missing.

    Example: jaywalk realism rollout runs/smoke-cruise --policy traffic --n 32
    """
    from jaywalk.runner.rollouts.job import RolloutRequest, run_rollouts

    folder = out or _default_folder(source, policy)
    done = run_rollouts(
        RolloutRequest(
            source=source, policy=policy, n=n, seed=seed, out=folder, scenes=scenes, at_s=at_s,
            range_m=range_m, server=parse_address(server) if server else None,
        ),
        say,
    )  # fmt: skip
    if as_json:
        values = asdict(done) | {"folder": str(done.folder), "wall_s": round(done.wall_s, 3)}
        print_json({"policy": policy, "seed": seed, **values})
        return
    kept = f", {done.kept} of them made before" if done.kept else ""
    finish(
        [
            f"{done.scenes} scenes{kept}, {done.agents} agents, {done.rollouts} rollouts each by "
            f"'{policy}', {done.wall_s:.0f} s, in {done.folder}"
        ],
        f"jaywalk realism score {done.folder} --bounds",
    )


def _default_folder(source: Path, policy: str) -> Path:
    from jaywalk.metrics.realism.readers.run_cases import FOLDER, is_run
    from jaywalk.record.episode import EPISODE_FILE

    name = Path(policy).stem if policy.endswith(".py") else policy.replace("/", "_")
    if is_run(source) and not (source / EPISODE_FILE).is_file():
        return source / FOLDER / name
    return Path("rollouts") / f"{source.name.split('.')[0]}-{name}"
