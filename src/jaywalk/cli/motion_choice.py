"""``jaywalk motion select``: choosing clips."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from jaywalk.cli.output import finish, print_json, print_table

JsonOption = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]


def select(
    places: Annotated[list[Path], typer.Argument(help="Libraries, or CSV files with captions.")],
    words: Annotated[
        str, typer.Option(help="narrow, mid, broad, or lemmas separated by commas.")
    ] = "mid",
    every: Annotated[
        bool, typer.Option("--every", help="Every caption of a clip must have one of the words.")
    ] = False,
    categories: Annotated[int, typer.Option(min=1, help="Behaviour categories to make.")] = 12,
    lemmatiser: Annotated[str, typer.Option(help="auto, bundled or spacy.")] = "auto",
    compare: Annotated[
        bool, typer.Option("--compare", help="Also measure how far both lemmatisers agree.")
    ] = False,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="CSV list to write.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Filter clips by the words of their captions; tag them and group them by behaviour.

    Example: jaywalk motion select lib --words mid --out chosen.csv
    """
    from jaywalk.core.errors import PrerequisiteError
    from jaywalk.motion.selection import choosing

    clips = choosing.read_captions(places)
    found = choosing.select(
        clips, words=words, every=every, categories=categories, with_lemmatiser=lemmatiser
    )
    total: dict[str, Any] = choosing.summary(found)
    if compare:
        total["agreement"] = choosing.lemmatiser_agreement(clips, words)
        if total["agreement"] is None:
            raise PrerequisiteError("spaCy with en_core_web_sm is not installed; cannot compare")
    if out is not None:
        choosing.write_list(found, out)
    if as_json:
        rows = [{key: getattr(choice, key) for key in choice.__slots__} for choice in found.choices]
        print_json({"clips": rows, "total": total})
        return
    print_table(
        ["clip", "selected", "category", "tags", "caption"],
        [
            [c.name, "yes" if c.selected else "no", c.category, " ".join(c.tags), c.caption]
            for c in found.choices
        ],
    )
    lines = [f"{total['selected']} of {total['clips']} clips selected ({total['lemmatiser']})"]
    finish(lines, f"jaywalk motion review {places[0]} --out review")


def register(app: typer.Typer) -> None:
    """Add the verbs of this file."""
    app.command()(select)
