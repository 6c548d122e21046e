"""Scenery and traffic lights as meshes: they fill the solids that contacts and queries know."""

import numpy as np
import pytest

from jaywalk.core.carla_enums import LightState
from jaywalk.server.sensors._mesh import LEVELS
from jaywalk.server.sensors.models import ActorMotion, Body, actor_look, scenery_look
from jaywalk.server.session._world_view import sign_patterns
from jaywalk.server.world.sign_faces import face_numbers, sign_pictures
from jaywalk.town.scenery import KINDS
from jaywalk.town.town import load_town

TOWNS = ("Harbour", "Orchard", "Ridge")
SOLID = {"building", "island", "sign_post", "parked_car", "other"}  # not drawn by these makers
LOOSE_M = {"crown": 0.6, "hedge": 0.3, "lamp": 0.25, "traffic_light_pole": 0.12, "trunk": 0.05}


def samples():
    """One row of each kind and size class of our towns."""
    chosen = {}
    for town in TOWNS:
        scenery = load_town(town).scenery
        for index, row in enumerate(scenery):
            key = KINDS[row["kind"]], round(float(row["ex"])), round(float(row["ez"]))
            chosen.setdefault(key, (index, row))
    return chosen


def points(mesh, look):
    used = mesh.points_m[np.unique(mesh.triangles)]
    return used * np.array(look.scale)


def test_models_fill_their_solids():
    seen = set()
    for (kind, *_), (index, row) in samples().items():
        look = scenery_look(row, index)
        assert (look is None) == (kind in SOLID), kind
        if look is None:
            continue
        seen.add(kind)
        wide = row["ey"] if row["shape"] == 0 else row["ex"]
        half = np.array([row["ex"], wide, row["ez"]], float)
        if row["shape"] == 2:
            half[2] = half[0]
        for level, mesh in enumerate(look.model.levels):
            used = points(mesh, look)
            low, high = used.min(axis=0), used.max(axis=0)
            loose = LOOSE_M.get(kind, 0.02)
            assert (low >= [-half[0] - loose, -half[1] - loose, -0.01]).all(), (kind, level)
            assert (high <= [half[0] + loose, half[1] + loose, 2.0 * half[2] + 0.01]).all()
            assert high[2] > 1.7 * half[2], (kind, level)  # it is as high as its solid
            assert high[0] - low[0] > 1.2 * half[0], (kind, level)
            sizes = np.linalg.norm(mesh.normals, axis=2)
            assert np.abs(sizes - 1.0).max() < 1e-3
    assert seen >= {"crown", "trunk", "hedge", "lamp", "bench", "bin", "bus_shelter", "guard_rail"}


def test_levels_get_coarser():
    for (kind, *_), (index, row) in samples().items():
        look = scenery_look(row, index)
        if look is None:
            continue
        counts = [len(mesh.triangles) for mesh in look.model.levels]
        assert len(counts) == LEVELS
        assert counts == sorted(counts, reverse=True), kind
        assert counts[-1] <= 700


def test_the_same_thing_always_looks_the_same():
    for index, row in samples().values():
        first, second = scenery_look(row, index), scenery_look(row, index + 7)
        assert first == second


def light():
    half = (0.8, 1.5, 1.0)
    return actor_look(Body("traffic.traffic_light", {}, half, (0.0, 0.0, 0.0), (0, 0, 0), 7))


@pytest.mark.parametrize("state", list(LightState))
def test_the_lit_lens_is_in_front(state):
    shown = light()
    poses = np.tile(np.eye(3, 4), (shown.look.parts, 1, 1))
    shown.pose(np.zeros(1)[0], ActorMotion(signal=int(state)), poses)
    for mesh in shown.look.model.levels:
        front = {}
        for part in range(1, 4):
            own = mesh.points_m[np.unique(mesh.triangles[mesh.part == part])] + poses[part, :, 3]
            front[part] = own[:, 1].max(), own[:, 2].mean()
        dark = mesh.points_m[np.unique(mesh.triangles[mesh.part == 0])]
        housing = dark[np.abs(dark[:, 0]) > 0.18, 1].max()
        lit = [part for part, (y, _) in front.items() if y > housing]
        wanted = {LightState.RED: [1], LightState.YELLOW: [2], LightState.GREEN: [3]}
        assert lit == wanted.get(state, [])
        heights = [front[part][1] for part in (1, 2, 3)]
        assert heights == sorted(heights, reverse=True)  # red above amber above green


def test_every_speed_limit_of_our_towns_has_its_number():
    for name in TOWNS:
        town = load_town(name)
        signs = [s for s in town.signs if s.type_id.startswith("traffic.speed_limit.")]
        limits = [(s.pose.x, s.pose.y, int(s.type_id.rsplit(".", 1)[1])) for s in signs]
        numbers = face_numbers(town.scenery, limits)
        plates = np.flatnonzero(numbers >= 2)
        for x, y, kmh in limits:
            away = np.hypot(town.scenery["x"][plates] - x, town.scenery["y"][plates] - y)
            face = numbers[plates[away.argmin()]]
            if sum(np.hypot(a - x, b - y) < 1.0 for a, b, _ in limits) == 1:
                assert face == 2 + kmh // 10 - 1
        patterns = sign_patterns(town.scenery, town)
        assert (patterns[plates] > 0).all()
        assert len(plates) > 0.8 * len(limits)


def test_numbers_differ_and_are_centred():
    inks = [(face[..., :3] < 60).all(axis=2) & (face[..., 3] > 0) for face in sign_pictures()[2:]]
    for k, ink in enumerate(inks):
        assert 0.02 < ink.mean() < 0.2
        rows, columns = np.nonzero(ink)
        assert abs(rows.mean() / len(ink) - 0.5) < 0.05
        assert abs(0.5 * (columns.min() + columns.max()) / len(ink) - 0.5) < 0.06
        for other in inks[:k]:
            assert (ink != other).mean() > 0.01
