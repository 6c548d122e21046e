"""Everything that moves around the ego: traffic, crowd, posed people, scripted pilots."""
