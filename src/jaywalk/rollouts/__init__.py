"""Closed-loop rollouts from a recorded start, and the policies that drive them."""
