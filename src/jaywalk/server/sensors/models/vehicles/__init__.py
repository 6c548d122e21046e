"""Vehicles as sensors see them: meshes of every blueprint, made by the rules of this folder.

``vehicle_look`` gives the look of an actor, ``parked_car_look`` that of a parked car of a town.
"""

from jaywalk.server.sensors.models.vehicles._look import parked_car_look, vehicle_look

__all__ = ["parked_car_look", "vehicle_look"]
