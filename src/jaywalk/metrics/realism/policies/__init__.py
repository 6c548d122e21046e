"""Closed-loop rollouts that need no server: from a logged scene and its own map alone."""
