"""The studies by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from jaywalk.metrics.realism.challenge import ChallengeConfig
from jaywalk.metrics.realism.scene import Case
from jaywalk.metrics.realism.studies.bins import study_bins
from jaywalk.metrics.realism.studies.collisions import study_collisions
from jaywalk.metrics.realism.studies.curve import Study
from jaywalk.metrics.realism.studies.superhuman import study_superhuman
from jaywalk.metrics.realism.studies.timing import study_timing

STUDIES: dict[str, Callable[[Sequence[Case], ChallengeConfig], Study]] = {
    "collisions": study_collisions,
    "superhuman": study_superhuman,
    "timing": study_timing,
    "bins": study_bins,
}
