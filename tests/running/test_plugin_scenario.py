"""A scenario type of another package, found by its entry point in every process of a run."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow
_MAIN = "from jaywalk.cli.main import main; main()"
_MODULE = '''
"""A box beside the road."""
from dataclasses import dataclass
from typing import ClassVar

from jaywalk.client.placing import place_on_route, spawn_all
from jaywalk.scenarios.base import Parameters, Scenario
from jaywalk.scenarios.catalogue import scenario
from jaywalk.scenarios.parameter_fields import ahead


@dataclass(frozen=True, slots=True, kw_only=True)
class BoxParameters(Parameters):
    """A box."""

    distance: float = ahead(20.0)


@scenario("boxes/box-beside-v1", "a box stands beside the road")
@dataclass(slots=True, kw_only=True)
class BoxBeside(Scenario):
    """A box."""

    parameters_type: ClassVar[type[Parameters]] = BoxParameters

    def setup(self):
        """Place the box."""
        at_m = self.trigger_along_m + self.parameters.distance
        pose = place_on_route(self.context.route, at_m, 9.0)
        box = ("static.prop.creasedbox01", pose)
        self.actor_ids = spawn_all(
            self.context.client, self.context.world, [box], self.element.where
        )

    def tick(self, moment):
        """End when the ego has passed."""
        return moment.ego_along_m > self.trigger_along_m + self.parameters.distance + 10.0
'''


@pytest.fixture
def jaywalk(tmp_path):
    """The command line with the other package installed."""
    site = tmp_path / "site"
    facts = site / "jaywalk_boxes-1.0.dist-info"
    facts.mkdir(parents=True)
    (site / "jaywalk_boxes.py").write_text(_MODULE, encoding="utf-8")
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: jaywalk-boxes\nVersion: 1.0\n")
    (facts / "entry_points.txt").write_text("[jaywalk]\nboxes = jaywalk_boxes\n")
    paths = os.pathsep.join([str(site), *filter(None, sys.path)])

    def call(*words):
        return subprocess.run(
            [sys.executable, "-c", _MAIN, *map(str, words)],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
            env={**os.environ, "PYTHONPATH": paths, "XDG_CACHE_HOME": str(tmp_path / "cache")},
        )

    return call


def test_a_type_of_another_package_is_written_checked_and_driven(jaywalk, tmp_path):
    made = jaywalk("scenario", "new", "box", "--type", "boxes/box-beside-v1")
    assert made.returncode == 0, made.stderr
    checked = jaywalk("scenario", "check", "box.toml", "--json")
    assert checked.returncode == 0, checked.stderr
    assert json.loads(checked.stdout)["solvable"] is True
    assert json.loads(checked.stdout)["danger"]["affected"] is False  # the box is beside the road
    assert jaywalk("scenario", "export", "box.toml").returncode == 0
    assert 'type="boxes/box-beside-v1"' in (tmp_path / "box.xml").read_text(encoding="utf-8")
    driven = jaywalk("run", "box.xml", "--agent", "expert", "--workers", "1", "--out", "driven")
    assert driven.returncode == 0, driven.stderr
