"""Small scenes for realism tests, made by hand."""

import numpy as np

from jaywalk.metrics.realism.baselines import log_replay
from jaywalk.metrics.realism.scene import (
    N_STEPS,
    Case,
    LoggedScene,
    Polylines,
    SceneLanes,
    SceneSignals,
)

ROAD = [[(-200.0, -6.0, 0.0), (200.0, -6.0, 0.0)], [(200.0, 6.0, 0.0), (-200.0, 6.0, 0.0)]]
LANE = [(-200.0 + 10.0 * i, 0.0, 0.0) for i in range(41)]


def no_signals():
    return SceneSignals(
        n_steps=0,
        step=np.zeros(0, np.int64),
        lane_id=np.zeros(0, np.int64),
        state=np.zeros(0, np.int64),
        stop_point_m=np.zeros((0, 3), np.float32),
    )


def red_signal(x=20.5, state=4, steps=range(N_STEPS)):
    steps = np.array(list(steps), np.int64)
    return SceneSignals(
        n_steps=N_STEPS,
        step=steps,
        lane_id=np.full(len(steps), 7),
        state=np.full(len(steps), state),
        stop_point_m=np.tile(np.array([[x, 0.0, 0.0]], np.float32), (len(steps), 1)),
    )


def scene(tracks, *, name="hand", types=None, predict=None, edges=ROAD, signals=None, sizes=None):
    """Scene from tracks: each (x, y, heading) functions of the step, or arrays of 91."""
    n = len(tracks)
    steps = np.arange(N_STEPS, dtype=np.float64)

    def filled(values):
        return np.broadcast_to(np.asarray(values, np.float32), (N_STEPS,))

    columns = [
        np.stack([filled(t[k](steps) if callable(t[k]) else t[k]) for t in tracks]).astype("f4")
        for k in range(3)
    ]
    sizes = sizes or [(4.0, 2.0)] * n
    length, width = (np.stack([filled(s[k]) for s in sizes]).astype("f4") for k in range(2))
    return LoggedScene(
        name=name,
        object_id=np.arange(n) + 10,
        object_type=np.array(types or [1] * n),
        x_m=columns[0],
        y_m=columns[1],
        z_m=np.full((n, N_STEPS), 0.75, np.float32),
        heading_rad=columns[2],
        length_m=length,
        width_m=width,
        height_m=np.full((n, N_STEPS), 1.5, np.float32),
        valid=np.ones((n, N_STEPS), bool),
        sdc_index=0,
        predict_index=np.array(predict if predict is not None else range(n), np.int64),
        road_edges=Polylines.of(edges),
        lanes=SceneLanes(
            lines=Polylines.of([LANE]), lane_id=np.array([7]), lane_type=np.array([2])
        ),
        signals=signals or no_signals(),
    )


def follower_scene(**options):
    """A car at 10 m/s behind one at 5 m/s, 60 m apart at first."""
    return scene([(lambda s: s * 1.0, 0.0, 0.0), (lambda s: 60.0 + s * 0.5, 0.0, 0.0)], **options)


def crossing_scene(name="crossing", pedestrian_start=-4.0):
    """A car that slows down for somebody who walks across in front of it."""

    def car(s):
        t = s * 0.1
        return -20.0 + np.where(t < 3.0, 5.0 * t, 15.0 + 1.5 * (t - 3.0))

    return scene(
        [(car, 0.0, 0.0), (0.5, lambda s: pedestrian_start + 0.14 * s, np.pi / 2)],
        types=[1, 2],
        sizes=[(4.0, 2.0), (0.5, 0.5)],
        name=name,
    )


def replay(of, n=32):
    return Case(scene=of, rollouts=log_replay(of, n))


def assert_no_jump(costs, shifts):
    """Where a cost changes most between two shifts, ever smaller steps change it ever less."""
    curve = np.array([costs(s) for s in shifts])
    for part in range(curve.shape[1]):
        k = int(np.abs(np.diff(curve[:, part])).argmax())
        low, high = (shifts[k], curve[k, part]), (shifts[k + 1], curve[k + 1, part])
        before = abs(high[1] - low[1])
        for _ in range(6):
            x = (low[0] + high[0]) / 2
            middle = (x, costs(x)[part])
            nearer = abs(middle[1] - low[1]) > abs(high[1] - middle[1])
            low, high = (low, middle) if nearer else (middle, high)
        assert abs(high[1] - low[1]) < max(0.25 * before, 1e-4), part
