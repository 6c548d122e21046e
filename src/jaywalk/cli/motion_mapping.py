"""``jaywalk motion map``, and the approval of guessed joint mappings by ``motion build``."""

from __future__ import annotations

import sys
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any

import typer

from jaywalk.cli.output import AsJson, finish, print_json, print_table, say
from jaywalk.core.errors import DataError, UsageError

if TYPE_CHECKING:
    from jaywalk.motion.sources.motion_files import SkeletonKind


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("map")(map_joints)


def map_joints(
    file: Annotated[Path, typer.Argument(help="Motion file (.bvh, .glb, .gltf).")],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Mapping file to write (.toml or .yaml).")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite what is there.")] = False,
    as_json: AsJson = False,
) -> None:
    """Guess which joint of a skeleton is which, show it, and write it as a file to edit.

    Example: jaywalk motion map run-01.bvh -o mapping.toml
    """
    from jaywalk.core.files import write_whole
    from jaywalk.motion.sources.joint_mapping import format_mapping
    from jaywalk.motion.sources.motion_files import motion_files, read_motion, survey

    if out is not None and out.exists() and not force:
        raise UsageError(f"{out} exists. Choose another file with --out, or give --force.")
    if out is not None and out.suffix.lower() not in (".toml", ".yaml", ".yml"):
        raise UsageError(f"--out is '{out}'; expected a name with .toml, .yaml, .yml.")
    if not file.is_file():
        raise UsageError(f"'{file}' is no file. Give one motion file (.bvh, .glb, .gltf).")
    kinds = survey(motion_files(file), known_cmu=False)
    if not kinds or kinds[0].guess is None:
        read_motion(file)  # says what is wrong
        raise DataError(f"{file}: cannot be read")
    kind = kinds[0]
    assert kind.guess is not None
    if out is not None:
        write_whole(out, format_mapping(kind.guess.mapping, out, kind.names))
    if as_json:
        print_json(_as_value(kind))
        return
    show_guess(kind)
    if out is not None:
        given, written = quote(str(file)), quote(str(out))
        following = f"jaywalk motion build --files {given} --mapping {written} --out lib"
        finish([f"wrote {out}"], following)


def approve(place: Path, *, yes: bool) -> None:
    """Show the guessed mapping of every skeleton and ask for approval.

    Raises:
        UsageError: The answer was no, or nobody can be asked about an uncertain guess.
        DataError: A skeleton lacks joints.
    """
    from jaywalk.motion.sources.joint_mapping import check_required
    from jaywalk.motion.sources.motion_files import motion_files, survey

    for kind in survey(motion_files(place)):
        if kind.cmu:
            say(f"{_files(kind)}: CMU's skeleton, known")
            continue
        guess = kind.guess
        if guess is None:
            continue
        first = str(kind.files[0])
        check_required(guess.mapping.joints, first, kind.names)
        show_guess(kind)
        if yes:
            continue
        if sys.stdin.isatty():
            if not typer.confirm("Is this mapping right?", default=not guess.doubts, err=True):
                raise UsageError(_how_to_write(first))
        elif guess.doubts:
            raise UsageError(
                f"{first}: the joints are not certain ({guess.doubts[0]}), and nobody can be "
                f"asked. Give --yes to accept the table above. {_how_to_write(first)}"
            )


def _how_to_write(file: str) -> str:
    return (
        f"To change the mapping: jaywalk motion map {quote(file)} -o mapping.toml, edit it, and "
        "give --mapping mapping.toml."
    )


def show_guess(kind: SkeletonKind) -> None:
    """Print the guessed mapping of one skeleton."""
    from jaywalk.motion.smpl import JOINTS
    from jaywalk.motion.sources.joint_mapping import REQUIRED

    guess = kind.guess
    assert guess is not None
    rest = {
        "file": "the rest pose of the file",
        "first": "the first frame as rest pose",
        "fitted": "rotations fitted to positions",
    }[guess.mapping.rest]
    say(
        f"{_files(kind)}: {len(kind.names)} joints, {guess.mapping.up}-up, unit {guess.unit} "
        f"(body height {guess.height_m:.2f} m), {kind.rate_hz:.4g} Hz, {rest}"
    )
    rows = []
    for joint in JOINTS:
        theirs = guess.mapping.joints.get(joint, "-")
        by = {"name": "its name", "shape": "the skeleton's shape"}.get(
            guess.how.get(joint, ""), "MISSING" if joint in REQUIRED else "not in the file"
        )
        rows.append([joint, theirs, by])
    print_table(["joint", "in the file", "known by"], rows)
    for doubt in guess.doubts:
        say(f"not certain: {doubt}")


def _files(kind: SkeletonKind) -> str:
    more = len(kind.files) - 1
    return f"{kind.files[0]}" + (f" and {more} more" if more else "")


def _as_value(kind: SkeletonKind) -> dict[str, Any]:
    guess = kind.guess
    assert guess is not None
    return {
        "file": str(kind.files[0]),
        "joints": dict(guess.mapping.joints),
        "known_by": guess.how,
        "up": guess.mapping.up,
        "unit_m": guess.mapping.unit_m,
        "rest": guess.mapping.rest,
        "height_m": round(guess.height_m, 3),
        "rate_hz": round(kind.rate_hz, 3),
        "doubts": list(guess.doubts),
        "unused": [name for name in kind.names if name not in guess.mapping.joints.values()],
    }
