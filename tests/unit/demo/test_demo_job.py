import pytest
from typer.testing import CliRunner

import jaywalk.demo.job as job
from jaywalk.cli.main import app
from jaywalk.core.errors import PrerequisiteError


@pytest.mark.slow
def test_a_short_demo_through_the_real_wheel(tmp_path):
    arguments = ["--seconds", "2", "--cars", "5", "--people", "5", "--out", str(tmp_path / "demo")]
    result = CliRunner().invoke(app, ["demo", *arguments])
    assert result.exit_code == 0, result.output
    assert (tmp_path / "demo" / "demo.mp4").stat().st_size > 20_000
    assert (tmp_path / "demo" / "traces.png").stat().st_size > 20_000
    assert "5 cars drove" in result.output
    assert "next: jaywalk serve" in result.output


class NoServer:
    """Stands in for a server process where none is needed."""

    port = 1

    def __init__(self, **_):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass


def test_a_hanging_client_is_ended_and_tried_once_more(monkeypatch, tmp_path):
    commands = []
    popen = job.subprocess.Popen

    def hanging(command, **options):
        commands.append(command)
        return popen(["sleep", "60"], **options)

    monkeypatch.setattr(job, "ServerProcess", NoServer)
    monkeypatch.setattr(job.subprocess, "Popen", hanging)
    monkeypatch.setattr(job, "_DRIVE_TIMEOUT_S", 0.2)
    with pytest.raises(PrerequisiteError, match="did not finish"):
        job.run_demo(tmp_path, job.DemoPlan(), lambda what, done: None)
    assert len(commands) == 2


def test_a_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(PrerequisiteError, match="--out"):
        job.run_demo(tmp_path / "file" / "demo", job.DemoPlan(), lambda what, done: None)
