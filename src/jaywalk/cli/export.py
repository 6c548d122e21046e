"""``jaywalk export``: a run's scores as result files of the public benchmarks."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Literal

import typer

from jaywalk.cli.output import AsValue, finish, print_json, say
from jaywalk.core.errors import UsageError

_INCOMPLETE = 4


class ExportFormat(StrEnum):
    """Whose result files; the last two are experiment trackers."""

    leaderboard = "leaderboard"
    bench2drive = "bench2drive"
    fail2drive = "fail2drive"
    wandb = "wandb"
    mlflow = "mlflow"


class Layout(StrEnum):
    """Where Fail2Drive's files go."""

    parser = "parser"
    named = "named"


def export(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Folder of a recorded run.")],
    form: Annotated[ExportFormat, typer.Option("--format", help="Whose result files to write.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="File (.json) or folder to write.")],
    protocol: Annotated[
        str | None,
        typer.Option(help="Leaderboard and trackers: whose rules, e.g. leaderboard-2.1."),
    ] = None,
    layout: Annotated[
        Layout,
        typer.Option(help="Fail2Drive: SEED/res/NNNN_res.json, or SEED/Split_Class_NNNN.json."),
    ] = Layout.parser,
    as_json: AsValue = False,
) -> None:
    """Write result files that the benchmarks' own tools read. Exit code 4 if episodes are missing.

    wandb and mlflow write the figures of 'jaywalk score' and a row for each episode with their own
    libraries (extras of the same names) into a folder of this machine.

    Example: jaywalk export runs/mine --format bench2drive --out results/mine.json

    Example: jaywalk export runs/mine --format mlflow --out mlruns
    """
    from jaywalk.metrics.driving.export import PROTOCOL_OF, export_run
    from jaywalk.metrics.driving.run_score import score_run

    if form in _TRACKERS:
        _track(run, form, out, protocol or "jaywalk", as_json=as_json)
        return
    rules = protocol or PROTOCOL_OF[form.value]
    if not rules.startswith(form.value):
        raise UsageError(f"--protocol {rules} does not go with --format {form.value}.")
    scored = score_run(run, rules)
    public: Literal["leaderboard", "bench2drive", "fail2drive"] = form.value  # type: ignore[assignment]
    paths = export_run(scored, public, out, layout=layout.value, records=run)
    n, expected = len(scored.episodes), scored.expected
    if as_json:
        print_json(
            {
                "protocol": rules,
                "n": n,
                "expected": expected,
                "missing": list(scored.missing),
                "files": [str(path) for path in paths],
                "warnings": list(scored.warnings),
            }
        )
    else:
        for warning in scored.warnings:
            say(f"warning: {warning}")
        finish(
            [f"{n}/{expected} routes under {rules} in {len(paths)} files: {out}"],
            f"jaywalk score --results {out} --protocol {rules}",
        )
    if not scored.is_complete:
        say(f"INCOMPLETE: {expected - n} of {expected} episodes have no score")
        raise typer.Exit(_INCOMPLETE)


_TRACKERS = (ExportFormat.wandb, ExportFormat.mlflow)


def _track(run: Path, form: ExportFormat, out: Path, rules: str, *, as_json: bool) -> None:
    from jaywalk.metrics.driving.run_score import score_run
    from jaywalk.report.trackers import write_mlflow, write_wandb

    scored = score_run(run, rules)
    place = (write_wandb if form is ExportFormat.wandb else write_mlflow)(scored, out)
    then = f"mlflow ui --backend-store-uri {out}"
    if form is ExportFormat.wandb:
        then = f"wandb sync {place}"
    n, expected = len(scored.episodes), scored.expected
    if as_json:
        print_json({"protocol": rules, "n": n, "expected": expected, "folder": str(place)})
    else:
        finish([f"{n}/{expected} episodes under {rules} for {form.value}: {place}"], then)
    if not scored.is_complete:
        raise typer.Exit(_INCOMPLETE)
