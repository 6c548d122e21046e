"""Cases for realism scores: files, recorded runs and their maps."""
