"""Reader of Leaderboard-family result files: typed records, and findings about oddities.

Two layouts exist: one JSON file with many records, and one file per route. Both may be in folders
by method and seed. Every file that is left out has a finding.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from typing import Any, Final

from jaywalk.metrics.driving.files import SourceFile, read_files, set_name

INFRACTIONS: Final = (
    "collisions_layout",
    "collisions_pedestrian",
    "collisions_vehicle",
    "red_light",
    "stop_infraction",
    "outside_route_lanes",
    "min_speed_infractions",
    "yield_emergency_vehicle_infractions",
    "scenario_timeouts",
    "route_dev",
    "vehicle_blocked",
    "route_timeout",
)

# Kinds of finding: "unread" files and "unscored" records are not in the scores.
UNREAD, UNSCORED, NOTE = "unread", "unscored", "note"

_ROUTE_ID = re.compile(r"^RouteScenario_(\d+)(?:_.*)?_rep(\d+)$")
_ROUTE_FILE = re.compile(
    r"^(?:(?P<split>Base|Generalization)_(?P<name>\w+)_(?P<a>\d+)|(?P<b>\d+)_res)$"
)
_SEED = re.compile(r"^(?:seed|run|rep|s)?[_-]?\d+$", re.IGNORECASE)
_FOLDERS_WITHOUT_MEANING = {"res", "results", "eval", "per_route", "."}


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultFinding:
    """Finding about a file or a record.

    Attributes:
        kind: `UNREAD` (a file), `UNSCORED` (a record) or `NOTE`.
        source: File, with ``#k`` for the k-th of several records.
        text: Description of the finding.
    """

    kind: str
    source: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteRecord:
    """One driven route as its evaluator wrote it.

    Attributes:
        source: File, with ``#k`` for the k-th of several records.
        method: Name of the system that drove.
        seed: Name of the seed folder, or "" without one.
        route_id: Id as written, e.g. ``RouteScenario_75_rep0``.
        number: Number of the route: from the file name if that has one, else from the id.
        repetition: Repetition from the id, 0 if it has none.
        status: ``Perfect``, ``Completed`` or ``Failed...``.
        infractions: Messages by key of `INFRACTIONS` (and further keys a file may have).
        num_infractions: As written; None if absent.
        completion_percent: ``score_route``.
        penalty: ``score_penalty``, 1 is unpunished; NaN if absent.
        driving_score: ``score_composed``.
        route_length_m: NaN if absent.
        duration_game_s: NaN if absent.
        duration_system_s: NaN if absent.
    """

    source: str
    method: str
    seed: str
    route_id: str
    number: int | None
    repetition: int
    status: str
    infractions: Mapping[str, tuple[str, ...]]
    num_infractions: int | None
    completion_percent: float
    penalty: float
    driving_score: float
    route_length_m: float
    duration_game_s: float
    duration_system_s: float

    def messages(self, key: str) -> tuple[str, ...]:
        """Messages of one kind of infraction."""
        return self.infractions.get(key, ())

    @property
    def count(self) -> int:
        """Number of infraction messages of any kind."""
        return sum(len(messages) for messages in self.infractions.values())

    @property
    def completed(self) -> bool:
        """Return whether status and completion both state that the end was reached."""
        return self.status in ("Completed", "Perfect") and self.completion_percent >= 100.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultSet:
    """All records of a folder, archive or file, with findings about them.

    Attributes:
        name: Name of the folder or file.
        records: Records in the order of files and, within a file, of writing.
        findings: Files not read, records not scored, and oddities.
        announced: Routes that the files say belong to the run (their ``progress``), by method.
    """

    name: str
    records: tuple[RouteRecord, ...]
    findings: tuple[ResultFinding, ...]
    announced: Mapping[str, int]

    @property
    def methods(self) -> list[str]:
        """Names of the systems in the set, sorted."""
        return sorted({record.method for record in self.records})


@dataclass(slots=True)
class _Collector:
    root: str
    records: list[RouteRecord] = field(default_factory=list)
    findings: list[ResultFinding] = field(default_factory=list)
    announced: Counter[str] = field(default_factory=Counter)

    def tell(self, kind: str, source: str, text: str) -> None:
        self.findings.append(ResultFinding(kind=kind, source=source, text=text))


def read_results(path: Path, method: str | None = None) -> ResultSet:
    """Read every result file below ``path`` (folder, tar archive or JSON file).

    Args:
        path: Folder, archive or file to read.
        method: Read only the files of this system.
    """
    collector = _Collector(root=_root_name(path))
    files = read_files(path, ".json")
    alone = sum(file.content is not None for file in files) == 1
    for file in files:
        if "merged.json" in PurePosixPath(file.name).name and not alone:
            # Beside the files it was merged from it would count every route twice.
            collector.tell(UNREAD, file.name, "a merged file; its parts are read instead")
        else:
            _read_file(file, collector)
    if method is not None:
        _keep_only(method, collector)
    return ResultSet(
        name=collector.root,
        records=tuple(collector.records),
        findings=tuple(collector.findings),
        announced=dict(collector.announced),
    )


def _root_name(path: Path) -> str:
    """Name of the set; of a folder named like a seed or "results", that of the one above it."""
    place = path.resolve()
    while place.is_dir() and place.parent != place:
        if place.name not in _FOLDERS_WITHOUT_MEANING and not _SEED.match(place.name):
            break
        place = place.parent
    return set_name(place)


def _keep_only(method: str, collector: _Collector) -> None:
    sources = {record.source for record in collector.records if record.method != method}
    collector.records = [r for r in collector.records if r.method == method]
    collector.findings = [
        finding
        for finding in collector.findings
        if finding.source not in sources
        and place_of(finding.source, collector.root)[0] in (method, collector.root)
    ]


def place_of(name: str, root: str) -> tuple[str, str]:
    """Method and seed that a file's folders say: ``[results/][METHOD/][SEED/][res/]FILE``."""
    folders = [p for p in PurePosixPath(name).parts[:-1] if p not in _FOLDERS_WITHOUT_MEANING]
    if not folders:
        return root, ""
    if _SEED.match(folders[-1]):
        return (folders[-2] if len(folders) > 1 else root), folders[-1]
    # "<seed>/res/0001_res.json" is the layout in which any folder name is a seed.
    if len(folders) == 1 and PurePosixPath(name).stem.endswith("_res"):
        return root, folders[-1]
    return folders[-1], ""


