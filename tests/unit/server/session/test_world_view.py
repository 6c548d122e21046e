"""The world as sensors see it."""

import numpy as np
import pytest

from jaywalk.motion.posing import HEAD
from jaywalk.server.encoding.codec import DIALECTS
from jaywalk.server.sensors._readings import SensorPose
from jaywalk.server.sensors._rig import make_sensor
from jaywalk.server.session._publisher import NoPublisher
from jaywalk.server.session._simulation import Simulation
from jaywalk.server.session._world_view import WorldView
from jaywalk.town.town import load_town

WEATHER = [0.0] * 6 + [45.0, 0.0, 100.0, 0.0, 0.0, 0.0, 0.0, 0.0]


@pytest.fixture(scope="module")
def simulation():
    return Simulation(load_town("Harbour"), NoPublisher())


def person(simulation, ahead_m, **attributes):
    (x, y, z), (_, yaw, _) = simulation.world.spawn_points[0]
    cos, sin = np.cos(np.radians(yaw)), np.sin(np.radians(yaw))
    place = (x + ahead_m * cos, y + ahead_m * sin, z + 1.0)
    pose = place, (0.0, yaw + 180.0, 0.0)
    return simulation.spawn(DIALECTS["0.9.16"], "walker.pedestrian.0001", attributes, pose)


def look_ahead(simulation, scene):
    """Instance numbers and depths of a camera at the first spawn point, 1.5 m above the ground."""
    (x, y, z), (_, yaw, _) = simulation.world.spawn_points[0]
    size = {"image_size_x": "320", "image_size_y": "240"}
    camera = make_sensor("sensor.camera.instance_segmentation", size, 0, 0)
    pose = SensorPose(x, y, z + 1.5, 0.0, np.radians(yaw), 0.0)
    view = camera.view(pose)
    seen = camera.see(scene, pose, view)
    pixels = camera.picture(scene, view, seen).astype(int)
    return pixels[..., 1] + 256 * pixels[..., 0], 1.0 / np.maximum(seen.inverse_depth, 1e-9)


def test_people_are_drawn_as_meshes_at_their_bones(simulation):
    walker = person(simulation, 6.0)
    try:
        simulation.tick()
        view = WorldView(simulation.world)
        scene = view.scene(WEATHER)
        used = scene.solids.used
        assert (scene.solids.owner[:used] == walker.row).sum() == 1  # one instance, no capsules
        instances, depth = look_ahead(simulation, scene)
        shown = instances == walker.id
        assert shown.sum() > 300
        head = simulation.world.bones(walker).transforms[HEAD, 0, 0]
        place = np.add(simulation.world.spawn_points[0][0], (0.0, 0.0, 1.5))
        away = np.hypot(*(head[:2] - place[:2]))
        focal = 160.0
        rows = np.nonzero(shown)[0]
        # The crown is 0.1 to 0.35 m above the head bone.
        assert 120 - focal * (head[2] + 0.35 - place[2]) / away < rows.min()
        assert rows.min() < 120 - focal * (head[2] + 0.1 - place[2]) / away
        assert np.median(depth[shown]) == pytest.approx(away, abs=0.25)
    finally:
        simulation.destroy(walker.id)
