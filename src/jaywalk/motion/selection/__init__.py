"""Selection of motions by the words of their captions."""
