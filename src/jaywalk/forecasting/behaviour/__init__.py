"""Behaviour models: intention, action and risk of pedestrians."""
