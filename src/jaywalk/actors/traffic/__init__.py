"""Background vehicles: lane paths, car following and placement."""
