"""``jaywalk motion model``: the model that generates motions."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from jaywalk.cli.output import AsJson, finish, print_json, print_table, say

app = typer.Typer(
    help="The model that generates motions: train it, sample from it, judge it.",
    no_args_is_help=True,
)

ModelOption = Annotated[
    Path | None,
    typer.Option("--model", help="Model file; the one that comes with Jaywalk if none."),
]


@app.command()
def train(
    bvh: Annotated[Path, typer.Option(help="Folder of CMU .bvh files.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Model file to write (.npz).")],
    clips: Annotated[
        Path | None, typer.Option(help="CSV of clips: only the sequences it names are used.")
    ] = None,
    leave_out: Annotated[
        str, typer.Option(help="Subjects not to train on, e.g. 07,35; 'judged' for the standard.")
    ] = "",
    descriptions: Annotated[
        Path | None,
        typer.Option(
            help="Descriptions of the sequences (CMU's index.txt, or a CSV): also learn what "
            "everyday people do - waiting, stopping, starting, stepping back."
        ),
    ] = None,
) -> None:
    """Train a model on motion capture; takes about a minute.

    Example: jaywalk motion model train --bvh cmu --out model.npz
    """
    from jaywalk.motion.synthesis._actions import read_descriptions
    from jaywalk.motion.synthesis.model_file import save_model
    from jaywalk.motion.synthesis.training import train as fit
    from jaywalk.motion.synthesis.training import training_files

    known = None if descriptions is None else read_descriptions(descriptions)
    files = training_files(bvh, clips, _subjects(leave_out))
    model = fit(files, descriptions=known, say=say)
    save_model(model, out)
    finish(
        [f"{out}: {out.stat().st_size} bytes"],
        f"jaywalk motion model sample --model {out} --n 400 --seed 1 --out lib",
    )


def _subjects(text: str) -> list[str]:
    from jaywalk.metrics.motion.judgement import HELD_OUT

    if text == "judged":
        return list(HELD_OUT)
    return [part.strip() for part in text.split(",") if part.strip()]


@app.command()
def sample(
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the library.")],
    n: Annotated[int, typer.Option("--n", min=3, help="Clips.")] = 400,
    seed: Annotated[int, typer.Option(help="Seed; the same seed gives the same library.")] = 1,
    model: ModelOption = None,
) -> None:
    """Generate a library of motions on all four rigs.

    Example: jaywalk motion model sample --n 400 --seed 7 --out lib
    """
    from jaywalk.motion.synthesis.model_file import default_model, load_model
    from jaywalk.motion.synthesis.sampling import sample_library

    chosen = load_model(model) if model else default_model()
    sample_library(chosen, out, clips=n, seed=seed, say=say)
    finish([f"{out}: {n} clips"], f"jaywalk motion check {out}")


@app.command()
def default() -> None:
    """Print the folder of the default library; generate it if it is not there yet.

    Example: jaywalk motion search "$(jaywalk motion model default)" phone
    """
    from jaywalk.motion.synthesis.default import default_library

    typer.echo(str(default_library(say=say).folder))


@app.command()
def judge(
    library: Annotated[Path, typer.Argument(help="Library sampled from a model.")],
    real: Annotated[Path, typer.Argument(help="Library built from captures.")],
    held_out: Annotated[
        str, typer.Option(help="Subjects the model was not trained on.")
    ] = "judged",
    as_json: AsJson = False,
) -> None:
    """Realism and variety of generated clips beside those of captures the model never saw.

    Example: jaywalk motion model judge lib real
    """
    from jaywalk.metrics.motion.judgement import judge as compare
    from jaywalk.motion.library.reading import open_library

    result = compare(open_library(library), open_library(real), _subjects(held_out))
    if as_json:
        print_json(result)
        return
    print_table(
        ["figure", *(f"{kind} {name}" for kind in result for name in result[kind])],
        _rows(result),
    )


def _rows(result: dict[str, Any]) -> list[list[str]]:
    columns = [result[kind][name] for kind in result for name in result[kind]]
    figures = list(dict.fromkeys(key for column in columns for key in column))
    rows = []
    for figure in figures:
        if figure == "likeness":
            continue
        rows.append([figure, *(_cell(column.get(figure)) for column in columns)])
    for key in ("windows", "frechet", "coverage", "precision", "nearest", "spread"):
        values = [column.get("likeness", {}).get(key) for column in columns]
        rows.append([key, *(_cell(value) for value in values)])
    return rows


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, dict):
        return f"{value['p50']:.3g} ({value['p95']:.3g})"
    return f"{value:.3g}"
