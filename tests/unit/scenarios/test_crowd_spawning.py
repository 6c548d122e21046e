"""Who is drawn and where they start, with a server made here."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import carla
import numpy as np
import pytest

from jaywalk.actors.crowd._spawning import draw_person, spawn_people
from jaywalk.actors.crowd.places import PlaceKind, Places, mark_parked, near_route
from jaywalk.actors.crowd.state import CrowdSettings
from jaywalk.core.errors import DataError
from jaywalk.town.routes import DenseRoute
from jaywalk.town.walkways import ROAD, SIDE, SIDEWALK, Tiling, WalkGrid


class Model:
    """A walker's blueprint."""

    def __init__(self, name: str, age: str) -> None:
        self.id, self.values = name, {"age": age, "gender": "male", "role_name": ""}

    def has_attribute(self, name: str) -> bool:
        return name in self.values

    def get_attribute(self, name: str) -> Any:
        return SimpleNamespace(as_str=lambda: self.values[name])

    def set_attribute(self, name: str, value: str) -> None:
        self.values[name] = value


class Server:
    """Spawns where nothing is refused; remembers who is there."""

    def __init__(self, refuses: Any) -> None:
        self.refuses, self.alive, self.next = refuses, {}, 1

    def apply_batch_sync(self, commands: list[Any]) -> list[Any]:
        answers = []
        for kind, value in commands:
            if kind == "destroy":
                del self.alive[value]
                continue
            error = "taken" if self.refuses(value.location) else ""
            if not error:
                self.alive[self.next] = value
            answers.append(SimpleNamespace(error=error, actor_id=self.next))
            self.next += 1
        return answers


@pytest.fixture
def commands(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands a fake server can read: the wheel's own take only the wheel's blueprints."""
    fake = SimpleNamespace(
        SpawnActor=lambda _model, pose: ("spawn", pose),
        DestroyActor=lambda actor: ("destroy", actor),
    )
    monkeypatch.setattr(carla, "command", fake)


def world() -> Any:
    models = [Model(f"walker.pedestrian.{k:04d}", "child" if k > 8 else "adult") for k in range(12)]
    library = SimpleNamespace(filter=lambda _: models)
    actors = SimpleNamespace(filter=lambda _: [])
    return SimpleNamespace(get_blueprint_library=lambda: library, get_actors=lambda: actors)


def network(count: int = 400) -> Any:
    """Places along y = 4 and y = -4, every metre."""
    x = np.tile(np.arange(count // 2, dtype=float), 2)
    y = np.repeat([4.0, -4.0], count // 2)
    kind = np.where(np.arange(count) % 10 == 0, int(PlaceKind.CROSSWALK), int(PlaceKind.SIDEWALK))
    zero = np.zeros(count)
    surface = np.full((4, SIDE, SIDE), ROAD, np.uint8)
    surface[:, :17] = surface[:, 23:] = SIDEWALK
    tiling = Tiling(-10.0, -20.0, 1.0, np.arange(4, dtype=np.int32).reshape(1, 4))
    return SimpleNamespace(
        places=Places(x, y, zero, zero, kind.astype(np.int64), np.zeros(count, np.int64)),
        grid=WalkGrid(tiling, surface, surface, surface),
        solids=SimpleNamespace(parked=np.zeros((0, 6))),
    )


def route(length: int = 200) -> DenseRoute:
    x = np.arange(length, dtype=float)
    zero = np.zeros(length)
    return DenseRoute(
        position_m=np.column_stack([x, zero, zero]),
        rotation_deg=np.zeros((length, 3)),
        option=np.full(length, 4, np.int8),
        lane=np.zeros((length, 3), np.int64),
        in_junction=np.zeros(length, np.bool_),
    )


def spawned(server: Server, count: int, **options: Any) -> list[Any]:
    settings = options.get("settings", CrowdSettings())
    people = [draw_person(7, number, settings) for number in range(count)]
    clear = options.get("keep_clear_m", ())
    return spawn_people(server, world(), network(), people, route(), clear, settings)


def test_a_person_is_the_same_whoever_else_is_there(commands: None) -> None:
    few, many = spawned(Server(lambda _: False), 5), spawned(Server(lambda _: False), 40)
    for one, same in zip(few, many, strict=False):
        assert one.person == same.person
        assert (one.candidate.x_m, one.candidate.y_m) == (same.candidate.x_m, same.candidate.y_m)
    assert len({one.candidate.margin_s for one in many}) == 40


def test_shares_of_the_classes_and_of_children_are_as_asked() -> None:
    people = [draw_person(3, number, CrowdSettings(children=0.25)) for number in range(4000)]
    share = np.mean([one.intended == "not_crossing" for one in people])
    assert abs(share - 0.5) < 0.03
    assert abs(np.mean([one.intended == "attempting" for one in people]) - 0.15) < 0.03
    assert abs(np.mean([one.child for one in people]) - 0.25) < 0.03


def test_refused_places_lead_to_others_and_the_count_is_exact(commands: None) -> None:
    server = Server(lambda place: place.y > 0.0)
    found = spawned(server, 30)
    assert len(server.alive) == len(found) == 30
    assert {one.person.side for one in found} == {"left"}
    places = np.array([(one.candidate.x_m, one.candidate.y_m) for one in found])
    gaps = np.hypot(*(places[:, None] - places[None]).transpose(2, 0, 1)) + 9.0 * np.eye(30)
    assert gaps.min() >= 1.2
    assert [one.person.number for one in found] == list(range(30))


def test_nobody_is_left_behind_when_there_is_no_room(commands: None) -> None:
    server = Server(lambda place: place.x > 20.0)
    with pytest.raises(DataError, match=r"Only \d+ of 150 people found a free place along"):
        spawned(server, 150)
    assert server.alive == {}


def test_circles_stay_clear(commands: None) -> None:
    found = spawned(Server(lambda _: False), 60, keep_clear_m=[(100.0, 0.0, 50.0)])
    assert all(np.hypot(p.candidate.x_m - 100.0, p.candidate.y_m) >= 50.0 for p in found)


@pytest.mark.parametrize("side", ["left", "right"])
def test_everybody_on_one_side(commands: None, side: str) -> None:
    found = spawned(Server(lambda _: False), 30, settings=CrowdSettings(side=side))
    assert {one.person.side for one in found} == {side}
    assert {one.candidate.y_m for one in found} == {4.0 if side == "right" else -4.0}


def test_gaps_by_parked_cars_but_not_by_waiting_ones() -> None:
    town = network()
    parked = np.array([[50.0, 1.9, 1.0, 0.0, 2.3, 0.9]])
    marked = mark_parked(town.places, town.grid, parked)
    found = np.flatnonzero(marked.kind == int(PlaceKind.PARKED_GAP))
    assert sorted(marked.x[found].tolist()) == [46.0, 47.0, 53.0, 54.0]
    assert set(marked.y[found].tolist()) == {4.0}
    waiting = np.array([[50.0, 0.0, 1.0, 0.0, 2.3, 0.9]])
    assert (mark_parked(town.places, town.grid, waiting).kind == town.places.kind).all()


def test_band_along_a_route() -> None:
    places = np.array([[50.0, 20.0], [50.0, 35.0], [-25.0, 0.0], [-40.0, 0.0]])
    assert near_route(places, route(), 30.0).tolist() == [True, False, True, False]
