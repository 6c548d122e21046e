"""The ambient crowd: places, routes, crossings and local motion of pedestrians."""
