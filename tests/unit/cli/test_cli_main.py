import errno
import re
import sqlite3
import subprocess
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
    command_or_group = getattr(command_or_group, "loaded", command_or_group)
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


def test_the_list_of_verbs_has_their_own_first_lines():
    verbs = typer.main.get_command(command.app).commands
    for name, verb in verbs.items():
        first = " ".join(verb.loaded.help.split("\n\n")[0].split())
        assert (name, first) == (name, verb.help)
    assert list(verbs) == list(command.VERBS)


def test_help_imports_no_verb():
    code = (
        "import sys; sys.argv = ['jaywalk', '--help']\n"
        "from jaywalk.cli.main import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "print(*sorted(m for m in sys.modules if m.startswith('jaywalk.')))\n"
        "print(*sorted({'numpy', 'numba', 'polars', 'carla', 'matplotlib'} & set(sys.modules)))\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    ).stdout.splitlines()
    assert {line.split(".")[1] for line in ended[-2].split()} == {"cli", "core"}
    assert ended[-1] == ""


def test_a_missing_extra_is_named(monkeypatch, capsys):
    def fail():
        raise ModuleNotFoundError("No module named 'carla'", name="carla")

    monkeypatch.delenv("JAYWALK_DEBUG", raising=False)
    monkeypatch.setattr(command, "app", fail)
    assert run_main(monkeypatch, "run", "smoke") == 3
    [line] = capsys.readouterr().err.splitlines()
    assert "'carla' is not installed" in line
    assert "pip install 'jaywalk[sim]'" in line


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


@pytest.mark.parametrize(
    ("problem", "words"),
    [
        (OSError(errno.ENOSPC, "No space left on device", "runs/x"), "disk is full.*runs/x"),
        (OSError(errno.EROFS, "Read-only file system"), "can only be read"),
        (PermissionError(errno.EACCES, "Permission denied", "here"), "Permission is missing"),
        (sqlite3.OperationalError("database or disk is full"), "run.sqlite.*Free some space"),
        (sqlite3.OperationalError("database is locked"), "run.sqlite.*nobody else"),
        (RecursionError("maximum recursion depth exceeded"), "nested too deeply"),
        (MemoryError(), "Memory is used up"),
        (IsADirectoryError(errno.EISDIR, "Is a directory", "that"), "cannot be used"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else "",
)
def test_failures_of_the_machine_are_one_line(monkeypatch, capsys, problem, words):
    def fail():
        raise problem

    monkeypatch.delenv("JAYWALK_DEBUG", raising=False)
    monkeypatch.setattr(command, "app", fail)
    assert run_main(monkeypatch, "list") == 3
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith("jaywalk: ")
    assert re.search(words, line)
    monkeypatch.setenv("JAYWALK_DEBUG", "1")
    monkeypatch.setattr(sys, "argv", ["jaywalk", "list"])
    with pytest.raises(type(problem)):
        command.main()


def test_what_strangers_wrote_drives_no_terminal(monkeypatch, capsys):
    from jaywalk.cli import output
    from jaywalk.core.errors import DataError

    def fail():
        raise DataError("bad \x1b]0;title\x07 name")

    monkeypatch.setattr(command, "app", fail)
    assert run_main(monkeypatch, "list") == 3
    output.say("agent failed: \x1b[2J")
    output.finish(["[red]line\x1b[31m"], "next \x9b command")
    output.print_table(["a"], [["cell\twith\x1b tab"]])
    monkeypatch.setenv("TERM", "dumb")  # our own colours aside
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    output.print_table(["a"], [["[bold]not markup[/bold] \x1b[31m"]])
    said = capsys.readouterr()
    assert not set("\x1b\x07\x9b") & set(said.out + said.err)
    assert "[bold]not markup[/bold] \\x1b[31m" in said.out
    assert "[red]line\\x1b[31m" in said.out
    assert "cell\\x09with\\x1b tab" in said.out


@pytest.mark.parametrize(
    ("host", "warns"),
    [
        ("127.0.0.1", False),
        ("localhost", False),
        ("::1", False),
        ("127.0.0.2", False),
        ("0.0.0.0", True),
        ("::", True),
        ("192.0.2.7", True),
        ("some.host", True),
    ],
)
def test_serving_other_machines_warns(monkeypatch, capsys, host, warns):
    from jaywalk.core.errors import PrerequisiteError
    from jaywalk.server import start

    def no_server(**options):
        raise PrerequisiteError("enough")

    monkeypatch.setattr(start, "start_server", no_server)
    assert run_main(monkeypatch, "serve", "--host", host) == 3
    assert ("WARNING: --host" in capsys.readouterr().err) == warns
