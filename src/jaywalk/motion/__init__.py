"""Human motion: skeletons, retargeting, motion libraries."""
