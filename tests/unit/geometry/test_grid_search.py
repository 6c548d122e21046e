"""The cheapest path over a grid against networkx."""

import itertools

import networkx
import numpy as np
import pytest

from jaywalk.geometry.grid_search import cheapest_cells


def _graph(weights):
    graph = networkx.DiGraph()
    rows, columns = weights.shape
    for r, c in itertools.product(range(rows), range(columns)):
        for dr, dc in itertools.product((-1, 0, 1), repeat=2):
            there = r + dr, c + dc
            inside = 0 <= there[0] < rows and 0 <= there[1] < columns
            if (dr or dc) and inside and np.isfinite(weights[there]):
                graph.add_edge((r, c), there, weight=np.hypot(dr, dc) * weights[there])
    return graph


@pytest.mark.parametrize("seed", range(5))
def test_the_cost_is_that_of_networkx(seed):
    random = np.random.default_rng(seed)
    weights = random.uniform(1.0, 4.0, (24, 31))
    weights[random.uniform(size=weights.shape) < 0.3] = np.inf
    graph, solved = _graph(weights), 0
    for _ in range(40):
        start, goal = (tuple(random.integers(0, weights.shape).tolist()) for _ in range(2))
        cells = [tuple(cell) for cell in cheapest_cells(weights, start, goal).tolist()]
        if start == goal:
            assert cells == [start]
            continue
        if not graph.has_node(start) or not networkx.has_path(graph, start, goal):
            assert cells == []
            continue
        solved += 1
        assert cells[0] == start
        assert cells[-1] == goal
        cost = networkx.path_weight(graph, cells, "weight")
        assert cost == pytest.approx(networkx.dijkstra_path_length(graph, start, goal))
    assert solved > 10
