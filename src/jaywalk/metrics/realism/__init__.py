"""How human-like simulated traffic is: the Sim Agents realism score, its flaws and a better score.

An independent implementation of a published metric; see docs/reference/realism.md for the notice.
"""
