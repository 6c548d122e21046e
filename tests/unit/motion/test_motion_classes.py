"""The displacement rule and its agreement with labels."""

import numpy as np
import pytest
from synthetic_motion import still, walking

from jaywalk.core.errors import UsageError
from jaywalk.motion.library.classes import (
    ClassRule,
    MotionClass,
    agreement,
    classify,
    displacement_m,
    fit_rule,
    parse_class,
    recalls,
)


def test_three_people():
    assert classify(still()) is MotionClass.NOT_CROSSING
    walk = walking(seconds=4.0)
    assert displacement_m(walk) == pytest.approx((4.8, 4.8), abs=0.05)
    assert classify(walk) is MotionClass.CROSSING
    there_and_back = walk.with_poses(
        np.concatenate([walk.rotations, walk.rotations[::-1]]),
        np.concatenate([walk.root_m, walk.root_m[::-1]]),
    )
    assert classify(there_and_back) is MotionClass.ATTEMPTING


def test_spellings():
    assert parse_class("Not_Crossing") is MotionClass.NOT_CROSSING
    assert parse_class("not crossing") is MotionClass.NOT_CROSSING
    assert parse_class("") is None
    with pytest.raises(UsageError, match="jogging"):
        parse_class("jogging")


def made_up(seed=0, count=200):
    rng = np.random.default_rng(seed)
    net = rng.uniform(0, 4, count)
    far = np.maximum(net, rng.uniform(0, 4, count))
    return np.stack([net, far], axis=1)


def test_fitting_finds_the_thresholds():
    moved = made_up()
    labels = ClassRule(net_m=1.5, excursion_m=0.8).classify(moved)
    rule = fit_rule(moved, labels)
    assert rule.net_m == pytest.approx(1.5, abs=0.11)
    assert rule.excursion_m == pytest.approx(0.8, abs=0.11)
    assert recalls(rule.classify(moved), labels).min() > 0.95


def test_mirror_images_never_straddle_a_split():
    """Were copies split apart, a rule could not do better, but counting them twice must not help:
    labels that are noise per base stay unpredictable."""
    rng = np.random.default_rng(3)
    moved = np.repeat(rng.uniform(0, 4, (60, 2)), 2, axis=0)
    labels = np.repeat(rng.integers(0, 3, 60), 2)
    bases = [str(i // 2) for i in range(120)]
    score = agreement(moved, labels, bases, splits=10, seed=1)
    assert score.accuracy < 0.6
    again = agreement(moved, labels, bases, splits=10, seed=1)
    assert score == again
    with pytest.raises(UsageError, match="base motions"):
        agreement(moved[:4], labels[:4], bases[:4], splits=2, seed=1)