def _read_file(file: SourceFile, collector: _Collector) -> None:
    if file.content is None:
        collector.tell(UNREAD, file.name, file.problem or "not read")
        return
    try:
        document = json.loads(file.content)
    except (ValueError, RecursionError) as error:
        collector.tell(UNREAD, file.name, f"not valid JSON: {error}")
        return
    checkpoint = document.get("_checkpoint") if isinstance(document, dict) else None
    records = checkpoint.get("records") if isinstance(checkpoint, dict) else None
    if not isinstance(checkpoint, dict) or not isinstance(records, list):
        collector.tell(UNREAD, file.name, "no '_checkpoint' with 'records': not a result file")
        return
    if not records:
        collector.tell(UNREAD, file.name, "holds no record")
        return
    named = _ROUTE_FILE.match(PurePosixPath(file.name).stem)
    before = len(collector.records)
    for index, record in enumerate(records):
        source = file.name if len(records) == 1 else f"{file.name}#{index}"
        if named is not None and index > 0:
            text = "a further record in the file of one route; only the first counts"
            collector.tell(UNSCORED, source, text)
            continue
        _read_record(record, source, file.name, named, collector)
    of_file = collector.records[before:]
    method = of_file[0].method if of_file else place_of(file.name, collector.root)[0]
    collector.announced[method] += _announced(checkpoint.get("progress"), len(records))


def _read_record(
    record: Any, source: str, name: str, named: re.Match[str] | None, collector: _Collector
) -> None:
    if not isinstance(record, dict):
        collector.tell(UNSCORED, source, "the record is not an object")
        return
    scores, meta = _mapping(record.get("scores")), _mapping(record.get("meta"))
    composed, route = (
        finite_number(scores.get("score_composed")),
        finite_number(scores.get("score_route")),
    )
    if math.isnan(composed) or math.isnan(route):
        collector.tell(
            UNSCORED, source, "score_composed or score_route is missing or no finite number"
        )
        return
    infractions, odd = _infractions(record.get("infractions"))
    if odd:
        collector.tell(NOTE, source, odd)
    route_id = str(record.get("route_id", ""))
    number, repetition = _route_number(route_id, named)
    method, seed = place_of(name, collector.root)
    if named is None and "#" not in source and seed == str(number):
        # "<number of the route>/<any name>.json": that folder is the route's own, not a seed.
        method, seed = place_of(PurePosixPath(name).parent.as_posix(), collector.root)
    written = record.get("num_infractions")
    collector.records.append(
        RouteRecord(
            source=source,
            method=method,
            seed=seed,
            route_id=route_id,
            number=number,
            repetition=repetition,
            status=str(record.get("status", "")),
            infractions=infractions,
            num_infractions=written if isinstance(written, int) else None,
            completion_percent=route,
            penalty=finite_number(scores.get("score_penalty")),
            driving_score=composed,
            route_length_m=finite_number(meta.get("route_length")),
            duration_game_s=finite_number(meta.get("duration_game")),
            duration_system_s=finite_number(meta.get("duration_system")),
        )
    )


def _route_number(route_id: str, named: re.Match[str] | None) -> tuple[int | None, int]:
    written = _ROUTE_ID.match(route_id)
    repetition = int(written[2]) if written else 0
    if named is not None:
        return int(named["a"] or named["b"]), repetition
    return (int(written[1]) if written else None), repetition


def _infractions(value: Any) -> tuple[Mapping[str, tuple[str, ...]], str | None]:
    """Return messages by key, and oddities of the messages."""
    if not isinstance(value, dict):
        return MappingProxyType({}), "no infraction lists: taken as free of infractions"
    messages: dict[str, tuple[str, ...]] = {}
    odd = []
    for key, entries in value.items():
        if not isinstance(entries, list):
            odd.append(str(key))
            entries = []
        messages[str(key)] = tuple(str(entry) for entry in entries)
    text = f"no list of messages under {', '.join(odd)}: taken as empty" if odd else None
    return MappingProxyType(messages), text


def _announced(progress: Any, records: int) -> int:
    if isinstance(progress, list) and len(progress) == 2 and isinstance(progress[1], int):
        return max(progress[1], records)
    return records


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def finite_number(value: Any) -> float:
    """Return the value of a JSON field as a number; NaN if it is not a finite number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return math.nan
    try:
        number = float(value)
    except OverflowError:  # JSON has whole numbers of any size
        return math.nan
    return number if math.isfinite(number) else math.nan
