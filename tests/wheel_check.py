"""Builds both wheels, installs them with pip, pipx and uv, and uses them from elsewhere.

    python tests/wheel_check.py
    python tests/wheel_check.py --reading   # the installed package only, without carla; any system

Any Python 3.11 or 3.12 with pip will do; nothing of this repository needs to be installed. Each
wheel must hold every file of its package and nothing else, and the commands must find their data
without the sources at hand. Without the carla package, as on macOS, records must be scored,
compared and drawn, and predictors evaluated. pipx and uv come from PyPI, into an environment of
their own; one that cannot be installed is skipped with the reason, or fails where ``CI`` is set.
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
# Distribution -> project folder, folder of its import package, fewest files it can have.
DISTRIBUTIONS = {
    "jaywalk_agent": ("packages/jaywalk_agent", "packages/jaywalk_agent/", 10),
    "jaywalk": (".", "src/", 100),
}
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


def build(folder: Path) -> dict[str, Path]:
    """Build the wheel of every distribution of this repository."""
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check"]
    wheels = {}
    for name, (project, _, _) in DISTRIBUTIONS.items():
        source = str(ROOT / project)
        step(f"build {name}", [*command, "--no-deps", "-w", str(folder), source], folder)
        [wheels[name]] = folder.glob(f"{name}-*.whl")
    return wheels


def check_contents(name: str, wheel: Path) -> None:
    """Compare a wheel with git: every tracked file of its package is in it, and nothing else."""
    _, base, fewest = DISTRIBUTIONS[name]
    listed = step(f"list the sources of {name}", ["git", "ls-files", f"{base}{name}"], ROOT)
    wanted = {line.removeprefix(base) for line in listed.splitlines()}
    with zipfile.ZipFile(wheel) as archive:
        held = set(archive.namelist())
    missing = sorted(wanted - held)
    if missing or len(wanted) < fewest:
        raise SystemExit(f"FAILED: {len(missing)} of {len(wanted)} files missing: {missing[:20]}")
    strange = sorted(entry for entry in held - wanted if ".dist-info/" not in entry)
    if strange:
        raise SystemExit(f"FAILED: {wheel.name} holds files that are not its own: {strange[:20]}")
    print(f"          {len(wanted)} files, {wheel.stat().st_size / 2**20:.1f} MB")


def install(wheels: dict[str, Path], folder: Path) -> Path:
    """Install the wheels into a new environment, core, readers, all; return its programs."""
    base, programs = folder.parent, folder / "bin"
    step("make an environment", [sys.executable, "-m", "venv", str(folder)], base)
    command = [str(programs / "python"), "-m", "pip", "install", "--quiet", "--no-compile"]
    command += ["--disable-pip-version-check", "-c", str(ROOT / "requirements.lock")]
    step("pip install dist/*.whl", [*command, *map(str, wheels.values())], base)
    code = (
        "import importlib.util as u, jaywalk, jaywalk_agent, jaywalk.metrics.driving.run_score;"
        "assert not any(map(u.find_spec, ('carla', 'matplotlib', 'sklearn', 'pytest', 'mypy')));"
        "print(jaywalk.__file__, jaywalk_agent.__file__)"
    )
    places = step("import metrics", [str(programs / "python"), "-c", code], base)
    for place in places.split():
        if not Path(place).is_relative_to(folder):
            raise SystemExit(f"FAILED: imported from {place}, not from the new environment")
    step("install the extras for reading", [*command, f"{wheels['jaywalk']}[{READ}]"], base)
    read(str(programs / "python"), base)
    step("install the extra 'all'", [*command, f"{wheels['jaywalk']}[all]"], base)
    return programs


READ = "report,models"
# Two runs of a hand-made street and people who walk on, written without a simulator.
WRITE_DATA = """
import importlib.util
from pathlib import Path
from street_episode import HIT_TICK, write_street
assert importlib.util.find_spec("carla") is None
same = {"suite": "jaywalk/smoke-v1", "scenario": "jaywalk/stepping-out-v1"}
for seed in (1, 2):
    write_street(Path("one"), f"a-s{seed}", seed=seed, agent={"name": "blind"}, **same)
    more = {"seed": seed, "agent": {"name": "cruise"}, "ticks": HIT_TICK - 10}
    write_street(Path("two"), f"a-s{seed}", **more, **same)
