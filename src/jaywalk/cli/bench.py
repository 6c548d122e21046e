"""``jaywalk bench``: measure."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import jaywalk
from jaywalk.cli.output import AsJson, AsValue, finish, print_json, print_line, print_table, say
from jaywalk.core.errors import PrerequisiteError

if TYPE_CHECKING:
    from jaywalk_bench.suites import SuiteSample

app = typer.Typer(
    help="Measure speed and memory against the project's targets.", no_args_is_help=True
)


@app.callback()
def _benchmarks() -> None:
    """Measure speed and memory against the project's targets."""
    _find_benchmarks()


def _find_benchmarks() -> None:
    """Make ``jaywalk_bench`` importable: it is part of the repository, not of the wheel."""
    folder = Path(jaywalk.__file__).parents[2] / "benchmarks"
    if not (folder / "jaywalk_bench").is_dir():
        raise PrerequisiteError(
            "Benchmarks are not part of the installed package. Clone the repository and run "
            "`make bench` there."
        )
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
    paths = [str(folder), *filter(None, [os.environ.get("PYTHONPATH")])]
    os.environ["PYTHONPATH"] = os.pathsep.join(paths)  # for the processes that benchmarks start


@app.command()
def server(
    as_json: AsJson = False,
    quick: Annotated[bool, typer.Option("--quick", help="Fewer ticks: a look.")] = False,
    town: Annotated[str, typer.Option(help="Where to measure.")] = "Harbour",
) -> None:
    """Ticks per second and CPU per tick of client and server, start-up and memory.

    Example: jaywalk bench server --json > bench.json
    """
    from jaywalk_bench.server import AIMS, bench_server

    result = bench_server(town=town, quick=quick, say=say)
    if as_json:
        print_json(result.as_dict())
        return
    rows = [
        [
            m.name,
            f"{m.ticks_per_s:.0f}",
            f"{m.client_cpu_ms_per_tick:.2f}",
            f"{m.server_cpu_ms_per_tick:.2f}",
        ]
        for m in (*result.scenes, *result.curve)
    ]
    print_table(["scene (vehicles+people)", "ticks/s", "client ms", "server ms"], rows)
    for name, value in result.reached().items():
        verdict = "ok" if value <= AIMS[name] else "MISSED"
        print_line(f"{name}: {value:.2f} (aim: at most {AIMS[name]:g}) {verdict}")
    finish(
        [
            f"cost per actor: {result.cost_per_actor_us:.2f} us of server CPU per tick",
            f"calibration loop: {result.calibration_ms:.1f} ms",
        ],
        "jaywalk bench server --json > bench.json  # keep it for comparison",
    )


@app.command()
def sensors(
    as_json: AsJson = False,
    quick: Annotated[bool, typer.Option("--quick", help="Fewer ticks: a look.")] = False,
    town: Annotated[str, typer.Option(help="Where to measure.")] = "Harbour",
) -> None:
    """Ticks per second and CPU per tick of cameras, LiDAR and radar, on one core and on two.

    30 vehicles and 30 people move; one car carries the sensors.

    Example: jaywalk bench sensors --json > bench.json
    """
    from jaywalk_bench.sensors import AIM_RSS_MB, AIMS, bench_sensors

    result = bench_sensors(town=town, quick=quick, say=say)
    if as_json:
        print_json(result.as_dict())
        return
    print_table(
        ["sensors", "cores", "ticks/s", "server ms", "sensors ms"],
        [
            [
                rig.name,
                str(rig.cores),
                f"{rig.ticks_per_s:.1f}",
                f"{rig.server_cpu_ms_per_tick:.1f}",
                f"{rig.sensor_cpu_ms_per_tick:.1f}",
            ]
            for rig in result.rigs
        ],
    )
    for name, value in result.reached().items():
        verdict = "ok" if value >= AIMS[name] else "MISSED"
        print_line(f"{name}: {value:.1f} ticks/s (aim: at least {AIMS[name]:g}) {verdict}")
    verdict = "ok" if result.rss_mb <= AIM_RSS_MB else "MISSED"
    finish(
        [
            f"memory of the server: {result.rss_mb:.0f} MB (aim: at most {AIM_RSS_MB:g}) {verdict}",
            f"calibration loop: {result.calibration_ms:.1f} ms before, "
            f"{result.calibration_after_ms:.1f} ms after; load {result.load_1_min:.1f}",
        ],
        "jaywalk bench sensors --json > bench.json  # keep it for comparison",
    )


