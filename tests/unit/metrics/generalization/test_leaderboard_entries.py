"""Leaderboard entries: what makes one invalid, what makes one suspicious, and the page."""

from __future__ import annotations

import json
import shutil
import tarfile
from pathlib import Path

import pytest
import result_files as make
from typer.testing import CliRunner

import jaywalk.metrics.generalization.entry as entry_module
from jaywalk.cli.main import app
from jaywalk.core.errors import DataError
from jaywalk.metrics.generalization.entry import read_entry
from jaywalk.metrics.generalization.split import published_split
from jaywalk.metrics.generalization.validation import validate_entry

RESULTS = (
    Path(__file__).parents[5] / "shared" / "data" / "fail2drive" / "results_AlignDrive_TFv6.tar.gz"
)
ENTRY = """\
format = "jaywalk-leaderboard-entry-1"
method = "Mine"
benchmark = "fail2drive"
protocol = "fail2drive"
protocol_version = 2
seeds = [1, 2, 3]

[modalities]
rgb = true
lidar = false
privileged = false
learned = true

[rules]
trained_on_benchmark = false
external_pretraining = "ImageNet"
"""


def jaywalk(*words: object):
    return CliRunner().invoke(app, ["leaderboard", *map(str, words)])


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> Path:
    """A complete entry: one route in ten hits something, min speed as evaluators write it."""
    folder = tmp_path_factory.mktemp("entries") / "mine"
    folder.mkdir()
    (folder / "entry.toml").write_text(ENTRY, encoding="utf-8")
    for seed in (1, 2, 3):
        for number, route in published_split().items():
            given: dict = {}
            if (number + seed) % 10 == 0:
                given = {
                    "infractions": {"collisions_layout": [make.hit("static.x", number)]},
                    "scores": make.scores(100.0, 0.65),
                }
            one = make.record(number, **given)
            one["meta"]["duration_game"] = 40.0 + number / 100.0 + seed
            one["meta"]["duration_system"] = 80.0 + number + seed / 10.0
            make.write(folder / "results" / str(seed) / f"{route.name}.json", one)
    return folder


@pytest.fixture
def entry(whole, tmp_path) -> Path:
    return Path(shutil.copytree(whole, tmp_path / "mine"))


def change(folder: Path, old: str, new: str) -> None:
    path = folder / "entry.toml"
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def problems(folder: Path) -> str:
    return "\n".join(validate_entry(folder, resamples=1).problems)


def test_a_whole_entry_is_valid(whole):
    found = validate_entry(whole, resamples=1)
    assert (found.problems, found.suspicions) == ((), ())
    assert found.score is not None
    assert found.score["n_records"] == 600
    assert found.score["base"]["sr"] == pytest.approx(90.0)
    assert found.score["base"]["ds"] == pytest.approx(96.5)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("protocol_version = 2", "protocol_version = 7", "protocol_version: is 7, expected 2"),
        ("protocol_version = 2", 'protocol_version = "2"', "expected a whole number"),
        ('protocol = "fail2drive"', 'protocol = "bench2drive"', "protocol: is 'bench2drive'"),
        ('benchmark = "fail2drive"', 'benchmark = "mine"', "benchmark: is 'mine'"),
        ("seeds = [1, 2, 3]", "seeds = [1, 2]", "the benchmark asks for 1, 2 and 3"),
        ("seeds = [1, 2, 3]", "seeds = 3", "seeds: is 3"),
        ("seeds = [1, 2, 3]", "seeds = [1, 2, 4]", "seed 4: 200 of 200 routes are missing"),
        ("trained_on_benchmark = false", "trained_on_benchmark = true", "must declare false"),
        ("lidar = false", 'lidar = "no"', "modalities.lidar"),
        ('method = "Mine"', "method = 3", "method: is 3"),
        ('method = "Mine"', 'method = "two\\nlines"', "expected one line of at most 80"),
        ('method = "Mine"', f'method = "{"x" * 81}"', "expected one line of at most 80"),
        ("[modalities]", "bench2drive_ds = nan\n[modalities]", "expected a number from 0 to 100"),
        ("[modalities]", f"bench2drive_ds = {10**400}\n[modalities]", "bench2drive_ds: is 1000"),
        ("[rules]", "[rules]\nmore = 1", "rules.more: no such field"),
        ('benchmark = "fail2drive"', 'benchmark = "fail2drive\\n"', "benchmark: is"),
        ("[rules]", "colour = 3\n[rules]", "modalities.colour: no such field"),
    ],
)
def test_fields(entry, old, new, words):
    change(entry, old, new)
    assert words in problems(entry)


def test_a_missing_route_is_named(entry):
    (entry / "results" / "2" / "Base_Wall_0095.json").unlink()
    assert "seed 2: 1 of 200 routes are missing: Base_Wall_0095" in problems(entry)


