"""Scenery: nothing solid on the roads, in every style; same seed, same table; files round-trip."""

from __future__ import annotations

import gzip
import importlib.resources
from pathlib import Path

import carla
import numpy as np
import pytest
import shapely
from defusedxml import ElementTree

from jaywalk.core.errors import DataError, UsageError
from jaywalk.town.scenery import KINDS, SCENERY, Shape, generate_scenery, load_scenery, save_scenery

STYLES = {"harbour": "city", "orchard": "residential", "ridge": "rural"}
FINE_STEP_M = 0.8


def data_path(name: str) -> Path:
    return Path(str(importlib.resources.files("jaywalk.town") / "data" / name))


def read_town(name: str) -> str:
    return gzip.decompress(data_path(f"{name}.xodr.gz").read_bytes()).decode()


def lane_shapes(town: carla.Map, text: str, kinds: set[str]) -> tuple[shapely.STRtree, np.ndarray]:
    """Independent oracle: lanes of some kinds as fine quads with their heights."""
    quads, heights = [], []
    for road in ElementTree.fromstring(text).iter("road"):
        sections = road.findall("lanes/laneSection")
        ends = [float(s.get("s")) for s in sections[1:]] + [float(road.get("length"))]
        for section, end in zip(sections, ends, strict=True):
            start = float(section.get("s"))
            stations = np.linspace(
                start + 1e-3, end - 1e-3, max(2, int((end - start) / FINE_STEP_M))
            )
            for lane in section.iter("lane"):
                if lane.get("type") not in kinds:
                    continue
                edges = []
                for station in stations:
                    point = town.get_waypoint_xodr(
                        int(road.get("id")), int(lane.get("id")), float(station)
                    )
                    right = point.transform.get_right_vector()
                    half = max(point.lane_width / 2.0 - 0.02, 0.0)
                    place = point.transform.location
                    edges.append(
                        (
                            place.x - right.x * half,
                            place.y - right.y * half,
                            place.x + right.x * half,
                            place.y + right.y * half,
                            place.z,
                        )
                    )
                table = np.array(edges)
                inner, outer = table[:, :2], table[:, 2:4]
                quads.append(np.stack([inner[:-1], inner[1:], outer[1:], outer[:-1]], axis=1))
                heights.append(table[:-1, 4])
    return shapely.STRtree(shapely.polygons(np.concatenate(quads))), np.concatenate(heights)


def outlines(table: np.ndarray) -> np.ndarray:
    shapes = []
    for row in table:
        if row["shape"] == Shape.BOX:
            box = shapely.box(-row["ex"], -row["ey"], row["ex"], row["ey"])
            turned = shapely.affinity.rotate(box, row["yaw"], origin=(0, 0), use_radians=True)
            shapes.append(shapely.affinity.translate(turned, row["x"], row["y"]))
        else:
            shapes.append(shapely.Point(row["x"], row["y"]).buffer(row["ex"]))
    return np.array(shapes)


def overlaps(table: np.ndarray, tree: shapely.STRtree, heights: np.ndarray) -> list[str]:
    mine, other = tree.query(outlines(table), predicate="intersects")
    foot = (table["z"] - table["ez"])[mine]
    level = np.abs(heights[other] - foot) < 2.5  # the bridge's rails hang over another road
    return [KINDS[kind] for kind in table["kind"][mine[level]]]


@pytest.mark.parametrize("name", sorted(STYLES))
def test_nothing_solid_stands_on_a_lane(name: str) -> None:
    text = read_town(name)
    town = carla.Map(name, text)
    table = load_scenery(data_path(f"{name}.scenery.json.gz"))
    solid = table[table["solid"] == 1]
    tree, heights = lane_shapes(town, text, {"driving", "parking", "stop", "biking", "shoulder"})
    assert overlaps(solid, tree, heights) == []


@pytest.mark.parametrize("name", sorted(STYLES))
def test_shipped_scenery_is_what_the_generator_makes(name: str) -> None:
    text = read_town(name)
    made = generate_scenery(carla.Map(name, text), text, 2025, STYLES[name])
    shipped = load_scenery(data_path(f"{name}.scenery.json.gz"))
    assert len(made) == len(shipped)
    assert 2000 < len(shipped) < 6000
    for field in ("kind", "shape", "solid", "label"):
        np.testing.assert_array_equal(made[field], shipped[field])
    for field in ("x", "y", "z", "ex", "ey", "ez"):
        np.testing.assert_allclose(made[field], shipped[field], atol=6e-4)


@pytest.mark.parametrize("name", sorted(STYLES))
def test_crosswalks_and_the_middle_of_sidewalks_stay_free(name: str) -> None:
    text = read_town(name)
    town = carla.Map(name, text)
    table = load_scenery(data_path(f"{name}.scenery.json.gz"))
    solid = outlines(table[table["solid"] == 1])
    corners = [(place.x, place.y) for place in town.get_crosswalks()]
    walks = [shapely.Polygon(corners[k : k + 5]) for k in range(0, len(corners), 5)]
    assert len(walks) > 60
    assert shapely.STRtree(walks).query(solid, predicate="intersects").size == 0
    lines = []
    for road in ElementTree.fromstring(text).iter("road"):
        for lane in road.find("lanes/laneSection").iter("lane"):
            if lane.get("type") == "sidewalk" and len(road.findall("lanes/laneSection")) == 1:
                length = float(road.get("length"))
                points = [
                    town.get_waypoint_xodr(int(road.get("id")), int(lane.get("id")), float(s))
                    for s in np.linspace(0.01, length - 0.01, max(2, int(length)))
                ]
                places = [point.transform.location for point in points]
                lines.append(shapely.LineString([(p.x, p.y) for p in places]).buffer(0.6))
    assert len(lines) > 50
    assert shapely.STRtree(lines).query(solid, predicate="intersects").size == 0