@app.command()
def run(
    as_json: AsJson = False,
    agent: Annotated[str, typer.Option(help="Who drives.")] = "cruise",
    town: Annotated[str, typer.Option(help="Where to drive.")] = "Harbour",
) -> None:
    """What episodes cost: simulated seconds per wall and per CPU second, memory, extra actors.

    One worker with its server, half a kilometre, 30 vehicles and 30 people, no cameras.

    Example: jaywalk bench run --json > bench.json
    """
    from jaywalk_bench.run import AIM_SIMULATED_PER_CPU_S, bench_run

    result = bench_run(agent=agent, town=town, say=say)
    if as_json:
        print_json(result.as_dict())
        return
    print_table(
        ["vehicles+people", "simulated s", "x real time", "simulated s per CPU s", "ms per tick"],
        [
            [
                f"{e.vehicles}+{e.people}",
                f"{e.simulated_s:.0f}",
                f"{e.real_time_factor:.1f}",
                f"{e.simulated_per_cpu_s:.1f}",
                f"{e.driving_cpu_ms_per_tick:.2f}",
            ]
            for e in result.episodes
        ],
    )
    reached = result.main.simulated_per_cpu_s
    verdict = "ok" if reached >= AIM_SIMULATED_PER_CPU_S else "MISSED"
    costs = result.costs_per_actor_us()
    finish(
        [
            f"simulated s per CPU s of client and server: {reached:.1f} "
            f"(aim: at least {AIM_SIMULATED_PER_CPU_S:g}) {verdict}",
            f"peak memory: {result.client_peak_mb:.0f} MB client, {result.server_peak_mb:.0f} MB "
            "server",
            f"one more vehicle: {costs['vehicle']:.0f} us of CPU per tick, "
            f"one more person: {costs['person']:.0f} us",
            f"calibration loop: {result.calibration_ms:.1f} ms",
        ],
        "jaywalk bench run --json > bench.json  # keep it for comparison",
    )


@app.command()
def habit(
    as_json: AsJson = False,
    agent: Annotated[str, typer.Option(help="Who drives.")] = "expert",
    subset: Annotated[
        str, typer.Option(help="Routes to drive; all: every one.", show_default="every eleventh")
    ] = "",
    people_model: Annotated[
        str, typer.Option(help="Model of the people, as for run.", show_default="reactive")
    ] = "",
) -> None:
    """What episodes of the suite habit cost: 30 vehicles, 20 posed people, 10 ambient ones.

    Example: jaywalk bench habit --json > bench.json
    """
    from jaywalk_bench.suites import (
        AIM_SIMULATED_PER_CPU_S,
        HABIT_AIM_SUITE_MIN,
        HABIT_SAMPLE,
        bench_habit,
    )

    result = bench_habit(
        agent=agent, subset=subset or HABIT_SAMPLE, people_model=people_model, say=say
    )
    if as_json:
        print_json(result.as_dict())
        return
    _print_routes(result)
    reached, minutes = result.simulated_per_cpu_s, result.suite_min
    verdict = "ok" if reached >= AIM_SIMULATED_PER_CPU_S else "MISSED"
    in_time = "ok" if minutes <= HABIT_AIM_SUITE_MIN else "MISSED"
    finish(
        [
            f"simulated s per CPU s of client and server: {reached:.1f} "
            f"(aim: at least {AIM_SIMULATED_PER_CPU_S:g}) {verdict}",
            f"the whole suite, 3 seeds on 2 cores: {minutes:.0f} min "
            f"(aim: at most {HABIT_AIM_SUITE_MIN:g}) {in_time}",
            f"calibration loop: {result.calibration_ms:.1f} ms",
        ],
        "jaywalk bench habit --json > bench.json  # keep it for comparison",
    )


