"""A ``CarlaUE4.sh`` that starts this server, for programs that start CARLA themselves."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path
from typing import Final

import jaywalk
from jaywalk.core.errors import UsageError

LAUNCHER: Final = "CarlaUE4.sh"
_MARK: Final = "# Written by 'jaywalk serve --as-carla'."
# Flags of Unreal's that have no meaning here. It does not care about upper and lower case.
_NO_EFFECT: Final = (
    "-renderoffscreen", "-nosound", "-quality-level=*", "-prefernvidia", "-opengl*", "-vulkan",
    "-benchmark", "-fps=*", "-graphicsadapter=*", "-carla-server", "-carla-settings=*",
    "-carla-streaming-port=*", "-carla-secondary-port=*", "-windowed", "-fullscreen", "-resx=*",
    "-resy=*", "-novsync", "-carla-no-hud", "-no-rendering", "-unattended", "-stdout", "-log",
    "-fullstdoutlogoutput", "-allowcommandletrendering", "carlaue4",
)  # fmt: skip
_SCRIPT: Final = """\
#!/bin/sh
{mark}
# Starts Jaywalk where a program expects the CARLA simulator, with Unreal's flags.
port=2000
town=
for flag in "$@"; do
  case "$(printf %s "$flag" | tr '[:upper:]' '[:lower:]')" in
    -carla-rpc-port=*|-carla-port=*|-carla-world-port=*|-world-port=*) port="${{flag#*=}}" ;;
    {ignored}) ;;
    /game/*) town="${{flag##*/}}" ;;
    *) echo "CarlaUE4.sh (jaywalk): ignored $flag" >&2 ;;
  esac
done
# The caller's Python settings are for its own Python.
unset PYTHONHOME
{environment}
if [ -n "$town" ]; then set -- --town "$town"; else set -- {town}; fi
exec {python} -m jaywalk serve --port "$port" {options} "$@"
"""


def write_launcher(folder: Path, town: list[str], options: list[str]) -> Path:
    """Write the script and return its path; another's file is left alone.

    Args:
        folder: Made if needed; to be used as ``CARLA_ROOT``.
        town: Options that name the town to start in, unless the caller names a map.
        options: Further options of ``jaywalk serve``.

    Raises:
        UsageError: There is a CARLA already, or the folder cannot be written.
    """
    path = folder / LAUNCHER
    try:
        if path.exists() and _MARK not in path.read_text(encoding="utf-8", errors="replace"):
            raise UsageError(f"{path} is there and is not ours. Give --as-carla another folder.")
        folder.mkdir(parents=True, exist_ok=True)
        path.write_text(_script(town, options), encoding="utf-8")
        path.chmod(0o755)
    except OSError as problem:
        raise UsageError(
            f"--as-carla: cannot write {path} ({problem.strerror}). Give another folder."
        ) from problem
    return path


def _script(town: list[str], options: list[str]) -> str:
    settings = [f"export PYTHONPATH={shlex.quote(str(Path(jaywalk.__file__).parents[1]))}"]
    towns = os.environ.get("JAYWALK_TOWN_PATH", "")
    if towns:
        kept = shlex.quote(os.pathsep.join(os.path.abspath(one) for one in towns.split(os.pathsep)))
        settings.append(f'[ -n "$JAYWALK_TOWN_PATH" ] || export JAYWALK_TOWN_PATH={kept}')
    return _SCRIPT.format(
        mark=_MARK, ignored="|".join(_NO_EFFECT), environment="\n".join(settings),
        python=shlex.quote(sys.executable), town=shlex.join(town), options=shlex.join(options),
    )  # fmt: skip
