"""Safety of one recorded drive: hits, near misses, needless braking, comfort, progress."""
