"""Adapters for other agents: Leaderboard files, and agents in a separate process."""