def test_the_same_route_twice(entry):
    place = entry / "results" / "1"
    shutil.copy(place / "Base_Wall_0095.json", place / "0095_res.json")
    assert "the same route, seed and repetition as 1/0095_res.json" in problems(entry)


def edit_files(entry: Path, names: str, **given: object) -> int:
    """Replace fields of the record in each file of the pattern; how many there are."""
    paths = sorted((entry / "results").glob(names))
    for path in paths:
        document = json.loads(path.read_text(encoding="utf-8"))
        document["_checkpoint"]["records"][0] |= given
        path.write_text(json.dumps(document), encoding="utf-8")
    return len(paths)


def test_hard_routes_cannot_be_left_out_as_not_set_up(entry):
    walls = "*/Generalization_Wall_*.json"
    failed = {"status": "Failed - Agent couldn't be set up", "scores": make.scores(0.0, 1.0)}
    assert edit_files(entry, walls, **failed) == 15
    found = validate_entry(entry, resamples=1)
    words = "\n".join(found.problems)
    assert (
        "not scored: 15 (1/Generalization_Wall_1095.json, 1/Generalization_Wall_1096.json, "
        in words
    )
    assert "could not be set up" in words
    assert "run these routes again" in words
    for seed in (1, 2, 3):
        assert f"seed {seed}: 5 of 200 routes are missing: Generalization_Wall_1095, " in words
    assert found.score is not None
    assert len(found.score["missing"]) == 15
    result = jaywalk("validate", entry)
    assert result.exit_code == 1


def test_no_record_at_all_is_scored(entry):
    edit_files(entry, "*/*.json", status="Failed - Agent couldn't be set up")
    words = problems(entry)
    assert "not scored: 600 (" in words
    assert "seed 3: 200 of 200 routes are missing" in words


def test_a_foreign_route_is_a_problem(entry):
    for number in (300, 301):
        make.write(entry / "results" / "2" / f"Base_Wall_{number:04d}.json", make.record(number))
    words = problems(entry)
    assert "not scored: 2/Base_Wall_0300.json, 2/Base_Wall_0301.json: its route is not in" in words
    assert "take these files out" in words
    assert "missing" not in words


@pytest.mark.parametrize("place", ["1/0095_res.json", "seed1/Base_Wall_0095.json"])
def test_a_route_scored_twice_with_a_seed(entry, place):
    one = make.record(95, route_id="RouteScenario_95_rep1")
    make.write(entry / "results" / place, one)
    words = problems(entry)
    assert "seed 1: scored more than once" in words
    assert "Base_Wall_0095; keep one" in words


def test_a_copied_seed(entry):
    shutil.rmtree(entry / "results" / "3")
    shutil.copytree(entry / "results" / "2", entry / "results" / "3")
    found = validate_entry(entry, resamples=1)
    assert "200 of 200 routes of seeds 2 and 3 are equal" in "\n".join(found.suspicions)
    assert not found.is_valid  # wall times are equal too


def edit_record(entry: Path, **given: object) -> None:
    assert edit_files(entry, "1/Base_Wall_0095.json", **given) == 1


def test_a_score_that_its_messages_contradict(entry):
    edit_record(entry, scores={"score_route": 100, "score_penalty": 0.9, "score_composed": 90.0})
    assert "does not follow from the record's own messages" in problems(entry)


def test_broken_fields_make_an_entry_invalid(entry):
    edit_files(entry, "[12]/Base_Wall_*.json", infractions={})
    words = "infractions.red_light: expected a list of messages (first: missing): 10 (1/Base_Wall_0"
    assert words in problems(entry)


def test_a_file_of_a_crashed_run_is_a_suspicion(entry):
    path = entry / "results" / "1" / "Base_Wall_0095.json"
    document = json.loads(path.read_text(encoding="utf-8"))
    document |= {"entry_status": "Crashed", "eligible": False}
    path.write_text(json.dumps(document), encoding="utf-8")
    found = validate_entry(entry, resamples=1)
    assert found.is_valid
    assert found.flags == {"aborted": 1, "doubled": 0, "post_processed": 0}
    assert found.suspicions == ("looks aborted: 1/Base_Wall_0095.json: 'entry_status' is Crashed",)


