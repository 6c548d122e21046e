"""Builds and installs packages that extend Jaywalk, without network and build backend."""

from __future__ import annotations

import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path


def build_wheel(project: Path, folder: Path) -> Path:
    """Write the wheel of a pure Python project, as its pyproject.toml declares it."""
    declared = tomllib.loads((project / "pyproject.toml").read_text(encoding="utf-8"))
    facts, (package,) = (
        declared["project"],
        declared["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"],
    )
    stem = f"{facts['name'].replace('-', '_')}-{facts['version']}"
    about = f"{stem}.dist-info"
    lines = [
        f"[{group}]\n" + "".join(f"{name} = {module}\n" for name, module in entries.items())
        for group, entries in facts["entry-points"].items()
    ]
    files = {
        path.relative_to(project).as_posix(): path.read_text(encoding="utf-8")
        for path in sorted((project / package).rglob("*.py"))
    }
    files[f"{about}/METADATA"] = (
        f"Metadata-Version: 2.1\nName: {facts['name']}\nVersion: {facts['version']}\n"
    )
    files[f"{about}/WHEEL"] = "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    files[f"{about}/entry_points.txt"] = "\n".join(lines)
    files[f"{about}/RECORD"] = "".join(f"{name},,\n" for name in [*files, f"{about}/RECORD"])
    wheel = folder / f"{stem}-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return wheel


def install(project: Path, folder: Path) -> Path:
    """Install a project with pip; return the folder to put on the module search path."""
    folder.mkdir(parents=True, exist_ok=True)
    site = folder / "site"
    options = ["--quiet", "--disable-pip-version-check", "--no-deps", "--no-index"]
    command = [sys.executable, "-m", "pip", "install", *options, "--target", str(site)]
    subprocess.run([*command, str(build_wheel(project, folder))], check=True, timeout=120)
    return site
