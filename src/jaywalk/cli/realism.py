"""``jaywalk realism``: how human-like simulated traffic is, and what that score is worth."""

from __future__ import annotations

import math
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from jaywalk.cli.output import AsJson, AsValue, finish, print_json, print_table, say
from jaywalk.cli.realism_fit import fit_gaps, fit_people, validate_people
from jaywalk.cli.realism_people import people, rollout

if TYPE_CHECKING:
    from jaywalk.metrics.realism.bounds import Bounds
    from jaywalk.metrics.realism.challenge import ChallengeConfig
    from jaywalk.metrics.realism.jaywalk_score.score import Jaywalk1Score
    from jaywalk.metrics.realism.scene import Case
    from jaywalk.metrics.realism.score import RealismScore
    from jaywalk.stats.bootstrap import Estimate

app = typer.Typer(
    help="Human-likeness: the Sim Agents realism score, its flaws, and a better score.",
    no_args_is_help=True,
)
app.command()(rollout)
app.command()(people)
app.command("fit-people")(fit_people)
app.command("fit-gaps")(fit_gaps)
app.command("validate-people")(validate_people)


class Config(StrEnum):
    """Configurations by name."""

    Y2023 = "2023"
    Y2024 = "2024"
    Y2025 = "2025"
    Y2025_SCENARIO_GEN = "2025-scenario-gen"
    PUFFERDRIVE_2_0 = "pufferdrive-2.0"
    PUFFERDRIVE_2026 = "pufferdrive-2026"
    JAYWALK_1 = "jaywalk-1"
    PUFFERDRIVE = "pufferdrive"  # the former name of pufferdrive-2.0


class StudyName(StrEnum):
    """Studies by name."""

    COLLISIONS = "collisions"
    SUPERHUMAN = "superhuman"
    TIMING = "timing"
    BINS = "bins"


Input = Annotated[
    Path,
    typer.Argument(
        help="A scene (.npz), a folder of them, Waymo scenarios (TFRecord, JSON), or a Jaywalk run."
    ),
]
RolloutsOption = Annotated[
    Path | None,
    typer.Option("--rollouts", help="Rollouts of Waymo scenarios: .npz, submission, or a folder."),
]
ConfigOption = Annotated[
    Config,
    typer.Option(
        "--config",
        help="How to score: a Sim Agents year, Waymo's 2025 scenario generation, PufferDrive's "
        "rules before (2.0) or since (2026) January 2026, or our own jaywalk-1. 'pufferdrive' is "
        "the former name of pufferdrive-2.0.",
    ),
]


def _challenge(config: Config) -> Any:
    from jaywalk.core.errors import UsageError
    from jaywalk.metrics.realism.challenge import ALIASES, challenge_config

    if config is Config.JAYWALK_1:
        raise UsageError("jaywalk-1 has no metametric; use it with 'jaywalk realism score'.")
    if config.value in ALIASES:
        say(
            f"note: '{config.value}' is now called '{ALIASES[config.value]}': PufferDrive's rules "
            "before January 2026. Its current rules are 'pufferdrive-2026'."
        )
    return challenge_config(config.value)


def _note_given_history(cases: Sequence[Case], rules: ChallengeConfig) -> None:
    """Say where simulated futures are scored as if they were generated scenes."""
    from jaywalk.metrics.realism.scene import N_FUTURE, N_STEPS

    given = [case for case in cases if case.rollouts.n_steps == N_FUTURE]
    if rules.is_generation and given:
        say(
            f"note: {len(given)} of {len(cases)} scenes have rollouts of {N_FUTURE} steps; "
            f"'{rules.name}' scores all {N_STEPS}, so their logged history counts as generated and "
            "raises the score."
        )


