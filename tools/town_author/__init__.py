"""How our own towns are made: SUMO topology in, OpenDRIVE out. Needs the ``town`` extra."""
