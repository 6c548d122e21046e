"""Human-likeness of people: how they walk, stop and cross, compared with recorded people."""
