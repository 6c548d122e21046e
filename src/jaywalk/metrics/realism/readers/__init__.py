"""From files to cases: scenes with rollouts."""
