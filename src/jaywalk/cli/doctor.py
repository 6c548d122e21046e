"""``jaywalk doctor``: does this machine have what is needed?"""

from __future__ import annotations

import sys
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from jaywalk.checks import health
from jaywalk.cli.output import finish, print_json

_COLOURS = {health.OK: "green", health.NOTE: "yellow", health.MISSING: "bold red"}


def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False,
) -> None:
    """Check this machine: each line is ok, or names the fix.

    Exit code 0 when everything needed is there, 3 when something is missing. Extras are optional.

    Example: jaywalk doctor
    """
    findings = []
    console = Console(soft_wrap=True, highlight=False)
    for finding in health.examine():
        findings.append(finding)
        if not as_json:
            line = Text.assemble(
                (f"{finding.state:<5}", _COLOURS[finding.state]),
                f"{finding.check:<14} {finding.detail}",
                (f"  ->  {finding.fix}" if finding.fix else "", "bold"),
            )
            console.print(line)
    missing = [finding for finding in findings if finding.state == health.MISSING]
    if as_json:
        print_json({"ok": not missing, "findings": [finding.as_dict() for finding in findings]})
    elif missing:
        sys.stdout.write(f"{len(missing)} of {len(findings)} checks need a fix (see above)\n")
    else:
        finish(["everything needed is here"], "jaywalk demo")
    if missing:
        raise typer.Exit(3)
