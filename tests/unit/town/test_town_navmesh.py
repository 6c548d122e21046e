from __future__ import annotations

import struct

import networkx as nx
import numpy as np
import pytest
from real_data import where_data_lies

from jaywalk.core.errors import DataError
from jaywalk.town.navmesh import CROSSWALK_AREA, SIDEWALK_AREA, NavMesh, parse_navmesh


def _graph(mesh: NavMesh) -> nx.Graph:
    graph = nx.Graph()
    graph.add_nodes_from(range(len(mesh.polygons)))
    for edge in range(6):
        linked = np.nonzero(mesh.neighbours[:, edge] >= 0)[0]
        graph.add_edges_from(zip(linked, mesh.neighbours[linked, edge], strict=True))
    return graph


def _outline(mesh: NavMesh, polygon: int) -> np.ndarray:
    return mesh.vertices_m[mesh.polygons[polygon, : mesh.counts[polygon]]]


def _check(mesh: NavMesh) -> None:
    """Winding as the client wants it, and neighbours that name each other over a shared edge."""
    assert set(np.unique(mesh.counts)) <= {4, 6}
    cell_m = np.ptp(_outline(mesh, 0)[:, 1])
    for polygon in range(0, len(mesh.polygons), 7):
        count = mesh.counts[polygon]
        outline = _outline(mesh, polygon)[:, :2]
        first, second = outline[0], outline[1]
        assert first[0] == second[0]  # along x-, from y- to y+
        assert first[1] < second[1]
        x, y = outline.T
        signed = 0.5 * (x * np.roll(y, -1) - y * np.roll(x, -1)).sum()
        # Convex, one way round; big towns have bigger cells.
        assert signed == pytest.approx(-(count // 2 - 1) * cell_m**2, rel=0.01)
        for edge in range(count):
            other = mesh.neighbours[polygon, edge]
            if other < 0:
                continue
            ends = (mesh.polygons[polygon, edge], mesh.polygons[polygon, (edge + 1) % count])
            wide = mesh.counts[other]
            backwards = [
                (mesh.polygons[other, (k + 1) % wide], mesh.polygons[other, k])
                for k in range(wide)
                if mesh.neighbours[other, k] == polygon
            ]
            assert ends in backwards


def _centres(mesh: NavMesh) -> np.ndarray:
    return np.array([_outline(mesh, k).mean(axis=0) for k in range(len(mesh.polygons))])


def test_street_mesh_joins_both_sidewalks_over_the_crosswalk_only(street):
    mesh = parse_navmesh(street.navmesh)
    _check(mesh)
    graph = _graph(mesh)
    assert nx.is_connected(graph)
    sidewalks = graph.subgraph(np.nonzero(mesh.areas == SIDEWALK_AREA)[0])
    assert nx.number_connected_components(sidewalks) == 2
    centres = _centres(mesh)
    crossing = centres[mesh.areas == CROSSWALK_AREA]
    assert crossing[:, 0].min() > 57.5
    assert crossing[:, 0].max() < 62.5
    on_road = (np.abs(centres[:, 1]) < 3.0) & (centres[:, 0] < 115)
    assert set(mesh.areas[on_road]) == {CROSSWALK_AREA}
    walk = centres[centres[:, 0] < 115]
    assert np.allclose(walk[:, 2], 0.05 * walk[:, 0], atol=0.1)


def test_layout_matches_the_header(street):
    data = street.navmesh
    fields = struct.unpack_from("<15i", data, 48)
    assert fields[1] == 7
    assert fields[6] == fields[9] == fields[14]
    mesh = parse_navmesh(data)
    assert fields[8] == (mesh.neighbours >= 0).sum()
    assert fields[11] == np.where(mesh.counts == 4, 2, 4).sum()
    max_polygons = struct.unpack_from("<i", data, 36)[0]
    assert max_polygons >= fields[6]
    assert struct.unpack_from("<I", data, 40)[0] == max_polygons  # one tile, salt 1


def test_detail_triangles_tile_their_polygons(street):
    data = street.navmesh
    mesh = parse_navmesh(data)
    fields = struct.unpack_from("<15i", data, 48)
    at = 148 + 12 * fields[7] + 32 * fields[6] + 12 * fields[8]
    for k in range(0, fields[6], 5):
        _, base, _, count = struct.unpack_from("<IIBB", data, at + 12 * k)
        outline = _outline(mesh, k)[:, :2]
        area = 0.0
        for t in range(base, base + count):
            a, b, c, _ = struct.unpack_from("<4B", data, at + 12 * fields[6] + 4 * t)
            (ux, uy), (vx, vy) = outline[b] - outline[a], outline[c] - outline[a]
            piece = 0.5 * (ux * vy - uy * vx)
            assert piece < -0.4  # none degenerate, all wound like the polygon
            area -= piece
        assert area == pytest.approx(mesh.counts[k] // 2 - 1, abs=0.01)


def test_broken_mesh_is_refused(street):
    with pytest.raises(DataError, match="cut short"):
        parse_navmesh(b"abc")
    with pytest.raises(DataError, match="bytes"):
        parse_navmesh(street.navmesh[:-1])


@pytest.mark.parametrize(
    ("name", "share"),
    [("Harbour", 0.95), *where_data_lies(("Town04", 0.9), ("Town07", 0.95), ("Town10HD", 1.0))],
)
def test_people_can_reach_most_of_a_town(carla_town, name, share):
    mesh = parse_navmesh(carla_town(name).navmesh)
    _check(mesh)
    largest = max(nx.connected_components(_graph(mesh)), key=len)
    assert len(largest) >= share * len(mesh.polygons)
