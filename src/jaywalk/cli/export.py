"""``jaywalk export``: a run's scores as result files of the public benchmarks."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from jaywalk.cli.output import AsValue, finish, print_json, say
from jaywalk.core.errors import UsageError

_INCOMPLETE = 4


class ExportFormat(StrEnum):
    """Whose result files."""

    leaderboard = "leaderboard"
    bench2drive = "bench2drive"
    fail2drive = "fail2drive"


class Layout(StrEnum):
    """Where Fail2Drive's files go."""

    parser = "parser"
    named = "named"


def export(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Folder of a recorded run.")],
    form: Annotated[ExportFormat, typer.Option("--format", help="Whose result files to write.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="File (.json) or folder to write.")],
    protocol: Annotated[
        str | None, typer.Option(help="Leaderboard: whose rules, e.g. leaderboard-2.1.")
    ] = None,
    layout: Annotated[
        Layout,
        typer.Option(help="Fail2Drive: SEED/res/NNNN_res.json, or SEED/Split_Class_NNNN.json."),
    ] = Layout.parser,
    as_json: AsValue = False,
) -> None:
    """Write result files that the benchmarks' own tools read. Exit code 4 if episodes are missing.

    Example: jaywalk export runs/mine --format bench2drive --out results/mine.json
    """
    from jaywalk.metrics.driving.export import PROTOCOL_OF, export_run
    from jaywalk.metrics.driving.run_score import score_run

    rules = protocol or PROTOCOL_OF[form.value]
    if not rules.startswith(form.value):
        raise UsageError(f"--protocol {rules} does not go with --format {form.value}.")
    scored = score_run(run, rules)
    paths = export_run(scored, form.value, out, layout=layout.value, records=run)
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
