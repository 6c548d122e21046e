"""Gaps at the kerb: shares of HIKER, its published logit, and a fit of the evidence."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from jaywalk.actors.reactive.parameters import read_parameters
from jaywalk.actors.reactive.traits import PRESETS
from jaywalk.cli.realism import app
from jaywalk.core.errors import DataError, UsageError
from jaywalk.rollouts.people.gaps import (
    HIKER,
    acceptance_facts,
    acceptance_rows,
    decision_times_s,
    fit_gaps,
    log_likelihood,
    read_trials,
)


def logit_share(gap_s: float, speed_mps: float) -> float:
    """The logit over all trials of constant speed, fitted apart from this project."""
    return 1.0 / (1.0 + math.exp(6.67 - 1.229 * gap_s - 0.132 * speed_mps))


def write_trials(path: Path, people: int = 30) -> Path:
    """Trials drawn from the logit, with a boldness of each person."""
    random = np.random.default_rng(3)
    lines = ["subject,time_gap,speed,braking_condition,crossing_time"]
    for who in range(people):
        bold_s = float(random.normal(0.0, 1.1))
        for gap_s in (2, 3, 4, 5):
            for speed_mps in (11.18, 13.41, 15.65):
                level = -12.5 + 2.3 * (gap_s + bold_s) + 0.25 * speed_mps
                goes = random.random() < 1.0 / (1.0 + math.exp(-level))
                time = f"{random.normal(0.5, 0.3):.3f}" if goes else ""
                lines.append(f"{who},{gap_s},{speed_mps},1,{time}")
                lines.append(f"{who},{gap_s},{speed_mps},2,0.1")  # brakes: not counted
    path.write_text("\n".join(lines) + "\n")
    return path


def test_counts_agree_with_the_published_logit_and_shares() -> None:
    assert sum(cell.trials for cell in HIKER) == 2138
    errors = [cell.share - logit_share(cell.gap_s, cell.speed_mps) for cell in HIKER]
    assert np.abs(errors).mean() < 0.03
    for gap_s, share in zip((2.0, 3.0, 4.0, 5.0), (0.05, 0.27, 0.51, 0.76), strict=True):
        cells = [cell for cell in HIKER if cell.gap_s == gap_s]
        pooled = sum(cell.accepted for cell in cells) / sum(cell.trials for cell in cells)
        assert pooled == pytest.approx(share, abs=0.006)


def test_twelve_cells_of_accepted_gaps() -> None:
    rows = acceptance_rows(PRESETS["reactive"], people=200)
    facts = acceptance_facts(rows)
    assert len(rows) == 12
    assert facts["mean_error"] < 0.06
    assert facts["kendall_tau"] > 0.8
    assert facts["gaps_with_speeds_in_order"] >= 3
    logit = [logit_share(row.gap_s, row.speed_mps) for row in rows]
    assert np.abs(np.array([row.share for row in rows]) - logit).mean() < 0.06


def test_bold_people_go_sooner_and_nobody_before_the_first_vehicle_is_past() -> None:
    settings = PRESETS["reactive"]
    timid, bold = (
        decision_times_s(4.0, 13.41, settings, np.full(60, bold_s)) for bold_s in (-2.0, 2.0)
    )
    assert np.isnan(timid).mean() > 0.9
    assert np.isnan(bold).mean() < 0.1
    # What people perceive of the first vehicle is not exact.
    assert np.nanmin(bold) >= -settings.tail_s - 0.4
    assert np.nanquantile(bold, 0.1) >= -settings.tail_s


def test_a_fit_makes_the_trials_more_likely(tmp_path: Path) -> None:
    trials = read_trials(write_trials(tmp_path / "trials.csv"))
    assert trials.counts.sum() == 30 * 12
    assert len(trials.cells) == 12
    wrong = PRESETS["reactive"]._replace(drift_centre_s=4.0)
    known = log_likelihood(trials, PRESETS["reactive"], copies=8)
    assert known > log_likelihood(trials, wrong, copies=8)
    # Never more likely than if each person were known to do what they did.
    assert known < 0.0
    fit = fit_gaps(trials, lambda _: None, evaluations=10, copies=5)
    assert fit.log_likelihood >= fit.log_likelihood_before
    assert fit == fit_gaps(trials, lambda _: None, evaluations=10, copies=5)


def test_the_command_writes_parameters(tmp_path: Path) -> None:
    trials = write_trials(tmp_path / "trials.csv", people=6)
    out = tmp_path / "gaps.json"
    words = ["fit-gaps", str(trials), "--out", str(out), "--evaluations", "10", "--copies", "5"]
    result = CliRunner().invoke(app, [*words, "--json"])
    assert result.exit_code == 0, result.output
    settings, content = read_parameters(out)
    assert content["fitted_on"] == {"people": 6, "trials": 72}
    assert settings.noise == json.loads(out.read_text())["values"]["noise"]


def test_bad_files_name_the_problem(tmp_path: Path) -> None:
    file = tmp_path / "trials.csv"
    head = "subject,time_gap,speed,braking_condition,crossing_time\n"
    for text, message in (
        ("subject,time_gap\n1,2\n", "no column 'speed'"),
        (head, "no trials of constant speed"),
        (head + "1,two,11.2,1,0.3\n", "Line 2"),
    ):
        file.write_text(text)
        with pytest.raises(DataError, match=message):
            read_trials(file)
    file.write_text(head + "1,2,11.2,1,0.3\n")
    with pytest.raises(UsageError, match="'nobody'"):
        fit_gaps(read_trials(file), print, base="nobody")
