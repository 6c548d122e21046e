"""Models of intention, action and risk that need no video, one a file."""
