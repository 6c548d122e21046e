"""Workers of the vector environment, and what is left when it is closed."""

from __future__ import annotations

import numpy as np
import psutil
import pytest

gymnasium = pytest.importorskip("gymnasium", reason="the extra 'gym' is not installed")


def test_workers_drive_and_leave_nothing() -> None:
    import jaywalk.gym  # noqa: F401  (registers)

    envs = gymnasium.make_vec(
        "jaywalk/Drive-v1",
        num_envs=1,
        vectorization_mode="async",
        vehicles=0,
        action="joined",
        routes="01-harbour-hidden",
        max_episode_steps=5,
    )
    before = set(psutil.Process().children(recursive=True))
    seen, _ = envs.reset(seed=1)
    assert len(set(psutil.Process().children(recursive=True)) - before) == 1  # the server
    for _ in range(5):
        seen, _, _, truncated, info = envs.step(np.array([[0.5, 0.0]], np.float32))
    assert truncated.tolist() == [True]
    assert info["route"].tolist() == ["01-harbour-hidden"]
    assert envs.observation_space.contains(seen)
    family = psutil.Process().children(recursive=True)
    envs.close()
    psutil.wait_procs(family, timeout=60.0)
    assert not [one for one in family if one.is_running()]
