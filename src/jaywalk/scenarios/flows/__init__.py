"""Scenarios with moving vehicles: flows, cut-ins, hard brakes, emergency vehicles."""
