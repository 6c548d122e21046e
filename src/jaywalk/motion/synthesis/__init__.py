"""The generative motion model behind the default clip library."""
