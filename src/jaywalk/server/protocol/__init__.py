"""Message framing, RPC and streams of the CARLA protocol."""
