"""The child after a ball and others: what they send, and the clips that they play."""

import math

import carla
import numpy as np
import pytest
from bvh_files import CONVENTIONS, write_convention
from scenario_street import moment, street
from synthetic_motion import walking

from jaywalk.actors.posed.performers import Performers, split_clip
from jaywalk.core.errors import DataError, UsageError
from jaywalk.motion.library.building import Sources, build_library
from jaywalk.motion.library.reading import open_library
from jaywalk.motion.playback.bank import ClipBank
from jaywalk.runner.motions import library_of, named_clips, plays_clips
from jaywalk.scenarios.catalogue import SCENARIOS, type_named
from jaywalk.scenarios.suite import suite_of_files

NAMES = ("child-after-ball", "dog-walker", "pram", "wheelchair", "group-of-children")
_FILE = """<routes><route id="1" town="Harbour"><waypoints><position x="0" y="0" z="0"/>
<position x="9" y="0" z="0"/></waypoints><scenarios><scenario name="S" type="{kind}">
<trigger_point x="0" y="0" z="0" yaw="0"/>{more}</scenario></scenarios></route></routes>"""


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    folder = tmp_path_factory.mktemp("motions")
    for name in ("run-01", "walk-02"):
        write_convention(folder / "in" / f"{name}.bvh", walking(seconds=4.0), CONVENTIONS["xsens"])
    assert not build_library(Sources(bvh=folder / "in"), folder / "mychild")
    return folder / "mychild"


def suite_naming(tmp_path, *clips, kind="jaywalk/stepping-out-v1"):
    paths = []
    for number, clip in enumerate(clips):
        path = tmp_path / f"f{number}.xml"
        more = f'<clip value="{clip}"/>' if clip else ""
        path.write_text(_FILE.format(kind=kind, more=more))
        paths.append(path)
    return suite_of_files(paths)


class TestTypes:
    @pytest.mark.parametrize("name", NAMES)
    def test_short_names(self, name):
        assert type_named(name) == f"jaywalk/{name}-v1"
        assert type_named(name) in SCENARIOS

    def test_the_ball_slows_down_as_a_ball_does(self):
        """What the ball is told, against the law of motion at a constant deceleration."""
        there = street()
        kind = "jaywalk/child-after-ball-v1"
        ball = there.scenario(kind, '<walker value="walker.pedestrian.0013"/><lead value="1.5"/>')
        ball.setup()
        start_mps = ball.ball_mps
        distance_m = ball.way_m + 1.5
        assert start_mps == pytest.approx(math.sqrt(2.0 * 0.9 * distance_m))
        heard = []
        for tick in range(400):
            there.world.commands.clear()
            ball.tick(moment(0.05 * tick, 40.0 - 10.0, 10.0))
            sent = [
                one
                for one in there.world.commands
                if isinstance(one, carla.command.ApplyTargetVelocity)
            ]
            heard += [math.hypot(one.velocity.x, one.velocity.y) for one in sent]
        rolled = np.array([one - 0.6 * 9.81 * 0.05 for one in heard if one > 0.0])
        assert np.allclose(np.diff(rolled), -0.9 * 0.05, atol=1e-6)
        assert rolled.sum() * 0.05 == pytest.approx(distance_m, abs=0.3)

    def test_the_ball_rolls_before_the_child_runs(self):
        there = street()
        kind = "jaywalk/child-after-ball-v1"
        ball = there.scenario(kind, '<walker value="walker.pedestrian.0013"/><lead value="2"/>')
        ball.setup()
        began = {}
        for tick in range(200):
            ahead_m = -20.0 + 10.0 * 0.05 * tick
            ball.tick(moment(0.05 * tick, ahead_m, 10.0))
            for event in ball.events:
                began.setdefault(event.detail.get("what"), event.time_s)
        assert began["steps out"] - began["the ball rolls"] == pytest.approx(2.0, abs=0.11)

    def test_a_pram_is_ahead_and_children_keep_apart(self):
        there = street()
        group = there.scenario(
            "jaywalk/group-of-children-v1",
            '<walker value="walker.pedestrian.0013"/><children value="6"/>',
        )
        group.setup()
        places = np.array([there.place(one.pose.location) for one in there.world.spawned])
        assert len(places) == 6
        gaps = np.linalg.norm(places[:, None] - places[None], axis=2)
        assert gaps[~np.eye(6, dtype=bool)].min() > 0.6
        assert len({one.factor for one in group.companions}) == 5
        there = street()
        pram = there.scenario("jaywalk/pram-v1", '<walker value="walker.pedestrian.0015"/>')
        pram.setup()
        person, thing = (there.place(one.pose.location) for one in there.world.spawned)
        assert person[1] - thing[1] == pytest.approx(0.85, abs=0.01)


