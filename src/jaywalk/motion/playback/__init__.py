"""Playback of clips on walkers: banks, players, transitions and feet."""
