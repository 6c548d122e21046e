import itertools

import numpy as np
import polars as pl
import pytest
from shapely.affinity import rotate, translate
from shapely.geometry import Point, box

from jaywalk.core.seeds import stream
from jaywalk.record._contacts import find_contacts
from jaywalk.record.bodies import body_shapes

STEP_S = 0.05
_SHARES = np.linspace(0.04, 1.0, 25)
CAR, PERSON = (2.4, 1.0, 0.75), (0.25, 0.25, 0.9)


def scene(actors, tracks, ticks):
    """Frames from per-actor (kind, half extents) and tracks of x, y, yaw, vx, vy, turn, z."""
    table = pl.DataFrame(
        [
            {
                "actor": k,
                "kind": kind,
                "parent": None,
                "first_tick": 0,
                "last_tick": ticks - 1,
                "box_yaw_deg": 0.0,
                "half_x_m": half[0],
                "half_y_m": half[1],
                "half_z_m": half[2],
                "offset_x_m": 0.0,
                "offset_y_m": 0.0,
                "offset_z_m": half[2],
            }
            for k, (kind, half) in enumerate(actors)
        ]
    )
    names = ["x_m", "y_m", "yaw_deg", "vx_mps", "vy_mps", "wz_dps", "z_m"]
    states = pl.DataFrame(
        [
            {"actor": k, "tick": tick} | dict(zip(names, map(float, row), strict=True))
            for k, track in enumerate(tracks)
            for tick, row in track
        ]
    )
    times = pl.DataFrame({"tick": range(ticks), "time_s": [k * STEP_S for k in range(ticks)]})
    return times, table, states


def line(start, velocity, ticks, yaw=0.0, z=0.0):
    (x, y), (vx, vy) = start, velocity
    return [
        (k, (x + vx * STEP_S * k, y + vy * STEP_S * k, yaw, vx, vy, 0.0, z)) for k in range(ticks)
    ]


def test_a_hit_is_one_interval_with_the_speeds_before_it():
    ticks = 60
    car = line((0.0, 0.0), (10.0, 0.0), ticks)
    # The person walks into the lane and is thrown ahead by the car at the moment of contact.
    person = line((12.0, -2.0), (0.0, 2.0), ticks)
    hit = next(k for k, row in car if row[0] + 2.4 + 0.25 > 12.0)
    for k in range(hit, ticks):
        person[k] = (
            k,
            (12.0 + 10.5 * STEP_S * (k - hit + 1), person[hit][1][1], 0.0, 10.5, 0.0, 0.0, 0.0),
        )
    found = find_contacts(
        *scene([("vehicle", CAR), ("walker", PERSON)], [car, person], ticks), ego=0
    )
    assert len(found) == 1
    contact = found[0]
    assert (contact.actor, contact.other) == (0, 1)
    assert contact.tick == hit
    assert contact.speed_mps == pytest.approx(10.0)
    assert contact.other_speed_mps == pytest.approx(2.0)
    assert contact.closing_mps == pytest.approx(10.0)
    assert contact.normal_x == pytest.approx(-1.0)
    assert contact.x_m == pytest.approx(11.75, abs=0.02)
    assert 0.0 < contact.z_m < 1.5


def test_the_ego_is_named_first_even_with_the_higher_number():
    ticks = 40
    tracks = [line((15.0, 0.0), (0.0, 0.0), ticks), line((0.0, 0.0), (10.0, 0.0), ticks)]
    world = scene([("walker", PERSON), ("vehicle", CAR)], tracks, ticks)
    contact = find_contacts(*world, ego=1)[0]
    assert (contact.actor, contact.other, contact.speed_mps) == (1, 0, 10.0)
    assert contact.normal_x == pytest.approx(-1.0)
    assert find_contacts(*world, ego=1, ego_only=True) == [contact]
    assert find_contacts(*world, ego=7, ego_only=True) == []


def test_a_bounce_is_one_hit_and_a_second_visit_another():
    def approach(gaps_m):
        return [(k, (2 * 2.4 + gap, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)) for k, gap in enumerate(gaps_m)]

    stands = line((0.0, 0.0), (0.0, 0.0), 100)
    bounce = [0.5] * 10 + [-0.01] + [0.2] * 8 + [-0.01] + [0.5] * 80
    apart = [0.5] * 10 + [-0.01] + [0.2] * 12 + [-0.01] + [0.5] * 76
    cars = [("vehicle", CAR), ("vehicle", CAR)]
    one = find_contacts(*scene(cars, [stands, approach(bounce)], 100))
    two = find_contacts(*scene(cars, [stands, approach(apart)], 100))
    assert [(hit.tick, hit.end_tick) for hit in one] == [(10, 19)]
    assert [(hit.tick, hit.end_tick) for hit in two] == [(10, 10), (23, 23)]


def test_pushed_apart_within_the_step_still_counts_and_braking_in_time_does_not():
    ticks = 12
    wall = line((5.0, 0.0), (0.0, 0.0), ticks)

    def stopping(gap_m, speed):
        stop = [
            (k, (5.0 - 4.8 - gap_m, 0.0, 0.0, speed if k == 5 else 0.0, 0.0, 0.0, 0.0))
            for k in range(ticks)
        ]
        return scene([("vehicle", CAR), ("vehicle", CAR)], [stop, wall], ticks)

    assert [hit.tick for hit in find_contacts(*stopping(0.02, 8.0))] == [6]
    assert find_contacts(*stopping(0.02, 0.5)) == []


