"""People who react: perception, gap acceptance and avoidance of vehicles and of other people."""
