"""Published Fail2Drive rows from the published files, to the printed digit."""

from __future__ import annotations

import re
import tarfile
from pathlib import Path

import pytest

from jaywalk.cli.score import score_results
from jaywalk.metrics.driving.fail2drive_split import published_split, read_split
from jaywalk.metrics.driving.penalties import PROTOCOLS, disagreements
from jaywalk.metrics.driving.results import read_results

FOLDER = Path(__file__).parents[4] / "shared" / "data" / "fail2drive"
RESULTS = FOLDER / "results_AlignDrive_TFv6.tar.gz"
pytestmark = [
    pytest.mark.data,
    pytest.mark.skipif(not RESULTS.exists(), reason="needs ../shared/data/fail2drive"),
]


def published_row(method: str) -> list[str]:
    """The nine Fail2Drive figures of a method in the published table, as printed."""
    with tarfile.open(RESULTS) as tar:
        stream = tar.extractfile("f2d_leaderboard.tex")
        assert stream is not None
        text = stream.read().decode()
    row = text.split(f"{method}~", 1)[1].split(r"\\", 1)[0]
    return re.findall(r"-?\d+\.\d", row)[1:]  # the first is the Bench2Drive score


def printed(got: dict) -> list[str]:
    cells = [f"{got['base'][key]:.1f}" for key in ("ds", "sr", "hm")]
    for key in ("ds", "sr", "hm"):
        cells += [f"{got['generalization'][key]:.1f}", f"{got['change_percent'][key]:.1f}"]
    return cells


@pytest.mark.parametrize("method", ["AlignDrive", "TFv6"])
def test_the_published_row_comes_out(method):
    got = score_results(RESULTS, "fail2drive", method=method)
    assert printed(got) == published_row(method)
    assert (got["n_records"], got["missing"]) == (600, [])
    assert got["base"]["n"] == got["generalization"]["n"] == 300


@pytest.mark.parametrize(
    ("method", "changes"),
    [("AlignDrive", ("-8.2", "-17.2", "-12.9")), ("TFv6", ("-11.9", "-24.2", "-18.4"))],
)
def test_the_parser_rounds_first(method, changes):
    got = score_results(RESULTS, "fail2drive", method=method, rounding="parser")
    assert tuple(f"{got['change_percent'][key]:.1f}" for key in ("ds", "sr", "hm")) == changes


def test_requiring_completion_uncovers_aborted_runs():
    got = score_results(RESULTS, "fail2drive", method="AlignDrive", requires_completion=True)
    assert (f"{got['base']['sr']:.1f}", f"{got['generalization']['sr']:.1f}") == ("67.7", "55.0")
    assert len(got["flags"]["aborted"]) == 104
    assert got["flags"]["post_processed"] == []


def test_every_penalty_follows_from_its_messages():
    records = read_results(RESULTS).records
    assert len(records) == 1200
    assert disagreements(PROTOCOLS["fail2drive"], records) == []
    assert len(disagreements(PROTOCOLS["bench2drive"], records)) > 800


def test_doubled_collisions_are_only_in_the_turning_scenario():
    for method in ("AlignDrive", "TFv6"):
        got = score_results(RESULTS, "fail2drive", method=method)
        numbers = {int(entry["record"][-9:-5]) % 1000 for entry in got["flags"]["doubled"]}
        assert numbers <= {76, 79, 80}
        assert numbers


def test_the_built_in_split_is_the_published_one():
    assert read_split(FOLDER / "fail2drive_split.tar.gz") == published_split()
