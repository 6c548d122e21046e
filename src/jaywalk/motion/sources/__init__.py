"""Readers of motion files, one per format; all return :class:`jaywalk.motion.clip.Clip`."""
