"""People who look both ways and cross when no vehicle arrives within five seconds."""

import numpy as np

from jaywalk_agent import PersonAct
from jaywalk_agent.people import AT_KERB


class Careful:
    """Decisions of all people of an episode; each array has one row per person."""

    def reset(self, who, goal_m, rng):
        """Get ready for an episode."""
        self.walk_mps = who.free_mps[:, None]

    def act(self, seen):
        """Answer for the next 0.1 s."""
        offset = seen.vehicle_now_m - seen.position_m[:, None]
        away_m = np.linalg.norm(offset, axis=2)
        closing = -(offset * seen.vehicle_mps).sum(axis=2) / np.maximum(away_m, 0.1)
        comes = (seen.vehicle_id != 0) & (away_m < 5.0 * closing)
        at_kerb = (seen.place == AT_KERB) & (seen.kerb_m < 3.0)
        waits = at_kerb & (comes.any(axis=1) | ~seen.may_go)
        left = np.column_stack([seen.onward[:, 1], -seen.onward[:, 0]])
        aside = (-1.0) ** int(seen.time_s) * left  # left, right, left ... second by second
        gaze = np.where(at_kerb[:, None], seen.position_m + 10.0 * aside, np.nan)
        return PersonAct(np.where(waits[:, None], 0.0, seen.onward * self.walk_mps), gaze)
