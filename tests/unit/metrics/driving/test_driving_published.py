"""Published Fail2Drive rows from the published files, to the printed digit."""

from __future__ import annotations

import json
import re
import statistics
import tarfile
from pathlib import Path

import pytest

from jaywalk.metrics.driving.penalties import PROTOCOLS, disagreements
from jaywalk.metrics.driving.results import read_results
from jaywalk.metrics.driving.results_score import score_results
from jaywalk.metrics.generalization.split import CATEGORIES, published_split, read_split

FOLDER = Path(__file__).parents[5] / "shared" / "data" / "fail2drive"
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


def from_raw_files(method: str) -> dict[str, dict[str, list[tuple[float, bool]]]]:
    """(Driving score, success) of every record by class and half, by the parser's own rules."""
    forgiven = {"min_speed_infractions", "outside_route_lanes"}
    found: dict[str, dict[str, list[tuple[float, bool]]]] = {}
    with tarfile.open(RESULTS) as tar:
        for member in tar:
            name = re.search(rf"/{method}/.*/(Base|Generalization)_(\w+)_\d+\.json$", member.name)
            if name is None:
                continue
            record = json.load(tar.extractfile(member))["_checkpoint"]["records"][0]
            lists = record["infractions"]
            clean = all(not lists[key] for key in lists if key not in forgiven)
            halves = found.setdefault(name[2], {"Base": [], "Generalization": []})
            halves[name[1]].append((record["scores"]["score_composed"], clean))
    return found


def hm_of(rows: list[tuple[float, bool]]) -> float:
    ds = statistics.fmean(row[0] for row in rows)
    sr = 100.0 * statistics.fmean(row[1] for row in rows)
    return statistics.harmonic_mean([ds, sr])


@pytest.mark.parametrize("method", ["AlignDrive", "TFv6"])
def test_categories_and_classes_follow_from_the_raw_files(method):
    raw = from_raw_files(method)
    got = score_results(RESULTS, "fail2drive", method=method)
    assert set(got["classes"]) == set(raw)
    for name, halves in raw.items():
        assert got["classes"][name]["base_hm"] == pytest.approx(hm_of(halves["Base"]))
        shift = got["classes"][name]["generalization_hm"]
        assert shift == pytest.approx(hm_of(halves["Generalization"]))
    for category, names in CATEGORIES.items():
        base = [row for name in names for row in raw[name]["Base"]]
        shift = [row for name in names for row in raw[name]["Generalization"]]
        found = got["categories"][category]
        assert found["base_hm"] == pytest.approx(hm_of(base))
        assert found["generalization_hm"] == pytest.approx(hm_of(shift))
        low, high = found["intervals"]["change_percent"]["hm"]
        assert low <= found["change_percent"] <= high


def test_cost_of_each_missing_cue():
    got = score_results(RESULTS, "fail2drive", method="TFv6")
    cost = {one["cue"]: one["change_percent"] for one in got["cues"]}
    assert len(cost) == 5
    assert cost["4 of 7 cones missing"] == 0.0
    assert cost["debris missing, 7 of 7 cones missing"] == pytest.approx(-21.3, abs=0.05)
