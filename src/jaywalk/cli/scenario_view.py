"""What ``jaywalk scenario show`` and ``check`` do: set up, look, drive, judge."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from jaywalk.cli.output import say
from jaywalk.core.address import parse_address
from jaywalk.core.errors import UsageError
from jaywalk.runner.agent_choice import agent_specs

if TYPE_CHECKING:
    from jaywalk.checks.staging import StagedView
    from jaywalk.metrics.driving.summary import EpisodeScore
    from jaywalk.report.scenario_picture import Mark
    from jaywalk.runner.job import RunRequest
    from jaywalk.runner.plan import EpisodePlan
    from jaywalk.scenarios.formats.route_xml import Route

PROTOCOL: Final = "fail2drive"
CARELESS: Final = "blind"  # follows its route and ignores everything else
_PICTURES: Final = (".png", ".jpg", ".svg", ".pdf")


def draw_file(file: Path, png: Path, *, server: str, plan_only: bool, motions: str = "") -> int:
    """Draw a scenario file; returns how many bodies are in the picture."""
    from jaywalk.checks.staging import StagedView
    from jaywalk.report.scenario_picture import draw_scenario
    from jaywalk.runner.motions import library_of
    from jaywalk.runner.plan import AgentSpec, EpisodeOptions, plan_episodes
    from jaywalk.scenarios.suite import suite_of_files, with_people_model
    from jaywalk.scenarios.toolbox.form import read_authored
    from jaywalk.scenarios.toolbox.routes import check_on_road
    from jaywalk.town.town import load_town

    dense = check_on_road(read_authored(file))
    suite = with_people_model(suite_of_files([file]))
    library, digest = ("", "") if plan_only else library_of(suite, motions)
    options = EpisodeOptions(motions=library, motions_sha256=digest)
    (plan,) = plan_episodes(suite, AgentSpec(name="expert"), (1,), options)
    view = StagedView(bodies=[], ways=[]) if plan_only else _staged(plan, server)
    route = plan.item.route
    length = f"{float(dense.along_m[-1]):.0f} m"
    draw_scenario(
        load_town(route.town),
        dense.position_m,
        _marks(route),
        view.bodies,
        png,
        ways_m=view.ways,
        title=f"{plan.item.id}: {_types(route)} in {route.town}, {length}",
    )
    return len(view.bodies)


def picture_path(path: Path, option: str) -> Path:
    """The path, if a picture may have that name: nothing else is to be overwritten."""
    if path.suffix.lower() not in _PICTURES:
        raise UsageError(f"{option} is '{path}', expected a picture: {', '.join(_PICTURES)}.")
    return path


def _staged(plan: EpisodePlan, server: str) -> StagedView:
    from jaywalk.checks.staging import view_stage
    from jaywalk.runner.session import SimulatorSession

    town = plan.item.route.town
    world = (
        SimulatorSession.attach(*parse_address(server))
        if server
        else SimulatorSession.embedded(town)
    )
    with world:
        return view_stage(plan, world)


def _marks(route: Route) -> list[Mark]:
    from jaywalk.report.scenario_picture import Mark

    return [
        Mark(
            x_m=spec.trigger.x_m,
            y_m=spec.trigger.y_m,
            yaw_deg=spec.trigger.yaw_deg,
            words=spec.name,
        )
        for spec in route.scenarios
    ]


def _types(route: Route) -> str:
    return ", ".join(spec.type for spec in route.scenarios) or "no scenario"


def check_file(
    file: Path,
    *,
    agent: str,
    seeds: str,
    out: Path | None,
    png: Path | None,
    server: str,
    workers: int,
    motions: str = "",
) -> dict[str, Any]:
    """Drive a scenario file and judge it; what ``--json`` prints."""
    from jaywalk.cli.run import quietly
    from jaywalk.core.source_digest import sources_digest
    from jaywalk.metrics.driving.run_score import score_run
    from jaywalk.runner.config import route_digest
    from jaywalk.runner.job import RunRequest, WorkerOptions
    from jaywalk.runner.motions import library_of
    from jaywalk.runner.plan import EpisodeOptions
    from jaywalk.runner.selection import parse_seeds
    from jaywalk.scenarios.suite import suite_of_files, with_people_model
    from jaywalk.scenarios.toolbox.form import read_authored
    from jaywalk.scenarios.toolbox.routes import check_on_road

    if png is not None and png.suffix.lower() != ".png":
        raise UsageError(f"--png is '{png}', expected a name with .png.")
    if server:
        parse_address(server)
    else:
        check_on_road(read_authored(file))
    suite = with_people_model(suite_of_files([file]))
    (spec,) = agent_specs(agent, None, None, "")
    item = suite.routes[0]
    # An edited scenario or program is another run, and so is one on another kind of server.
    name = f"check-{item.id}-{Path(agent).stem}-{route_digest(item)[:6]}-{sources_digest()[:6]}"
    name += "-attached" if server else ""
    folder = out or Path("runs") / name
    library, digest = library_of(suite, motions)
    request = RunRequest(
        run_folder=folder,
        suite=suite,
        agent=spec,
        seeds=parse_seeds(seeds),
        episodes=EpisodeOptions(motions=library, motions_sha256=digest),
        workers=WorkerOptions(server=server, workers=workers),
    )
    say(f"{file}: {agent} drives it with seeds {seeds} ...")
    quietly(request)
    careless = _careless(request, file, seeds)
    run = score_run(folder, PROTOCOL)
    # A folder that was given may hold other scenarios and seeds too.
    asked = {plan.episode_id for plan in request.plans()}
    driven = [one for one in run.episodes if one.episode_id in asked]
    missing = [name for name in run.missing if name in asked]
    episodes = [_judged(one, folder, png, len(driven) == 1) for one in driven]
    episodes += _not_run(folder, missing)
    failed = [one["episode"] for one in episodes if not one["solved"]]
    return {
        "file": str(file),
        "agent": agent,
        "solvable": not failed,
        "danger": careless,
        "episodes": episodes,
        "run": str(folder),
        "replay": f"jaywalk scenario show {file}"
        if missing
        else (f"jaywalk replay {folder} {failed[0] if failed else ''} --mp4 why.mp4"),
    }


def _careless(request: RunRequest, file: Path, seeds: str) -> dict[str, Any] | None:
    """Danger to a driver who ignores everything; None if it could not be driven."""
    from jaywalk.checks.danger import NONE, in_words, scenario_danger, worst_of
    from jaywalk.cli.run import quietly
    from jaywalk.metrics.driving.run_score import score_run
    from jaywalk.report.replay import find_episode

    if request.agent.name != CARELESS:
        (spec,) = agent_specs(CARELESS, None, None, "")
        folder = request.run_folder.with_name(f"{request.run_folder.name}-{CARELESS}")
        request = replace(request, agent=spec, run_folder=folder)
        say(f"{file}: {CARELESS} drives it with seeds {seeds} ...")
        quietly(request)
    asked = {plan.episode_id for plan in request.plans()}
    dangers = {
        score.episode_id: scenario_danger(find_episode(request.run_folder, score.episode_id), score)
        for score in score_run(request.run_folder, PROTOCOL).episodes
        if score.episode_id in asked
    }
    if not dangers:
        return None
    worst = worst_of(list(dangers.values()))
    return {
        **worst.as_dict(),
        "driver": CARELESS,
        "affected": worst.level != NONE,
        "words": in_words(worst, CARELESS),
        "episodes": [{"episode": name, **one.as_dict()} for name, one in dangers.items()],
        "run": str(request.run_folder),
    }


def _not_run(folder: Path, missing: Sequence[str]) -> list[dict[str, Any]]:
    """Episodes that could not be run, with the reason."""
    from jaywalk.runner.state import RunState

    if not missing:
        return []
    with RunState(folder) as state:
        rows = state.rows()
    skipped = []
    for name in missing:
        error = rows[name].error.strip().rsplit("\n", 1)[-1] if name in rows else ""
        why = f"could not be run: {error}" if error else "could not be run"
        skipped.append(
            {
                "episode": name,
                "solved": False,
                "why": why,
                "picture": "",
                "driving_score": None,
                "status": "",
            }
        )
    return skipped


def _judged(score: EpisodeScore, folder: Path, png: Path | None, alone: bool) -> dict[str, Any]:
    solved = score.success and score.metrics["route_completion"] >= 100.0
    picture, why = "", ""
    if not solved:
        from jaywalk.record.queries import end_s
        from jaywalk.report.replay import find_episode, write_still
        from jaywalk.report.summary import decisive, in_words

        event = decisive(score)
        path = png or folder / f"{score.episode_id}.png"
        if png is not None and not alone:
            path = png.with_stem(f"{png.stem}-s{score.seed}")
        record = find_episode(folder, score.episode_id)
        time_s = event.time_s if event is not None else end_s(record)
        write_still(record, path, time_s)
        picture = str(path)
        why = _why(score, in_words(event.kind) if event is not None else "")
    return {
        "episode": score.episode_id,
        "solved": solved,
        "why": why,
        "picture": picture,
        "driving_score": score.metrics["driving_score"],
        "status": score.status,
    }


def _why(score: EpisodeScore, event: str) -> str:
    reached = f"{score.metrics['route_completion']:.0f} % of the route"
    words = [event or score.status, score.failure]
    return ", ".join([*(word for word in words if word), reached])
