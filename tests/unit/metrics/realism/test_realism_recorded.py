"""The properties that the post demands, on recorded people and vehicles (DUT and CITR).

Files made here in the same format stand in for the recordings where those are absent.
"""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from real_data import where_data_lies
from realism_recorded import recorded_scene
from realism_scenes import assert_no_jump, replay

from jaywalk.datasets.vci import read_vci
from jaywalk.metrics.realism._features import case_features
from jaywalk.metrics.realism.bounds import replaced
from jaywalk.metrics.realism.challenge import CONFIGS
from jaywalk.metrics.realism.jaywalk_score._coordination import encounters
from jaywalk.metrics.realism.jaywalk_score._likeness import likeness_costs
from jaywalk.metrics.realism.jaywalk_score._safety import event_safety
from jaywalk.metrics.realism.jaywalk_score.score import better_features, scene_costs, score_jaywalk1
from jaywalk.metrics.realism.scene import CURRENT_STEP, N_HISTORY
from jaywalk.metrics.realism.studies.studies import with_collisions, without_events

DATA = Path(__file__).parents[5] / "shared" / "data" / "vci" / "vci_dut_citr.tar.xz"


def write_street(folder, source, rate_hz):
    """Two clips with a car and four people who cross before and after it, in the files' format."""
    place = folder / source / "data" / "trajectories_filtered"
    place = place / "vci_front" if source == "citr" else place
    place.mkdir(parents=True)
    frames = np.arange(1, int(11.0 * rate_hz))
    for clip in (1, 2):
        people, cars = (
            ["id,frame,label,x_est,y_est,vx_est,vy_est"],
            ["id,frame,label,x_est,y_est,psi_est,vel_est"],
        )
        for frame in frames:
            t = frame / rate_hz
            for person in range(4):
                pace = 0.9 + 0.15 * person + 0.1 * clip + 0.25 * np.sin(0.9 * t + person)
                x, y = 6.0 + 5.0 * person + 0.2 * np.sin(t), -6.0 + 1.1 * t + 0.4 * np.sin(0.7 * t)
                people.append(f"{person},{frame},ped,{x},{y},0,{pace}")
            speed = 2.5 + np.sin(0.6 * t + clip)
            cars.append(
                f"0,{frame},veh,{-4.0 + 2.5 * t - np.cos(0.6 * t + clip) / 0.6},0,0,{speed}"
            )
        name = f"intersection_0{clip}_traj"
        (place / f"{name}_ped_filtered.csv").write_text("\n".join(people))
        (place / f"{name}_veh_filtered.csv").write_text("\n".join(cars))


@pytest.fixture(scope="module", params=["made", *where_data_lies("recorded")])
def cases(request, tmp_path_factory):
    path = DATA
    if request.param == "made":
        path = tmp_path_factory.mktemp("vci")
        write_street(path, "dut", 23.98)
        write_street(path, "citr", 29.97)
    elif not DATA.is_file():
        pytest.skip("needs ../shared/data/vci")
    data = read_vci(path)
    found = []
    for source in ("dut", "citr"):
        clips = sorted(c for c in set(data.ego["scene_id"]) if c.startswith(source))
        for clip in (c for c in clips if len(found) < 2 + 2 * (source == "citr")):
            seen = data.ego.filter(data.ego["scene_id"] == clip)["k"]
            if seen.max() - seen.min() < 91:
                continue
            scene = recorded_scene(data, clip, int(seen.min()))
            if len(scene.object_id) >= 4 and scene.valid.mean() > 0.6:
                found.append(replay(scene, 4))
    assert len(found) == 4
    return found


def later(case, steps):
    rows = case.scene.simulated_index
    at = np.maximum(np.arange(N_HISTORY, 91) - steps, CURRENT_STEP)
    changes = {
        name: np.repeat(getattr(case.scene, name)[None, rows][:, :, at], len(case.rollouts), 0)
        for name in ("x_m", "y_m", "heading_rad")
    }
    return replace(case, rollouts=replace(case.rollouts, **changes))


def test_the_log_is_one_and_random_is_zero(cases):
    assert score_jaywalk1(cases).likeness.value == pytest.approx(1.0)
    assert score_jaywalk1(replaced(cases, "random")).likeness.value == pytest.approx(0.0, abs=1e-9)


def test_an_event_at_another_time_costs_and_a_later_one_more(cases):
    values = [score_jaywalk1([later(c, k) for c in cases]).likeness.value for k in (0, 5, 15)]
    assert values[0] > values[1] + 0.02
    assert values[1] > values[2] + 0.02


def test_superhuman_is_not_worse_and_ten_collisions_cost_more_than_one(cases):
    features = case_features(cases[0], CONFIGS["2025"])
    one, ten = (with_collisions(features, rollouts=1, steps=n) for n in (1, 10))
    flawless = without_events(ten)
    assert likeness_costs(cases[0], flawless) == likeness_costs(cases[0], ten)
    shares = [event_safety([f], "collision_indication").time_share for f in (flawless, one, ten)]
    assert shares[0] < shares[1] < shares[2]


def test_a_small_change_never_jumps_the_score(cases):
    case = cases[0]
    aside = np.linspace(-1.0, 1.5, case.rollouts.y_m.shape[1], dtype=np.float32)[None, :, None]

    def costs(shift):
        moved = replace(case.rollouts, y_m=case.rollouts.y_m + np.float32(shift) * aside)
        here = replace(case, rollouts=moved)
        found = scene_costs(here, better_features(here), encounters(here))
        return np.array([v for v in found.values() if np.isfinite(v)])

    assert_no_jump(costs, np.linspace(0.0, 2.0, 9))
