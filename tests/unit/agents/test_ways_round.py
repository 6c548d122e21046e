"""What belongs to an obstacle that one goes round, and the way back from it."""

from __future__ import annotations

import numpy as np
import pytest
from driver_fakes import route_along_x, straight_map

from jaywalk.agents.driving.perception import EgoVehicle
from jaywalk.agents.driving.route_line import STEP_M, make_line
from jaywalk.agents.expert._bypass import Bypass, BypassPath
from jaywalk.agents.expert._bypass_room import StandingObstacle

WIDTH_M = 1.9


def standing(*cars: tuple[float, float, bool]) -> StandingObstacle:
    """Cars 4.6 m long and 1.8 m wide: where they are along and aside, and whether they block."""
    at, right, blocks = (np.array(column) for column in zip(*cars, strict=True))
    return StandingObstacle(
        from_m=at - 2.3,
        to_m=at + 2.3,
        left_m=right - 0.9,
        right_m=right + 0.9,
        side_m=np.full(len(cars), 0.45),
        blocks=blocks.astype(bool),
        actor_id=np.arange(len(cars)) + 10,
    )


def test_who_waits_right_behind_a_parked_car_is_gone_round_as_well() -> None:
    found = standing((50.0, 0.5, True), (58.0, 0.0, False), (66.0, 0.0, False)).grown(
        False, WIDTH_M
    )
    assert found.ids == (10, 11, 12)
    assert found.to_m == pytest.approx(68.3)


def test_who_stands_elsewhere_is_not() -> None:
    beside, before, far = (58.0, 4.0, False), (38.0, 0.0, False), (80.0, 0.0, False)
    found = standing((50.0, 0.5, True), beside, before, far).grown(False, WIDTH_M)
    assert found.ids == (10,)
    assert found.to_m == pytest.approx(52.3)


def own_car() -> EgoVehicle:
    return EgoVehicle(
        x_m=0.0,
        y_m=0.0,
        z_m=0.0,
        yaw_rad=0.0,
        speed_mps=5.0,
        yaw_rate_radps=0.0,
        front_m=2.4,
        half_length_m=2.4,
        half_width_m=0.95,
    )


@pytest.mark.parametrize(
    ("junction_m", "back_m"), [(None, 14.0), (90.0, 14.0), (72.0, 8.6), (64.5, None)]
)
def test_the_way_back_ends_before_a_junction(junction_m, back_m) -> None:
    road = straight_map()
    line = make_line(route_along_x(200.0), road, 8.0)
    if junction_m is not None:
        line.in_junction[int(junction_m / STEP_M) :] = True
    bypass = Bypass(line, road, None)
    way = BypassPath(
        offset_m=-2.5, from_m=50.0, to_m=60.0, transition_m=8.0, back_m=14.0, kind="opposite"
    )
    fitted = bypass._fitted(way, own_car(), 20.0)
    if back_m is None:
        assert fitted is None
    else:
        assert fitted.back_m == pytest.approx(back_m, abs=STEP_M)
        assert fitted.end_m + 2.4 <= (junction_m or np.inf)
