"""Events of scenarios in the record: without the server's numbers, which differ between runs."""

import json

from jaywalk.actors.events import NOTE, ScenarioEvent
from jaywalk.runner._record_rows import event_row

SERVER_TO_RECORD = {7470: 3, 7471: 4}.get


def row_of(**detail):
    event = ScenarioEvent(time_s=1.0, kind=NOTE, name="S", detail=detail)
    return event_row(event, SERVER_TO_RECORD)


def test_actors_have_their_numbers_of_the_record():
    assert row_of(what="steps out", actor=7471)["actor"] == 4
    found = json.loads(row_of(what="cross", actors=[7471, 7470, 99])["detail_json"])
    assert found == {"actors": [4, 3, None], "what": "cross"}


def test_nothing_else_is_touched():
    assert row_of() == {"name": "S"}
    assert json.loads(row_of(along_m=7470.0)["detail_json"]) == {"along_m": 7470.0}
