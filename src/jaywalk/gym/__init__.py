"""Gymnasium environments: the runner's episodes for learners who drive, or who walk.

The import of this package registers them: ``import jaywalk.gym``, then ``gymnasium.make(ENV_ID)``.
Without the import use ``gymnasium.make("jaywalk.gym:jaywalk/Drive-v1")``.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import Final

from jaywalk.core.errors import PrerequisiteError

ENV_ID: Final = "jaywalk/Drive-v1"
PERSON_ENV_ID: Final = "jaywalk/Person-v1"

if find_spec("gymnasium") is None:
    raise PrerequisiteError("gymnasium is not installed. Run: pip install 'jaywalk[gym]'")

import gymnasium  # type: ignore[import-not-found,unused-ignore]  # noqa: E402

if ENV_ID not in gymnasium.registry:
    gymnasium.register(id=ENV_ID, entry_point="jaywalk.gym._drive_env:DriveEnv")
if PERSON_ENV_ID not in gymnasium.registry:
    gymnasium.register(id=PERSON_ENV_ID, entry_point="jaywalk.gym._person_env:PersonEnv")
