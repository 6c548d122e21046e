"""Human-likeness of people: features by hand, distances against scipy, bounds."""

import json

import numpy as np
import pytest
from scipy.stats import wasserstein_distance
from typer.testing import CliRunner

from jaywalk.cli.main import app
from jaywalk.core.errors import DataError
from jaywalk.metrics.realism.people.behaviour import (
    PeopleSet,
    PersonTrack,
    behaviour,
    gap_samples,
    under_way,
    walking_samples,
)
from jaywalk.metrics.realism.people.likeness import people_likeness, random_people
from jaywalk.rollouts.cases.recorded_people import read_people_csv


def track(x, y, step_s=0.1, clip="c", start_s=0.0):
    x, y = np.broadcast_arrays(np.asarray(x, float), np.asarray(y, float))
    time_s = start_s + np.arange(len(x)) * step_s
    return PersonTrack(clip=clip, time_s=time_s, xy_m=np.column_stack([x, y]))


def crowd(seed, n=40, speed=1.3):
    """People who walk with slowly changing speed and heading; one in four stands for a while."""
    rng = np.random.default_rng(seed)
    people = []
    for k in range(n):
        heading = rng.uniform(-3, 3) + np.cumsum(rng.normal(0, 0.03, 100))
        speeds = rng.normal(speed, 0.2) + np.cumsum(rng.normal(0, 0.02, 100))
        if k % 4 == 0:
            speeds[30:60] = 0.0
        steps = 0.1 * speeds[:, None] * np.column_stack([np.cos(heading), np.sin(heading)])
        xy = rng.uniform(-20, 20, 2) + np.cumsum(steps, axis=0)
        people.append(track(*xy.T))
    return PeopleSet(name=f"crowd{seed}", people=tuple(people))


def test_a_walk_with_a_stop():
    t = np.arange(100) * 0.1
    x = np.where(t < 4, 1.5 * t, np.where(t < 6, 6.0, 6.0 + 1.5 * (t - 6)))
    found = walking_samples(track(x, 0.0))
    assert np.median(found["speed_mps"]) == pytest.approx(1.5)
    minutes = len(found["speed_mps"]) * 0.1 / 60
    assert found["stops_and_starts_per_min"][0] * minutes == pytest.approx(2)
    assert found["standing_share"][0] == pytest.approx(1.6 / (95 * 0.1), abs=0.02)
    assert found["detour"][0] == pytest.approx(0.0, abs=1e-9)
    assert walking_samples(track(x[:8], 0.0)) == {}


def test_frame_rates_do_not_matter():
    t = np.arange(0, 10, 1 / 29.97)
    fast = walking_samples(track(1.4 * t, 0.2 * t, step_s=1 / 29.97))
    np.testing.assert_allclose(fast["speed_mps"], np.hypot(1.4, 0.2), rtol=1e-6)


def test_gaps_by_hand():
    # The person is at x = 0 at 5 s, the vehicle at 8 s (in front of it) or long before.
    person = track(0.0, np.linspace(-5.0, 5.0, 101))
    late = track(np.linspace(-40.0, 10.0, 101), 0.0)
    early = track(np.linspace(-5.0, 45.0, 101), 0.0)
    elsewhere = track(np.linspace(-40.0, 10.0, 101), 0.0, clip="d")
    gaps = gap_samples(person, [late, early, elsewhere])
    assert len(gaps) == 2
    # On the path within 1.5 m first at y = -1.5 (3.5 s); the vehicle is near there from 7.7 s on.
    assert gaps[0] == pytest.approx(8.0 - 3.6, abs=0.3)
    assert gaps[1] == pytest.approx(1.0 - 3.6, abs=0.3)


def test_only_gaps_within_ten_seconds_count_and_every_crossing():
    there = np.linspace(-5.0, 5.0, 101)
    person = track(0.0, np.concatenate([there, there[::-1]]))
    once = track(np.linspace(-40.0, 10.0, 101), 0.0)  # at x = 0 after 8 s
    assert len(gap_samples(person, [once])) == 2
    late = track(np.linspace(-40.0, 10.0, 101), 0.0, start_s=30.0)
    assert len(gap_samples(person, [late])) == 0


