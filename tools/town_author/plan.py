"""The description of a town: nodes, edges, connections and decorations, as SUMO understands them.

Frame: right-handed, x east, y north, metres (OpenDRIVE's). Every edge keeps to the right of its
node-to-node line, so that the two directions of a street share that line.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

Point = tuple[float, float]
Height = Callable[[float, float], float]
RING_STEP_DEG = 9.0


def _on_circle(centre: Point, radius_m: float, angle_deg: float) -> Point:
    angle = math.radians(angle_deg)
    return centre[0] + radius_m * math.cos(angle), centre[1] + radius_m * math.sin(angle)


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A SUMO node; ``kind`` is SUMO's node type."""

    x: float
    y: float
    kind: str = "priority"
    tl_layout: str | None = None
    outline: tuple[Point, ...] = ()
    z: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Edge:
    """One direction of a street."""

    start: str
    end: str
    lanes: int = 1
    width_m: float = 3.2
    speed_kmh: int = 50
    sidewalk_m: float = 0.0
    priority: int = 3
    points: tuple[Point, ...] = ()
    heights: tuple[float, ...] = ()  # of ``points``; empty: the terrain's
    setting: str = "town"
    walking_only: bool = False
    whole_shape: bool = False  # ``points`` include both ends, which need not be the nodes'


@dataclass(frozen=True, slots=True, kw_only=True)
class Connection:
    """A lane-to-lane link; lane indices as in SUMO (0 is the sidewalk where there is one)."""

    source: str
    target: str
    from_lane: int
    to_lane: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Strip:
    """An extra lane on an interval of one edge. Negative positions count back from its end."""

    edge: str
    kind: str  # OpenDRIVE lane type
    width_m: float
    taper_m: float = 0.0
    begin_m: float | None = None
    end_m: float | None = None
    at_centre: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Zebra:
    """A crosswalk across a street away from junctions, at a fraction of the edge's length."""

    edge: str
    at: float
    refuge: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeedSign:
    """A speed-limit sign repeated in the middle of an edge."""

    edge: str
    at: float


