"""On which side of a route people stand, also of one that comes back along the same street."""

import numpy as np
from driver_fakes import dense_route

from jaywalk.actors.crowd.places import on_right, right_of
from jaywalk.actors.posed._spots import _first_passed
from jaywalk.town.routes import DenseRoute


def there_and_back() -> DenseRoute:
    """60 m to the east on y = 2, and back on y = -2 (left-handed: south is +y, right of east)."""
    x = np.arange(0.0, 60.0)
    position = np.zeros((120, 3))
    position[:, 0] = np.concatenate([x, x[::-1]])
    position[:, 1] = np.repeat([2.0, -2.0], 60)
    return dense_route(position, np.repeat([0.0, 180.0], 60))


def test_people_beside_the_far_lane_are_left_of_the_first_pass():
    route = there_and_back()
    places = np.array([[30.0, 6.0], [30.0, -6.0]])
    passed = []
    for place in places:
        gap = np.hypot(*(route.position_m[:, :2] - place).T)
        passed.append(_first_passed(gap, 16.0))
    assert passed == [30, 30]
    assert right_of(places, route, np.array(passed)).tolist() == [True, False]
    assert on_right(*places.T, route).tolist() == [True, True]  # of the nearest pass


def test_the_first_pass_ends_where_the_route_leaves_the_band():
    gap = np.array([30.0, 12.0, 9.0, 14.0, 30.0, 5.0, 4.0, 20.0])
    assert _first_passed(gap, 16.0) == 2
    assert _first_passed(gap[:3], 16.0) == 2
    assert _first_passed(gap, 40.0) == 6
