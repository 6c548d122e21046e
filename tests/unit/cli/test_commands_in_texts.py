"""Every command that Jaywalk prints or that its docs show: parsed, with the names in it checked."""

import ast
import re
import shlex
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest
import typer

from jaywalk.agents.catalogue import AGENTS
from jaywalk.cli.listing import KINDS
from jaywalk.cli.main import VERBS, app
from jaywalk.forecasting.behaviour.tasks import find_task
from jaywalk.forecasting.predictors.registry import PREDICTORS
from jaywalk.metrics.driving.protocols import check_protocol
from jaywalk.runner.selection import subset_of
from jaywalk.scenarios.catalogue import SCENARIOS, type_named
from jaywalk.scenarios.suite import SUITES, load_suite
from jaywalk.suites.building import SUITE_KINDS
from jaywalk.town.town import available_towns

ROOT = Path(__file__).parents[3]
SOURCES = ROOT / "src" / "jaywalk"
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted(
        page
        for page in (ROOT / "docs").rglob("*.md")
        if page.parent.name != "reproductions"  # their commands belong to a commit
        and page.name != "errors.md"  # its commands are mistakes; test_mistakes runs them
    ),
]


@dataclass(frozen=True)
class Shown:
    """A command in a text."""

    place: str
    words: tuple[str, ...]
    whole: bool  # to be run as it is; otherwise a text mentions it, perhaps without its arguments

    def __str__(self):
        return f"{self.place}: {shlex.join(self.words)}"


def split(text):
    """Words of a shell line up to what belongs to the shell; None for something else."""
    line = re.sub(r"\s#\s.*$", "", text.strip())
    line = re.split(r"\s(?:\||&&?|>|>>|2>)\s?|;", line)[0]
    try:
        words = shlex.split(line)
    except ValueError:
        return None
    while words and re.fullmatch(r"(nice|time|\w+=.*|\$|.*/jaywalk)", words[0]):
        words = ["jaywalk", *words[1:]] if words[0].endswith("/jaywalk") else words[1:]
    return tuple(words[1:]) if words[:1] == ["jaywalk"] and len(words) > 1 else None


def of_page(path):
    """Commands in fenced blocks and in backticks."""
    text = path.read_text(encoding="utf-8")
    fences = re.findall(r"^ *```(\w*)[^\n]*\n(.*?)^ *```", text, re.S | re.M)
    blocks = [block for language, block in fences if language in ("", "sh", "bash", "text")]
    for block in blocks:
        for line in block.replace("\\\n", " ").splitlines():
            yield line, True
    rest = re.sub(r"^ *```.*?^ *```", "", text, flags=re.S | re.M)
    for line in re.findall(r"`(jaywalk [^`]+)`", rest.replace("\n", " ")):
        yield line, path.name == "cheat_sheet.md"


def of_help():
    """Examples in the help of every command."""

    def below(command):
        command = getattr(command, "loaded", command)
        yield command
        for one in getattr(command, "commands", {}).values():
            yield from below(one)

    for command in below(typer.main.get_command(app)):
        text = command.help or ""
        for example in re.findall(
            r"Example: (jaywalk .*?)(?=\n\s*\n|\n\s*Example:|\Z)", text, re.S
        ):
            yield command.name, " ".join(example.split())


# What stands for an expression of an f-string in the source; others become a plain word.
VALUES = {
    "protocol": "jaywalk",
    "dataset": "jaad",
    "task": "action",
    "plan.tasks[-1]": "action",
    "kind": "random",
    "rules": "leaderboard-2.1",
    "suite": "smoke",
    "loaded.name": "Harbour",
    "towns[0]": "Harbour",
    "rows[0]['id']": "09-ridge-open-rural",
    "rows[0][0] if rows else 'NAME'": "dut",
    "clip": "walk",
    "where": "",
    "episode": "09-ridge-open-rural-s1",
    "checks[0].dataset": "jaad",
}


