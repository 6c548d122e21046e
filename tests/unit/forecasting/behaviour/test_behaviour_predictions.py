import gzip

import numpy as np
import polars as pl
import pytest

from jaywalk.core.errors import DataError, PrerequisiteError
from jaywalk.forecasting.behaviour.predictions import read_exclusions, read_predictions
from jaywalk.forecasting.behaviour.tasks import find_task

ACTION = find_task("action", "jaad")
INTENTION = find_task("intention", "pie")
SAMPLES = pl.DataFrame(
    {"sample_id": ["a@0", "a@10", "b@5", "c@1"], "pedestrian_id": ["a", "a", "b", "c"]}
)


def write(tmp_path, text, *, zipped=False):
    path = tmp_path / "p.csv"
    path.write_bytes(gzip.compress(text.encode()) if zipped else text.encode())
    return path


@pytest.mark.parametrize("zipped", [False, True])
@pytest.mark.parametrize("text", ["0.1\n0.2\n0.3\n0.4\n", "p\n1e-1\r\n0.2\r\n0.3\r\n0.4"])
def test_rows_in_order(tmp_path, text, zipped):
    kept, values = read_predictions(write(tmp_path, text, zipped=zipped), ACTION, SAMPLES)
    assert values[:, 0].tolist() == [0.1, 0.2, 0.3, 0.4]
    assert kept.equals(SAMPLES)


def test_sample_ids_in_any_order(tmp_path):
    text = "p_crossing,sample_id\n0.4,c@1\n0.2,a@10\n0.1,a@0\n0.3,b@5\n"
    _, values = read_predictions(write(tmp_path, text), ACTION, SAMPLES)
    assert values[:, 0].tolist() == [0.1, 0.2, 0.3, 0.4]


def test_exclusions(tmp_path):
    lost = tmp_path / "lost.txt"
    lost.write_text("sample_id\na@10  # lost to a gap\n\n")
    excluded = read_exclusions(lost, SAMPLES)
    assert excluded == {"a@10"}
    for text in ("0.1\n0.3\n0.4\n", "0.1\n0.2\n0.3\n0.4\n", "sample_id,p\nc@1,.4\nb@5,.3\na@0,.1"):
        kept, values = read_predictions(write(tmp_path, text), ACTION, SAMPLES, excluded)
        assert kept["sample_id"].to_list() == ["a@0", "b@5", "c@1"]
        assert values[:, 0].tolist() == [0.1, 0.3, 0.4]
    lost.write_text("a\n")
    assert read_exclusions(lost, SAMPLES) == {"a@0", "a@10"}
    lost.write_text("a@0\nzz@1\n")
    with pytest.raises(DataError, match="line 2: 'zz@1'"):
        read_exclusions(lost, SAMPLES)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0.1\n0.2\n0.3\n", r"has 3 rows; .* has 4 samples.*Rows 4 to 4 are missing"),
        ("0.1\n0.2\n0.3\n0.4\n0.5\n", r"has 5 rows.*Rows from 5 on are too many"),
        ("0.1\nnan\n0.3\n\n", r"1 rows \(line 2\) have a value that is not a number"),
        ("0.1\n0.2\nx\n0.4", r"\(line 3\) have a value that is not a number"),
        ("0.1\n0.2,0.8\n0.3\n0.4", r"\(line 2\) have 2 columns.*expects 1"),
        ("0.1\n1.2\n0.3\n-0.4", r"2 rows \(line 2, 4\) have a probability outside"),
        ("0.1\ninf\n0.3\n0.4", r"line 2"),
        ("", "has no rows"),
        ("sample_id,p\na@0,0.1\na@0,0.2\nb@5,0.1\nc@1,0.1", r"\(line 3\) repeat"),
        ("sample_id,p\na@0,0.1\na@10,0.2\nb@5,0.1\nd@1,0.1", r"\(line 5\) have a sample_id that"),
        ("sample_id,p\na@0,0.1\nb@5,0.1\nc@1,0.1", r"lacks 1 of 4 samples: a@10 \(row 2\)"),
        ("sample_id,p\na@0,0.1\nb@5\nc@1,0.1", r"\(line 3\) differ from the header"),
    ],
)
def test_wrong_files_name_the_rows(tmp_path, text, message):
    with pytest.raises(DataError, match=message):
        read_predictions(write(tmp_path, text), ACTION, SAMPLES)


def test_probabilities_must_sum_to_one(tmp_path):
    good = "0.2,0.3,0.5\n" * 4
    _, values = read_predictions(write(tmp_path, good), INTENTION, SAMPLES)
    assert values.shape == (4, 3)
    assert np.allclose(values.sum(1), 1)
    bad = good.replace("0.5\n", "0.6\n", 2)
    with pytest.raises(DataError, match=r"2 rows \(line 1, 2\) have probabilities that do not sum"):
        read_predictions(write(tmp_path, bad), INTENTION, SAMPLES)


def test_files_that_are_none(tmp_path):
    with pytest.raises(PrerequisiteError, match="does not exist"):
        read_predictions(tmp_path / "none.csv", ACTION, SAMPLES)
    path = tmp_path / "b.csv.gz"
    path.write_bytes(gzip.compress(b"0.1\n" * 1000)[:-10])
    with pytest.raises(DataError, match="broken gzip"):
        read_predictions(path, ACTION, SAMPLES)
    path.write_bytes(b"\xff\xfe\x00\x01")
    with pytest.raises(DataError, match="not a text file"):
        read_predictions(path, ACTION, SAMPLES)
