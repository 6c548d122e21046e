"""Adapters for foreign agents: Leaderboard files and agents in their own process."""
