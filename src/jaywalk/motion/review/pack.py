"""A review pack: contact sheets, an animation of every clip, a page to decide on."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any, Final

from jinja2 import Environment

from jaywalk.core.errors import UsageError
from jaywalk.motion.library.reading import MotionLibrary
from jaywalk.motion.review.decisions import Decision
from jaywalk.motion.review.drawing import animation, clip_cell, contact_sheet

DECISIONS_FILE: Final = "review.csv"
PAGE: Final = "index.html"
_PER_SHEET: Final = 36


@dataclass(frozen=True, slots=True, kw_only=True)
class Pack:
    """Files of a review pack."""

    page: Path
    sheets: tuple[Path, ...]
    clips: int


def candidates(
    library: MotionLibrary,
    chosen: Sequence[str] | None,
    decisions: Mapping[str, Decision],
    *,
    undecided: bool = False,
) -> list[str]:
    """Clips to review: those chosen (all if None), or only those without a decision yet.

    Raises:
        UsageError: None is left.
    """  # fmt: skip
    wanted = set(library.names if chosen is None else chosen)
    names = [name for name in library.names if name in wanted]
    if undecided:
        names = [name for name in names if name not in decisions]
    if not names:
        raise UsageError("no clips to review: none was chosen, or all are decided")
    return names


def facts_of(library: MotionLibrary, name: str) -> str:
    """A line about a clip: class, duration, how far it goes, whether it is a copy."""
    row = library.rows[name]
    c = library.columns
    seconds = (c["frames"][row] - 1) / float(library.meta["rate_hz"])
    text = f"{c['class'][row]}, {seconds:.1f} s, ends {c['net_m'][row]:.1f} m away"
    return text + (f", copy ({c['augmented'][row]})" if c["augmented"][row] else "")


def make_pack(
    library: MotionLibrary,
    names: Sequence[str],
    out: Path,
    decisions: Mapping[str, Decision],
    *,
    say: Callable[[str], None] = lambda _: None,
) -> Pack:
    """Write contact sheets, animations and the page.

    Args:
        library: Library with the clips.
        names: Clips to show.
        out: Folder for the pack.
        decisions: Decisions made before; the page starts with them.
        say: Told about progress.
    """
    (out / "animations").mkdir(parents=True, exist_ok=True)
    cards: list[dict[str, str]] = []
    sheets: list[Path] = []
    cells = []
    for number, name in enumerate(names, 1):
        motion = library.motion(name)
        file = f"animations/{number:05d}-{_plain(name)}.gif"
        animation(motion, out / file)
        cells.append(clip_cell(motion, f"{name}: {motion.caption}"))
        cards.append(_card(library, name, motion.caption, file))
        if len(cells) == _PER_SHEET or number == len(names):
            sheets.append(out / f"sheet{len(sheets) + 1:03d}.png")
            contact_sheet(cells, sheets[-1])
            cells = []
        if number % 100 == 0:
            say(f"{number} of {len(names)} clips drawn")
    page = out / PAGE
    page.write_text(_page(library, cards, decisions), encoding="utf-8")
    return Pack(page=page, sheets=tuple(sheets), clips=len(names))


def _plain(name: str) -> str:
    """A name as part of a file name."""
    return re.sub(r"[^A-Za-z0-9._-]", "_", name)[:80]


def _card(library: MotionLibrary, name: str, caption: str, file: str) -> dict[str, str]:
    kind = str(library.columns["class"][library.rows[name]])
    return {
        "name": name,
        "caption": caption,
        "kind": kind,
        "facts": facts_of(library, name),
        "animation": file,
    }


def _page(
    library: MotionLibrary, cards: list[dict[str, str]], decisions: Mapping[str, Decision]
) -> str:
    place = resources.files("jaywalk.motion") / "data" / "review.html.j2"
    template = Environment(autoescape=True).from_string(place.read_text(encoding="utf-8"))
    known: dict[str, Any] = {
        name: {"decision": str(found.verdict), "note": found.note}
        for name, found in decisions.items()
    }
    return template.render(
        title=f"Review of {library.folder.name}",
        clips=cards,
        kinds=sorted({card["kind"] for card in cards}),
        decisions=known,
        key=f"{library.folder.name}:{len(library)}",
        file_name=DECISIONS_FILE,
    )
