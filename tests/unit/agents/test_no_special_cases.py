"""No driver knows what it is being tested with: no name of a suite, scenario or blueprint in it."""

import ast
import re
from pathlib import Path

import jaywalk.agents
from jaywalk.agents.catalogue import AGENTS
from jaywalk.scenarios.catalogue import SCENARIOS
from jaywalk.scenarios.suite import SUITES, load_suite
from jaywalk.server.world.blueprints import library

ROOM = Path(jaywalk.agents.__file__).parent
# Kinds of actors are for everybody to see, and a Leaderboard agent names its sensors itself.
KINDS = {
    *("vehicle.", "walker.", "walker.*", "static.prop."),
    *("traffic.traffic_light", "traffic.stop"),
}
ADAPTERS = ("compat", "adapters/leaderboard.py", "adapters/sensor_rig.py")


def sources():
    for path in sorted(ROOM.rglob("*.py")):
        if not path.relative_to(ROOM).as_posix().startswith(ADAPTERS):
            yield path


def words_of(path):
    """Texts in the code (not docstrings) and the names it uses."""
    tree = ast.parse(path.read_text())
    bodies = [n.body for n in ast.walk(tree) if hasattr(n, "body") and isinstance(n.body, list)]
    said = {
        id(body[0].value)
        for body in bodies
        if body and isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in said:
            yield node.value
        elif isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr


def forbidden():
    names = {entry.name for entry in SCENARIOS} | {entry.name for entry in SUITES}
    names |= {name.removeprefix("jaywalk/").rpartition("-v")[0] for name in set(names)}
    for entry in SUITES:
        names |= {one.id for one in load_suite(entry.name).routes}
    names |= {blueprint.id for blueprint in library("0.9.16")} - KINDS
    return {name.lower() for name in names if name}


def test_no_driver_names_a_scenario_a_suite_or_a_blueprint():
    names = forbidden()
    assert len(names) > 200
    found = [
        (path.name, word)
        for path in sources()
        for word in words_of(path)
        if word.lower() in names or any(name in word.lower() for name in names if len(name) > 8)
    ]
    assert found == []


def test_of_a_type_id_only_the_kind_is_read():
    told = re.compile(r"\b(vehicle|walker|static|prop|sensor|controller)\.[a-z0-9_.*]*")
    for path in sources():
        for word in words_of(path):
            match = told.fullmatch(word)
            assert match is None or word in KINDS, f"{path.name}: {word}"


def test_briefings_say_nothing_about_the_test():
    from jaywalk.agents.base import Briefing, Moment

    told = {*Briefing.__slots__, *Moment.__slots__}
    assert not {"scenario", "suite", "pair", "variant", "scenarios", "plan", "episode"} & told


def test_every_driver_was_looked_at():
    looked_at = {path.stem for path in sources()}
    for entry in AGENTS:
        module = entry.defined_in.rpartition(".")[2]
        assert module in looked_at
