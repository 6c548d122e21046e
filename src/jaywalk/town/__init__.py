"""OpenDRIVE in; lanes, crosswalks, sidewalks, surfaces and scenery out; our own towns."""
