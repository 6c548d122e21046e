"""MkDocs hooks: navigation by folder, the API pages, and the pages that live outside docs/.

``python tools/docs_site.py SITE`` checks a built site: it must load nothing from other hosts.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from mkdocs.structure.files import File, Files

ROOT: Final = Path(__file__).resolve().parents[1]
OUTSIDE: Final = {"CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}
API_ROOMS: Final = {
    "core": ("jaywalk.core.registry", "jaywalk.core.errors", "jaywalk.core.seeds"),
    "geometry": ("jaywalk.geometry.path", "jaywalk.geometry.box", "jaywalk.geometry.frames"),
    "record": ("jaywalk.record.reader", "jaywalk.record.episode", "jaywalk.record._contacts"),
    "agents": ("jaywalk.agents.base", "jaywalk_agent"),
    "scenarios": ("jaywalk.scenarios.base", "jaywalk.scenarios.suite"),
    "runner": ("jaywalk.runner.job", "jaywalk.runner.plan"),
    "metrics": (
        "jaywalk.metrics.driving.protocols",
        "jaywalk.metrics.driving.summary",
        "jaywalk.metrics.driving.rates",
    ),
    "motion": ("jaywalk.motion.clip", "jaywalk.motion.library.reading"),
    "report": (
        "jaywalk.report.scored_runs",
        "jaywalk.report.comparison",
        "jaywalk.report.page",
    ),
    "stats": ("jaywalk.stats.intervals", "jaywalk.stats.clustered", "jaywalk.stats.bootstrap"),
}
_LOADS: Final = re.compile(
    r"""<(?:script|img|iframe|source)\b[^>]*\bsrc=["']?(?:https?:)?//|"""
    r"""<link\b[^>]*\brel=["']?(?:stylesheet|preconnect|preload|icon)[^>]*\bhref=["']?(?:https?:)?//|"""
    r"""@import|url\(["']?(?:https?:)?//"""
)
_LINK: Final = re.compile(r"\]\((?!\w+:)([^)#\s]+)((?:#[^)\s]*)?)\)")


def on_config(config: Any) -> Any:
    """Replace a folder name in the navigation by the pages of that folder."""
    config["nav"] = [_expanded(entry) for entry in config["nav"]]
    return config


def on_files(files: Files, config: Any) -> Files:
    """Add the pages that have no file in docs/: the API, contributing and the changelog."""
    for source, page in OUTSIDE.items():
        text = _LINK.sub(_below_docs, (ROOT / source).read_text(encoding="utf-8"))
        files.append(File.generated(config, page, content=text))
    for room, modules in API_ROOMS.items():
        sections = "\n\n".join(f"::: {module}" for module in modules)
        text = f"# {room}\n\n{sections}\n"
        files.append(File.generated(config, f"api/{room}.md", content=text))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Point links to files outside docs/ at the pages made from them."""
    up = "../" * page.file.src_uri.count("/")
    for source, target in OUTSIDE.items():
        markdown = markdown.replace(f"]({up}../{source}", f"]({up}{target}")
    return markdown.replace(f"]({up}../README.md)", f"]({up}index.md)")


def _expanded(entry: Any) -> Any:
    if not isinstance(entry, dict):
        return entry
    ((title, content),) = entry.items()
    if not isinstance(content, str):
        return entry
    if content == "api":
        return {title: [f"api/{room}.md" for room in API_ROOMS]}
    pages = sorted((ROOT / "docs" / content).glob("*.md"), key=lambda page: page.stem)
    return {title: [f"{content}/{page.name}" for page in pages]}


def _below_docs(link: re.Match[str]) -> str:
    target = link[1]
    if target in OUTSIDE:
        return f"]({OUTSIDE[target]}{link[2]})"
    if target == "README.md":
        return "](index.md)"
    return f"]({target.removeprefix('docs/')}{link[2]})"


def pages_that_load_from_outside(site: Path) -> list[str]:
    """List the pages and style sheets that would fetch something from another host."""
    files = sorted([*site.rglob("*.html"), *site.rglob("*.css")])
    return [
        str(file.relative_to(site))
        for file in files
        if _LOADS.search(file.read_text(encoding="utf-8"))
    ]


def main(arguments: Sequence[str]) -> int:
    """Check a built site."""
    site = Path(arguments[0])
    found = pages_that_load_from_outside(site)
    for name in found:
        sys.stdout.write(f"{site / name} loads something from another host\n")
    return 1 if found or not (site / "index.html").exists() else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