def test_heights_attachments_low_props_and_people_among_themselves():
    ticks = 5
    at = [line((0.0, 0.0), (0.0, 0.0), ticks), line((0.5, 0.0), (0.0, 0.0), ticks)]

    def hits(kinds, z=0.0, **change):
        tracks = [at[0], line((0.5, 0.0), (0.0, 0.0), ticks, z=z)]
        times, actors, states = scene(kinds, tracks, ticks)
        if change:
            actors = actors.with_columns(**{k: pl.Series(v) for k, v in change.items()})
        return len(find_contacts(times, actors, states))

    car, person = ("vehicle", CAR), ("walker", PERSON)
    assert hits([car, person]) == 1
    assert hits([car, car], z=1.6) == 0
    assert hits([person, person]) == 0
    assert hits([car, ("prop", (0.3, 0.3, 0.5))]) == 1
    assert hits([car, ("prop", (0.3, 0.3, 0.1))]) == 0
    assert hits([("prop", CAR), ("prop", CAR)]) == 0
    assert hits([car, ("sensor", CAR)]) == 0
    assert hits([car, car], parent=[None, 0]) == 0
    assert hits([car, car], half_x_m=[2.4, None]) == 0


def test_a_prop_keeps_its_place_between_rows_and_over_windows(monkeypatch):
    monkeypatch.setattr("jaywalk.record._contacts._WINDOW_TICKS", 7)
    ticks = 60
    car = line((0.0, 0.0), (10.0, 0.0), ticks)
    cone = line((20.0, 0.0), (0.0, 0.0), 1)
    world = scene([("vehicle", CAR), ("prop", (0.2, 0.2, 0.4))], [car, cone], ticks)
    found = find_contacts(*world)
    first = next(k for k, row in car if row[0] + 2.4 > 19.8)
    last = max(k for k, row in car if row[0] - 2.4 < 20.2)
    assert [(hit.actor, hit.other, hit.tick, hit.end_tick) for hit in found] == [
        (0, 1, first, last + 1)
    ]
    assert found[0].other_speed_mps == 0.0


def outline(kind, half, pose, grow):
    x, y, yaw = pose[:3]
    if kind == "walker":
        return Point(x, y).buffer(half[0] + grow, 16)
    hx, hy = half[0] + grow, half[1] + grow
    return translate(rotate(box(-hx, -hy, hx, hy), yaw, origin=(0, 0)), x, y)


def touches_within(actors, first, second, motions, grow, shares=_SHARES):
    """Brute force: do two outlines meet at any of many moments of any of the motions?"""
    for a_end, b_end in motions:
        for share in shares:
            a = first[1] + share * (a_end - first[1])
            b = second[1] + share * (b_end - second[1])
            shapes = [
                outline(*actors[k], pose, grow) for k, pose in ((first[0], a), (second[0], b))
            ]
            if shapes[0].intersects(shapes[1]):
                return True
    return False


@pytest.mark.parametrize("seed", [1, 2])
def test_against_brute_force(seed):
    random, ticks, n = stream(seed, "contacts"), 24, 9
    actors = [("vehicle", CAR) if k < 5 else ("walker", PERSON) for k in range(n)]
    tracks = []
    for kind, _ in actors:
        top = 9.0 if kind == "vehicle" else 2.0
        heading, speed = random.uniform(-180, 180), random.uniform(0, top)
        x, y, turn = *random.uniform(-9, 9, 2), random.uniform(-40, 40)
        track = []
        for k in range(ticks):
            vx, vy = speed * np.cos(np.radians(heading)), speed * np.sin(np.radians(heading))
            track.append((k, np.array([x, y, heading, vx, vy, turn, 0.0])))
            # The next pose is not quite what velocity and turning promise.
            x, y = x + vx * STEP_S + random.normal(0, 0.01), y + vy * STEP_S
            heading += turn * STEP_S
        tracks.append(track)
    found = find_contacts(*scene(actors, tracks, ticks), merge_s=0.0)
    got = {(hit.actor, hit.other, k) for hit in found for k in range(hit.tick, hit.end_tick + 1)}
    checked = 0
    for a, b in itertools.combinations(range(n), 2):
        if a >= 5:
            continue
        for k in range(1, ticks):
            a0, b0, a1, b1 = (
                tracks[a][k - 1][1],
                tracks[b][k - 1][1],
                tracks[a][k][1],
                tracks[b][k][1],
            )
            if np.hypot(*(a0 - b0)[:2]) > 7.0:
                assert (a, b, k) not in got
                continue
            free = [p + np.r_[p[3:6] * STEP_S, 0, 0, 0, 0] for p in (a0, b0)]
            checked += 1
            pair = actors, (a, a0), (b, b0)
            # A pair that overlaps at the start of the step and parts in it may count or not.
            parting = touches_within(*pair, [(a0, b0)], 0.0, shares=[0.0])
            shares = [1.0] if parting else _SHARES
            if touches_within(*pair, [(a1, b1)], -0.03, shares=shares):
                assert (a, b, k) in got
            elif not touches_within(*pair, [(a1, b1), tuple(free)], 0.005):
                assert (a, b, k) not in got
    assert got
    assert checked > 100


def test_a_wall_on_its_side_has_the_footprint_of_one_that_stands():
    actors = pl.DataFrame(
        {
            "actor": [1],
            "kind": ["prop"],
            "half_x_m": [2.0],
            "half_y_m": [1.5],
            "half_z_m": [0.15],
            "offset_x_m": [0.0],
            "offset_y_m": [0.0],
            "offset_z_m": [0.0],
        }
    )
    states = pl.LazyFrame({"actor": [1], "pitch_deg": [0.0], "roll_deg": [90.0]})
    (wall,) = body_shapes(actors, states).iter_rows(named=True)
    half = [wall[name] for name in ("half_x_m", "half_y_m", "half_z_m")]
    assert half == pytest.approx([2.0, 0.15, 1.5])
