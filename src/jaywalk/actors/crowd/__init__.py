"""Background crowd: places, routes, crossings and local motion of people."""
