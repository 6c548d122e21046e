"""Archives: what is written is read again, and what is wrong is named."""

from dataclasses import fields

import numpy as np
import pytest
from realism_scenes import crossing_scene, red_signal, replay, scene

from jaywalk.core.errors import DataError, UsageError
from jaywalk.metrics.realism._features import case_features
from jaywalk.metrics.realism.challenge import CONFIGS
from jaywalk.metrics.realism.scene import Polylines, SceneLanes, SceneSignals
from jaywalk.metrics.realism.score import aggregate, score_features
from jaywalk.rollouts.cases._npz import (
    Maker,
    RolloutFolder,
    case_arrays,
    read_npz_case,
    write_npz_case,
)
from jaywalk.rollouts.inputs import read_cases


def same(a, b):
    if isinstance(a, SceneLanes | Polylines | SceneSignals):
        return all(same(getattr(a, f.name), getattr(b, f.name)) for f in fields(a))
    return np.array_equal(a, b)


def test_an_archive_keeps_everything(tmp_path):
    case = replay(scene([(lambda s: s * 1.0, 0.0, 0.0)], signals=red_signal()), 3)
    write_npz_case(tmp_path / "hand.npz", case)
    found = read_npz_case(tmp_path / "hand.npz")
    for one, other in ((case.scene, found.scene), (case.rollouts, found.rollouts)):
        for field in fields(one):
            assert same(getattr(one, field.name), getattr(other, field.name)), field.name
    assert [p.name for p in tmp_path.iterdir()] == ["hand.npz"]


def test_a_folder_of_archives_is_read_without_their_feature_files(tmp_path):
    """Stands in for the golden cases: read, scored, and the same numbers as without a file."""
    cases = []
    for k in range(2):
        one = replay(scene([(lambda s, k=k: s * (1.0 + k), 0.0, 0.0)], name=f"case_0{k}"), 3)
        write_npz_case(tmp_path / f"case_0{k}.npz", one)
        np.savez(tmp_path / f"case_0{k}_features.npz", speed=np.zeros(3))
        cases.append(one)
    found = list(read_cases(tmp_path))
    assert [case.scene.name for case in found] == ["case_00", "case_01"]
    for year, config in CONFIGS.items():
        ours, theirs = (
            aggregate(
                [
                    score_features(c.scene.name, case_features(c, config), config, len(c.rollouts))
                    for c in some
                ],
                config,
            )
            for some in (cases, found)
        )
        assert ours.metametric == theirs.metametric, year
        if config.is_generation:  # no log to compare with
            assert np.isnan(ours.ade_m)
        else:
            assert ours.ade_m == pytest.approx(0.0)  # a replay of the log


WRONG = {
    "object_type has shape": {"object_type": lambda v: v[:-1]},
    "valid has shape": {"log_valid": lambda v: v[:, :50]},
    "x_m has shape": {"log_x": lambda v: v[:, :90]},
    "x_m of the log has values that are not finite": {"log_x": lambda v: np.full_like(v, np.nan)},
    "rise from 0": {"road_edge_offsets": lambda v: v + 5},
    "must be finite": {"road_edge_points": lambda v: v * np.nan},
    r"expected \(n, 3\)": {"lane_points": lambda v: v[:, :2]},
    "lane ids": {"lane_id": lambda v: np.append(v, 3)},
    "stop points": {"signal_state": lambda v: v[:-1]},
    "expected one": {"sdc_track_index": lambda v: np.array([0, 1])},
    "has no array": {"log_heading": None},
    "not a table of numbers": {"log_y": lambda v: np.full(v.shape, "left")},
    "has no rollouts": {f"sim_{n}": lambda v: v[:0] for n in ("x", "y", "z", "heading")},
    "every simulated object needs a pose": {"sim_z": lambda v: v * np.inf},
}


@pytest.mark.parametrize("words", WRONG)
def test_a_wrong_archive_is_an_error_that_says_what(words, tmp_path):
    case = replay(scene([(lambda s: 1 + s * 1.0, 0.0, 0.0)], signals=red_signal()), 2)
    arrays = case_arrays(case)
    for name, change in WRONG[words].items():
        if change is None:
            del arrays[name]
        else:
            arrays[name] = change(arrays[name])
    with np.errstate(invalid="ignore"):
        np.savez(tmp_path / "bad.npz", **arrays)
    with pytest.raises(DataError, match=words):
        read_npz_case(tmp_path / "bad.npz")


def test_what_is_no_number_where_nothing_is_valid_is_zero(tmp_path):
    arrays = case_arrays(replay(crossing_scene(), 2))
    arrays["log_valid"] = arrays["log_valid"].copy()
    arrays["log_valid"][1, 60:] = False
    arrays["log_x"] = np.where(arrays["log_valid"], arrays["log_x"], np.nan)
    np.savez(tmp_path / "gap.npz", **arrays)
    assert (read_npz_case(tmp_path / "gap.npz").scene.x_m[1, 60:] == 0.0).all()


def test_a_folder_of_rollouts_is_of_one_maker(tmp_path):
    maker = Maker(policy="lanes", n=2, seed=0, source="x")
    folder = RolloutFolder(tmp_path / "out", maker)
    case = replay(crossing_scene("a/b"), 2)
    assert not folder.has("a/b")
    folder.add(case)
    again = RolloutFolder(tmp_path / "out", maker)
    assert again.has("a/b")
    again.file("a/b").write_bytes(b"cut off")
    assert not again.has("a/b")
    with pytest.raises(UsageError, match="seed 0, not 1"):
        RolloutFolder(tmp_path / "out", Maker(policy="lanes", n=2, seed=1, source="x"))
