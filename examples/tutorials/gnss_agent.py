"""A Leaderboard agent that follows its plan by GNSS, compass and speedometer alone."""

import math

import carla
import numpy as np
from leaderboard.autoagents.autonomous_agent import AutonomousAgent, Track
from scipy.interpolate import PchipInterpolator

EARTH_RADIUS_M = 6378137.0
CRUISE_MPS = 6.0
LOOK_AHEAD_M = 6.0


def get_entry_point():
    """Name the class, as the Leaderboard asks for it."""
    return "GnssAgent"


class GnssAgent(AutonomousAgent):
    """Steers to a point of the plan ahead; does not see other road users."""

    def setup(self, path_to_conf_file):
        """Choose the track; nothing to load."""
        self.track = Track.SENSORS
        self._line = []

    def sensors(self):
        """Ask for a position, a compass and a speed."""
        place = {"x": 0.0, "y": 0.0, "z": 0.0, "roll": 0.0, "pitch": 0.0, "yaw": 0.0}
        return [
            {"type": "sensor.other.gnss", "id": "gps", **place},
            {"type": "sensor.other.imu", "id": "imu", **place},
            {"type": "sensor.speedometer", "id": "speed", "reading_frequency": 20},
        ]

    def _metres(self, latitude, longitude):
        """Return east and south of the start of the plan."""
        start = self._global_plan[0][0]
        scale = math.radians(1.0) * EARTH_RADIUS_M
        east = (longitude - start["lon"]) * scale * math.cos(math.radians(start["lat"]))
        return east, (start["lat"] - latitude) * scale

    def _dense_line(self):
        """Return a smooth line through the sparse plan, as points about one metre apart."""
        corners = [self._metres(point["lat"], point["lon"]) for point, _ in self._global_plan]
        gaps_m = np.hypot(*np.diff(corners, axis=0).T)
        apart = np.concatenate([[True], gaps_m > 0.5])
        corners = np.asarray(corners)[apart]
        along_m = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(corners, axis=0).T))])
        smooth = PchipInterpolator(along_m, corners)  # does not overshoot
        return smooth(np.linspace(0.0, along_m[-1], max(2, round(along_m[-1])))).tolist()

    def run_step(self, input_data, timestamp):
        """Return the control of this tick."""
        x, y = self._metres(*input_data["gps"][1][:2])
        self._line = self._line or self._dense_line()
        near = self._line[:30]
        del self._line[: min(range(len(near)), key=lambda k: math.dist(near[k], (x, y)))]
        aim = next((p for p in self._line if math.dist(p, (x, y)) > LOOK_AHEAD_M), self._line[-1])
        yaw = input_data["imu"][1][-1] - math.pi / 2  # the compass is 0 to the north
        turn = math.atan2(aim[1] - y, aim[0] - x) - yaw
        turn = (turn + math.pi) % (2 * math.pi) - math.pi
        slower = CRUISE_MPS - input_data["speed"][1]["speed"]
        return carla.VehicleControl(
            throttle=min(0.7, max(0.0, 0.4 * slower)),
            brake=min(1.0, max(0.0, -0.4 * slower)),
            steer=min(1.0, max(-1.0, turn)),
        )