@app.command()
def fail2drive(
    as_json: AsJson = False,
    agent: Annotated[str, typer.Option(help="Who drives.")] = "expert",
    subset: Annotated[
        str, typer.Option(help="Routes to drive; all: every one.", show_default="five pairs")
    ] = "",
) -> None:
    """What the 200 routes of the suite fail2drive cost, one seed on two cores.

    Example: jaywalk bench fail2drive --json > bench.json
    """
    from jaywalk_bench.suites import FAIL2DRIVE_AIM_SUITE_MIN, FAIL2DRIVE_SAMPLE, bench_fail2drive

    result = bench_fail2drive(agent=agent, subset=subset or FAIL2DRIVE_SAMPLE, say=say)
    if as_json:
        print_json(result.as_dict())
        return
    _print_routes(result)
    minutes = result.suite_min
    verdict = "ok" if minutes <= FAIL2DRIVE_AIM_SUITE_MIN else "MISSED"
    finish(
        [
            f"{result.suite_routes} routes, one seed on 2 cores: {minutes:.1f} min of CPU "
            f"(aim: at most {FAIL2DRIVE_AIM_SUITE_MIN:g}) {verdict}",
            f"calibration loop: {result.calibration_ms:.1f} ms",
        ],
        "jaywalk bench fail2drive --json > bench.json  # keep it for comparison",
    )


@app.command()
def agents(
    as_json: AsJson = False,
    agent: Annotated[
        str, typer.Option(help="Which drivers, with commas.", show_default="all")
    ] = "",
    town: Annotated[str, typer.Option(help="Where to drive.")] = "Harbour",
    ticks: Annotated[int, typer.Option(min=1, help="Decisions of each to time.")] = 400,
) -> None:
    """Milliseconds of CPU per decision of each driver, among 30 vehicles and 30 people.

    Example: jaywalk bench agents --json > bench.json
    """
    from jaywalk_bench.agents import AIMS_MS, bench_agents

    names = [name for name in agent.split(",") if name]
    result = bench_agents(names, town=town, ticks=ticks, say=say)
    if as_json:
        print_json(result.as_dict())
        return
    print_table(
        ["driver", "ms per decision", "median", "99 %", "setup ms", "vehicles+people"],
        [
            [
                one.agent,
                f"{one.ms_per_decision:.2f}",
                f"{one.median_ms:.2f}",
                f"{one.p99_ms:.2f}",
                f"{one.setup_ms:.0f}",
                f"{one.vehicles}+{one.people}",
            ]
            for one in result.agents
        ],
    )
    lines = [f"calibration loop: {result.calibration_ms:.1f} ms"]
    for timing in result.agents:
        if timing.agent in AIMS_MS:
            aim = AIMS_MS[timing.agent]
            verdict = "ok" if timing.ms_per_decision <= aim else "MISSED"
            reached = (
                f"{timing.agent}: {timing.ms_per_decision:.2f} ms (aim: at most {aim:g}) {verdict}"
            )
            lines.insert(0, reached)
    finish(lines, "jaywalk bench agents --json > bench.json  # keep it for comparison")


@app.command()
def determinism(
    as_json: AsValue = False,
    runs: Annotated[int, typer.Option(min=2, help="Runs of each scene.")] = 2,
    ticks: Annotated[int, typer.Option(min=1, help="Ticks of each run.")] = 2000,
    town: Annotated[str, typer.Option(help="Where to run.")] = "Harbour",
) -> None:
    """Whether equal runs give equal worlds: seeded controls, and CARLA's Traffic Manager.

    Each run has a fresh server and a fresh client; snapshots of 30 cars and 30 people are compared
    tick by tick. Exit code 1 when scripted runs differ.

    Example: jaywalk bench determinism --runs 3 --json
    """
    from jaywalk_bench.determinism import measure_agreement

    results = [
        measure_agreement(mode, runs=runs, ticks=ticks, town=town, say=say)
        for mode in ("scripted", "traffic-manager")
    ]
    if as_json:
        print_json([result.as_dict() for result in results])
    else:
        for result in results:
            print_line(
                f"{result.mode}: {result.pairs_identical} of {result.pairs} pairs identical over "
                f"{result.ticks} ticks; first differences at ticks {result.first_difference_ticks}"
            )
    if results[0].pairs_identical < results[0].pairs:
        raise typer.Exit(1)


