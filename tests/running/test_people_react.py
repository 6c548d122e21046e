"""A route of habit with people who react: equal records, and draws that are each person's own."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest

from jaywalk import record
from jaywalk.record.queries import announcements
from jaywalk.runner._code import code_of_run
from jaywalk.runner._episode import run_episode
from jaywalk.runner.plan import AgentSpec, plan_episodes
from jaywalk.runner.session import SimulatorSession
from jaywalk.scenarios.suite import load_suite, with_people_model

pytestmark = pytest.mark.slow
AGENT = "bold"
OWN = ("age", "attention", "bold_s", "patience_s", "margin", "first_look_s", "runs")


@pytest.fixture(scope="module")
def runs(world: SimulatorSession, tmp_path_factory: pytest.TempPathFactory):
    """Drive the second route twice, and once more with another person; folders of the records."""
    suite = with_people_model(load_suite("habit"))
    route = suite.routes[1]
    folders = []
    for number, posed in enumerate((route.posed, route.posed, route.posed + 1)):
        chosen = replace(suite, routes=(replace(route, posed=posed),))
        code = code_of_run(chosen, AGENT)
        (plan,) = plan_episodes(chosen, AgentSpec(name=AGENT), (1,), code=code)
        place = tmp_path_factory.mktemp(f"run{number}")
        folders.append(run_episode(plan, world, place).folder)
    return folders


def test_the_same_run_gives_the_same_record(runs) -> None:
    first, again, other = (record.record_hash(folder) for folder in runs)
    assert first == again
    assert first != other


def test_another_person_changes_nobodys_draws(runs) -> None:
    few, more = (
        [
            note.detail
            for note in announcements(record.open(folder), kind="note", name="habit")
            if note.detail.get("what") == "role"
        ]
        for folder in runs[1:]
    )
    assert len(more) == len(few) + 1
    for one, same in zip(few, more, strict=False):
        assert one["noise_key"] == same["noise_key"]
        assert [one["traits"][name] for name in OWN] == [same["traits"][name] for name in OWN]


def test_people_intend_see_and_look(runs) -> None:
    kept = record.open(runs[0])
    notes = list(announcements(kept, kind="note", name="habit"))
    roles = {n.actor: n.detail["intended"] for n in notes if n.detail.get("what") == "role"}
    plans = {
        n.actor: n.detail["plan"]
        for n in notes
        if n.detail.get("what") == "intends" and "plan" in n.detail and n.tick < 3
    }
    assert set(plans) == set(roles)
    for actor, intended in roles.items():
        assert plans[actor] == ("stay" if intended == "not_crossing" else "cross")
    assert any(n.detail.get("what") == "sees" for n in notes)
    states = kept.states.filter(pl.col("attention").is_not_null()).collect()
    staying = [actor for actor, intended in roles.items() if intended == "not_crossing"]
    looks = states.filter(pl.col("actor").is_in(staying))["attention"] == 2
    assert 0.15 < looks.mean() < 0.6
