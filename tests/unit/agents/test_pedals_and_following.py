"""Longitudinal control: pedals against the published regression, following in closed loop."""

from __future__ import annotations

import math

import pytest

from jaywalk.agents.driving._controls import Pedals, full_braking_mps2, throttle_for
from jaywalk.agents.driving._following import Manner, follow, free_road, stop_at

DELTA_S = 0.05


def published_gain(v_kmh: float, t: float) -> float:
    """Speed after a tick by the regression as published (km/h), minus the speed before."""
    terms = [v_kmh, v_kmh**2, t, t**2, v_kmh * t, v_kmh * t**2, v_kmh**2 * t, v_kmh**2 * t**2]
    factors = [
        0.963873001,
        4.37535692e-4,
        -0.380192912,
        1.74950069,
        0.0916787414,
        -0.070546153,
        -1.05996152e-3,
        6.71079346e-4,
    ]
    return sum(a * b for a, b in zip(terms, factors, strict=True)) - v_kmh


@pytest.mark.parametrize("speed_mps", [0.5, 3.0, 8.0, 14.0, 20.0])
@pytest.mark.parametrize("wanted", [0.2, 1.0, 2.0])
def test_throttle_solves_the_regression(speed_mps: float, wanted: float) -> None:
    throttle = throttle_for(speed_mps, wanted)
    assert 0.3 <= throttle <= 1.0
    assert published_gain(speed_mps * 3.6, throttle) / 3.6 / DELTA_S == pytest.approx(wanted)


def test_throttle_rises_with_the_wish() -> None:
    for speed in (0.0, 5.0, 12.0, 25.0):
        values = [throttle_for(speed, wish) for wish in (-3.0, -1.0, 0.0, 0.5, 1.0, 2.0, 4.0, 9.0)]
        assert values == sorted(values)
        assert 0.0 <= values[0] <= values[-1] <= 1.0


def test_full_brake_is_strong_everywhere() -> None:
    assert all(full_braking_mps2(v) > 6.0 for v in (1.0, 5.0, 10.0, 20.0, 30.0))


def test_pedals_are_never_both_pressed_and_hold_a_standing_car() -> None:
    pedals = Pedals(DELTA_S)
    for speed in (0.0, 0.2, 2.0, 15.0):
        for wish in (-9.0, -2.0, -0.3, 0.0, 0.4, 3.0):
            throttle, brake = pedals.press(speed, wish)
            assert throttle == 0.0 or brake == 0.0
            assert 0.0 <= throttle <= 1.0
            assert 0.0 <= brake <= 1.0
    assert pedals.press(0.0, 0.0) == (0.0, 1.0)


def test_the_correction_finds_the_pedal_of_a_weak_car() -> None:
    pedals, speed = Pedals(DELTA_S), 5.0
    for _ in range(600):
        throttle, brake = pedals.press(speed, min(1.0, 0.8 * (11.0 - speed)))
        gain = published_gain(speed * 3.6, throttle) / 3.6 if throttle >= 0.3 else -0.02
        speed = max(speed + (0.6 * gain if gain > 0.0 else gain) - 0.02 - 0.3 * brake, 0.0)
    assert speed == pytest.approx(11.0, abs=0.3)


def drive_to(gap_m: float, speed_mps: float, lead_mps: float, wish, seconds: float = 40.0):
    """Integrate a wish(speed, gap) as if pedals were perfect; returns gaps, speeds and pulls."""
    gaps, speeds, pulls = [gap_m], [speed_mps], []
    for _ in range(int(seconds / DELTA_S)):
        pull = wish(speeds[-1], gaps[-1])
        speed = max(speeds[-1] + pull * DELTA_S, 0.0)
        gaps.append(gaps[-1] + (lead_mps - 0.5 * (speed + speeds[-1])) * DELTA_S)
        speeds.append(speed)
        pulls.append(pull)
    return gaps, speeds, pulls


@pytest.mark.parametrize("gap_m", [60.0, 30.0, 16.0])
def test_stops_behind_a_standing_thing(gap_m: float) -> None:
    manner = Manner()

    def wish(speed: float, gap: float) -> float:
        return min(free_road(speed, 12.0, manner), follow(speed, gap, 0.0, manner))

    gaps, speeds, pulls = drive_to(gap_m, 11.0, 0.0, wish)
    assert speeds[-1] < 0.05
    assert 0.8 < gaps[-1] < 3.5
    if gap_m == 60.0:
        assert min(pulls) > -3.6  # seen in time: no emergency


def test_follows_at_the_speed_of_the_leader() -> None:
    manner = Manner()

    def wish(speed: float, gap: float) -> float:
        return min(free_road(speed, 14.0, manner), follow(speed, gap, 8.0, manner))

    gaps, speeds, _ = drive_to(60.0, 13.0, 8.0, wish, seconds=60.0)
    assert speeds[-1] == pytest.approx(8.0, abs=0.1)
    assert gaps[-1] > manner.standstill_gap_m + 0.9 * manner.headway_s * 8.0
    assert min(gaps) > 5.0


@pytest.mark.parametrize("gap_m", [50.0, 25.0])
def test_stops_before_a_line(gap_m: float) -> None:
    manner = Manner()

    def wish(speed: float, gap: float) -> float:
        return min(free_road(speed, 12.0, manner), stop_at(speed, gap, manner))

    gaps, speeds, pulls = drive_to(gap_m, 10.0, 0.0, wish)
    assert speeds[-1] < 0.1
    assert -0.1 < gaps[-1] < 0.6
    assert min(pulls) > -2.9


def test_nothing_ahead_asks_for_nothing() -> None:
    assert follow(10.0, math.inf, 0.0, Manner()) == math.inf
    assert stop_at(10.0, math.inf, Manner()) == math.inf
