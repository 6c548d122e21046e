"""``jaywalk check``: is an agent wired correctly?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from jaywalk.cli.output import AsValue, finish, print_finding, print_json, print_line, say
from jaywalk.core.address import parse_address

if TYPE_CHECKING:
    from jaywalk.checks.drive import CheckDrive
    from jaywalk.checks.rules import Finding

_AGAIN_S: Final = 2.0


def check(
    agent: Annotated[str, typer.Option(help="Agent: a name, a .py file or ws://HOST:PORT.")],
    agent_config: Annotated[
        Path | None, typer.Option(help="Config file of the agent; JSON for a named one.")
    ] = None,
    town: Annotated[str, typer.Option(help="Where to drive.")] = "Harbour",
    server: Annotated[
        str, typer.Option(help="HOST:PORT of a running server instead of an embedded one.")
    ] = "",
    budget_ms: Annotated[
        float, typer.Option(min=0.1, help="Longest step that is fine, in milliseconds.")
    ] = 500.0,
    seed: Annotated[int, typer.Option(help="Seed of the drive.")] = 1,
    as_json: AsValue = False,
) -> None:
    """Drive an agent for some seconds and tell whether it is wired correctly.

    Looks at frames, units and axes (which way does it steer? metres or centimetres? whose
    coordinates?), at sensors, controls, plan, forecasts and time per step. Exit code 1 if a check
    failed; the table names the fix.

    Example: jaywalk check --agent my_agent.py

    Example: jaywalk check --agent ws://127.0.0.1:8765 --json
    """
    from jaywalk.checks.drive import check_drive, check_reach
    from jaywalk.checks.rules import judge, timing_ms
    from jaywalk.checks.steering import FAIL
    from jaywalk.runner.agent_choice import agent_specs
    from jaywalk.runner.session import SimulatorSession

    (spec,) = agent_specs(agent, agent_config)
    if not as_json:
        say(f"checking {agent} in {town}; this takes about half a minute")
    again: CheckDrive | None = None
    lost = check_reach(spec)
    if lost is not None:
        drive = lost
    else:
        with _open(SimulatorSession, server, seed) as world:
            drive = check_drive(spec, world, town, seed)
            if not drive.failed_in:
                again = check_drive(spec, world, town, seed, drive_s=_AGAIN_S)
    findings = judge(drive, again, budget_ms)
    failed = any(one.state == FAIL for one in findings)
    if as_json:
        print_json(
            {
                "ok": not failed,
                "agent": agent,
                "name": drive.name,
                "version": drive.version,
                "checks": [one.as_dict() for one in findings],
                "step_ms": timing_ms(drive),
                "setup_s": round(drive.setup_s, 3),
                "failure": drive.failure,
            }
        )
    else:
        _print(findings, agent, failed)
    if failed:
        raise typer.Exit(1)


def _open(kind: Any, server: str, seed: int) -> Any:
    if not server:
        return kind.embedded(seed=seed)
    return kind.attach(*parse_address(server))


def _print(findings: list[Finding], agent: str, failed: bool) -> None:
    for one in findings:
        print_finding(one.state, f"{one.check:<10} {one.detail}", one.fix)
    count = sum(one.state == "fail" for one in findings)
    if failed:
        print_line(f"{count} of {len(findings)} checks failed (see above)")
    else:
        finish([f"{agent} is wired correctly"], f"jaywalk run smoke --agent {agent}")
