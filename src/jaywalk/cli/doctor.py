"""``jaywalk doctor``: does this machine have what is needed?"""

from __future__ import annotations

import typer

from jaywalk.checks import health
from jaywalk.cli.output import AsValue, finish, print_finding, print_json, print_line


def doctor(
    as_json: AsValue = False,
) -> None:
    """Check this machine: each line is ok, or names the fix.

    Exit code 0 when everything needed is there, 3 when something is missing. Extras are optional.

    Example: jaywalk doctor
    """
    findings = []
    for finding in health.examine():
        findings.append(finding)
        if not as_json:
            print_finding(finding.state, f"{finding.check:<14} {finding.detail}", finding.fix)
    missing = [finding for finding in findings if finding.state == health.MISSING]
    if as_json:
        print_json({"ok": not missing, "findings": [finding.as_dict() for finding in findings]})
    elif missing:
        print_line(f"{len(missing)} of {len(findings)} checks need a fix (see above)")
    else:
        finish(["everything needed is here"], "jaywalk demo")
    if missing:
        raise typer.Exit(3)