def test_people_are_looked_at_while_under_way():
    t = np.arange(400) * 0.1
    x = np.clip(t - 20.0, 0.0, 6.0) * 1.4  # stands for 20 s, walks for 6, stands again
    found = under_way(track(x, 0.0))
    assert found.time_s[0] == pytest.approx(18.9, abs=0.3)
    assert found.time_s[-1] == pytest.approx(27.1, abs=0.3)
    assert under_way(track(np.zeros(100), 0.0)) is None
    (person,) = behaviour(PeopleSet(name="one", people=(track(x, 0.0), track(x * 0.0, 0.0))))
    assert np.median(person["speed_mps"]) == pytest.approx(1.4)
    # A long walk counts piece by piece, but is one person.
    (walker,) = behaviour(PeopleSet(name="long", people=(track(t * 1.2, 0.0),)))
    assert len(walker["detour"]) == 5


def write_csv(path, people):
    rows = ["clip,track,kind,t_s,x_m,y_m"]
    for number, one in enumerate(people.people):
        rows += [
            f"{one.clip},{number},person,{t:.3f},{x:.4f},{y:.4f}"
            for t, (x, y) in zip(one.time_s, one.xy_m, strict=True)
        ]
    path.write_text("\n".join(rows))
    return str(path)


def test_the_command_takes_several_sources_and_one_reference(tmp_path):
    a, b, c = (write_csv(tmp_path / f"p{k}.csv", crowd(k)) for k in range(3))
    call = CliRunner().invoke
    one = json.loads(call(app, ["realism", "people", a, b, "--json"]).stdout)
    assert set(one["groups"]["p1"]) == {"p0"}
    assert one["features"] == one["groups"]["p1"]["p0"]
    both = call(app, ["realism", "people", a, b, "--recorded", c])
    assert both.exit_code == 0
    lines = [line.split("\t")[0] for line in both.stdout.splitlines()]
    assert lines[:6] == [
        "likeness to p2",
        "p0",
        "p1",
        "bound: straight",
        "bound: random",
        "bound: halves",
    ]
    alone = call(app, ["realism", "people", a])
    assert "--recorded" in str(alone.exception)


def test_the_same_kind_of_people_are_alike_and_others_are_not():
    reference = crowd(0)
    same = people_likeness(crowd(1), reference)
    assert {"speed_mps", "turning_radps", "detour"} <= set(same)
    assert "accepted_gap_s" not in same
    assert all(row.likeness.value > 0.85 for row in same.values())
    hasty = people_likeness(crowd(1, speed=2.3), reference)
    assert hasty["speed_mps"].likeness.value < 0.3
    assert hasty["speed_mps"].median == pytest.approx(2.3, abs=0.3)
    lost = people_likeness(random_people(reference), reference)
    assert lost["speed_mps"].likeness.value == pytest.approx(0.0, abs=1e-9)


def test_the_distance_is_that_of_wasserstein():
    a, b = crowd(2), crowd(3, speed=1.6)
    ours = people_likeness(a, b)["speed_mps"].distance
    samples = [
        np.concatenate([person["speed_mps"] for person in behaviour(people)]) for people in (a, b)
    ]
    assert ours == pytest.approx(wasserstein_distance(*samples), abs=0.01)


def test_files_are_read_and_errors_are_clear(tmp_path):
    path = tmp_path / "p.csv"
    rows = ["clip,track,kind,t_s,x_m,y_m"]
    rows += [f"a,1,ped,{k / 10},{k / 8},0" for k in range(30)]
    rows += [f"a,1,veh,{k / 10},{k},3" for k in range(30)]
    path.write_text("\n".join(rows))
    found = read_people_csv(path)
    assert (len(found.people), len(found.vehicles)) == (1, 1)
    with pytest.raises(DataError, match="too few people"):
        people_likeness(found, found)
    path.write_text("\n".join(rows).replace("ped", "dog"))
    with pytest.raises(DataError, match="dog"):
        read_people_csv(path)
    path.write_text("clip,x_m\na,1")
    with pytest.raises(DataError, match="lacks the columns"):
        read_people_csv(path)
    with pytest.raises(DataError, match="do not increase"):
        PersonTrack(clip="c", time_s=np.zeros(2), xy_m=np.zeros((2, 2)))
