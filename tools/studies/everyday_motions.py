"""Coverage and diversity of everyday actions: generated libraries beside people never seen.

Two libraries are sampled from models that were trained without the held-out subjects: one without
and one with the captures of everyday people. The reference are actions of the held-out subjects,
cut out of their captures.

    python -m studies.everyday_motions --bvh cmu --descriptions index.txt --before lib_before \
        --after lib_after --json motion-everyday.json

from ``tools/``, after ``jaywalk motion model train --leave-out judged`` and ``... model sample``.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import numpy as np

from jaywalk.actors.posed.repertoire import Repertoire, read_repertoire
from jaywalk.core.arrays import FloatArray
from jaywalk.metrics.motion._diversity import (
    MotionWindows,
    distinct_share,
    likeness,
    space_of,
    window_features,
)
from jaywalk.metrics.motion.judgement import HELD_OUT
from jaywalk.motion import default_library, everyday_library
from jaywalk.motion.clip import LIBRARY_RATE_HZ, Clip, resample
from jaywalk.motion.library.reading import MotionLibrary, open_library
from jaywalk.motion.synthesis._actions import Action, ActionKind, find_actions, read_descriptions
from jaywalk.motion.synthesis._capture import read_subjects, subject_of
from jaywalk.motion.synthesis.training import training_files

_WINDOW_S: Final = 1.2  # actions are short
_MOST: Final = 6  # windows of one sequence
IDLES: Final = "idle clips of people who wait"
#: Groups of actions, with the classes of the clips that may show them.
GROUPS: Final[Mapping[str, tuple[tuple[ActionKind, ...], tuple[str, ...]]]] = {
    IDLES: ((ActionKind.WAIT, ActionKind.CONVERSE), ()),
    "all who stay": ((ActionKind.WAIT, ActionKind.CONVERSE), ("not_crossing",)),
    "stops and starts": ((ActionKind.STOP, ActionKind.START), ("crossing", "attempting")),
    "steps back, turns, evasions": (
        (ActionKind.STEP_BACK, ActionKind.TURN_BACK, ActionKind.EVADE),
        ("attempting", "not_crossing"),
    ),
    "carrying": ((ActionKind.CARRY,), ("crossing",)),
}


def windows_of(clips: Sequence[Clip], groups: Sequence[str]) -> MotionWindows:
    """Windows of clips on the body of scale 1, at most six of a group."""
    rows, owners, taken = [], [], dict.fromkeys(groups, 0)
    number = {name: k for k, name in enumerate(dict.fromkeys(groups))}
    for clip, name in zip(clips, groups, strict=True):
        unit = replace(clip, root_m=clip.root_m / clip.body_scale, body_scale=1.0)
        found = window_features(unit, window_s=_WINDOW_S)[: _MOST - taken[name]]
        taken[name] += len(found)
        rows.append(found)
        owners.extend([number[name]] * len(found))
    return MotionWindows(features=np.concatenate(rows), group=np.array(owners, np.int64))


def _cut(action: Action) -> Clip:
    cut = slice(action.first, action.end)
    motion = action.motion
    return resample(
        replace(motion, rotations=motion.rotations[cut], root_m=motion.root_m[cut]),
        LIBRARY_RATE_HZ,
    )


def _real(actions: Sequence[Action]) -> MotionWindows:
    return windows_of([_cut(one) for one in actions], [one.motion.name for one in actions])


def _made(library: MotionLibrary, names: Sequence[str]) -> MotionWindows:
    return windows_of([library.motion(name) for name in names], names)


def _named(library: MotionLibrary, group: str, classes: Sequence[str]) -> list[str]:
    """Clips of the classes, or those with which people stand and wait."""
    if group == IDLES:
        return [use.name for use in read_repertoire(library).idle]
    kinds = library.columns["class"]
    return [name for name in library.names if kinds[library.rows[name]] in classes]


def _spread(windows: MotionWindows, among: FloatArray) -> float:
    """Median distance between the middles of clips in a common space: how unlike people are."""
    middles = np.array([among[windows.group == k].mean(0) for k in np.unique(windows.group)])
    gaps = np.linalg.norm(middles[:, None] - middles[None], axis=-1)
    return float(np.median(gaps[np.triu_indices(len(gaps), 1)]))


def compare(actions: Sequence[Action], libraries: Mapping[str, MotionLibrary]) -> dict[str, Any]:
    """Figures of every group of actions, for other real people and for each library."""
    out = {name.lstrip("0") for name in HELD_OUT}
    result: dict[str, Any] = {}
    for group, (kinds, classes) in GROUPS.items():
        chosen = [one for one in actions if one.kind in kinds]
        unseen = [one for one in chosen if subject_of(one.motion.name).lstrip("0") in out]
        known = [one for one in chosen if one not in unseen]
        sets = {"other people": _real(known)}
        sets |= {
            name: _made(library, _named(library, group, classes))
            for name, library in libraries.items()
        }
        reference = _real(unseen)
        if len(reference) <= 16:
            result[group] = {"windows": len(reference)}
            continue
        space = space_of(reference)
        rows = {}
        for name, windows in sets.items():
            alike = likeness(windows, reference, space)
            rows[name] = {
                "clips": len(np.unique(windows.group)),
                "windows": alike.windows,
                "coverage": alike.coverage,
                "precision": alike.precision,
                "frechet": alike.frechet,
                "spread": _spread(windows, space.of(windows)),
                "distinct": distinct_share(windows, reference, space),
            }
        own = {
            "spread": _spread(reference, space.of(reference)),
            "windows": len(reference),
            "clips": len(np.unique(reference.group)),
        }
        result[group] = {"held out": own, **rows}
    return result


def tables(result: Mapping[str, Any]) -> dict[str, Any]:
    """The figures as a table of the docs."""
    columns = [
        "",
        "clips",
        "windows",
        "coverage of held out",
        "precision",
        "Frechet distance",
        "spread",
    ]
    rows = []
    for group, sets in result.items():
        if "held out" not in sets:
            rows.append([group, f"{sets['windows']} windows: too few", "", "", "", "", ""])
            continue
        own = sets["held out"]
        head = [f"**{group}**, held out", str(own["clips"]), str(own["windows"])]
        rows.append([*head, "", "", "", f"{own['spread']:.1f}"])
        for name, row in sets.items():
            if name == "held out":
                continue
            rows.append(
                [
                    name,
                    str(row["clips"]),
                    str(row["windows"]),
                    f"{row['coverage']:.2f}",
                    f"{row['precision']:.2f}",
                    f"{row['frechet']:.0f}",
                    f"{row['spread']:.1f}",
                ]
            )
    return {"actions": {"columns": columns, "rows": rows}}


def same_clip(repertoire: Repertoire, child: bool) -> float:
    """Chance that two people of an age group stand and wait with the same clip."""
    idles = repertoire.fitting(repertoire.idle, child)
    if repertoire.everyday:  # all clips alike
        return 1.0 / len(idles)
    kinds = Counter(use.kind for use in idles)  # first a kind, then a clip
    return sum(1.0 / (len(kinds) ** 2 * count) for count in kinds.values())


def same_clips() -> dict[str, Any]:
    """How often people who wait look alike, with the libraries that come along."""
    rows = []
    for name, library in (("before", default_library()), ("after", everyday_library())):
        repertoire = read_repertoire(library)
        cells = [f"{100 * same_clip(repertoire, child):.1f} %" for child in (False, True)]
        rows.append([name, str(len(repertoire.idle)), *cells])
    return {
        "columns": ["library", "idle clips", "two adults with the same", "two children"],
        "rows": rows,
    }


def main() -> None:
    """Read captures and libraries, print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--bvh", type=Path, required=True, help="folder of CMU's files")
    parser.add_argument("--descriptions", type=Path, required=True)
    parser.add_argument("--before", type=Path, required=True, help="library of the first model")
    parser.add_argument("--after", type=Path, required=True, help="library of the everyday model")
    parser.add_argument("--json", type=Path, help="file to write")
    given = parser.parse_args()
    motions: list[Clip] = []
    for subject in read_subjects(training_files(given.bvh, None, ())):
        if not isinstance(subject, tuple):
            motions.extend(subject)
    actions = find_actions(motions, read_descriptions(given.descriptions))
    libraries = {"before": open_library(given.before), "after": open_library(given.after)}
    result = compare(actions, libraries)
    made = tables(result) | {"alike": same_clips()}
    for table in made.values():
        for row in [table["columns"], *table["rows"]]:
            sys.stdout.write(" | ".join(row) + "\n")
    if given.json:
        given.json.write_text(json.dumps({"result": result, "tables": made}, indent=1))


if __name__ == "__main__":
    main()
