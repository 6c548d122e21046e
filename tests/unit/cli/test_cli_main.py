import sys

import pytest
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


@pytest.mark.parametrize("verb", [v for v in VERBS if v not in (["town"], ["bench"])], ids=" ".join)
def test_help_gives_an_example(verb):
    assert "Example: jaywalk" in CliRunner().invoke(command.app, [*verb, "--help"]).output


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