def test_aborted_and_post_processed_records_are_suspicions(entry):
    edit_record(entry, status="Failed", scores=make.scores(19.0, 1.0))
    found = validate_entry(entry, resamples=1)
    assert found.is_valid
    assert "looks aborted: 1/Base_Wall_0095.json" in "\n".join(found.suspicions)
    assert jaywalk("validate", entry).exit_code == 0
    assert jaywalk("validate", entry, "--strict").exit_code == 1
    edit_record(entry, status="Completed", route_id="some words")
    assert "looks post-processed" in "\n".join(validate_entry(entry, resamples=1).suspicions)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"status": "Completed"}, "free of infractions, not 'Perfect'"),
        ({"scores": make.scores(60.0, 1.0)}, "completed below 100 %"),
        (
            {"status": "Failed - Agent timed out", "scores": make.scores(60.0, 1.0)},
            "a reason to fail that its lists do not have",
        ),
        ({"route_id": "RouteScenario_5_rep0"}, "of another route, by its route_id"),
    ],
)
def test_a_record_that_contradicts_itself_is_a_problem(entry, given, words):
    edit_record(entry, **given)
    assert words in problems(entry)


def test_a_good_record_as_that_of_a_hard_route(entry):
    place = entry / "results" / "1"
    shutil.copy(place / "Base_Wall_0095.json", place / "Generalization_Wall_1095.json")
    words = problems(entry)
    assert "1/Generalization_Wall_1095.json: identical to 1/Base_Wall_0095.json" in words
    assert "another route, by its route_id: 1/Generalization_Wall_1095.json" in words


def test_routes_numbered_anew_by_the_evaluator_are_accepted(entry):
    for seed in (1, 2, 3):
        for k, path in enumerate(sorted((entry / "results" / str(seed)).iterdir())):
            edit_files(entry, f"{seed}/{path.name}", route_id=f"RouteScenario_{k % 33}_rep0")
    assert problems(entry) == ""


def test_a_name_that_is_no_route(entry):
    place = entry / "results" / "1"
    (place / "Base_Wall_0095.json").rename(place / "Base_Moon_0095.json")
    assert "no route has this name and number: 1/Base_Moon_0095.json" in problems(entry)


def test_links_are_no_files_of_an_entry(entry, tmp_path):
    place = entry / "results" / "1" / "Base_Wall_0095.json"
    place.rename(tmp_path / "away.json")
    place.symlink_to(tmp_path / "away.json")
    (entry / "results" / "2").rename(tmp_path / "two")
    (entry / "results" / "2").symlink_to(tmp_path / "two")
    words = problems(entry)
    assert "links: results/1/Base_Wall_0095.json, results/2; put the files themselves" in words
    assert "not read: 2: a link to a folder, not followed" in words


def test_names_of_files_that_are_no_text_are_written_out(entry):
    (entry / "results" / "a\nb\udcff.json").write_text("", encoding="utf-8")
    assert "not read: a\\nb\\udcff.json: not valid JSON" in problems(entry)


def test_entries_of_our_own_suite_have_a_run_and_its_hashes(entry):
    change(entry, 'benchmark = "fail2drive"', 'benchmark = "jaywalk/fail2drive-v2"')
    words = problems(entry)
    assert "origin.suite: is None, expected the benchmark 'jaywalk/fail2drive-v2'" in words
    assert "records.json: missing or not JSON" in words
    text = (entry / "entry.toml").read_text(encoding="utf-8")
    text += '[origin]\nsuite = "jaywalk/fail2drive-v2"\n'
    (entry / "entry.toml").write_text(text, encoding="utf-8")
    hashes = {
        f"{route.name}-s{seed}": "0" * 64
        for route in published_split().values()
        for seed in (1, 2, 3)
    }
    (entry / "records.json").write_text(json.dumps(hashes), encoding="utf-8")
    assert problems(entry) == ""
    times = json.loads((entry / "results/1/Base_Wall_0095.json").read_text(encoding="utf-8"))
    meta = times["_checkpoint"]["records"][0]["meta"]
    assert edit_files(entry, "2/Base_Wall_0095.json", meta=meta) == 1
    assert problems(entry) == ""  # short drives share a wall time by chance
    del hashes["Base_Wall_0095-s2"]
    (entry / "records.json").write_text(json.dumps(hashes), encoding="utf-8")
    assert problems(entry) == "records.json: no hash of Base_Wall_0095-s2"


def test_what_is_no_entry(tmp_path):
    with pytest.raises(DataError, match=r"has no entry\.toml"):
        read_entry(tmp_path)
    (tmp_path / "entry.toml").write_text("method = ", encoding="utf-8")
    with pytest.raises(DataError, match="not valid TOML"):
        read_entry(tmp_path)
    (tmp_path / "entry.toml").write_text(ENTRY, encoding="utf-8")
    assert "no such folder with result files" in problems(tmp_path)
    for text in ("a = " + "[" * 5000, "a = " + "9" * 5000):
        (tmp_path / "entry.toml").write_text(text, encoding="utf-8")
        with pytest.raises(DataError, match="not valid TOML"):
            read_entry(tmp_path)


