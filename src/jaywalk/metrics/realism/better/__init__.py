"""The score that the post asks for: safety apart, time counted, smooth densities, coordination."""
