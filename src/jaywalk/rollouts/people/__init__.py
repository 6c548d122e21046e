"""People of the reactive model beside recorded vehicles: replay, fit, checks and true futures."""
