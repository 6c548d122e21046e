"""Rows of a record, against the tables read directly; nobody else reads the tables of states."""

import re
from pathlib import Path

import polars as pl
import pytest
from record_scenes import add_actor, write_episode

import jaywalk
from jaywalk.record import Episode, EpisodeWriter
from jaywalk.record import columns as c
from jaywalk.record import open as open_record
from jaywalk.record.queries import (
    actor_rows,
    actor_values,
    announcements,
    contact_rows,
    contacts,
    end_s,
    event_rows,
    state_rows,
)

PACKAGE = Path(jaywalk.__file__).parent
# Tables that no other room may read itself.
DIRECT = re.compile(r"\brecord\.(states|events|actors|landmarks|weather)\b")


@pytest.fixture(scope="module")
def record(tmp_path_factory):
    folder = tmp_path_factory.mktemp("queries") / "episode"
    write_episode(folder, ticks=12)
    return open_record(folder)


def test_states_are_those_of_the_table_by_actor_and_tick(record):
    table = record.states.collect()
    assert state_rows(record).equals(table.sort(c.ACTOR, c.TICK))
    some = state_rows(record, (c.X_M,), actors=[2, 0], ticks=(3, 5))
    assert some.columns == [c.ACTOR, c.TICK, c.X_M]
    assert list(zip(some[c.ACTOR], some[c.TICK], strict=True)) == [
        (actor, tick) for actor in (0, 2) for tick in (3, 4, 5)
    ]
    expected = table.filter(pl.col(c.ACTOR).is_in([0, 2]) & pl.col(c.TICK).is_between(3, 5))
    assert some[c.X_M].to_list() == expected.sort(c.ACTOR, c.TICK)[c.X_M].to_list()
    assert state_rows(record, actors=[]).height == 0
    assert state_rows(record, posed=True).height == table[c.CLIP].is_not_null().sum()


def test_actors_by_kind(record):
    table = record.actors.collect()
    assert actor_rows(record).equals(table.sort(c.ACTOR))
    walkers = table.filter(pl.col(c.KIND) == "walker")
    assert actor_rows(record, "walker")[c.ACTOR].to_list() == walkers[c.ACTOR].to_list()
    assert actor_values(record, c.KIND) == dict(zip(table[c.ACTOR], table[c.KIND], strict=True))


def test_contacts_are_found_from_both_sides(record):
    table = record.events.collect().filter(pl.col(c.KIND) == "contact")
    assert table.height
    for actor in {*table[c.ACTOR], *table[c.OTHER].drop_nulls()}:
        sides = (table[c.ACTOR] == actor) | (table[c.OTHER] == actor).fill_null(False)
        assert contact_rows(record, actor).height == sides.sum()
    assert contact_rows(record).height == table.height
    ticks = event_rows(record)[c.TICK]
    assert ticks.is_sorted()


def test_a_contact_holds_its_row_and_turns_round(record):
    rows = contact_rows(record).to_dicts()
    for contact, row in zip(contacts(record), rows, strict=True):
        for name, value in contact.as_row(contact.other_type_id).items():
            expected = row[name]
            if expected is None:
                assert value is None or value == "" or value != value
            else:
                assert value == expected, name
        if contact.other is None:
            continue
        swapped = contact.swapped()
        assert (swapped.actor, swapped.other) == (contact.other, contact.actor)
        theirs = [swapped.normal_x, swapped.speed_mps, swapped.swapped().speed_mps]
        ours = [-contact.normal_x, contact.other_speed_mps, contact.speed_mps]
        assert theirs == pytest.approx(ours, nan_ok=True)


def test_announcements_are_in_order_of_time_with_their_detail(tmp_path):
    folder = tmp_path / "episode"
    with EpisodeWriter(folder) as writer:
        add_actor(writer, 0, "walker", 1)
        writer.add_tick(0, 0.0, 0.05)
        writer.add_tick(1, 0.05, 0.05)
        said = '{"what": "crossed"}'
        writer.add_event(
            tick=1, kind="note", source="test", name="people", actor=0, detail_json=said
        )
        writer.add_event(tick=0, kind="trigger", source="test", name="people", actor=0)
        writer.add_event(tick=0, kind="note", source="test", detail_json="[1, 2]")
        writer.finish(Episode(episode_id="episode"))
    record = open_record(folder)
    assert [tuple(event) for event in announcements(record, name="people")] == [
        (0, 0, "trigger", "people", {}),
        (1, 0, "note", "people", {"what": "crossed"}),
    ]
    assert [tuple(event) for event in announcements(record, kind="note")] == [
        (0, None, "note", "", {}),
        (1, 0, "note", "people", {"what": "crossed"}),
    ]
    both = list(announcements(record, kind="trigger", name="people"))
    assert [event.tick for event in both] == [0]


def test_the_end_is_the_time_of_the_last_tick(record):
    assert end_s(record) == record.ticks.collect()[c.TIME_S].max()


def test_no_other_room_reads_these_tables_itself():
    direct = [
        str(path.relative_to(PACKAGE))
        for path in sorted(PACKAGE.rglob("*.py"))
        if path.parent.name != "record" and DIRECT.search(path.read_text(encoding="utf-8"))
    ]
    assert direct == []
