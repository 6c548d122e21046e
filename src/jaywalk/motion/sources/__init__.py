"""Readers of motion files: one a format, all giving :class:`jaywalk.motion.clip.Clip`."""
