"""Versions of suites by the model of their people."""

from __future__ import annotations

from pathlib import Path

import pytest

from jaywalk.core.errors import UsageError
from jaywalk.core.seeds import derive_seed
from jaywalk.metrics.driving.baseline import find_baselines, read_baseline
from jaywalk.runner.baselines import suite_of
from jaywalk.runner.job import RunRequest
from jaywalk.runner.request import RunOptions, make_requests

BASELINES = Path(__file__).parents[3] / "baselines"
ROUTE = """<routes><route id="7" town="Harbour"{about}>
<waypoints><position x="1" y="1" z="0"/><position x="30" y="1" z="0"/></waypoints>
</route></routes>"""


def request(suite: str, **options: object) -> RunRequest:
    return make_requests(suite, "bold", RunOptions(**options))[0]


@pytest.mark.parametrize("suite", ["habit", "smoke", "fail2drive"])
@pytest.mark.parametrize(
    ("model", "version", "recorded"),
    [
        ("", "v3", "reactive-1"),
        ("reactive", "v3", "reactive-1"),
        ("campus", "campus-v3", "campus-1"),
        ("scripted", "v2", None),
    ],
)
def test_each_model_has_a_version_of_the_suite(
    suite: str, model: str, version: str, recorded: str | None
) -> None:
    made = request(suite, people_model=model, limit=1)
    assert made.suite.name == f"jaywalk/{suite}-{version}"
    (plan,) = made.plans()
    assert plan.suite == made.suite.name
    assert plan.people_model == made.suite.people_model
    assert (recorded or "scripted-1") == f"{plan.people_model}-1"


def test_all_versions_draw_the_same_background() -> None:
    plans = [request("habit", people_model=m, limit=1).plans()[0] for m in ("", "scripted")]
    assert {plan.drawn_as for plan in plans} == {"jaywalk/habit-v2"}
    assert plans[0].item == plans[1].item


def test_own_routes_of_a_suite_keep_the_version(tmp_path: Path) -> None:
    file = tmp_path / "mine.xml"
    file.write_text(ROUTE.format(about=""))
    assert request("habit", routes=str(file)).suite.name == "jaywalk/habit-v3/files"
    scripted = request("habit", routes=str(file), people_model="scripted")
    assert scripted.suite.name == "jaywalk/habit-v2/files"
    campus = request("habit", routes=str(file), people_model="campus")
    assert campus.suite.name == "jaywalk/habit-campus-v3/files"


def test_people_of_route_files_react_where_there_are_any(tmp_path: Path) -> None:
    empty, busy = tmp_path / "empty.xml", tmp_path / "busy.xml"
    empty.write_text(ROUTE.format(about=""))
    busy.write_text(ROUTE.format(about=' people="4"'))
    assert request(str(empty)).suite.people_model == "scripted"
    assert request(str(busy)).suite.people_model == "reactive"
    assert request(str(empty), people=3).suite.people_model == "reactive"
    with pytest.raises(UsageError, match="has no people"):
        request(str(empty), people_model="campus")


def test_an_unknown_model_is_refused() -> None:
    with pytest.raises(UsageError) as refusal:
        request("habit", people_model="reactiv")
    for words in ("reactiv", "scripted, reactive, campus", "Did you mean 'reactive'?"):
        assert words in str(refusal.value)


@pytest.mark.parametrize("name", find_baselines(BASELINES))
def test_baselines_drive_the_version_that_they_name(name: str) -> None:
    baseline = read_baseline(BASELINES / f"{name}.json")
    assert suite_of(baseline, BASELINES).name == baseline.run.suite_id


def test_the_draws_of_scripted_people_are_those_of_the_old_version() -> None:
    plan = request("habit", people_model="scripted", limit=1).plans()[0]
    old = derive_seed(1, "episode", "jaywalk/habit-v2", "habit-001")
    assert derive_seed(plan.seed, "episode", plan.drawn_as or plan.suite, plan.item.id) == old