def text_of(node):
    """Text of a string in the source; None for other expressions."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if not isinstance(node, ast.JoinedStr):
        return None
    parts = []
    for part in node.values:
        if isinstance(part, ast.Constant):
            parts.append(str(part.value))
        else:
            parts.append(VALUES.get(ast.unparse(part.value), "1"))
    return "".join(parts)


def of_sources():
    """Commands that the code can print: whole strings, and those in quotes within messages."""
    for path in sorted(SOURCES.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        documented = {
            id(node.body[0].value)
            for node in ast.walk(tree)
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
            and node.body
            and isinstance(node.body[0], ast.Expr)
        }
        inner = {
            id(part)
            for node in ast.walk(tree)
            if isinstance(node, ast.JoinedStr)
            for part in node.values
        }
        for node in ast.walk(tree):
            if id(node) in documented or id(node) in inner:
                continue
            text = text_of(node)
            if text is None:
                continue
            place = f"{path.relative_to(ROOT)}:{node.lineno}"
            if (
                re.match(rf"(next: )?jaywalk ({'|'.join(VERBS)}) ", text)
                and path.parent.name == "cli"
            ):
                yield place, text.removeprefix("next: "), True
            for one in re.findall(rf"'(jaywalk (?:{'|'.join(VERBS)})\b[^']*)'", text):
                yield place, one, False


@cache
def commands():
    """Every command of all texts, once; those that a text only mentions come last."""
    found = {}
    lines = [(f"--help of {name}", line, True) for name, line in of_help()]
    lines += of_sources()
    for page in PAGES:
        place = str(page.relative_to(ROOT))
        lines += [(place, line, whole) for line, whole in of_page(page)]
    for place, line, whole in sorted(lines, key=lambda one: not one[2]):
        words = split(line)
        if words is not None and not is_pattern(words):
            found.setdefault(words, Shown(place, words, whole))
    return tuple(found.values())


def is_pattern(words):
    """Whether a line is a pattern of commands, not a command."""
    return any(re.search(r"[\[\]|]|\.\.\.|…", word) for word in words)


def parsed(words):
    """The context of the innermost command of a line, after all its options were read."""
    command, left = typer.main.get_command(app), list(words)
    while True:
        command = getattr(command, "loaded", command)
        if not hasattr(command, "commands"):
            return command.make_context(command.name, left)
        if not left or left == ["--help"] or left == ["--version"]:
            return None
        assert left[0] in command.commands, f"there is no command '{left[0]}'"
        command, left = command.commands[left[0]], left[1:]


def test_commands_are_found_everywhere():
    places = [one.place for one in commands() if one.whole]
    for part, least in (("README.md", 8), ("cheat_sheet", 15), ("--help", 60), ("src/jaywalk", 20)):
        assert sum(part in place for place in places) >= least, part


LACKS = re.compile(r"Missing (argument|option|parameter)|requires (an|\d+) argument")


@pytest.mark.parametrize("shown", commands(), ids=str)
def test_the_command_can_be_parsed_and_its_names_exist(shown):
    try:
        context = parsed(shown.words)
    except typer.Exit:  # --help
        return
    except Exception as problem:
        message = getattr(problem, "format_message", lambda: None)() or str(problem)
        if LACKS.search(message) and not shown.whole:
            return
        pytest.fail(f"{shown}: {message}", pytrace=False)
    if context is not None:
        check_names(context)


def is_placeholder(value):
    return value.upper() == value or "/" in value or value.startswith("my")


def check_names(context):
    """Check suites, agents, protocols, towns, episodes and so on against what exists."""
    values = {name: value for name, value in context.params.items() if value}
    for name, check in CHECKS.items():
        given = values.get(name, ())
        for one in given if isinstance(given, (list, tuple)) else [given]:
            for part in str(one).split(",") if name == "agent" else [str(one)]:
                if not is_placeholder(part):
                    check(part)
    suite = str(values.get("suite", ""))
    if suite in SUITES and "subset" in values:
        subset_of(load_suite(suite), str(values["subset"]))
    if "episode" in values:
        check_episode(str(values["run"]), values["episode"])
    if "task" in values and values.get("dataset") and values["task"] not in ("1", "joint"):
        find_task(values["task"], values["dataset"])


def check_suite(name):
    if not name.endswith((".xml", ".toml", ".yaml", "*")):
        SUITES.get(name)


def check_agent(name):
    if not name.endswith(".py") and "://" not in name:
        AGENTS.get(name)


def check_town(name):
    if not name.endswith((".xodr", ".gz")):
        assert name in available_towns()


def check_predictor(name):
    if not name.endswith((".py", ".onnx")) and ":" not in name:
        PREDICTORS.get(full_name(name.partition("=")[0]))


def full_name(name):
    return name if name in PREDICTORS else f"{name}-v1"


def check_episode(run, episode):
    """Episodes of a run with the usual name of its folder belong to its suite."""
    suite = Path(run).name.rpartition("-")[0]
    if suite in SUITES and not is_placeholder(episode):
        route, _, seed = episode.rpartition("-s")
        assert seed.isdigit()
        assert route in [one.id for one in load_suite(suite).routes], episode


CHECKS = {
    "suite": check_suite,
    "agent": check_agent,
    "protocol": check_protocol,
    "town": check_town,
    "predictors": check_predictor,
    "predictor": check_predictor,
    "kind": lambda name: name in SUITE_KINDS or type_named(name) in SCENARIOS or KINDS.get(name),
}
