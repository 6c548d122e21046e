"""How natural a motion is: feet, ground, smoothness, gait, distance between collections."""
