"""Situations on routes: route files, scenarios, people and background traffic."""
