"""Pedestrian predictors and behaviour models, their data and their training."""
