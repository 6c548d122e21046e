"""Actors, dynamics, lights, weather and contacts; stepped by ticks alone."""
