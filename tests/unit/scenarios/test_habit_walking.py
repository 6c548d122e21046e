"""People who walk round obstacles with a clip: no collision, gait kept, no leaps."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from jaywalk.actors.posed._detour import Obstacles, find_detour, room_at
from jaywalk.actors.posed._walking import PathWalk, bumps_soon, path_off_road
from jaywalk.actors.posed.repertoire import Repertoire, read_repertoire
from jaywalk.geometry.box import box_distance
from jaywalk.motion import default_library
from jaywalk.motion.playback.bank import ClipBank
from jaywalk.motion.playback.players import Cue, Players
from jaywalk.town.walkways import ROAD, SIDE, SIDEWALK, Tiling, WalkGrid

DELTA_S = 0.05
GOAL = (16.0, 8.0)
BODY_M = 0.25


@pytest.fixture(scope="module")
def bank() -> ClipBank:
    return ClipBank(default_library())


@pytest.fixture(scope="module")
def repertoire(bank: ClipBank) -> Repertoire:
    return read_repertoire(bank.library)


def open_grid() -> WalkGrid:
    """A town that is all road, with nothing solid in it."""
    tiling = Tiling(x0_m=0.0, y0_m=0.0, cell_m=0.25, tile=np.zeros((1, 1), np.int32))
    shape = (1, SIDE, SIDE)
    return WalkGrid(
        tiling, np.full(shape, ROAD, np.uint8), np.zeros(shape, np.uint8), np.zeros(shape, np.uint8)
    )


def layout(seed: int) -> Obstacles:
    """Cars, boxes and people between (2, 8) and (16, 8), none of them at the two ends."""
    random = np.random.default_rng(seed)
    boxes = []
    for _ in range(int(random.integers(1, 5))):
        yaw = random.uniform(0.0, math.pi)
        half = random.uniform(0.3, 2.4), random.uniform(0.3, 1.0)
        x, y = random.uniform(4.5, 13.5), random.uniform(4.0, 12.0)
        box = (x, y, math.cos(yaw), math.sin(yaw), *half)
        ends = min(box_distance(2.0, 8.0, *box), box_distance(*GOAL, *box))
        if ends > 1.2:
            boxes.append(box)
    discs = [
        (random.uniform(4.5, 13.5), random.uniform(5.0, 11.0))
        for _ in range(int(random.integers(0, 4)))
    ]
    return Obstacles(np.array(boxes).reshape(-1, 6), np.array(discs).reshape(-1, 2))


def gaps_m(things: Obstacles, x: float, y: float) -> float:
    """How far a body is from everything, computed without the code under test."""
    found = [math.inf]
    for bx, by, cos, sin, along, across in things.box:
        dx, dy = x - bx, y - by
        u, v = abs(dx * cos + dy * sin) - along, abs(dy * cos - dx * sin) - across
        found.append(math.hypot(max(u, 0.0), max(v, 0.0)) if max(u, v) > 0.0 else max(u, v))
    found += [math.hypot(x - px, y - py) - BODY_M for px, py in things.disc]
    return min(found)


@pytest.mark.parametrize("seed", range(12))
def test_random_layouts_are_walked_round(seed: int, bank: ClipBank, repertoire: Repertoire) -> None:
    grid, things = open_grid(), layout(seed)
    uses = [use for use in repertoire.crossing if use.walks]
    use = uses[(7 * seed) % len(uses)]
    players = Players(bank)
    row = players.add("boy" if use.child else "woman", x_m=2.0, y_m=8.0, yaw_rad=0.0)
    players.play(row, Cue(clip=repertoire.idle[seed % len(repertoire.idle)].name, loop=True))
    for _ in range(20):
        players.advance(DELTA_S)
    here = float(players.rows.x_m[row]), float(players.rows.y_m[row])
    way = find_detour(grid, things, here, GOAL)
    if len(way) == 0:
        pytest.skip("the layout is a wall")
    walk = PathWalk(path=way)
    cue = Cue(clip=use.name, towards_rad=walk.bearing_rad(*here), loop=True, holds=False)
    players.play(row, cue)
    nearest, fastest, last = math.inf, 0.0, here
    for _ in range(1200):
        if walk.follow(players, row, DELTA_S):
            break
        players.advance(DELTA_S)
        x, y = float(players.rows.x_m[row]), float(players.rows.y_m[row])
        if not walk.is_clear(grid, things, x, y):
            walk.reroute(grid, things, x, y)
        nearest = min(nearest, gaps_m(things, x, y))
        fastest = max(fastest, math.hypot(x - last[0], y - last[1]) / DELTA_S)
        last = (x, y)
    assert math.hypot(last[0] - GOAL[0], last[1] - GOAL[1]) < 1.0, "did not arrive"
    assert nearest > BODY_M - 0.06, f"walked into something: {nearest:.2f} m"
    assert fastest < 6.0


def test_a_free_way_is_straight_and_a_blocked_one_clear() -> None:
    grid = open_grid()
    assert len(find_detour(grid, Obstacles(np.zeros((0, 6)), np.zeros((0, 2))), (2, 8), GOAL)) == 2
    things = layout(3)
    way = find_detour(grid, things, (2.0, 8.0), GOAL)
    for a, b in itertools.pairwise(way):
        for share in np.linspace(0.0, 1.0, 40):
            assert room_at(grid, things, *(a + share * (b - a))) > -0.05


def test_what_stands_ahead_is_seen_in_time_and_only_ahead() -> None:
    grid = open_grid()
    car = Obstacles(np.array([[10.0, 8.0, 1.0, 0.0, 2.2, 0.9]]), np.zeros((0, 2)))
    assert not bumps_soon(grid, car, 6.0, 8.0, 0.0)  # 1.8 m away, a step is less
    assert bumps_soon(grid, car, 6.0, 8.0, 0.0, 2.2)
    assert bumps_soon(grid, car, 7.2, 8.0, 0.0)
    assert not bumps_soon(grid, car, 6.0, 8.0, math.pi, 2.2)
    assert not bumps_soon(grid, car, 7.6, 8.0, math.pi)  # out of where one should not be


def test_who_finds_their_place_taken_goes_beside_it() -> None:
    grid = open_grid()
    walked = np.where(np.arange(SIDE) >= 44, SIDEWALK, ROAD)  # from 11 m on
    grid = grid._replace(surface=np.tile(walked, (1, SIDE, 1)).astype(np.uint8))
    goal = (12.0, 8.0)
    crowd = Obstacles(np.zeros((0, 6)), np.array([(12.0, 8.0), (12.0, 8.9), (12.0, 7.1)]))
    assert len(find_detour(grid, crowd, (4.0, 8.0), goal)) == 0
    way = path_off_road(grid, crowd, (4.0, 8.0), (goal, (4.0, 8.0)))
    assert len(way) >= 2
    assert 1.0 < math.hypot(way[-1, 0] - goal[0], way[-1, 1] - goal[1]) < 4.0
    assert room_at(grid, crowd, *way[-1]) > -0.05


def test_idle_clips_stay_and_walking_clips_lead(bank: ClipBank, repertoire: Repertoire) -> None:
    """A minute of each: nobody idle drifts off the kerb, everybody walking gets over a road."""
    players = Players(bank)
    idle = [players.add("man", x_m=0.0, y_m=0.0, yaw_rad=0.0) for _ in repertoire.idle]
    for row, use in zip(idle, repertoire.idle, strict=True):
        players.play(row, Cue(clip=use.name, heading_rad=0.0, loop=True))
    for _ in range(1200):
        players.advance(DELTA_S)
    away = np.hypot(players.rows.x_m, players.rows.y_m)
    assert float(away.max()) < 0.6
    assert {use.motion_class for use in repertoire.crossing} == {"crossing"}
    assert all(use.speed_mps >= 0.5 for use in repertoire.walking)


def test_who_walks_keeps_walking_through_loops_and_follow_up_clips(
    bank: ClipBank, repertoire: Repertoire
) -> None:
    """Clips begin and end standing; nobody may do so in the middle of a road."""
    uses = [use for use in repertoire.crossing if use.walks and use.kind not in ("pause", "look")]
    players = Players(bank)
    for use in uses[::3]:
        row = players.add("boy" if use.child else "man", x_m=0.0, y_m=0.0, yaw_rad=0.0)
        carry = repertoire.fitting(repertoire.ordinary, use.child)[row % 5].name
        then = [Cue(clip=carry, loop=True, holds=False)] if row % 2 else []
        players.play(row, Cue(clip=use.name, loop=not then, holds=False), then)
    at = np.zeros((500, len(players), 2))
    for tick in range(len(at)):
        players.advance(DELTA_S)
        at[tick] = np.column_stack([players.rows.x_m, players.rows.y_m])
    # over a second, once the first steps are made; 25 s hold several loops of every clip
    speed = np.linalg.norm(at[20:] - at[:-20], axis=2)[60:]
    assert float(speed.min()) > 0.25
    assert float((speed.min(axis=0) / np.median(speed, axis=0)).mean()) > 0.6
