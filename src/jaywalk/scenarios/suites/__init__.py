"""Suites that come with the package; their routes are files beside the code."""
