"""Reading result files: layouts, archives, and nothing lost in silence."""

from __future__ import annotations

import io
import os
import tarfile

import pytest
import result_files as make

from jaywalk.core.errors import DataError, PrerequisiteError
from jaywalk.metrics.driving import _checks as checks
from jaywalk.metrics.driving import files
from jaywalk.metrics.driving.results import place_of, read_results
from jaywalk.metrics.generalization.split import published_split, read_split


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("a.json", ("root", "")),
        ("results/TFv6/1/eval/Base_Wall_0095.json", ("TFv6", "1")),
        ("AlignDrive/seed1/Base_Wall_0095.json", ("AlignDrive", "seed1")),
        ("seed_2/a.json", ("root", "seed_2")),
        ("my_run/res/0095_res.json", ("root", "my_run")),
        ("my_run/Base_Wall_0095.json", ("my_run", "")),
    ],
)
def test_folders_say_method_and_seed(name, place):
    assert place_of(name, "root") == place


def test_one_file_with_many_records_and_one_file_a_route(tmp_path):
    make.write(tmp_path / "many" / "all.json", make.record(3), make.record(1004))
    make.write(tmp_path / "one" / "2" / "res" / "0003_res.json", make.record(0))
    many, one = read_results(tmp_path / "many"), read_results(tmp_path / "one")
    assert [(r.number, r.source) for r in many.records] == [
        (3, "all.json#0"),
        (1004, "all.json#1"),
    ]
    assert [(r.number, r.seed, r.method) for r in one.records] == [(3, "2", "one")]
    assert not many.findings


def test_a_folder_of_a_route_is_not_a_seed(tmp_path):
    make.write(tmp_path / "expert" / "per_route" / "1711" / "endpoint.json", make.record(1711))
    (found,) = read_results(tmp_path).records
    assert (found.method, found.seed, found.number) == ("expert", "", 1711)


def test_a_seed_folder_takes_its_name_from_above(tmp_path):
    make.write(tmp_path / "TFv6" / "1" / "eval" / "Base_Wall_0095.json", make.record(95))
    assert read_results(tmp_path / "TFv6" / "1").methods == ["TFv6"]
    assert read_results(tmp_path / "TFv6" / "1" / "eval").methods == ["TFv6"]


def test_every_file_is_accounted_for(tmp_path):
    good = make.record(1)
    make.write(tmp_path / "good.json", good)
    (tmp_path / "broken.json").write_text('{"_checkpoint": ')
    (tmp_path / "deep.json").write_text("[" * 200_000)
    (tmp_path / "other.json").write_text("[1, 2]")
    (tmp_path / "notes.txt").write_text("hello")
    make.write(tmp_path / "empty.json")
    make.write(tmp_path / "merged.json", good)
    make.write(tmp_path / "scoreless.json", make.record(2, scores={"score_route": 3}))
    make.write(tmp_path / "nan.json", make.record(2, scores={"score_route": float("nan")}))
    make.write(tmp_path / "text.json", "a record")
    make.write(tmp_path / "Base_Wall_0095.json", make.record(95), make.record(96))
    os.symlink(tmp_path / "nowhere.json", tmp_path / "link.json")
    found = read_results(tmp_path)
    used = {record.source.split("#")[0] for record in found.records}
    told = {finding.source.split("#")[0] for finding in found.findings}
    assert used | told == {path.name for path in tmp_path.iterdir()}
    assert used == {"good.json", "Base_Wall_0095.json"}
    assert "Base_Wall_0095.json" in told


def test_a_merged_file_alone_is_read(tmp_path):
    path = make.write(tmp_path / "merged.json", make.record(1), make.record(2))
    assert len(read_results(path).records) == 2


def test_missing_infraction_lists_are_told(tmp_path):
    make.write(tmp_path / "a.json", make.record(1) | {"infractions": None})
    make.write(tmp_path / "b.json", make.record(2) | {"infractions": {"red_light": 3}})
    assert len(read_results(tmp_path).findings) == 2


def test_archives_are_read_but_lead_nowhere(tmp_path):
    inner = make.write(tmp_path / "Base_Wall_0095.json", make.record(95))
    archive = tmp_path / "set.tar.gz"
    with tarfile.open(archive, "w:gz") as tar:
        tar.add(inner, "results/A/seed1/Base_Wall_0095.json")
        tar.add(inner, "../escape.json")
        absolute = tarfile.TarInfo("/abs.json")
        absolute.size = inner.stat().st_size
        tar.addfile(absolute, io.BytesIO(inner.read_bytes()))
        link = tarfile.TarInfo("results/A/seed1/link.json")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/hostname"
        tar.addfile(link)
    before = sorted(tmp_path.rglob("*"))
    found = read_results(archive)
    assert [(r.method, r.seed) for r in found.records] == [("A", "seed1")]
    assert len(found.findings) == 3
    assert sorted(tmp_path.rglob("*")) == before


