import sys

import pytest
import typer
from typer.testing import CliRunner

from jaywalk import __version__
from jaywalk.cli import main as command

VERBS = (["demo"], ["serve"], ["town"], ["list"], ["doctor"], ["bench"], ["bench", "server"])


def run_main(monkeypatch, *arguments):
    monkeypatch.setattr(sys, "argv", ["jaywalk", *arguments])
    with pytest.raises(SystemExit) as ended:
        command.main()
    return ended.value.code


@pytest.mark.parametrize("verb", VERBS, ids=" ".join)
def test_every_verb_has_help(verb):
    result = CliRunner().invoke(command.app, [*verb, "--help"])
    assert result.exit_code == 0


def commands_with_names(command_or_group, name="jaywalk"):
    """Every command below, as (name, command)."""
    yield name, command_or_group
    for child, below in getattr(command_or_group, "commands", {}).items():
        yield from commands_with_names(below, f"{name} {child}")


def test_help_keeps_its_brackets():
    """Help is markup: what stands in bare brackets is taken for a style and not printed."""
    shown = [
        f"{name} {option.name}: {option.help}"
        for name, below in commands_with_names(typer.main.get_command(command.app))
        for option in below.params
        if "[" in (getattr(option, "help", None) or "").replace("\\[", "")
    ]
    assert shown == []


def test_every_command_gives_an_example():
    missing = [
        name
        for name, below in commands_with_names(typer.main.get_command(command.app))
        if not getattr(below, "commands", {}) and "Example: jaywalk" not in (below.help or "")
    ]
    assert missing == []


def test_unknown_verb_is_a_usage_error(monkeypatch, capsys):
    assert run_main(monkeypatch, "fly") == 2
    assert "fly" in capsys.readouterr().err


def test_our_errors_are_one_line(monkeypatch, capsys):
    assert run_main(monkeypatch, "list", "town") == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("jaywalk: Unknown kind 'town'. Did you mean 'towns'?")
    assert printed.err.count("\n") == 1


def test_version():
    assert CliRunner().invoke(command.app, ["--version"]).output.strip() == f"jaywalk {__version__}"


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["serve", "--town", "Harbour", "--xodr", "x.xodr"], 2),
        (["serve", "--speed-limits", "none"], 2),
        (["serve", "--port", "70000"], 2),
        (["serve", "--town", "Nowhere"], 3),
        (["serve", "--xodr", "missing.xodr"], 3),
    ],
)
def test_serve_refuses_what_it_cannot_do(monkeypatch, capsys, arguments, code):
    assert run_main(monkeypatch, *arguments) == code
    assert capsys.readouterr().err.count("\n") == 1
