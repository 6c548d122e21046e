"""``jaywalk realism fit-people`` and ``validate-people``: our people against recorded ones."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from jaywalk.cli.output import AsJson, finish, number_or_dash, print_json, print_table, say

if TYPE_CHECKING:
    from jaywalk.rollouts.people.checks import ReplayRow
    from jaywalk.rollouts.people.replay import ReplayCase

Data = Annotated[Path, typer.Argument(help="DUT and CITR: a folder or an archive.")]


class Base(StrEnum):
    """Presets by name."""

    CAMPUS = "campus"
    REACTIVE = "reactive"


def fit_people(
    data: Data,
    out: Annotated[Path, typer.Option("--out", "-o", help="File of the parameters.")] = Path(
        "people.json"
    ),
    base: Annotated[Base, typer.Option(help="Preset to begin with.")] = Base.CAMPUS,
    keep: Annotated[
        list[str] | None, typer.Option(help="Parameter that stays as in the preset; repeat.")
    ] = None,
    evaluations: Annotated[
        int, typer.Option(min=32, max=100_000, help="Largest number of parameter sets to try.")
    ] = 400,
    repeats: Annotated[
        int, typer.Option(min=1, max=100, help="Replays of every encounter for each set.")
    ] = 2,
    seed: Annotated[int, typer.Option(help="Seed of the search and of the people.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Fit the parameters of people who react to recorded encounters with vehicles.

    The intersection of DUT is held out: the result is compared there with the preset, and the
    search never sees it. A fit that was stopped goes on with the same command.

    Example: jaywalk realism fit-people vci_dut_citr.tar.xz --out people.json
    """
    from jaywalk import __version__
    from jaywalk.actors.reactive.parameters import FORMAT, settings_of
    from jaywalk.core.files import write_whole
    from jaywalk.rollouts.people.fitting import (
        HELD_OUT,
        FitRequest,
        fit_facts,
        loss_of,
        split_cases,
    )
    from jaywalk.rollouts.people.fitting import fit_people as fit
    from jaywalk.rollouts.people.replay import Replayer

    cases = _cases(data)
    fitted, held = split_cases(cases)
    say(f"{len(fitted)} encounters to fit, {len(held)} held out")
    progress = out.with_name(f"{out.name}.progress")
    request = FitRequest(
        base=base.value,
        keeps=tuple(keep or ()),
        evaluations=evaluations,
        repeats=repeats,
        seed=seed,
        progress=progress,
    )
    best = fit(fitted, request, say)
    after = settings_of(base.value, best.values)
    before = settings_of(base.value, {})
    others = Replayer(held * repeats, seed)
    held_losses = {
        "loss": round(loss_of(others.cases, others.run(after)), 5),
        "loss_before": round(loss_of(others.cases, others.run(before)), 5),
    }
    content: dict[str, Any] = {
        "format": FORMAT,
        "base": base.value,
        "values": best.values,
        "fitted_on": _parts(fitted),
        "held_out": {"part": " ".join(HELD_OUT), "encounters": len(held), **held_losses},
        **fit_facts(best, request),
        "data": data.name,
        "jaywalk": __version__,
    }
    write_whole(out, json.dumps(content, indent=2) + "\n")
    progress.unlink(missing_ok=True)
    if as_json:
        print_json(content | {"file": str(out)})
        return
    print_table(
        ["parameter", "preset", "fitted"],
        [[name, f"{getattr(before, name):g}", f"{v:g}"] for name, v in best.values.items()],
    )
    better = held_losses["loss"] < held_losses["loss_before"]
    verdict = "smaller" if better else "not smaller: prefer the preset"
    finish(
        [
            f"loss {best.loss_before:.3f} -> {best.loss:.3f} on {len(fitted)} encounters; held "
            f"out {held_losses['loss_before']:.3f} -> {held_losses['loss']:.3f} on {len(held)} "
            f"({verdict})",
            f"parameters: {out}",
        ],
        f"jaywalk realism validate-people {data} --parameters {out}",
    )


def validate_people(
    data: Data,
    parameters: Annotated[
        Path | None, typer.Option(help="Also these parameters, of fit-people.")
    ] = None,
    drawn: Annotated[
        int, typer.Option(min=10, max=100_000, help="Aimed encounters of each kind.")
    ] = 3000,
    seed: Annotated[int, typer.Option(help="Seed of the people.")] = 0,
    resamples: Annotated[int, typer.Option(min=100, help="Bootstrap replicates.")] = 1000,
    as_json: AsJson = False,
) -> None:
    """Compare people who react with recorded ones, part by part, with 95 % intervals over people.

    Three kinds of rows: recorded encounters replayed, drawn encounters aimed at the side of a
    vehicle, and the shares of gaps that are accepted at the kerb.

    Example: jaywalk realism validate-people vci_dut_citr.tar.xz --json
    """
    from jaywalk.actors.reactive.parameters import read_parameters
    from jaywalk.actors.reactive.traits import PRESETS
    from jaywalk.cli.realism_people import plain
    from jaywalk.rollouts.people.checks import aimed_rows, models, replay_rows
    from jaywalk.rollouts.people.gaps import acceptance_facts, acceptance_rows

    fitted = None if parameters is None else read_parameters(parameters)[0]
    cases = _cases(data)
    judged = PRESETS["reactive"] if fitted is None else fitted
    compared = models(fitted)
    rows = replay_rows(cases, compared, say, seed=seed, resamples=resamples)
    aimed = aimed_rows(compared, drawn, say, seed)
    say("gaps at the kerb")
    accepted = acceptance_rows(judged)
    facts = acceptance_facts(accepted)
    if as_json:
        print_json(
            {
                "data": data.name,
                "seed": seed,
                "resamples": resamples,
                "replay": [plain(asdict(row)) for row in rows],
                "aimed": [plain(asdict(row)) for row in aimed],
                "acceptance": [plain(asdict(row)) for row in accepted],
                "acceptance_summary": plain(facts),
            }
        )
        return
    _print_replay(rows)
    print_table(
        ["model", "vehicles", "people", "drawn", "side", "95 % interval of the share", "front"],
        [
            [
                row.model,
                row.vehicle,
                row.people,
                str(row.drawn),
                str(row.side),
                f"[{row.side_share.low:.4f}, {row.side_share.high:.4f}]",
                str(row.front),
            ]
            for row in aimed
        ],
    )
    print_table(
        ["gap s", "m/s", "accepted", "HIKER", "median s to decide"],
        [
            [
                f"{r.gap_s:g}",
                f"{r.speed_mps:g}",
                f"{r.share:.2f}",
                f"{r.recorded:.2f}",
                number_or_dash(r.decided_s, 2),
            ]
            for r in accepted
        ],
    )
    finish(
        [
            f"gaps at the kerb: mean error {facts['mean_error']:.3f}, Kendall's tau "
            f"{facts['kendall_tau']:.2f} over {len(accepted)} cells"
        ],
        f"jaywalk realism fit-people {data}",
    )