def test_a_split_is_known_from_the_names_of_its_files(tmp_path):
    """Stands in for the published archive of route files."""
    wanted = published_split()
    archive = tmp_path / "split.tar.gz"
    with tarfile.open(archive, "w:gz") as tar:
        for route in wanted.values():
            info = tarfile.TarInfo(f"split/{route.name}.xml")
            info.size = len(b"<routes/>")
            tar.addfile(info, io.BytesIO(b"<routes/>"))
    assert read_split(archive) == wanted
    with pytest.raises(DataError, match="no route file"):
        read_split(make.write(tmp_path / "empty" / "a.json", make.record(1)).parent)


def test_sizes_are_limited(tmp_path, monkeypatch):
    archive = tmp_path / "set.tar"
    with tarfile.open(archive, "w") as tar:
        for name in ("a.json", "b.json"):
            info = tarfile.TarInfo(name)
            info.size = 600
            tar.addfile(info, io.BytesIO(b" " * 600))
    monkeypatch.setattr(files, "MAX_FILE_BYTES", 500)
    assert [f.content for f in files.read_files(archive, ".json")] == [None, None]
    monkeypatch.setattr(files, "MAX_FILE_BYTES", 10_000)
    monkeypatch.setattr(files, "MAX_TOTAL_BYTES", 1000)
    with pytest.raises(DataError):
        files.read_files(archive, ".json")


def test_wrong_paths_are_refused(tmp_path):
    with pytest.raises(PrerequisiteError):
        read_results(tmp_path / "nothing")
    (tmp_path / "fake.tar.gz").write_text("no archive")
    with pytest.raises(DataError):
        read_results(tmp_path / "fake.tar.gz")
    (tmp_path / "a.csv").write_text("1")
    with pytest.raises(DataError):
        read_results(tmp_path / "a.csv")


def kinds(tmp_path, *records):
    make.write(tmp_path / "a.json", *records)
    return [
        (flag.kind, flag.source) for flag in checks.check_records(read_results(tmp_path).records)
    ]


def test_a_normal_record_has_no_flag(tmp_path):
    blocked = make.record(
        2,
        status="Failed - Agent got blocked",
        scores=make.scores(40.0, 1.0),
        infractions={"vehicle_blocked": ["Agent got blocked at (x=1, y=2, z=3)"]},
    )
    assert kinds(tmp_path, make.record(1), blocked) == []


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        ({"status": "Failed", "scores": make.scores(19.2, 1.0)}, checks.ABORTED),
        (
            {"status": "Failed - Simulation crashed", "scores": make.scores(5.0, 1.0)},
            checks.ABORTED,
        ),
        ({"infractions": {"collisions_vehicle": [make.hit(), make.hit()]}}, checks.DOUBLED),
        ({"status": "Completed"}, checks.POST_PROCESSED),
        ({"status": "Perfect", "scores": make.scores(98.0, 1.0)}, checks.POST_PROCESSED),
        ({"meta": {"route_length": 0, "duration_game": 3}}, checks.POST_PROCESSED),
        ({"route_id": "my favourite route"}, checks.POST_PROCESSED),
    ],
)
def test_odd_records_are_flagged(tmp_path, change, kind):
    assert kinds(tmp_path, make.record(1, **change)) == [(kind, "a.json")]


def test_doubled_and_copied_records_are_flagged(tmp_path):
    first = make.record(5)
    assert kinds(tmp_path, first, first) == [(checks.DOUBLED, "a.json#1")] * 2
    other_run = first | {"meta": first["meta"] | {"duration_system": 1.5}}
    assert kinds(tmp_path, first, other_run) == [(checks.DOUBLED, "a.json#1")]


def test_a_set_that_never_repeats_its_last_checkpoint_is_flagged(tmp_path):
    def with_speeds(number, *percents):
        lists = {"min_speed_infractions": [make.slow(p) for p in percents]}
        return make.record(number, infractions=lists)

    never = [with_speeds(i, 90, 70 + i) for i in range(1, 11)]
    assert [kind for kind, _ in kinds(tmp_path, *never)] == [checks.POST_PROCESSED] * 10
    assert kinds(tmp_path, *never, with_speeds(11, 70, 70)) == []
