"""Scenario types of the Leaderboard 2.x and of Bench2Drive that are none of ours."""