@app.command()
def realism(
    as_json: AsValue = False,
    evaluated: Annotated[
        int, typer.Option(help="How many of the 50 agents are scored.", min=1, max=50)
    ] = 50,
) -> None:
    """CPU time of the realism score: 50 agents, 20,000 edge segments, 32 rollouts, one core.

    Example: jaywalk bench realism --json
    """
    from jaywalk_bench.realism import bench_realism

    result = bench_realism(evaluated=evaluated, say=say)
    if as_json:
        print_json(result.as_dict())
        return
    verdict = "ok" if result.score_s <= result.aim_s else "MISSED"
    finish(
        [
            f"{result.evaluated} of {result.agents} agents scored, {result.edge_segments} edge "
            f"segments, {result.rollouts} rollouts",
            f"one scene: {result.score_s:.2f} s of CPU (aim: at most {result.aim_s:g}) {verdict}; "
            f"the first, with compiling or loading: {result.first_s:.1f} s",
        ],
        "jaywalk bench realism --json > realism.json  # keep it for comparison",
    )


@app.command()
def predict(
    as_json: AsValue = False,
) -> None:
    """IRS with BCa (8 models, 4 horizons, 500 tracks, 10,000 resamples); one network forecast.

    Example: jaywalk bench predict --json
    """
    from jaywalk_bench.predict import AIM_S, DECISION_AIM_MS, bench_predict

    result = bench_predict()
    if as_json:
        print_json(result.as_dict())
        return
    verdict = "ok" if result.irs_s <= AIM_S else "MISSED"
    finish(
        [
            f"IRS with BCa, {result.models} models x {result.horizons} horizons, "
            f"{result.tracks} tracks, {result.samples} samples: {result.irs_s:.1f} s "
            f"(aim: at most {AIM_S:g}) {verdict}",
            f"forecast of {result.decision.people} people by the network: "
            f"{result.decision.cpu_ms:.1f} ms of CPU (aim: at most {DECISION_AIM_MS:g}), "
            f"{result.decision.wall_ms:.1f} ms of wall time",
            f"calibration loop: {result.calibration_ms:.1f} ms",
        ],
        "jaywalk bench predict --json > bench.json  # keep it for comparison",
    )


@app.command()
def people(
    as_json: AsValue = False,
    ticks: Annotated[int, typer.Option(min=20, help="Ticks to measure.")] = 1200,
) -> None:
    """CPU time of the model of reacting people: 30 people who cross among 31 vehicles.

    Example: jaywalk bench people --json
    """
    from jaywalk_bench.people import AIM_US, bench_people

    result = bench_people(ticks=ticks)
    if as_json:
        print_json(result.as_dict())
        return
    took = result.us_per_person_and_tick
    verdict = "ok" if took <= AIM_US else "MISSED"
    finish(
        [
            f"{result.people} people, {result.vehicles} vehicles: {took:.1f} us a person and tick "
            f"(aim: at most {AIM_US:g}) {verdict}, {result.ms_per_tick:.2f} ms a tick",
            f"calibration loop: {result.calibration_ms:.1f} ms",
        ],
        "jaywalk bench people --json > bench.json  # keep it for comparison",
    )


@app.command()
def motion(
    as_json: AsValue = False,
    clips: Annotated[int, typer.Option(min=2, help="Clips to measure.")] = 40,
) -> None:
    """Ten-second clips per second of one core: cleaned, and put on all four rigs.

    Example: jaywalk bench motion --json
    """
    from jaywalk_bench.motion import AIM_CLIPS_PER_S, bench_motion

    result = bench_motion(clips=clips)
    if as_json:
        print_json(result.as_dict())
        return
    verdict = "ok" if result.build_clips_per_s >= AIM_CLIPS_PER_S else "MISSED"
    finish(
        [
            f"cleaned and on four rigs: {result.build_clips_per_s:.0f} clips/s "
            f"(aim: at least {AIM_CLIPS_PER_S:g}) {verdict}",
            f"four rigs alone: {result.retarget_clips_per_s:.0f} clips/s",
            f"calibration loop: {result.calibration_ms:.1f} ms",
        ],
        "jaywalk bench motion --json > bench.json  # keep it for comparison",
    )


def _print_routes(result: SuiteSample) -> None:
    print_table(
        ["route", "simulated s", "x real time", "simulated s per CPU s", "ms per tick"],
        [
            [
                name,
                f"{e.simulated_s:.0f}",
                f"{e.real_time_factor:.1f}",
                f"{e.simulated_per_cpu_s:.1f}",
                f"{e.driving_cpu_ms_per_tick:.2f}",
            ]
            for name, e in zip(result.routes, result.episodes, strict=True)
        ],
    )
