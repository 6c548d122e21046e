from __future__ import annotations

import struct

import networkx as nx
import numpy as np
import pytest

from jaywalk.core.errors import DataError
from jaywalk.town.navmesh import CROSSWALK_AREA, SIDEWALK_AREA, NavMesh, parse_navmesh


def _graph(mesh: NavMesh) -> nx.Graph:
    graph = nx.Graph()
    graph.add_nodes_from(range(len(mesh.polygons)))
    for edge in range(4):
        linked = np.nonzero(mesh.neighbours[:, edge] >= 0)[0]
        graph.add_edges_from(zip(linked, mesh.neighbours[linked, edge], strict=True))
    return graph


def _check(mesh: NavMesh) -> None:
    """Winding as the client wants it, and neighbours that name each other over a shared edge."""
    corners = mesh.vertices_m[mesh.polygons][:, :, :2]
    size = corners[0].max() and (corners[0, 2] - corners[0, 0])[0]
    steps = np.diff(corners, axis=1)
    assert np.allclose(steps[:, 0], [0, size], atol=1e-2)
    assert np.allclose(steps[:, 1], [size, 0], atol=1e-2)
    for edge in range(4):
        linked = np.nonzero(mesh.neighbours[:, edge] >= 0)[0]
        other = mesh.neighbours[linked, edge]
        back = (edge + 2) % 4
        assert np.array_equal(mesh.neighbours[other, back], linked)
        assert np.array_equal(
            mesh.polygons[linked, edge], mesh.polygons[other, (back + 1) % 4]
        )  # the same edge, walked the other way


def test_street_mesh_joins_both_sidewalks_over_the_crosswalk_only(street):
    mesh = parse_navmesh(street.navmesh)
    _check(mesh)
    graph = _graph(mesh)
    assert nx.is_connected(graph)
    sidewalks = graph.subgraph(np.nonzero(mesh.areas == SIDEWALK_AREA)[0])
    assert nx.number_connected_components(sidewalks) == 2
    centres = mesh.vertices_m[mesh.polygons].mean(axis=1)
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
    max_polygons = struct.unpack_from("<i", data, 36)[0]
    assert max_polygons >= fields[6]
    assert struct.unpack_from("<I", data, 40)[0] == max_polygons  # one tile, salt 1


def test_broken_mesh_is_refused(street):
    with pytest.raises(DataError, match="cut short"):
        parse_navmesh(b"abc")
    with pytest.raises(DataError, match="bytes"):
        parse_navmesh(street.navmesh[:-1])


@pytest.mark.data
@pytest.mark.parametrize(("name", "share"), [("Town04", 0.9), ("Town07", 0.95), ("Town10HD", 1.0)])
def test_people_can_reach_most_of_a_town(carla_town, name, share):
    mesh = parse_navmesh(carla_town(name).navmesh)
    _check(mesh)
    largest = max(nx.connected_components(_graph(mesh)), key=len)
    assert len(largest) >= share * len(mesh.polygons)