def test_one_bad_entry_spoils_no_page(entry, tmp_path):
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "entry.toml").write_text("a = " + "[" * 5000, encoding="utf-8")
    (tmp_path / "empty").mkdir()
    shutil.copytree(entry, tmp_path / "twin")
    (tmp_path / "linked").symlink_to(tmp_path / "twin")
    result = jaywalk("build", tmp_path)
    assert result.exit_code == 0
    assert f"not listed: {tmp_path / 'deep'}: " in result.output
    assert f"left out: {tmp_path / 'empty'} has no entry.toml" in result.output
    assert "several entries are called 'Mine': linked, mine, twin" in result.output
    page = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert "nested too deep" in page
    assert "Mine (twin)" in page
    for k in (1, 2, 3):
        assert page.count(f'id="entry-fail2drive-{k}"') == 1
    assert jaywalk("build", tmp_path, "-o", tmp_path / "page.json").exit_code != 0


def test_the_page_ranks_valid_entries_and_names_the_others(entry, tmp_path):
    bad = Path(shutil.copytree(entry, tmp_path / "bad"))
    change(bad, 'method = "Mine"', 'method = "Bad <b>"')
    change(bad, "protocol_version = 2", "protocol_version = 1")
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "entry.toml").write_text("method =", encoding="utf-8")
    result = jaywalk("build", tmp_path, "--json")
    assert result.exit_code == 0, result.output
    page = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert "No training on the benchmark" in page
    assert "PDMLite-F2D" in page
    assert "+84.2 %" in page  # of the paper's Table 2
    assert ">broken</h3>" in page
    assert '<span class="small">(bad)</span>' in page
    assert "Bad &lt;b&gt;" in page
    assert "Bad <b>" not in page
    assert "protocol_version: is 1" in page
    assert "<script" not in page
    assert "96.5" in page
    assert page.count("DS without the minimum-speed factor: ") == 1  # the paper's rows have none
    rows = json.loads((tmp_path / "index.json").read_text(encoding="utf-8"))
    assert sorted((row["method"], row["valid"]) for row in rows) == [
        ("Bad <b>", False),
        ("Mine", True),
        ("broken", False),
    ]


def test_a_result_set_in_an_archive_becomes_an_entry(whole, tmp_path):
    """Stands in for the public set below, in the same layout."""
    archive = tmp_path / "set.tar.gz"
    with tarfile.open(archive, "w:gz") as tar:
        for seed in (1, 2, 3):
            tar.add(whole / "results" / str(seed), f"results/Mine/seed{seed}")
    words = ("--rgb", "--learned", "--not-trained-on-benchmark")
    made = jaywalk("import", archive, "--method", "Mine", "-o", tmp_path / "mine", *words)
    assert made.exit_code == 0, made.output
    found = validate_entry(tmp_path / "mine", resamples=1)
    assert found.is_valid
    assert (found.flags["aborted"], found.flags["doubled"]) == (0, 0)
    again = jaywalk("import", archive, "--method", "Mine", "-o", tmp_path / "mine")
    assert again.exit_code != 0


@pytest.mark.data
@pytest.mark.skipif(not RESULTS.exists(), reason="needs ../shared/data/fail2drive")
def test_public_result_sets_become_entries(tmp_path):
    for method, odd in (("TFv6", 0), ("AlignDrive", 104)):
        folder = tmp_path / method
        made = jaywalk(
            "import",
            RESULTS,
            "--method",
            method,
            "-o",
            folder,
            "--rgb",
            "--learned",
            "--not-trained-on-benchmark",
        )
        assert made.exit_code == 0, made.output
        found = validate_entry(folder, resamples=1)
        assert found.is_valid
        assert found.flags["aborted"] == odd
        assert found.flags["doubled"] == 0
        assert len(found.suspicions) == (1 if odd else 0)
    again = jaywalk("import", RESULTS, "--method", "TFv6", "-o", tmp_path / "TFv6")
    assert again.exit_code != 0


@pytest.mark.parametrize(
    ("benchmark", "origin", "expected"),
    [
        ("jaywalk/fail2drive-v2", {"weak_pairs": ["0012/1"]}, {("0012", "1")}),
        ("jaywalk/fail2drive-v2", {"weak_pairs": []}, set()),
        ("jaywalk/fail2drive-v2", {}, None),
        ("fail2drive", {"weak_pairs": ["0012/1"]}, None),  # the published protocol has none
    ],
)
def test_an_entry_of_our_own_suite_names_its_weak_pairs(tmp_path, benchmark, origin, expected):
    made = entry_module.Entry(folder=tmp_path, method="m", benchmark=benchmark, origin=origin)
    assert made.weak_pairs == expected


def test_a_list_of_weak_pairs_that_makes_no_sense_is_a_problem():
    assert entry_module._weak_problems(["0012/1", "0099/3"]) == []
    for wrong in ("0012/1", ["12"], [["0012/1"]]):
        (problem,) = entry_module._weak_problems(wrong)
        assert problem.startswith("origin.weak_pairs: is ")
