"""Closed-loop rollouts of traffic, people and drivers from a tick of a record."""
