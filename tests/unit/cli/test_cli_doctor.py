import json
import socket

import pytest
from typer.testing import CliRunner

from jaywalk.checks import health
from jaywalk.cli.main import app
from jaywalk.core.extras import EXTRAS, Extra


@pytest.fixture(scope="module")
def answer():
    result = CliRunner().invoke(app, ["doctor", "--json"])
    return result.exit_code, json.loads(result.output)


def test_this_machine_passes(answer):
    code, report = answer
    assert code == 0
    assert report["ok"] is True
    checked = {finding["check"] for finding in report["findings"]}
    assert {"python", "cpu", "carla wheel", "ports", "kernel cache", "disk", "memory"} <= checked
    assert {f"extra {extra.name}" for extra in EXTRAS} <= checked


def test_whatever_is_not_ok_names_a_fix(answer):
    for finding in answer[1]["findings"]:
        assert (finding["state"] == "ok") == (finding["fix"] == "")
        assert finding["detail"]


def test_every_town_is_loaded(answer):
    towns = [f["detail"].split(":")[0] for f in answer[1]["findings"] if f["check"] == "town"]
    assert towns == ["Harbour", "Orchard", "Ridge"]


def test_something_missing_is_exit_code_3(monkeypatch):
    def broken():
        yield health.HealthFinding(
            check="carla wheel", state=health.MISSING, detail="none", fix="pip it"
        )

    monkeypatch.setattr(health, "CHECKS", (broken,))
    result = CliRunner().invoke(app, ["doctor"])
    assert result.exit_code == 3
    assert "pip it" in result.output
    assert "next:" not in result.output


def test_a_missing_wheel_is_seen(monkeypatch):
    def version(name):
        raise health.PackageNotFoundError(name)

    monkeypatch.setattr(health, "version", version)
    (finding,) = health._carla_wheel()
    assert finding.state == health.MISSING
    assert finding.fix.endswith("carla==0.9.16")


def test_a_busy_port_is_a_note_with_another_port(monkeypatch):
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        holder.listen()
        port = holder.getsockname()[1]
        assert not health.port_is_free(port)
        monkeypatch.setattr(health, "PORTS", (port,))
        (finding,) = health._ports()
    assert finding.state == health.NOTE
    assert str(port) in finding.detail
    assert "jaywalk serve --port" in finding.fix


def test_an_absent_extra_says_how_to_get_it():
    extra = Extra(name="train", modules=("no_such_module_here",), summary="")
    assert not extra.installed
    assert extra.install_command.endswith("-m pip install 'jaywalk[train]'")
