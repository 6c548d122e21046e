"""Pedestrian predictors, one file each behind one registry, and their evaluation."""
