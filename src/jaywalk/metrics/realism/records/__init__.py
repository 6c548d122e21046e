"""Records of our own episodes as scenes: tracks, road edges, lanes and signals."""
