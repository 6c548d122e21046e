"""``jaywalk demo``: the main job in a few minutes: two drivers, who is better, and why."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final

import typer

from jaywalk.cli.output import finish, render, say

# The first is the baseline of the comparison.
_DRIVERS: Final = ("blind", "cruise")


def demo(
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder to write into.")] = Path("demo"),
    people: Annotated[int, typer.Option(help="People beside the road.", min=0, max=200)] = 0,
    workers: Annotated[int, typer.Option(help="Episodes at a time; 0: one per core.", min=0)] = 0,
) -> None:
    """Run the suite 'smoke' with a driver that looks and one that does not, compare, report.

    Run again it goes on where it was; episodes that are done are not run twice.

    Example: jaywalk demo --out demo
    """
    from jaywalk.cli.compare import compare
    from jaywalk.cli.run import run_all
    from jaywalk.report.page import write_page
    from jaywalk.report.scored_runs import score_folders
    from jaywalk.runner.request import RunOptions, make_requests

    options = RunOptions(workers=workers, people=people or None)
    run_all(make_requests("smoke", ",".join(_DRIVERS), options, out))
    folders = [out / name for name in _DRIVERS]
    render(compare(folders))
    page = out / "report.html"
    say("drawing the report ...")
    write_page(score_folders(folders, "jaywalk"), page, title="Two drivers on the suite smoke")
    finish(
        [f"report: {page.resolve()}"],
        "jaywalk run smoke --agent YOUR_AGENT.py --seeds 1,2,3  # docs/reference/running.md",
    )
