"""Why an episode failed, in a few words, and the moment that decided it.

Protocols name their infractions with keys of their own; the words here know those of the
Leaderboard family and read any other key as it is written.
"""

from __future__ import annotations

from typing import Final

from jaywalk.metrics.driving.scorecard import EpisodeScore, Infraction

_WORDS: Final = {
    "collisions_pedestrian": "hit a person",
    "collisions_vehicle": "hit a vehicle",
    "collisions_layout": "hit an obstacle",
    "collisions_person": "hit a person",
    "collisions_animal": "hit an animal",
    "collisions_static": "hit an object",
    "hit_while_standing": "was hit while standing",
    "red_light": "ran a red light",
    "stop_infraction": "ran a stop sign",
    "outside_route_lanes": "left its lanes",
    "route_dev": "left the route",
    "vehicle_blocked": "stood still too long",
    "route_timeout": "ran out of time",
    "scenario_timeouts": "did not get past the scenario in time",
    "scenario_timeout": "did not get past the scenario in time",
    "min_speed_infractions": "drove too slowly",
    "yield_emergency_vehicle_infractions": "did not yield to an emergency vehicle",
    "stop": "passed a stop sign",
    "endangered": "endangered somebody",
    "route_incomplete": "did not complete the route",
    "agent_failure": "the agent failed",
}
# Earlier entries outrank later ones; the first word found in a key decides.
_RANKS: Final = (
    ("pedestrian", "person", "people", "walker"),
    ("collision", "contact", "hit"),
    ("red_light", "stop"),
    ("endanger", "encroach", "yield"),
    ("route_dev", "outside", "lane"),
    ("blocked", "timeout", "time_out", "route_incomplete"),
)
_SLIGHT: Final = ("min_speed", "hit_while_standing")


def in_words(kind: str) -> str:
    """An infraction's kind in words, e.g. ``hit a person``."""
    return _WORDS.get(kind, kind.replace("_", " "))


def rank_of(kind: str) -> int:
    """How grave a kind of infraction is; 0 is the gravest."""
    if any(word in kind for word in _SLIGHT):
        return len(_RANKS) + 1
    for rank, words in enumerate(_RANKS):
        if any(word in kind for word in words):
            return rank
    return len(_RANKS)


def decisive(score: EpisodeScore) -> Infraction | None:
    """The gravest infraction, the earliest of equals; None if there was none."""
    return min(score.infractions, key=lambda i: (rank_of(i.kind), i.tick), default=None)


def cause_of(score: EpisodeScore) -> str:
    """Why an episode failed, in a few words; empty for a success."""
    if score.success:
        return ""
    if score.failure:
        return f"the agent failed: {score.failure}"
    event = decisive(score)
    if event is None:
        return score.status or "not completed"
    more = len(score.infractions) - 1
    return f"{in_words(event.kind)} at {event.time_s:.1f} s" + (f" (+{more} more)" if more else "")
