"""Builds the wheel, installs it alone into an empty environment, and uses it from elsewhere.

    python tests/wheel_check.py

Any Python 3.11 or 3.12 with pip will do; nothing of this repository needs to be installed. The
wheel must hold every file of the packages, and the commands must find their data without the
sources at hand.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = {"src/jaywalk/": "jaywalk/", "packages/jaywalk_agent/jaywalk_agent/": "jaywalk_agent/"}
RUN = "runs/wheel"


def step(title: str, command: list[str], cwd: Path, **more: str) -> str:
    """Run a command; a failure ends the check with what it said."""
    leave_out = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV")
    environment = {key: value for key, value in os.environ.items() if key not in leave_out}
    began = time.monotonic()
    done = subprocess.run(
        command,
        cwd=cwd,
        env={**environment, **more},
        check=False,
        text=True,
        timeout=1200,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    print(f"{time.monotonic() - began:6.1f} s  {title}", flush=True)
    if done.returncode != 0:
        raise SystemExit(f"FAILED: {title} (exit {done.returncode})\n{done.stdout[-6000:]}")
    return done.stdout


def build(folder: Path) -> Path:
    """The wheel of this repository."""
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check"]
    step("build the wheel", [*command, "--no-deps", "-w", str(folder), str(ROOT)], folder)
    [wheel] = folder.glob("jaywalk-*.whl")
    return wheel


def check_contents(wheel: Path) -> None:
    """Every tracked file of the packages is in the wheel, and nothing of the tests."""
    listed = step("list the sources", ["git", "ls-files", *PACKAGES], ROOT).splitlines()
    wanted = set()
    for old, new in PACKAGES.items():
        wanted |= {new + name.removeprefix(old) for name in listed if name.startswith(old)}
    with zipfile.ZipFile(wheel) as archive:
        held = set(archive.namelist())
    missing = sorted(wanted - held)
    if missing or len(wanted) < 100:
        raise SystemExit(f"FAILED: {len(missing)} of {len(wanted)} files missing: {missing[:20]}")
    strange = sorted(name for name in held - wanted if ".dist-info/" not in name)
    if strange:
        raise SystemExit(f"FAILED: the wheel holds files that git does not know: {strange[:20]}")
    print(f"          {len(wanted)} files, {wheel.stat().st_size / 2**20:.1f} MB")


def install(wheel: Path, folder: Path) -> Path:
    """A new environment with the wheel and what it depends on; returns its programs."""
    step("make an environment", [sys.executable, "-m", "venv", str(folder)], folder.parent)
    programs = folder / "bin"
    command = [str(programs / "python"), "-m", "pip", "install", "--quiet"]
    command += [
        "--disable-pip-version-check",
        "--no-compile",
        "-c",
        str(ROOT / "requirements.lock"),
        str(wheel),
    ]
    step("install the wheel", command, folder.parent)
    code = (
        "import importlib.util as u, jaywalk, jaywalk_agent;"
        "assert not any(map(u.find_spec, ('pytest', 'hypothesis', 'ruff', 'mypy')));"
        "print(jaywalk.__file__, jaywalk_agent.__file__)"
    )
    told = step("import it", [str(programs / "python"), "-c", code], folder.parent)
    for place in told.split():
        if not Path(place).is_relative_to(folder):
            raise SystemExit(f"FAILED: imported from {place}, not from the new environment")
    return programs


def use(programs: Path, folder: Path) -> None:
    """What a newcomer does, in an empty folder."""
    jaywalk = str(programs / "jaywalk")
    step("jaywalk doctor", [jaywalk, "doctor"], folder)
    for kind in ("suites", "towns", "agents"):
        told = step(f"jaywalk list {kind}", [jaywalk, "list", kind], folder)
        if not told.strip():
            raise SystemExit(f"FAILED: jaywalk list {kind} says nothing")
    drive = [jaywalk, "run", "smoke", "--agent", "cruise", "--subset", "1", "--workers", "1"]
    step("jaywalk run smoke", [*drive, "--out", RUN], folder)
    if len(list((folder / RUN).glob("episodes/*/episode.json"))) != 1:
        raise SystemExit("FAILED: the run has not left one record")
    step("jaywalk score", [jaywalk, "score", RUN], folder)
    page = folder / "report.html"
    step("jaywalk report", [jaywalk, "report", RUN, "-o", page.name], folder)
    if not page.exists() or page.stat().st_size < 10_000:
        raise SystemExit("FAILED: no report page was written")


def main() -> None:
    """Command line."""
    with tempfile.TemporaryDirectory(prefix="jaywalk-wheel-") as name:
        base = Path(name).resolve()
        for folder in ("dist", "elsewhere"):
            (base / folder).mkdir()
        wheel = build(base / "dist")
        check_contents(wheel)
        use(install(wheel, base / "venv"), base / "elsewhere")
    print("the wheel works without the sources")


if __name__ == "__main__":
    main()
