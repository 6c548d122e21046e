"""Human-likeness of people: walking, stopping and crossing compared with recorded people."""
