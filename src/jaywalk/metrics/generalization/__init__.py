"""Generalization between base and shifted routes: pairs, gaps and leaderboard entries."""