class TestClips:
    def test_the_form_of_a_clip(self):
        assert split_clip("runs/libs/mychild/run-01", "x") == ("runs/libs/mychild", "run-01")
        for wrong in ("run-01", "/run", "mychild/"):
            with pytest.raises(DataError, match=r"expected LIBRARY/CLIP"):
                split_clip(wrong, "x")
        with pytest.raises(DataError, match=r"<clip>: clip is 'run-01'"):
            street().scenario("jaywalk/stepping-out-v1", '<clip value="run-01"/>')

    def test_a_path_names_the_library_of_the_run(self, tmp_path, library):
        suite = suite_naming(tmp_path, f"{library}/run-01", "")
        folder, digest = library_of(suite)
        assert (folder, len(digest)) == (str(library.resolve()), 64)
        assert [clip for _, clip in named_clips(suite.routes[0].route)] == [f"{library}/run-01"]
        assert plays_clips(suite.routes[0].route)
        assert not plays_clips(suite.routes[1].route)

    def test_motions_names_it_by_its_name(self, tmp_path, library):
        suite = suite_naming(tmp_path, "mychild/walk-02")
        assert library_of(suite, str(library))[0] == str(library.resolve())
        with pytest.raises(UsageError, match=r"not a folder here. Give its folder with --motions"):
            library_of(suite)

    def test_unknown_clips_suggest_the_nearest(self, tmp_path, library):
        with pytest.raises(DataError, match=r"no clip 'run-1'.*Did you mean run-01"):
            library_of(suite_naming(tmp_path, f"{library}/run-1"))

    def test_one_library_a_run(self, tmp_path, library):
        other = tmp_path / "other"
        other.mkdir()
        with pytest.raises(UsageError, match="clips of 2 libraries"):
            library_of(suite_naming(tmp_path, f"{library}/run-01", f"{other}/x"))
        with pytest.raises(UsageError, match="the library of this run is 'mychild'"):
            library_of(suite_naming(tmp_path, "theirs/x"), str(library))

    def test_motions_without_use_is_refused(self, tmp_path, library):
        with pytest.raises(UsageError, match="has no posed people"):
            library_of(suite_naming(tmp_path, ""), str(library))

    def test_the_pace_of_a_clip(self, library):
        bank = ClipBank(open_library(library))
        people = Performers(
            client=None, line=None, banks=lambda _: bank, ground=None, library=str(library)
        )
        adult = {"age": "adult", "gender": "male"}
        pace = people.pace("mychild/run-01", adult, "here")
        assert pace.speed_mps == pytest.approx(1.2, rel=0.1)  # the walk that was written
        assert pace.time_s(3.0, pace.speed_mps) == pytest.approx(3.0 / 1.2, abs=0.2)
        assert pace.time_s(3.0, 2.0 * pace.speed_mps) == pytest.approx(1.5 / 1.2, abs=0.1)
        assert pace.time_s(30.0, pace.speed_mps) == pytest.approx(30.0 / 1.2, rel=0.1)
        with pytest.raises(DataError, match=r"this run has 'mychild'"):
            people.pace("theirs/run-01", adult, "here")
