"""``jaywalk leaderboard``: make, check and show entries of the generalization benchmark."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from jaywalk.cli.output import AsValue, finish, print_json, say
from jaywalk.core.errors import JaywalkError, UsageError

if TYPE_CHECKING:
    from jaywalk.metrics.generalization.validation import Verdict

app = typer.Typer(
    help="Leaderboard of the generalization benchmark: make, check and show entries.",
    no_args_is_help=True,
)

Out = Annotated[Path, typer.Option("--out", "--output", "-o", help="Folder of the entry.")]
Rgb = Annotated[bool, typer.Option("--rgb", help="It sees camera images.")]
Lidar = Annotated[bool, typer.Option("--lidar", help="It sees LiDAR.")]
Privileged = Annotated[bool, typer.Option("--privileged", help="It reads the simulator.")]
Learned = Annotated[bool, typer.Option("--learned", help="It was trained.")]
Held = Annotated[
    bool,
    typer.Option("--not-trained-on-benchmark", help="Declare rule 1: the benchmark was held out."),
]
Pretraining = Annotated[str, typer.Option(help="What it was pretrained on (rule 2).")]
Bench2Drive = Annotated[float | None, typer.Option(help="Its driving score on Bench2Drive.")]


@app.command()
def validate(
    entry: Annotated[Path, typer.Argument(help="Folder of an entry.")],
    strict: Annotated[bool, typer.Option("--strict", help="Suspicions count as problems.")] = False,
    as_json: AsValue = False,
) -> None:
    """Check an entry: fields, completeness, seeds, protocol version, odd records.

    Exit code 1 if it is not valid.

    Example: jaywalk leaderboard validate entries/TFv6
    """
    from jaywalk.metrics.driving.summary import jsonable
    from jaywalk.metrics.generalization.validation import validate_entry

    verdict = validate_entry(entry, resamples=1)
    accepted = verdict.is_valid and not (strict and verdict.suspicions)
    if as_json:
        print_json(jsonable(verdict.as_dict() | {"accepted": accepted}))
    else:
        for line in verdict.problems:
            say(f"problem: {line}")
        for line in verdict.suspicions:
            say(f"suspicion: {line}")
        words = "valid" if verdict.is_valid else "NOT valid"
        if verdict.is_valid and not accepted:
            words = "NOT accepted (--strict)"
        counts = _counted(len(verdict.problems), "problem")
        if verdict.suspicions:
            counts += ", " + _counted(len(verdict.suspicions), "suspicion")
        again = f"mend these, then jaywalk leaderboard validate {entry}"
        finish(
            [f"{entry}: {verdict.entry.method}, {words}: {counts}"],
            f"jaywalk leaderboard build {entry.parent}" if accepted else again,
        )
    if not accepted:
        raise typer.Exit(1)


@app.command()
def build(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder of entries.")],
    output: Annotated[
        Path | None,
        typer.Option("--out", "--output", "-o", help="Page.", show_default="DIR/index.html"),
    ] = None,
    title: Annotated[str, typer.Option(help="Heading.")] = "Fail2Drive",
    paper: Annotated[
        bool, typer.Option("--paper/--no-paper", help="Rows that the paper prints, in grey.")
    ] = True,
    as_json: AsValue = False,
) -> None:
    """Write the static page of all entries below DIR; those that are not valid are not ranked.

    Example: jaywalk leaderboard build entries
    """
    from jaywalk.metrics.driving.summary import jsonable
    from jaywalk.metrics.generalization.entry import ENTRY_FILE
    from jaywalk.report.leaderboard_page import build_leaderboard, same_names
    from jaywalk.report.svg import claim

    if not folder.is_dir():
        raise UsageError(f"'{folder}' is no folder. Give one that holds entries.")
    path = output or folder / "index.html"
    if path.suffix.lower() not in (".html", ".htm"):
        raise UsageError(f"--output is '{path}', expected a page that ends in .html.")
    places = _entry_folders(folder)
    if not places:
        raise UsageError(f"'{folder}' holds no entry (a folder with {ENTRY_FILE}).")
    verdicts = _judged(places)
    for name, folders in same_names(verdicts).items():
        say(f"several entries are called '{name}': {', '.join(folders)}")
    claim(path).write_text(
        build_leaderboard(verdicts, title=title, with_paper=paper), encoding="utf-8"
    )
    rows = [jsonable(one.as_dict()) for one in verdicts]
    data = path.with_suffix(".json")
    data.write_text(json.dumps(rows, indent=2) + "\n", encoding="utf-8")
    listed = sum(one.is_valid for one in verdicts)
    if as_json:
        print_json({"page": str(path), "entries": rows})
        return
    refused = len(verdicts) - listed
    words = f", {refused} not listed" if refused else ""
    entries = "1 entry" if listed == 1 else f"{listed} entries"
    finish([f"{path}: {entries}{words}; figures also in {data}"], f"open {path} in a browser")


@app.command("import")
def import_results(
    results: Annotated[Path, typer.Argument(help="Fail2Drive result files: folder or archive.")],
    method: Annotated[str, typer.Option(help="Which system.")],
    output: Out,
    rgb: Rgb = False,
    lidar: Lidar = False,
    privileged: Privileged = False,
    learned: Learned = False,
    held_out: Held = False,
    pretraining: Pretraining = "",
    bench2drive: Bench2Drive = None,
    as_json: AsValue = False,
) -> None:
    """Make an entry of result files that the benchmark's own evaluator wrote.

    Files are copied as they are; what they lack, 'leaderboard validate' says.

    Example: jaywalk leaderboard import results.tar.gz --method TFv6 -o entries/TFv6 --rgb --lidar
    --learned --not-trained-on-benchmark
    """
    from jaywalk.metrics.driving.files import read_files
    from jaywalk.metrics.driving.results import place_of, read_results
    from jaywalk.metrics.generalization.entry import PUBLIC, RESULTS_FOLDER

    results_read = read_results(results, method)
    if not results_read.records:
        known = ", ".join(read_results(results).methods) or "none"
        raise UsageError(f"'{results}' has no records of '{method}'. It holds: {known}.")
    _fresh(output)
    wanted = {record.source.split("#")[0]: record for record in results_read.records}
    for file in read_files(results, ".json"):
        record = wanted.get(file.name)
        if record is None or file.content is None:
            continue
        _, seed = place_of(file.name, results_read.name)
        place = output / RESULTS_FOLDER / _seed_folder(seed) / Path(file.name).name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(file.content)
    seeds = sorted({int(_seed_folder(one.seed)) for one in results_read.records})
    about = _about(rgb, lidar, privileged, learned, held_out, pretraining, bench2drive)
    _write_entry(output, method, PUBLIC, seeds, about)
    _tell(output, len(wanted), as_json)


@app.command()
def entry(
    run: Annotated[Path, typer.Argument(help="Folder of a run of a fail2drive suite.")],
    method: Annotated[str, typer.Option(help="Name on the leaderboard.")],
    output: Out,
    rgb: Rgb = False,
    lidar: Lidar = False,
    privileged: Privileged = False,
    learned: Learned = False,
    held_out: Held = False,
    pretraining: Pretraining = "",
    bench2drive: Bench2Drive = None,
    as_json: AsValue = False,
) -> None:
    """Make an entry of one of our own runs.

    Example: jaywalk leaderboard entry runs/fail2drive-expert --method expert -o entries/expert
    --privileged --not-trained-on-benchmark
    """
    from jaywalk.metrics.driving.export import export_run
    from jaywalk.metrics.driving.run_score import score_run
    from jaywalk.metrics.generalization.entry import PROTOCOL, PUBLIC, RESULTS_FOLDER
    from jaywalk.metrics.generalization.run_pairs import pair_strengths
    from jaywalk.record import find_records, record_hash

    scored = score_run(run, PROTOCOL)
    _fresh(output)
    files = export_run(scored, "fail2drive", output / RESULTS_FOLDER, layout="named")
    hashes = {path.name: record_hash(path) for path in sorted(find_records(run))}
    (output / "records.json").write_text(json.dumps(hashes, indent=2) + "\n", encoding="utf-8")
    suite = scored.suite
    proof = pair_strengths(scored, run)
    others = proof["weak_pairs"] + proof["failed_pairs"]
    weak = [f"{one['pair'][-4:]}/{one['seed']}" for one in others]
    origin = {
        "kind": "jaywalk run",
        "suite": suite,
        "agent": scored.agent,
        "records": "records.json",
        "weak_pairs": sorted(weak),
    }
    about = _about(rgb, lidar, privileged, learned, held_out, pretraining, bench2drive)
    seeds = sorted({one.seed if one.seed is not None else 1 for one in scored.episodes})
    benchmark = suite if suite.rsplit("/", 1)[-1].startswith("fail2drive-v") else PUBLIC
    _write_entry(output, method, benchmark, seeds, about | {"origin": origin})
    _tell(output, len(files), as_json)


def _about(
    rgb: bool,
    lidar: bool,
    privileged: bool,
    learned: bool,
    held_out: bool,
    pretraining: str,
    bench2drive: float | None,
) -> dict[str, Any]:
    """What an entry says of its system."""
    known = {} if bench2drive is None else {"bench2drive_ds": bench2drive}
    modalities = {"rgb": rgb, "lidar": lidar, "privileged": privileged, "learned": learned}
    rules: dict[str, Any] = {"trained_on_benchmark": False} if held_out else {}
    rules |= {"external_pretraining": pretraining}
    return known | {"modalities": modalities, "rules": rules}


def _write_entry(
    folder: Path, method: str, benchmark: str, seeds: list[int], about: dict[str, Any]
) -> None:
    from jaywalk.core.toml_text import format_toml
    from jaywalk.metrics.driving.penalties import PROTOCOLS
    from jaywalk.metrics.generalization.entry import ENTRY_FILE, FORMAT, PROTOCOL

    document: dict[str, Any] = {
        "format": FORMAT,
        "method": method,
        "benchmark": benchmark,
        "protocol": PROTOCOL,
        "protocol_version": PROTOCOLS[PROTOCOL].version,
        "seeds": seeds,
    }
    (folder / ENTRY_FILE).write_text(format_toml(document | about), encoding="utf-8")


def _counted(number: int, thing: str) -> str:
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


def _entry_folders(folder: Path) -> list[Path]:
    """Folders of entries below one; those in it may be links. Says what of it is none."""
    from jaywalk.metrics.generalization.entry import ENTRY_FILE

    places = {path.parent for path in folder.rglob(ENTRY_FILE)}
    if folder in places:
        return sorted(places)
    for child in sorted(one for one in folder.iterdir() if one.is_dir()):
        if (child / ENTRY_FILE).exists():
            places.add(child)
        elif not any(child in place.parents for place in places):
            say(f"left out: {child} has no {ENTRY_FILE}")
    return sorted(places)


def _judged(places: list[Path]) -> list[Verdict]:
    """The verdict on each entry; one that cannot be read at all spoils no other."""
    from jaywalk.metrics.generalization.entry import Entry
    from jaywalk.metrics.generalization.validation import Verdict, validate_entry

    verdicts = []
    for place in places:
        say(f"scoring {place} ...")
        try:
            verdict = validate_entry(place)
        except (JaywalkError, OSError) as problem:
            broken = Entry(folder=place, method=place.name)
            verdict = Verdict(entry=broken, problems=(str(problem),), suspicions=())
        if verdict.problems:
            more = len(verdict.problems) - 1
            rest = f" (and {more} more)" if more else ""
            say(f"not listed: {place}: {verdict.problems[0]}{rest}")
        verdicts.append(verdict)
    return verdicts


def _seed_folder(seed: str) -> str:
    digits = "".join(letter for letter in seed if letter.isdigit())
    return str(int(digits)) if digits else "1"


def _fresh(folder: Path) -> None:
    if folder.exists() and any(folder.iterdir()):
        raise UsageError(f"{folder} is not empty. Choose another folder with --output.")
    folder.mkdir(parents=True, exist_ok=True)


def _tell(folder: Path, files: int, as_json: bool) -> None:
    if as_json:
        print_json({"entry": str(folder), "files": files})
        return
    finish([f"wrote {folder} ({files} result files)"], f"jaywalk leaderboard validate {folder}")