@dataclass(slots=True, kw_only=True)
class TownPlan:
    """Everything a town is made from; filled by the town's own file."""

    name: str
    latitude_deg: float
    longitude_deg: float
    height: Height = lambda _x, _y: 0.0
    options: tuple[str, ...] = ()
    scenery_style: str = "city"
    nodes: dict[str, Node] = field(default_factory=dict)
    edges: dict[str, Edge] = field(default_factory=dict)
    connections: list[Connection] = field(default_factory=list)
    roundabouts: list[tuple[tuple[str, ...], tuple[str, ...]]] = field(default_factory=list)
    strips: list[Strip] = field(default_factory=list)
    zebras: list[Zebra] = field(default_factory=list)
    speed_signs: list[SpeedSign] = field(default_factory=list)

    def node(
        self,
        name: str,
        x: float,
        y: float,
        kind: str = "priority",
        *,
        tl_layout: str | None = None,
        outline: tuple[Point, ...] = (),
        z: float | None = None,
    ) -> str:
        """Add a node and return its name."""
        self.nodes[name] = Node(x=x, y=y, kind=kind, tl_layout=tl_layout, outline=outline, z=z)
        return name

    def node_height(self, node: Node) -> float:
        """Height of a node: its own, or the terrain's."""
        return self.height(node.x, node.y) if node.z is None else node.z

    def polyline(self, edge: Edge) -> list[tuple[float, float, float]]:
        """The left border of an edge from node to node."""
        first, last = self.nodes[edge.start], self.nodes[edge.end]
        heights = edge.heights or tuple(self.height(x, y) for x, y in edge.points)
        points = [(x, y, z) for (x, y), z in zip(edge.points, heights, strict=True)]
        if edge.whole_shape:
            return points
        return [
            (first.x, first.y, self.node_height(first)),
            *points,
            (last.x, last.y, self.node_height(last)),
        ]

    def edge(self, edge: Edge, name: str | None = None) -> str:
        """Add one direction and return its name, ``start-end`` by default."""
        key = name or f"{edge.start}-{edge.end}"
        if key in self.edges:
            raise ValueError(f"edge {key!r} is already in the plan; give the second one a name")
        self.edges[key] = edge
        return key

    def street(
        self,
        start: str,
        end: str,
        *,
        lanes: tuple[int, int] = (1, 1),
        width_m: float = 3.2,
        speed_kmh: int = 50,
        sidewalk_m: float = 2.5,
        priority: int = 3,
        points: Sequence[Point] = (),
        heights: Sequence[float] = (),
        setting: str = "town",
        suffix: str = "",
    ) -> str:
        """Add both directions of a street; no lanes backward: one-way with two sidewalks."""
        for a, b, count, way in ((start, end, lanes[0], 1), (end, start, lanes[1], -1)):
            walking_only = count == 0
            if walking_only and sidewalk_m <= 0.0:
                continue
            self.edge(
                Edge(
                    start=a,
                    end=b,
                    lanes=1 if walking_only else count,
                    width_m=sidewalk_m if walking_only else width_m,
                    speed_kmh=speed_kmh,
                    sidewalk_m=0.0 if walking_only else sidewalk_m,
                    priority=priority,
                    points=tuple(points[::way]),
                    heights=tuple(heights[::way]),
                    setting=setting,
                    walking_only=walking_only,
                ),
                f"{a}-{b}{suffix}",
            )
        return f"{start}-{end}{suffix}"

    def ring(
        self,
        name: str,
        centre: Point,
        radius_m: float,
        angles_deg: Sequence[float],
        *,
        lanes: int = 1,
        width_m: float = 4.8,
        speed_kmh: int = 30,
        sidewalk_m: float = 2.5,
        kinds: Sequence[str] = (),
        z: float | None = None,
    ) -> list[str]:
        """Add a counter-clockwise ring of one-way edges with nodes at the given rising angles.

        The radius is that of the ring's left border, which is its inner kerb.
        """
        nodes = [
            self.node(
                f"{name}{index}",
                *_on_circle(centre, radius_m, angle),
                kinds[index] if kinds else "priority",
                z=z,
            )
            for index, angle in enumerate(angles_deg)
        ]
        edges = []
        for index, angle in enumerate(angles_deg):
            following = angles_deg[(index + 1) % len(angles_deg)]
            sweep = (following - angle) % 360.0 or 360.0
            count = max(2, round(sweep / RING_STEP_DEG))
            shares = (angle + sweep * k / count for k in range(1, count))
            points = tuple(_on_circle(centre, radius_m, share) for share in shares)
            edge = Edge(
                start=nodes[index],
                end=nodes[(index + 1) % len(nodes)],
                lanes=lanes,
                width_m=width_m,
                speed_kmh=speed_kmh,
                sidewalk_m=sidewalk_m,
                priority=9,
                points=points,
                heights=() if z is None else (z,) * len(points),
            )
            edges.append(self.edge(edge))
        self.roundabouts.append((tuple(nodes), tuple(edges)))
        return nodes

    def cul_de_sac(
        self,
        start: str,
        name: str,
        centre: Point,
        *,
        radius_m: float = 11.0,
        ring_m: float = 4.4,
        **street: object,
    ) -> str:
        """End a street in a small one-arm ring that faces ``start``; returns the street's edge.

        Extra arguments go to :meth:`street`; the ring takes the street's sidewalk and speed.
        """
        points = street.get("points") or ()
        source = points[-1] if points else (self.nodes[start].x, self.nodes[start].y)  # type: ignore[index]
        facing = math.degrees(math.atan2(source[1] - centre[1], source[0] - centre[0]))
        nodes = self.ring(
            name,
            centre,
            radius_m,
            [facing, facing + 120.0, facing + 240.0],
            width_m=ring_m,
            speed_kmh=20,
            sidewalk_m=float(street.get("sidewalk_m", 2.5)),  # type: ignore[arg-type]
        )
        return self.street(start, nodes[0], **street)  # type: ignore[arg-type]
