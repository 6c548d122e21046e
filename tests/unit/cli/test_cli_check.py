"""``jaywalk check`` before it needs a world; the drives are in tests/running."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from jaywalk.cli.main import app
from jaywalk.core.errors import JaywalkError, RegistryError, UsageError
from jaywalk_agent import Agent, AgentServer
from jaywalk_agent import server as server_room


def _check(*words: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["check", *words])
    if isinstance(result.exception, JaywalkError):
        raise result.exception
    return result.exit_code, result.stdout


def test_nobody_there_is_a_failed_check_with_the_fix() -> None:
    code, said = _check("--agent", "ws://127.0.0.1:9", "--json")
    told = json.loads(said)
    (found,) = told["checks"]
    assert (code, told["ok"]) == (1, False)
    assert (found["check"], found["state"]) == ("answers", "fail")
    assert "nobody listens at ws://127.0.0.1:9" in found["detail"]
    assert "python -m jaywalk_agent" in found["fix"]


def test_another_version_is_a_failed_check(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_room, "PROTOCOL", 2)
    with AgentServer(Agent) as server:
        code, said = _check("--agent", server.address)
    assert code == 1
    assert "speaks version 2" in said.replace("\n", " ")
    assert "install the jaywalk_agent" in said.replace("\n", " ")


@pytest.mark.parametrize(
    ("agent", "kind", "words"),
    [
        ("nobody", RegistryError, "Unknown agent"),
        ("no.py", UsageError, "does not exist"),
        ("ws://here", UsageError, "expected ws://HOST:PORT"),
        ("http://here:1", UsageError, "expected ws://HOST:PORT"),
    ],
)
def test_what_is_no_agent(agent: str, kind: type[JaywalkError], words: str) -> None:
    with pytest.raises(kind, match=words):
        _check("--agent", agent)
