import re

import pytest
from behaviour_people import people_data
from typer.testing import CliRunner

from jaywalk.cli.main import app
from jaywalk.core.errors import DataError, UsageError
from jaywalk.datasets.behaviour_tables import write_tables
from jaywalk.forecasting.behaviour.learning import TrainingPlan, train_model
from jaywalk.report.behaviour_page import heat_map, region_curves


def run(*arguments):
    return CliRunner().invoke(app, ["behaviour", *map(str, arguments)], catch_exceptions=False)


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    root = tmp_path_factory.mktemp("page")
    data = people_data(videos=(3, 2, 2))
    write_tables(data, root / "people", {})
    for name, task in (("last-state", "action"), ("constant-velocity", "risk")):
        train_model(data, TrainingPlan(model=name, task=task, settings={}), root / f"{name}-{task}")
    plan = TrainingPlan(model="forest", task="joint", settings={"trees": 5}, seeds=(0,))
    train_model(data, plan, root / "joint")
    return root


def common(place):
    return ["--dataset", "sim", "--annotations", place / "people"]


def test_the_page_has_the_tables_and_needs_nothing_else(place):
    joint = place / "joint"
    result = run(
        "report",
        *common(place),
        "--resamples",
        100,
        "--by",
        "scale",
        "--by",
        "ego,crosswalk",
        "--action",
        f"<last & state>={place / 'last-state-action' / 'predictions-test.csv'}",
        "--risk",
        f"cv={place / 'constant-velocity-risk' / 'predictions-test.csv'}",
        "--intention",
        f"forest={joint / 'predictions-intention-test.csv'}",
        "--agreement",
        f"forest={joint / 'predictions-intention-test.csv'},"
        f"{joint / 'predictions-action-test.csv'}",
        "--out",
        place / "page.html",
    )
    assert result.exit_code == 0
    page = (place / "page.html").read_text()
    for words in (
        "Action",
        "Event risk",
        "Intention",
        "Agreement of",
        "Regions of risk",
        "Counts",
        "The strict variant",
        "bAcc by scale",
        "mAP by ego and crosswalk",
        "&lt;last &amp; state&gt;",
    ):
        assert words in page
    assert "<last" not in page
    outside = re.findall(r"(?:src|href)=[\"'](?!#)|url\(", page)
    assert outside == []
    assert "None" not in page
    assert ">nan" not in page


def test_what_cannot_be_reported_is_told(place):
    out = ["--out", place / "no.html"]
    with pytest.raises(UsageError, match="Nothing to report"):
        run("report", *common(place), *out)
    with pytest.raises(UsageError, match="expected NAME=CSV"):
        run("report", *common(place), "--action", "a.csv", *out)
    file = place / "last-state-action" / "predictions-test.csv"
    with pytest.raises(UsageError, match="same name"):
        run("report", *common(place), "--action", f"a={file}", "--action", f"a={file}", *out)
    with pytest.raises(DataError, match="columns"):
        run("report", *common(place), "--risk", f"a={file}", *out)


def test_models_are_chosen_by_validation(place):
    with pytest.raises(UsageError, match="different tasks"):
        run("choose", place / "joint")
    assert "chosen by" in run("choose", place / "joint", "--task", "action").output
    result = run("choose", place / "constant-velocity-risk", "--by", "bacc", "--json")
    assert '"chosen"' in result.stdout
    with pytest.raises(UsageError, match="different tasks"):
        run("choose", place / "constant-velocity-risk", place / "last-state-action")
    with pytest.raises(DataError, match="Give a trained model"):
        run("choose", place)


def test_predictions_for_another_dataset_can_be_scored(place):
    out = place / "p.csv"
    run("predict", place / "constant-velocity-risk", *common(place), "--split", "all", "--out", out)
    result = run(
        "score",
        "--task",
        "risk",
        *common(place),
        "--split",
        "all",
        "--predictions",
        out,
        "--resamples",
        0,
        "--json",
    )
    assert result.exit_code == 0
    agreed = run(
        "agreement",
        *common(place),
        "--intention",
        place / "joint/predictions-intention-test.csv",
        "--action",
        place / "joint/predictions-action-test.csv",
        "--json",
    )
    assert '"overall_percent"' in agreed.stdout


def test_drawings_leave_out_what_is_undefined():
    curve = region_curves([("a", [0.5, None, 0.7])], [3, 0, 4], title="t")
    assert curve.count("<circle") == 3  # two points and the legend
    drawn = heat_map(["a"], [("g", 3, [None]), ("h", 2, [0.5])], title="t")
    assert "–" in drawn
    assert "0.50" in drawn
