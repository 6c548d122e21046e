"""CARLA's wire encodings: arguments, frames, snapshots and sensor payloads."""
