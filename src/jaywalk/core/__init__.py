"""Ids, units, frames, seeds, registry and errors: what every room stands on."""