def test_every_town_has_what_makes_it_look_lived_in() -> None:
    tables = {name: load_scenery(data_path(f"{name}.scenery.json.gz")) for name in STYLES}
    counts = {
        name: {kind: int(np.sum(table["kind"] == k)) for k, kind in enumerate(KINDS)}
        for name, table in tables.items()
    }
    assert counts["harbour"]["building"] > 800
    assert counts["harbour"]["bus_shelter"] > 20
    assert counts["orchard"]["hedge"] > 100
    assert counts["orchard"]["island"] == 20
    assert counts["ridge"]["guard_rail"] > 300
    assert counts["ridge"]["container"] > 20
    for name in STYLES:
        assert counts[name]["lamp"] > 50
        assert counts[name]["trunk"] == counts[name]["crown"] > 200
        houses = tables[name][tables[name]["kind"] == KINDS.index("building")]
        assert houses["ez"].max() * 2.0 < 27.0


def test_another_seed_makes_another_town_of_the_same_kind() -> None:
    text = read_town("orchard")
    town = carla.Map("orchard", text)
    shipped = load_scenery(data_path("orchard.scenery.json.gz"))
    other = generate_scenery(town, text, 4, "residential")
    assert not np.array_equal(np.round(np.sort(other["x"]), 1)[:50], np.sort(shipped["x"])[:50])
    assert 0.8 < len(other) / len(shipped) < 1.25


def test_a_town_without_sidewalks_or_signals_still_gets_trees() -> None:
    text = """<OpenDRIVE><header revMajor="1" revMinor="4"/>
    <road name="r" length="200" id="1" junction="-1"><link/>
    <planView><geometry s="0" x="0" y="0" hdg="0" length="200"><line/></geometry></planView>
    <elevationProfile><elevation s="0" a="0" b="0" c="0" d="0"/></elevationProfile>
    <lanes><laneSection s="0"><center><lane id="0" type="none" level="false"/></center>
    <right><lane id="-1" type="driving" level="false"><width sOffset="0" a="3.5" b="0" c="0" d="0"/>
    </lane></right></laneSection></lanes></road></OpenDRIVE>"""
    table = generate_scenery(carla.Map("road", text), text, 1)
    assert np.sum(table["kind"] == KINDS.index("trunk")) > 3
    assert np.all(table["y"][table["kind"] == KINDS.index("trunk")] != 0.0)


@pytest.mark.parametrize(("shoulder_m", "beyond_m"), [(0.3, 4.0), (2.6, 2.6)])
def test_trees_and_lamps_leave_the_room_beside_a_lane(shoulder_m: float, beyond_m: float) -> None:
    lanes = "".join(
        f'<lane id="{number}" type="{kind}" level="false">'
        f'<width sOffset="0" a="{width}" b="0" c="0" d="0"/></lane>'
        for number, kind, width in (
            (-1, "driving", 3.5),
            (-2, "shoulder", shoulder_m),
            (-3, "sidewalk", 4.0),
        )
    )
    text = f"""<OpenDRIVE><header revMajor="1" revMinor="4"/>
    <road name="r" length="400" id="1" junction="-1"><link/>
    <type s="0" type="town"><speed max="50" unit="km/h"/></type>
    <planView><geometry s="0" x="0" y="0" hdg="0" length="400"><line/></geometry></planView>
    <elevationProfile><elevation s="0" a="0" b="0" c="0" d="0"/></elevationProfile>
    <lanes><laneSection s="0"><center><lane id="0" type="none" level="false"/></center>
    <right>{lanes}</right></laneSection></lanes></road></OpenDRIVE>"""
    table = generate_scenery(carla.Map("road", text), text, 1, "city")
    for kind in ("trunk", "lamp"):
        outside = table["y"][(table["kind"] == KINDS.index(kind)) & (table["y"] > 0.0)] - 3.5
        assert len(outside) > 3
        assert outside.min() > beyond_m


def test_files_round_trip_and_name_what_is_wrong(tmp_path: Path) -> None:
    table = np.zeros(1, SCENERY)
    table[0] = (3, 0, 1, 0, 1.25, -2.5, 3.0, 4.0, 5.0, 3.0, 0.5, 10, 20, 30)
    save_scenery(tmp_path / "a.json.gz", table)
    np.testing.assert_array_equal(load_scenery(tmp_path / "a.json.gz"), table)
    (tmp_path / "b.json.gz").write_bytes(gzip.compress(b'{"format": 9, "objects": []}'))
    with pytest.raises(DataError, match="format 9"):
        load_scenery(tmp_path / "b.json.gz")


def test_an_unknown_style_is_refused() -> None:
    with pytest.raises(UsageError, match="gothic"):
        generate_scenery(None, "<OpenDRIVE/>", 1, "gothic")  # type: ignore[arg-type]


@pytest.mark.data
@pytest.mark.parametrize("name", ["Town02", "Town04", "Town07", "Town10HD"])
def test_carla_towns_get_scenery_beside_their_roads(name: str) -> None:
    path = Path(__file__).parents[4] / "shared" / "data" / "carla_towns" / f"{name}.xodr.gz"
    if not path.exists():
        pytest.skip("needs CARLA's towns in ../shared/data/carla_towns")
    text = gzip.decompress(path.read_bytes()).decode()
    town = carla.Map(name, text)
    table = generate_scenery(town, text, 1, "auto")
    assert 200 < len(table) < 6000
    solid = table[table["solid"] == 1]
    tree, heights = lane_shapes(town, text, {"driving", "parking", "stop", "biking", "shoulder"})
    assert overlaps(solid, tree, heights) == []
