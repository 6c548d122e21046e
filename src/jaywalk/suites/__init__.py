"""Suites of routes: smoke, fail2drive, habit, and suites built for any town."""
