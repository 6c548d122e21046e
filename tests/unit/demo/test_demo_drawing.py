import av
import numpy as np
import pytest
from shapely import Polygon

from jaywalk.demo.film import busiest_window, draw_film
from jaywalk.demo.still import around, draw_still
from jaywalk.demo.style import car_outlines
from jaywalk.demo.traces import Traces, driven_m
from jaywalk.town.town import load_town


@pytest.fixture
def traces():
    """Two cars driving east and north and one person, near the middle of Harbour, for 0.5 s."""
    ticks = np.arange(10)
    pose = load_town("Harbour").spawn_points[0]
    cars = np.zeros((10, 2, 3))
    cars[:, 0, 0] = pose.x + ticks
    cars[:, 1, 0] = pose.x + 20.0
    cars[:, 0, 1] = pose.y
    cars[:, 1, 1] = pose.y + 0.5 * ticks
    cars[:, 1, 2] = np.pi / 2
    people = np.stack([pose.x + 0.1 * ticks, np.full(10, pose.y + 5.0)], axis=-1)[:, None]
    return Traces(
        step_s=0.05, cars=cars, car_half_m=np.array([[2.0, 1.0], [3.0, 1.0]]), people=people,
        lights=np.zeros((10, 1), np.int64), light_places_m=np.array([[pose.x, pose.y]]),
    )  # fmt: skip


def test_traces_survive_a_file(traces, tmp_path):
    traces.save(tmp_path / "t.npz")
    again = Traces.load(tmp_path / "t.npz")
    for name in Traces.__slots__:
        np.testing.assert_array_equal(getattr(again, name), getattr(traces, name))


def test_driven_distance(traces):
    assert driven_m(traces) == pytest.approx([9.0, 4.5])


def test_outlines_lie_in_the_turned_box(traces):
    east, north = car_outlines(traces.cars[0], traces.car_half_m)
    assert Polygon(east).bounds == pytest.approx(
        (traces.cars[0, 0, 0] - 2, traces.cars[0, 0, 1] - 1,
         traces.cars[0, 0, 0] + 2, traces.cars[0, 0, 1] + 1)
    )  # fmt: skip
    assert np.ptp(north[:, 1]) == pytest.approx(6.0)
    assert np.ptp(north[:, 0]) == pytest.approx(2.0)
    assert 0.9 * 8.0 < Polygon(east).area < 8.0


def test_the_busiest_window_has_the_size_asked_for_and_shows_somebody(traces):
    x0, y0, x1, y1 = busiest_window(traces, 40.0, 30.0)
    assert (x1 - x0, y1 - y0) == pytest.approx((40.0, 30.0))
    assert x0 < traces.cars[0, 0, 0] < x1
    assert y0 < traces.cars[0, 0, 1] < y1


def test_still_and_film_are_written(traces, tmp_path):
    town = load_town("Harbour")
    draw_still(town, traces, tmp_path / "p.png")
    assert (tmp_path / "p.png").stat().st_size > 10_000
    told = []
    draw_film(town, traces, tmp_path / "f.mp4", told.append)
    assert told[-1] == pytest.approx(1.0)
    with av.open(str(tmp_path / "f.mp4")) as film:
        frames = list(film.decode(video=0))
    assert len(frames) == 10
    assert (frames[0].width, frames[0].height) == (1280, 720)
    assert around(traces, 5.0)[2] > around(traces, 0.0)[2]
