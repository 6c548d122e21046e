"""Harm to people: counted from the records, whatever protocol a page uses."""

import math

import pytest
from score_cards import card, hit, run
from street_episode import HIT_TICK, write_street

from jaywalk.report.harm import harm_of
from jaywalk.report.scored_runs import ScoredRun, score_folders
from jaywalk.stats.clustered import clustered_rate


@pytest.fixture(scope="module")
def street(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "street"
    write_street(folder, "a-s1", seed=1, age="child")
    write_street(folder, "b-s1", seed=1, age="adult")
    return folder


def test_hits_are_counted_from_the_records_and_children_are_named(street):
    [scored] = score_folders([street], "jaywalk")
    harm = harm_of(scored)
    assert [(one.episode_id, one.who, one.was_hit) for one in harm.events] == [
        ("a-s1", "child", True),  # equal risks: the child first
        ("b-s1", "person", True),
    ]
    assert harm.events[0].words.startswith("hit a child, ")
    assert harm.events[0].time_s == pytest.approx(HIT_TICK * 0.05)
    assert (harm.count(was_hit=True), harm.count(was_hit=True, children=True)) == (2, 1)
    assert harm.count(was_hit=False) == 0
    risks = [
        hit["injury_risk"] for one in scored.score.episodes for hit in one.detail["people_hit"]
    ]
    assert harm.injuries == pytest.approx(math.fsum(risks))
    km = [one.metrics["driven_km"] for one in scored.score.episodes]
    want = clustered_rate([1, 1], km, ["a", "b"])
    assert harm.hit.value == pytest.approx(2.0 / sum(km))
    assert (harm.hit.low, harm.hit.high) == pytest.approx((want.low, want.high))


def test_people_who_are_endangered_count_and_vehicles_do_not(street):
    person, car = 2, 1
    events = (
        hit("endangered", other=person, message="Crossed too closely behind person 2"),
        hit("endangered", tick=80, other=car, message="Cut in on vehicle 1"),
    )
    score = run(card("a", score=0.0, infractions=events, counts={}, folder="episodes/a-s1"))
    harm = harm_of(ScoredRun(score=score, folder=street))
    [event] = harm.events
    assert (event.words, event.is_child) == ("endangered a child", True)
    assert harm.endangered.n == 1
    assert harm.hit.n == 0


def test_a_person_who_walked_into_the_ego_is_described_as_such():
    event = hit("collisions_person", tick=60, other=7)
    story = {"actor": 7, "tick": 60, "walked_into": True, "injury_risk": math.nan, "age": "child"}
    score = run(card("a", infractions=(event,), detail={"people_hit": [story]}))
    [found] = harm_of(ScoredRun(score=score)).events
    assert found.words == "a child walked into the ego"
