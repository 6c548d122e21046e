"""Template of the agent that ``jaywalk new agent`` writes."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Final

from jaywalk.core.errors import UsageError

_TEMPLATES: Final = Path(__file__).parent / "templates"
_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,60}")
_MAIN: Final = """

if __name__ == "__main__":
    serve({kind}, port=8765)"""


def write_agent(folder: Path, name: str, *, remote: bool = False) -> tuple[Path, Path]:
    """Write an agent and its test; return both paths.

    Raises:
        UsageError: The name is not a valid file name, or one of the files exists already.
    """
    name = name.removesuffix(".py")
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"'{name}' is not a valid agent name; expected letters, digits, - and _, beginning "
            "with a letter, as in my_agent."
        )
    kind = "".join(word[:1].upper() + word[1:] for word in re.split(r"[-_]+", name) if word)
    path, test = folder / f"{name}.py", folder / f"test_{name}.py"
    there = [one.name for one in (path, test) if os.path.lexists(one)]
    if there:
        raise UsageError(
            f"{' and '.join(there)} exists already and is left as it is; choose another name."
        )
    words = {"name": name, "kind": kind, "file": path.name, "test_file": test.name}
    words |= _remote_words(kind) if remote else _local_words(kind)
    for target, template in ((path, "agent.py.txt"), (test, "test_agent.py.txt")):
        text = (_TEMPLATES / template).read_text(encoding="utf-8").format(**words)
        with target.open("x", encoding="utf-8") as file:  # also if another program was faster
            file.write(text.rstrip() + "\n")
    return path, test


def _local_words(kind: str) -> dict[str, str]:
    return {
        "serve_import": "",
        "main": "",
        "server_import": "",
        "follow": f"    trial = drive({kind})",
        "stop": f"    trial = drive({kind}, person_ahead_m=40.0)",
    }


def _remote_words(kind: str) -> dict[str, str]:
    served = f"    with AgentServer({kind}) as server:\n        trial = drive(server.address"
    return {
        "serve_import": ", serve",
        "main": _MAIN.format(kind=kind),
        "server_import": ", AgentServer",
        "follow": f"{served})",
        "stop": f"{served}, person_ahead_m=40.0)",
    }
