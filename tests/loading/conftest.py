"""One server for these tests; every module begins with a fresh episode."""

from live_fixtures import client, fresh, harbour, scene

__all__ = ["client", "fresh", "harbour", "scene"]