@app.command()
def score(
    source: Input,
    config: ConfigOption = Config.Y2025,
    rollouts: RolloutsOption = None,
    per_scenario: Annotated[
        bool, typer.Option("--per-scenario", help="Also every scene by itself.")
    ] = False,
    with_bounds: Annotated[
        bool, typer.Option("--bounds", help="Add log replay, random and constant velocity.")
    ] = False,
    policy: Annotated[
        str | None, typer.Option("--policy", help="Which of the rollouts in a run's folder.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Score rollouts against the log.

    Example: jaywalk realism score scenes/ --config 2025 --bounds --json

    A run is scored with the rollouts that 'realism rollout' made of it, or, without any, with its
    scenes rolled out by lane followers.
    """
    from jaywalk.cli.realism_people import better_json, score_json
    from jaywalk.metrics.realism.bounds import bounds
    from jaywalk.metrics.realism.jaywalk_score.score import score_jaywalk1
    from jaywalk.metrics.realism.score import score_cases
    from jaywalk.rollouts.inputs import read_case_set

    read = read_case_set(source, rollouts, policy=policy)
    if read.made_here:
        say(
            f"'{source}' has no rollouts; scoring {len(read.cases)} of its scenes, rolled out here "
            f"by '{read.policy}'. For the run's own traffic and people, first: "
            f"jaywalk realism rollout {source} --policy traffic"
        )
    extra = {} if read.policy is None else {"policy": read.policy}
    cases = read.cases
    if config is Config.JAYWALK_1:
        better = score_jaywalk1(cases)
        if as_json:
            names = [case.scene.name for case in cases] if per_scenario else None
            print_json(better_json(better, names) | extra)
        else:
            _print_better(better, source)
        return
    rules = _challenge(config)
    _note_given_history(cases, rules)
    result = score_cases(cases, rules)
    limits = bounds(cases, result, rules) if with_bounds else None
    if as_json:
        print_json(score_json(result, per_scenario=per_scenario, limits=limits) | extra)
    else:
        _print_score(result, limits, source, per_scenario=per_scenario, n_read=len(cases))


def _interval(found: Estimate) -> str:
    low, high = found.interval.low, found.interval.high
    return f"[{low:.3f}, {high:.3f}]" if low == low else "(no interval)"


def _displacement(result: RealismScore) -> str:
    if math.isnan(result.ade_m):
        return ""
    return f"; ADE {result.ade_m:.2f} m, minADE {result.min_ade_m:.2f} m"


def _print_score(
    result: RealismScore, limits: Bounds | None, source: Path, *, per_scenario: bool, n_read: int
) -> None:
    rows = [[name, f"{value:.4f}"] for name, value in result.likelihoods.items()]
    rows += [[name, f"{value:.4f}"] for name, value in result.buckets.items()]
    print_table(["part", "value"], rows)
    if per_scenario:
        print_table(
            ["scene", "metametric"], [[s.name, f"{s.metametric:.4f}"] for s in result.scenes]
        )
    lines = [
        f"metametric ({result.config}): {result.metametric:.4f} over {result.n_scenarios} scenes, "
        f"{result.n_agents} agents{_displacement(result)}"
    ]
    left_out = n_read - result.n_scenarios
    if left_out:
        lines.append(f"left out, because a feature is undefined there: {left_out} scenes")
    if limits is not None:
        lines += [f"{name}: {other.metametric:.4f}" for name, other in limits.scores.items()]
        lines += [
            f"between {name} (0) and log replay (1): {e.value:.3f} {_interval(e)}"
            for name, e in limits.normalised.items()
        ]
    finish(lines, f"jaywalk realism audit {source}")


def _print_better(better: Jaywalk1Score, source: Path) -> None:
    rows = [[name, f"{e.value:.3f}", _interval(e), str(e.n)] for name, e in better.parts.items()]
    print_table(["likeness of", "0 random, 1 log", "95 % interval", "scenes"], rows)
    print_table(
        ["safety", "rate", "95 % interval", "events/h", "in the log"],
        [
            [
                name,
                f"{s.rate:.4f}",
                f"[{s.interval.low:.4f}, {s.interval.high:.4f}]",
                f"{s.events_per_hour:.2f}",
                f"{s.logged_rate:.4f}",
            ]
            for name, s in better.safety.items()
        ],
    )
    for part in (better.coordination, better.coverage):
        print_table(["number", "value"], [[name, f"{value:.3f}"] for name, value in part.items()])
    finish(
        [
            f"likeness (jaywalk-1): {better.likeness.value:.3f} {_interval(better.likeness)} over "
            f"{better.n_scenarios} scenes; constant velocity: {better.constant_velocity:.3f}"
        ],
        f"jaywalk realism study timing {source}",
    )


@app.command()
def audit(
    source: Input,
    config: ConfigOption = Config.Y2025,
    rollouts: RolloutsOption = None,
    as_json: AsJson = False,
) -> None:
    """Count collisions and off-road events in the log, and what they do to the score.

    Example: jaywalk realism audit scenes/
    """
    from jaywalk.cli.realism_people import plain
    from jaywalk.metrics.realism.studies.audit import audit as run_audit
    from jaywalk.rollouts.inputs import read_cases

    rules = _challenge(config)
    report = run_audit(read_cases(source, rollouts, or_log=True), rules)
    if as_json:
        print_json({"config": rules.name, **plain(report)})
        return
    print_table(
        ["logged event", "agents", "share", "95 % interval", "scenes"],
        [
            [
                name,
                str(e.agents),
                f"{e.share:.3f}",
                f"[{e.interval.low:.3f}, {e.interval.high:.3f}]",
                str(e.scenarios),
            ]
            for name, e in report.events.items()
        ],
    )
    finish(
        [
            f"{report.n_agents} agents in {report.n_scenarios} scenes, {len(report.clean)} clean",
            f"log replay scores {report.log_replay:.4f}; without its own collisions and off-road "
            f"steps {report.superhuman:.4f}: labels decide "
            f"{report.log_replay - report.superhuman:.4f}",
            f"the given rollouts score {report.score:.4f}; against a log without these labels "
            f"{report.score_unlabelled:.4f}",
        ],
        f"jaywalk realism study superhuman {source}",
    )


@app.command()
def weights(
    source: Input,
    config: ConfigOption = Config.Y2025,
    rollouts: RolloutsOption = None,
    as_json: AsJson = False,
) -> None:
    """How much of the score its ten weights decide.

    Example: jaywalk realism weights scenes/ --json
    """
    from jaywalk.cli.realism_people import plain
    from jaywalk.metrics.realism.bounds import bounds
    from jaywalk.metrics.realism.score import score_cases
    from jaywalk.metrics.realism.studies.weights import weight_study
    from jaywalk.rollouts.inputs import read_cases

    rules = _challenge(config)
    cases = read_cases(source, rollouts)
    result = score_cases(cases, rules)
    report = weight_study(result, bounds(cases, result, rules).scores, rules)
    if as_json:
        print_json({"config": rules.name, "metametric": plain(result.metametric), **plain(report)})
        return
    print_table(
        ["feature", "weight", "likelihood", "share", "score without it", "share of the gap"],
        [
            [
                name,
                f"{r.weight:.3f}",
                f"{r.likelihood:.3f}",
                f"{r.share:.3f}",
                f"{r.without:.3f}",
                f"{r.gap_share:.3f}",
            ]
            for name, r in report.rows.items()
        ],
    )
    low, middle, high = report.drawn
    finish(
        [
            f"metametric {result.metametric:.4f}; equal weights {report.equal:.4f}; any weights "
            f"{middle:.3f}, 95 % of them within [{low:.3f}, {high:.3f}]",
            *(
                f"order against {name} is the same under {kept:.1%} of all weights"
                for name, kept in report.order_kept.items()
            ),
        ],
        f"jaywalk realism study collisions {source}",
    )


@app.command()
def study(
    name: Annotated[StudyName, typer.Argument(help="Which flaw.")],
    source: Input,
    config: ConfigOption = Config.Y2025,
    rollouts: RolloutsOption = None,
    png: Annotated[Path | None, typer.Option("--png", help="Figure to write.")] = None,
    as_json: AsValue = False,
) -> None:
    """Show a flaw of the score on your own data.

    Example: jaywalk realism study collisions scenes/ --png collisions.png
    """
    from jaywalk.cli.realism_people import plain
    from jaywalk.metrics.realism.studies.studies import STUDIES
    from jaywalk.rollouts.inputs import read_cases

    rules = _challenge(config)
    result = STUDIES[name.value](read_cases(source, rollouts, or_log=True), rules)
    if png is not None:
        from jaywalk.report.study_figure import draw_study

        draw_study(result, png)
    if as_json:
        print_json({"config": rules.name, **plain(result)})
        return
    lines = [result.finding] + ([f"figure: {png}"] if png else [])
    finish(lines, f"jaywalk realism score {source} --config jaywalk-1")
