"""People posed by motion clips: where they stand, what they play, where they walk."""
