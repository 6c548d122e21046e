"""Choosing motions: by the words of their captions, then by looking at them."""
