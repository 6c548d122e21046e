"""The CARLA-protocol world: wire, world and sensors."""
