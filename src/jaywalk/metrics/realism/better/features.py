"""The features of ``jaywalk-1``: those of the challenge, and continuous ones where those jump."""

from __future__ import annotations

from dataclasses import replace

from jaywalk.metrics.realism.better import closing, edge_gap
from jaywalk.metrics.realism.challenge import challenge_config
from jaywalk.metrics.realism.features import CaseFeatures, Features, case_features, surroundings
from jaywalk.metrics.realism.scene import N_HISTORY, Case
from jaywalk.metrics.realism.trajectories import (
    Trajectories,
    logged_trajectories,
    simulated_trajectories,
)


def better_features(case: Case) -> CaseFeatures:
    """Features of a case, with ``closing_per_s`` and ``road_edge_gap_m`` besides."""
    rules = challenge_config("2025")
    found, around = case_features(case, rules), surroundings(case, rules)

    def more(side: Features, tracks: Trajectories) -> Features:
        added = {
            closing.NAME: closing.closing_per_s(tracks, around.rows, N_HISTORY),
            edge_gap.NAME: edge_gap.road_edge_gap_m(tracks, around.edges, around.rows, N_HISTORY),
        }
        return Features(series={**side.series, **added}, events=side.events)

    return replace(
        found,
        log=more(found.log, logged_trajectories(case.scene)),
        sim=more(found.sim, simulated_trajectories(case.scene, case.rollouts)),
    )
