"""``jaywalk motion select``, ``augment`` and ``review``: choosing clips, and making more.

Which motion library a command was given.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from jaywalk.cli.output import AsJson, finish, print_json, print_table, say

if TYPE_CHECKING:
    from jaywalk.motion.library.reading import MotionLibrary


def library_at(place: Path) -> MotionLibrary:
    """The library in a folder, or the one that comes along as ``default`` or ``everyday``."""
    from jaywalk.motion import default_library, everyday_library
    from jaywalk.motion.library.reading import open_library

    if str(place) == "default" and not place.exists():
        return default_library(say=say)
    if str(place) == "everyday" and not place.exists():
        return everyday_library(say=say)
    return open_library(place)


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
    as_json: AsJson = False,
) -> None:
    """Filter clips by the words of their captions; tag them and group them by behaviour.

    Example: jaywalk motion select lib --words mid --out chosen.csv
    """
    from jaywalk.core.errors import PrerequisiteError
    from jaywalk.motion.selection import choosing

    clips = choosing.read_captions(places)
    selection = choosing.select(
        clips, words=words, every=every, categories=categories, with_lemmatiser=lemmatiser
    )
    total: dict[str, Any] = choosing.summary(selection)
    if compare:
        total["agreement"] = choosing.lemmatiser_agreement(clips, words)
        if total["agreement"] is None:
            raise PrerequisiteError("spaCy with en_core_web_sm is not installed; cannot compare")
    if out is not None:
        choosing.write_list(selection, out)
    if as_json:
        rows = [
            {key: getattr(choice, key) for key in choice.__slots__} for choice in selection.choices
        ]
        print_json({"clips": rows, "total": total})
        return
    print_table(
        ["clip", "selected", "category", "tags", "caption"],
        [
            [c.name, "yes" if c.selected else "no", c.category, " ".join(c.tags), c.caption]
            for c in selection.choices
        ],
    )
    lines = [f"{total['selected']} of {total['clips']} clips selected ({total['lemmatiser']})"]
    finish(lines, f"jaywalk motion review {places[0]} --out review")


def augment(
    library: Annotated[Path, typer.Argument(help="Folder of a motion library.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the new library.")],
    ways: Annotated[
        str, typer.Option(help="What to change: mirror, warp, speed, style.")
    ] = "mirror,warp,speed,style",
    copies: Annotated[int, typer.Option(min=1, help="Copies of each clip at most.")] = 2,
    seed: Annotated[int, typer.Option(help="The same seed gives the same copies.")] = 0,
    test_share: Annotated[
        float, typer.Option(help="Share of base motions kept for testing, without copies.")
    ] = 0.0,
) -> None:
    """Add changed copies of clips; copies are marked and stay with their original.

    Example: jaywalk motion augment lib --out more --copies 3 --test-share 0.3
    """
    from jaywalk.motion.augment import augment_library
    from jaywalk.motion.library.reading import open_library

    chosen = [part.strip() for part in ways.split(",") if part.strip()]
    before = open_library(library)
    augment_library(
        before, out, ways=chosen, copies=copies, seed=seed, test_share=test_share, say=say
    )
    count = len(open_library(out))
    finish(
        [f"{out}: {len(before)} clips and {count - len(before)} copies"],
        f"jaywalk motion check {out}",
    )


def review(
    library: Annotated[Path, typer.Argument(help="Folder of a motion library.")],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Folder for sheets, animations and the page.")
    ] = None,
    selection: Annotated[
        Path | None, typer.Option(help="Only the selected clips of a list of 'motion select'.")
    ] = None,
    decisions: Annotated[
        Path, typer.Option(help="Accept/reject file (CSV: name, decision, note).")
    ] = Path("review.csv"),
    terminal: Annotated[
        bool, typer.Option("--terminal", help="Decide here, clip by clip.")
    ] = False,
    apply: Annotated[
        Path | None, typer.Option(help="Write a library of the accepted clips.")
    ] = None,
    undecided: Annotated[
        bool, typer.Option("--undecided", help="Only clips without a decision yet.")
    ] = False,
) -> None:
    """Look at clips and accept or reject them: as an HTML page, or in the terminal.

    Example: jaywalk motion review lib --out review; open review/index.html, save review.csv, then
    jaywalk motion review lib --decisions review.csv --apply reviewed
    """
    from jaywalk.core.errors import UsageError
    from jaywalk.motion.library.reading import open_library
    from jaywalk.motion.review.decisions import apply_decisions, read_decisions
    from jaywalk.motion.review.pack import candidates, make_pack
    from jaywalk.motion.review.terminal import review_in_terminal
    from jaywalk.motion.selection.choosing import read_list

    lib = open_library(library)
    made = read_decisions(decisions)
    if apply is not None:
        count = apply_decisions(lib, made, apply, say=say)
        finish([f"{apply}: {count} accepted clips"], f"jaywalk motion check {apply}")
        return
    if out is None and not terminal:
        raise UsageError("nothing to do; give --out FOLDER, --terminal, or --apply FOLDER")
    chosen = read_list(selection) if selection else None
    names = candidates(lib, chosen, made, undecided=undecided)
    if out is not None:
        pack = make_pack(lib, names, out, made, say=say)
        say(f"{pack.clips} clips on {len(pack.sheets)} contact sheets; open {pack.page}")
    if terminal:
        given = review_in_terminal(lib, names, decisions, ask=input, show=typer.echo)
        say(f"{given} decisions written to {decisions}")
    finish(
        [str(out or decisions)],
        f"jaywalk motion review {library} --decisions {decisions} --apply reviewed",
    )


def register(app: typer.Typer) -> None:
    """Add the verbs of this file."""
    for verb in (select, augment, review):
        app.command()(verb)
