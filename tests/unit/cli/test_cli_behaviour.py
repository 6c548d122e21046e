import csv
import json

import numpy as np
import pytest
from behaviour_files import jaad_files, pie_files, write_folder
from typer.testing import CliRunner

from jaywalk.cli.main import app
from jaywalk.core.errors import DataError, PrerequisiteError, UsageError


def run(*arguments):
    return CliRunner().invoke(app, ["behaviour", *map(str, arguments)], catch_exceptions=False)


def read(path):
    return list(csv.DictReader(path.read_text().splitlines()))


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    root = tmp_path_factory.mktemp("cli")
    write_folder(root / "JAAD", jaad_files())
    write_folder(root / "PIE", pie_files())
    rng = np.random.default_rng(0)
    for name in ("a", "b"):
        rows = "".join(f"{p:.4f}\n" for p in rng.random(20))
        (root / f"{name}.csv").write_text(rows)
    return root


def task(place, name="action", dataset="jaad"):
    return ["--task", name, "--dataset", dataset, "--annotations", place / dataset.upper()]


def test_data_check(place):
    result = run("data", "check", place / "JAAD", "--json")
    assert result.exit_code == 0
    (found,) = json.loads(result.stdout)
    assert found["dataset"] == "jaad"
    assert {d["code"]: d["count"] for d in found["defects"]}["missing_crossing_point"] == 1
    both = run("data", "check", place)
    assert "jaad: usable" in both.stdout
    assert "pie: usable" in both.stdout
    with pytest.raises(DataError, match="neither JAAD"):
        run("data", "check", place / "JAAD" / "split_ids")


def test_score_has_the_agreed_fields(place):
    result = run("score", *task(place), "--predictions", place / "a.csv", "--json")
    report = json.loads(result.stdout)
    assert report["task"] == "action"
    assert report["dataset"] == "jaad"
    assert report["n_samples"] == 20
    assert report["n_instances"] == 3
    wanted = {
        "base": {"map", "bacc", "auc", "acc", "prec", "f1"},
        "weighted": {"acc", "prec", "f1"},
        "soft": {"acc", "bacc", "prec", "f1"},
        "hard": {"acc", "bacc", "prec", "f1"},
        "conf_delta": {"max", "avg"},
    }
    for block, names in wanted.items():
        assert set(report[block]) == names | {f"{name}_ci" for name in names}
    assert report["data"]["already_crossing_positive"] == 6
    assert report["data"]["complete_dataset"] is False
    assert [row["class"] for row in report["per_class"]] == ["not_crossing", "crossing"]
    again = run("score", *task(place), "--predictions", place / "a.csv", "--json")
    assert again.stdout == result.stdout


def test_strict_takes_a_file_of_the_whole_benchmark(place):
    result = run("score", *task(place), "--predictions", place / "a.csv", "--json", "--strict")
    report = json.loads(result.stdout)
    assert report["task_id"] == "jaad/action-strict-v1"
    assert report["n_samples"] == 8
    assert report["data"]["left_out"] == {"already_crossing": 6, "gap": 6}


def test_groups_and_people(place, tmp_path):
    out = tmp_path / "people.csv"
    result = run(
        *("score", *task(place), "--predictions", place / "a.csv", "--by", "road,ego"),
        *("--per-instance", out, "--resamples", 50),
    )
    assert result.exit_code == 0
    assert "two_way & stopped" in result.stdout
    assert "crossing already" in result.stderr
    people = read(out)
    assert [row["pedestrian_id"] for row in people] == ["0_3_1b", "0_3_2b", "0_3_3"]
    assert [row["n_samples"] for row in people] == ["7", "6", "7"]


def test_samples_go_out_and_predictions_come_back_by_id(place, tmp_path):
    out = tmp_path / "samples.csv"
    assert run("samples", *task(place, "risk"), "--out", out).exit_code == 0
    rows = read(out)
    assert len(rows) == 20
    answers = tmp_path / "perfect.csv"
    with answers.open("w") as file:
        file.write("sample_id," + ",".join(f"p{i}" for i in range(12)) + "\n")
        for row in reversed(rows):
            hot = [str(float(i == int(row["label"]))) for i in range(12)]
            file.write(",".join([row["sample_id"], *hot]) + "\n")
    result = run("score", *task(place, "risk"), "--predictions", answers, "--json")
    report = json.loads(result.stdout)
    assert report["base"]["acc"] == 1.0
    assert report["base"]["map"] is None  # most regions do not occur here
    assert len(report["missing_classes"]) > 0


def test_counts(place):
    result = run("counts", *task(place), "--json")
    assert json.loads(result.stdout)["rows"][-1]["test"] == 20


def test_compare(place):
    result = run(
        *("compare", *task(place), "--predictions", place / "b.csv"),
        *("--against", place / "a.csv", "--json", "--resamples", 50),
    )
    report = json.loads(result.stdout)
    for block in ("base", "hard"):
        for name, value in report["first"][block].items():
            other = report["second"][block][name]
            assert report["difference"][block][name] == pytest.approx(other - value)
    models = ["--predictions", place / "b.csv", "--against", place / "a.csv"]
    table = run("compare", *task(place), *models)
    assert [line.split("\t")[0] for line in table.stdout.splitlines()[:2]] == ["score", "base.map"]


def test_agreement(place, tmp_path):
    (tmp_path / "i.csv").write_text("0.1,0.8,0.1\n" * 6 + "0.8,0.1,0.1\n" * 5)
    (tmp_path / "a.csv").write_text("0.9\n" * 11)
    result = run(
        *("agreement", "--annotations", place / "PIE", "--intention", tmp_path / "i.csv"),
        *("--action", tmp_path / "a.csv", "--json"),
    )
    report = json.loads(result.stdout)
    assert report["overall_percent"] == pytest.approx([100 * 6 / 11, 100 * 5 / 11, 0, 0])


def test_errors_say_what_to_do(place):
    with pytest.raises(PrerequisiteError, match="does not exist"):
        run("score", *task(place), "--predictions", place / "none.csv")
    with pytest.raises(DataError, match="has 20 rows"):
        run("score", *task(place, "action", "pie"), "--predictions", place / "a.csv")
    wrong = run("score", *task(place), "--predictions", place / "a.csv", "--split", "x")
    assert wrong.exit_code == 2


def test_baseline_goes_out_and_comes_back(place, tmp_path):
    out = tmp_path / "cv.csv"
    made = run("baseline", "--dataset", "jaad", "--annotations", place / "JAAD", "--out", out)
    assert made.exit_code == 0
    result = run("score", *task(place, "risk"), "--predictions", out, "--json", "--resamples", 0)
    report = json.loads(result.stdout)
    assert report["n_samples"] == 20
    assert "acc_ci" not in report["base"]
    wrong = run("baseline", *task(place)[2:], "--out", out, "--model", "oracle")
    assert wrong.exit_code == 2


def test_regions_are_drawn(place, tmp_path):
    png = tmp_path / "regions.png"
    where = ["--dataset", "jaad", "--annotations", place / "JAAD", "--png", png]
    result = run("regions", *where, "--video", "video_0003", "--frame", 30)
    assert "5 people" in result.stdout
    assert png.read_bytes()[:4] == b"\x89PNG"
    with pytest.raises(UsageError, match="no video 'video_0009'"):
        run("regions", *where, "--video", "video_0009", "--frame", 30)
    with pytest.raises(UsageError, match="cannot be read as a picture"):
        run("regions", *where, "--video", "video_0003", "--frame", 3, "--picture", place / "a.csv")
