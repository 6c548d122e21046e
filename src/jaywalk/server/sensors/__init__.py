"""What sensors of the world deliver, one file per kind."""
