"""Realism of simulated traffic: the Sim Agents realism score, its flaws and a better score.

This is an independent implementation of a published metric; see docs/reference/realism.md for the
notice.
"""
