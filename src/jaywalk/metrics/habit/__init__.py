"""What happened to people in runs of the suite ``habit``: hits by class, side, age and motion."""