def fit_gaps(
    trials: Annotated[Path, typer.Argument(help="Crossing times of HIKER (hiker_cts.csv).")],
    out: Annotated[Path, typer.Option("--out", "-o", help="File of the parameters.")] = Path(
        "gaps.json"
    ),
    base: Annotated[Base, typer.Option(help="Preset to begin with.")] = Base.REACTIVE,
    evaluations: Annotated[
        int, typer.Option(min=10, max=100_000, help="Largest number of parameter sets to try.")
    ] = 150,
    copies: Annotated[
        int, typer.Option(min=5, max=10_000, help="Simulated people by gap and boldness.")
    ] = 24,
    seed: Annotated[int, typer.Option(help="Seed of the search.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Fit how evidence for a gap accumulates at the kerb to trials of people who could cross.

    The parameters are those under which the decisions and the times of all people are most likely,
    with the boldness of each person unknown.

    Example: jaywalk realism fit-gaps hiker_cts.csv --out gaps.json
    """
    from jaywalk import __version__
    from jaywalk.actors.reactive.parameters import FORMAT, settings_of
    from jaywalk.core.files import write_whole
    from jaywalk.rollouts.people.gaps import (
        GAP_BOUNDS,
        acceptance_facts,
        acceptance_rows,
        read_trials,
    )
    from jaywalk.rollouts.people.gaps import fit_gaps as fit

    known = read_trials(trials)
    people, count = known.counts.shape[0], int(known.counts.sum())
    say(f"{count} trials of {people} people in {len(known.cells)} cells")
    best = fit(known, say, base=base.value, evaluations=evaluations, copies=copies, seed=seed)
    before = settings_of(base.value, {})
    after = settings_of(base.value, best.values)
    facts = acceptance_facts(acceptance_rows(after))
    content: dict[str, Any] = {
        "format": FORMAT,
        "base": base.value,
        "values": best.values,
        "fitted_on": {"people": people, "trials": count},
        "log_likelihood": round(best.log_likelihood, 3),
        "log_likelihood_before": round(best.log_likelihood_before, 3),
        "acceptance_summary": facts,
        "evaluations": best.evaluations,
        "copies": copies,
        "seed": seed,
        "bounds": {name: list(ends) for name, ends in GAP_BOUNDS.items()},
        "data": trials.name,
        "jaywalk": __version__,
    }
    write_whole(out, json.dumps(content, indent=2) + "\n")
    if as_json:
        print_json(content | {"file": str(out)})
        return
    print_table(
        ["parameter", "preset", "fitted"],
        [[name, f"{getattr(before, name):g}", f"{v:g}"] for name, v in best.values.items()],
    )
    finish(
        [
            f"log-likelihood {best.log_likelihood_before:.1f} -> {best.log_likelihood:.1f}; mean "
            f"error of the twelve shares of HIKER {facts['mean_error']:.3f}",
            f"parameters: {out}",
        ],
        f"jaywalk realism validate-people DATA --parameters {out}",
    )


def _cases(data: Path) -> list[ReplayCase]:
    from jaywalk.core.errors import DataError
    from jaywalk.datasets.vci import read_vci
    from jaywalk.rollouts.people.replay import replay_cases

    if not data.exists():
        raise DataError(f"There is no '{data}'; give the folder or archive of DUT and CITR.")
    return replay_cases(read_vci(data))


def _parts(cases: Sequence[ReplayCase]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for case in cases:
        name = f"{case.source} {case.course}"
        counts[name] = counts.get(name, 0) + 1
    return dict(sorted(counts.items()))


def _print_replay(rows: Sequence[ReplayRow]) -> None:
    from jaywalk.rollouts.people.checks import MEASURES

    lines = []
    for row in rows:
        cells = []
        for name in MEASURES:
            if name not in row.values:
                cells.append("-")
                continue
            one = row.values[name]
            low, high = (number_or_dash(e, 2) for e in (one.interval.low, one.interval.high))
            cells.append(f"{number_or_dash(one.value, 2)} [{low}, {high}]")
        part = f"{row.part} (held out)" if row.held_out else row.part
        lines.append([part, row.model, str(row.encounters), *cells])
    print_table(["part", "people", "n", *MEASURES], lines)
