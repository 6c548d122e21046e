"""Example extension of Jaywalk; each module registers one object."""
