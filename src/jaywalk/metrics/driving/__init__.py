"""Driving scores of the Leaderboard family of protocols."""
