"""A lead car that brakes: how long it stands, with which lights, and who stands with it."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import SimpleNamespace

import carla
import numpy as np
import pytest
from scenario_street import TRIGGER_M, Wish, moment, street

TICK_S = 0.05
BRAKES_MPS2 = 5.0
PUBLIC = ("HardBreakRoute", "HardBrakeNoLights")
_BRAKE = int(carla.VehicleLightState.Brake)


@pytest.fixture(autouse=True)
def spawning(monkeypatch):
    monkeypatch.setattr(carla.command, "SpawnActor", Wish)


@dataclass
class Traffic:
    """Notes how the background is held."""

    caps: list = field(default_factory=list)
    now_s: float = 0.0
    seen: SimpleNamespace = field(
        default_factory=lambda: SimpleNamespace(box=np.zeros((0, 8)), person=np.zeros((0, 5)))
    )

    def cap_all(self, speed_mps):
        self.caps.append((round(self.now_s, 2), speed_mps))


@dataclass
class Drive:
    """A lead car that does what it is told, and an ego that follows and stops behind it."""

    kind: str
    speed_mps: float
    elements: str = ""
    now_s: float = 3.0
    ego_m: float = -58.0  # beyond the trigger
    began_s: float = np.nan
    braked_from_mps: float = np.nan
    lights: list = field(default_factory=list)  # (time, brake light shines)

    def __post_init__(self):
        self.traffic = Traffic()
        self.road = street(traffic=self.traffic)
        self.scenario = self.road.scenario(self.kind, self.elements)
        self.scenario.setup()
        (self.car,) = self.road.world.spawned
        self.car_m = TRIGGER_M + self.road.place(self.car.pose.location)[0]
        self.car_mps = 0.0

    def run(self, until_s):
        """Until a time after the trigger; the ego stands from the trigger on for 20 s."""
        while not self.since_s() > until_s:
            self.traffic.now_s = self.since_s()
            now = moment(self.now_s, self.ego_m, self.speed_mps, {self.car.id: self._state()})
            self.scenario.advance(now)
            if np.isnan(self.began_s) and not np.isnan(self.scenario.started_s):
                self.began_s, self.braked_from_mps = self.now_s, self.car_mps
            self._obey()
            stands = 0.0 <= self.since_s() < 20.0
            self.ego_m += 0.0 if stands else self.speed_mps * TICK_S
            self.now_s = round(self.now_s + TICK_S, 2)

    def since_s(self):
        """Since the trigger."""
        return self.now_s - self.began_s

    def _state(self):
        spot = self.road.location(self.car_m - TRIGGER_M, 0.0)
        return SimpleNamespace(
            get_transform=lambda: carla.Transform(spot, carla.Rotation()),
            get_velocity=lambda: carla.Vector3D(self.car_mps, 0.0, 0.0),
        )

    def _obey(self):
        brakes = False
        for one in self.road.world.commands:
            if isinstance(one, carla.command.ApplyTargetVelocity):
                self.car_mps = one.velocity.x
            elif isinstance(one, carla.command.ApplyVehicleControl):
                brakes = one.control.brake > 0.5
            elif isinstance(one, carla.command.SetVehicleLightState):
                self.lights.append((round(self.since_s(), 2), bool(int(one.light_state) & _BRAKE)))
        self.road.world.commands.clear()
        if brakes:
            self.car_mps = max(self.car_mps - BRAKES_MPS2 * TICK_S, 0.0)
        self.car_m += self.car_mps * TICK_S

    def drove_on_s(self):
        """When it drove on, after the trigger; None if it has not."""
        times = [
            one.time_s for one in self.scenario.events if one.detail.get("what") == "drives on"
        ]
        return times[0] - self.began_s if times else None


@pytest.mark.parametrize("kind", PUBLIC)
@pytest.mark.parametrize("speed_mps", [5.0, 14.0])
def test_it_holds_for_ten_seconds_from_the_trigger(kind, speed_mps):
    """However long it takes to come to a stop: the public class counts from the trigger."""
    drive = Drive(kind, speed_mps)
    drive.run(9.9)
    assert drive.braked_from_mps == pytest.approx(speed_mps, rel=0.1)
    assert drive.car_mps == 0.0
    assert drive.drove_on_s() is None
    assert drive.scenario.phase.value == "running"
    drive.run(10.3)
    assert drive.drove_on_s() == pytest.approx(10.0, abs=1e-6)
    assert drive.car_mps > 0.0


@pytest.mark.parametrize("kind", PUBLIC)
def test_the_background_stands_as_long(kind):
    drive = Drive(kind, 10.0)
    drive.run(12.0)
    (held_s, held), (freed_s, freed) = drive.traffic.caps
    assert (held, freed) == (0.0, None)
    assert freed_s == pytest.approx(10.0, abs=1e-6)
    assert np.isnan(held_s)  # at the tick of the trigger itself


def test_brake_lights_shine_as_long_or_never():
    shown, dark = (Drive(kind, 10.0) for kind in PUBLIC)
    shown.run(12.0)
    dark.run(12.0)
    assert shown.lights == [(0.0, True), (10.0, False)]
    assert dark.lights
    assert not any(shines for _, shines in dark.lights)
    assert shown.car_m == dark.car_m  # the lights are all the difference


def test_it_is_over_fifteen_metres_after_that():
    drive = Drive(PUBLIC[0], 10.0)
    drive.run(20.0)
    assert drive.scenario.phase.value == "running"  # the ego has not driven on yet
    drive.run(21.4)
    assert drive.scenario.phase.value == "running"
    drive.run(21.8)
    assert drive.scenario.phase.value == "done"


def test_ours_counts_from_its_standstill():
    drive = Drive("jaywalk/hard-brake-v1", 10.0, '<stop_time value="3"/>')
    drive.run(12.0)
    stood_s = drive.drove_on_s() - drive.braked_from_mps / BRAKES_MPS2
    assert stood_s == pytest.approx(3.0, abs=0.15)
