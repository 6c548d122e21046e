"""What Leaderboard agents find in the list of active scenarios."""

from __future__ import annotations

from types import SimpleNamespace

from jaywalk.agents.adapters._leaderboard import _active_scenarios
from jaywalk.scenarios.base import ScenarioAnnouncement


def test_scenarios_are_told_as_pdm_lite_reads_them():
    actors = [SimpleNamespace(id=number) for number in (7, 8, 9)]
    briefing = SimpleNamespace(
        world=SimpleNamespace(get_actors=lambda: actors),
        announcements=(
            ScenarioAnnouncement(
                name="ConstructionObstacle", first_actor=7, last_actor=9, direction="right"
            ),
            ScenarioAnnouncement(name="ParkedObstacle", first_actor=8, direction="left"),
            ScenarioAnnouncement(name="RoadBlocked", first_actor=99),
        ),
    )
    found = _active_scenarios(briefing)
    assert found == [
        ("ConstructionObstacle", [actors[0], actors[2], "right", False, 1e9, 1e9, False]),
        ("ParkedObstacle", [actors[1], None, "left", False, 1e9, 1e9, False]),
    ]