walks = [f"{10 * k} {who} {0.4 * k} {who}\\n" for k in range(40) for who in range(4)]
Path("people.txt").write_text("".join(walks))
Path("mine.py").write_text(
    "import numpy as np\\n"
    "def predict(people):\\n"
    "    step = people.history_m[:, -1] - people.history_m[:, -2]\\n"
    "    ahead = people.horizons_s[None, :, None] / people.step_s\\n"
    "    return people.history_m[:, -1, None] + step[:, None] * ahead\\n"
)
"""
LOAD = """
import jaywalk
run, other = jaywalk.load("one"), jaywalk.load("two")
assert run.episodes.height == 2 and run.tracks("a-s1").height > 100
assert run.scores().height > 10 and run.events.height >= 2
assert run.compare(other) is not None
run.figure("scores").savefig("loaded.svg")
"""


def read(python: str, base: Path) -> None:
    """Read runs and data where the carla package is missing."""
    folder = base / "reading"
    folder.mkdir()
    support = str(ROOT / "tests" / "support")
    step("write records without carla", [python, "-c", WRITE_DATA], folder, PYTHONPATH=support)
    for words in (
        "score one",
        "score one --by class",
        "score one --format csv",
        "compare one two",
        "report one two -o report.html",
        "figure scores one two -o scores.pdf",
        "figure moment one --episode a-s1 -o moment.png",
        "replay one a-s1 --png still.png",
        "predict eval people.txt --in-sample --predictor mine.py --predictor constant-velocity",
        "list metrics",
    ):
        step(f"without carla: jaywalk {words}", [python, "-m", "jaywalk", *words.split()], folder)
    step("without carla: jaywalk.load", [python, "-c", LOAD], folder)
    for name, least in {"report.html": 10_000, "scores.pdf": 1_000, "moment.png": 1_000}.items():
        if (folder / name).stat().st_size < least:
            raise SystemExit(f"FAILED: {name} is smaller than {least} bytes")


def install_with_tools(dist: Path, base: Path) -> None:
    """Install with pipx and with uv as the README says, and start the program that each made."""
    step("make an environment for tools", [sys.executable, "-m", "venv", str(base / "tools")], base)
    python, lock = str(base / "tools/bin/python"), str(ROOT / "requirements.lock")
    get = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    pip_args = f"--pip-args=--find-links={dist} --constraint={lock}"
    links = ["--find-links", str(dist), "--constraints", lock]
    interpreter = ["--python", sys.executable, "jaywalk[all]"]
    commands = {"pipx": ["install", pip_args], "uv": ["tool", "install", *links]}
    for tool, words in commands.items():
        try:
            step(f"get {tool}", [*get, tool], base)
        except SystemExit as reason:
            if os.environ.get("CI"):  # a check that CI promises must not be left out silently
                raise
            print(f"SKIPPED: {tool}: {reason}")
            continue
        home, programs = base / f"{tool}-home", base / f"{tool}-bin"
        places = {"PIPX_HOME": home, "PIPX_BIN_DIR": programs}
        places |= {"UV_TOOL_DIR": home, "UV_TOOL_BIN_DIR": programs}
        more = {name: str(place) for name, place in places.items()}
        program = str(base / "tools/bin" / tool)
        step(f"{tool} install jaywalk[all]", [program, *words, *interpreter], base, **more)
        towns = step(f"jaywalk of {tool}", [str(programs / "jaywalk"), "list", "towns"], base)
        if "Harbour" not in towns:
            raise SystemExit(f"FAILED: jaywalk of {tool} lists no town Harbour: {towns}")


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
        if sys.argv[1:] == ["--reading"]:
            read(sys.executable, base)
            return
        for folder in ("dist", "elsewhere"):
            (base / folder).mkdir()
        wheels = build(base / "dist")
        for distribution, wheel in wheels.items():
            check_contents(distribution, wheel)
        use(install(wheels, base / "venv"), base / "elsewhere")
        install_with_tools(base / "dist", base)
    print("the wheels work without the sources")


if __name__ == "__main__":
    main()
