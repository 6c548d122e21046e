"""``jaywalk motion``: motion capture as people who walk in the city."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from jaywalk.cli import motion_choice, motion_mapping, motion_play, motion_record, motion_video
from jaywalk.cli.motion_choice import library_at
from jaywalk.cli.motion_model import app as model_app
from jaywalk.cli.output import AsJson, finish, print_json, print_table, say

app = typer.Typer(
    help="Motion capture on CARLA's walkers: build, check, class, show and search libraries.",
    no_args_is_help=True,
)
app.add_typer(model_app, name="model")
motion_choice.register(app)
motion_mapping.register(app)
motion_play.register(app)
motion_record.register(app)
motion_video.register(app)

LibraryArgument = Annotated[
    Path, typer.Argument(help="Folder of a motion library, or 'default': the one that comes along.")
]


@app.command()
def build(
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the library.")],
    bvh: Annotated[
        Path | None,
        typer.Option(
            "--files", "--bvh", help="Motion file (.bvh, .glb, .gltf), or folder, of any skeleton."
        ),
    ] = None,
    clips: Annotated[
        Path | None, typer.Option(help="CSV of clips to cut from these files.")
    ] = None,
    mapping: Annotated[
        Path | None,
        typer.Option(help="Joint mapping of these files.", show_default="guessed and shown"),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Accept the guessed mapping.")] = False,
    licence: Annotated[str, typer.Option(help="Licence of these files, for the record.")] = "",
    amass: Annotated[Path | None, typer.Option(help="Folder of AMASS .npz files.")] = None,
    humanml3d: Annotated[Path | None, typer.Option(help="HumanML3D folder.")] = None,
    adults: Annotated[str, typer.Option(help="Path of man and woman: keep or scale.")] = "keep",
    children: Annotated[str, typer.Option(help="Path of girl and boy: keep or scale.")] = "scale",
    foot_lock: Annotated[
        bool, typer.Option("--foot-lock/--no-foot-lock", help="Hold standing feet still.")
    ] = True,
) -> None:
    """Read motions, clean them, put them on all four rigs and write a library.

    The joints of a skeleton are guessed and shown for approval; --mapping gives them instead.
    Broken files are named on stderr and in the library; exit code 4 if there were any.

    Example: jaywalk motion build --files takes --out mychild --licence "own capture"

    Example: jaywalk motion build --files run.glb --out mychild

    Example: jaywalk motion build --bvh cmu --clips habit_clips.csv --out lib
    """
    from jaywalk.core.errors import DataError, UsageError
    from jaywalk.motion.library.building import Sources, build_library
    from jaywalk.motion.library.reading import open_library
    from jaywalk.motion.library.writing import check_folder
    from jaywalk.motion.sources.joint_mapping import read_mapping

    if mapping is not None and bvh is None:
        raise UsageError("--mapping says which joint of --files is which; give --files too")
    policies = {rig: _policy(adults) for rig in ("man", "woman")}
    policies |= {rig: _policy(children) for rig in ("girl", "boy")}
    check_folder(out)
    if bvh is not None and bvh.exists() and mapping is None:
        motion_mapping.approve(bvh, yes=yes)
    problems = build_library(
        Sources(
            bvh=bvh,
            clips=clips,
            mapping=read_mapping(mapping) if mapping is not None else None,
            accept_doubts=True,  # they were shown
            licence=licence,
            amass=amass,
            humanml3d=humanml3d,
        ),
        out,
        policies=policies,
        foot_lock=foot_lock,
        say=say,
    )
    count = len(open_library(out))
    if count == 0:
        raise DataError(f"no clip could be built ({len(problems)} left out); see the lines above")
    finish([f"{out}: {count} clips, {len(problems)} left out"], f"jaywalk motion check {out}")
    if problems:
        raise typer.Exit(4)


def _policy(text: str) -> Any:
    from jaywalk.core.errors import UsageError
    from jaywalk.motion.retarget import RootPolicy

    if text not in list(RootPolicy):
        raise UsageError(f"unknown root policy {text!r}; expected keep or scale")
    return RootPolicy(text)


@app.command()
def check(
    library: LibraryArgument,
    as_json: AsJson = False,
    clip: Annotated[list[str] | None, typer.Option("--clip", help="Only these clips.")] = None,
) -> None:
    """Transfer errors, bone lengths, feet, smoothness and class of every clip.

    Example: jaywalk motion check lib --json > check.json
    """
    from jaywalk.metrics.motion.library_check import check_library

    result = check_library(library_at(library), clip)
    if as_json:
        print_json(result)
        return
    rows = [
        [
            row["name"],
            row["class"],
            f"{row['duration_s']:.2f}",
            f"{row['speed_mps']:.2f}",
            f"{row['fk_error_deg_max']:.1e}",
            f"{row['foot_skating_ratio']:.3f}",
            f"{row['stance_slip_mps']['source']:.3f}",
            *(f"{value:.3f}" for value in row["stance_slip_mps"]["retargeted"].values()),
        ]
        for row in result["clips"]
    ]
    rigs = [f"slip {rig}" for rig in result["total"].get("policies", {})]
    print_table(
        ["clip", "class", "s", "m/s", "fk error deg", "skating", "slip source", *rigs], rows
    )
    for problem in result["total"]["problems"]:
        say(f"left out {problem['name']}: {problem['reason']}")


@app.command()
def classify(
    library: LibraryArgument,
    as_json: AsJson = False,
    splits: Annotated[int, typer.Option(min=1, help="Random halves to fit and test on.")] = 100,
    seed: Annotated[int, typer.Option(help="Seed of the halves.")] = 0,
) -> None:
    """Class of every clip, and how well the rule agrees with labels where there are some.

    Example: jaywalk motion classify lib --json
    """
    from jaywalk.motion.library.building import class_agreement, class_rows
    from jaywalk.motion.library.classes import ClassRule

    lib = library_at(library)
    rule = ClassRule()
    result: dict[str, Any] = {
        "rule": {"net_m": rule.net_m, "excursion_m": rule.excursion_m},
        "clips": class_rows(lib, rule),
        "agreement": class_agreement(lib, splits=splits, seed=seed),
    }
    if as_json:
        print_json(result)
        return
    print_table(
        ["clip", "class", "label", "net m", "furthest m"],
        [
            [c["name"], c["class"], c["label"], f"{c['net_m']:.2f}", f"{c['excursion_m']:.2f}"]
            for c in result["clips"]
        ],
    )
    if result["agreement"]:
        shown = result["agreement"]
        say(
            f"agreement with labels over {splits} splits: {100 * shown['accuracy']:.1f} %, "
            f"macro recall {shown['macro_recall']:.3f} ({shown['clips']} clips)"
        )


@app.command()
def show(
    library: LibraryArgument,
    clip: Annotated[str, typer.Argument(help="Name of the clip.")],
    gif: Annotated[Path, typer.Option("--gif", "--out", "-o", help="File to write.")],
    rig: Annotated[str, typer.Option(help="man, woman, girl or boy.")] = "man",
) -> None:
    """Animate one clip on a walker, from the side and from above.

    Example: jaywalk motion show lib 004041 --gif walk.gif --rig woman
    """
    from jaywalk.motion.picture import animate, film_of

    lib = library_at(library)
    posed = lib.on_rig(clip, rig)
    caption = lib.columns["caption"][lib.rows[clip]]
    animate(film_of(posed), gif, title=f"{clip} on {rig} ({posed.policy}): {caption}")
    finish([str(gif)], f"jaywalk motion check {library} --clip {clip}")


@app.command()
def stats(
    library: LibraryArgument,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Folder for figures.")] = None,
    as_json: AsJson = False,
) -> None:
    """Counts, durations, class paths (mean and variance) and words of a library.

    Example: jaywalk motion stats lib -o figures
    """
    import json

    from jaywalk.motion.library.search import draw_stats, library_stats

    lib = library_at(library)
    result = library_stats(lib)
    files = []
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        files = [str(file) for file in draw_stats(lib, out)]
        text = json.dumps(result, indent=2) + "\n"
        (out / "stats.json").write_text(text, encoding="utf-8")
    if as_json:
        print_json(result)
        return
    rows = [
        [
            kind,
            str(row["clips"]),
            f"{row['duration_s']:.0f}",
            f"{row['net_m']['p50']:.2f}",
            f"{row['excursion_m']['p50']:.2f}",
            ", ".join(list(row["words"])[:6]),
        ]
        for kind, row in result["classes"].items()
    ]
    print_table(["class", "clips", "seconds", "net m", "furthest m", "words"], rows)
    finish(files, f"jaywalk motion search {library} 'walks forward'")


@app.command()
def search(
    library: LibraryArgument,
    query: Annotated[
        str, typer.Argument(help="Words to look for; alone, they are looked for in 'default'.")
    ] = "",
    limit: Annotated[int, typer.Option(min=1, help="Clips to show at most.")] = 10,
    as_json: AsJson = False,
) -> None:
    """Clips whose captions say it best; endings of words do not matter.

    Example: jaywalk motion search "limping across"
    Example: jaywalk motion search lib "limping across"
    """
    from jaywalk.motion.library.search import search as find

    if not query:
        library, query = Path("default"), str(library)
    lib = library_at(library)
    matches = [
        {
            "name": lib.names[place],
            "score": score,
            "class": lib.columns["class"][place],
            "caption": lib.columns["caption"][place],
        }
        for place, score in find(lib.columns["caption"], query, limit=limit)
    ]
    if as_json:
        print_json(matches)
        return
    print_table(
        ["clip", "class", "score", "caption"],
        [
            [str(f["name"]), str(f["class"]), f"{f['score']:.2f}", str(f["caption"])]
            for f in matches
        ],
    )
