"""MkDocs hooks: navigation by folder, the API pages, and the pages that live outside docs/.

``python tools/docs_site.py SITE`` checks a built site: it must load nothing from other hosts.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from mkdocs.structure.files import File, Files

ROOT: Final = Path(__file__).resolve().parents[1]
OUTSIDE: Final = {"CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}
API_ROOMS: Final = tuple(
    path.parent.name
    for path in sorted((ROOT / "src" / "jaywalk").glob("*/__init__.py"))
    if path.parent.name not in ("cli", "gym")
)
_AGENT_PAGE: Final = "# jaywalk_agent\n\n::: jaywalk_agent\n"
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
    for room in API_ROOMS:
        files.append(File.generated(config, f"api/{room}.md", content=_api_page(room)))
    files.append(File.generated(config, "api/jaywalk_agent.md", content=_AGENT_PAGE))
    return files


def _api_page(room: str) -> str:
    """Return the page of a room: its docstring and every public class and function."""
    package = import_module(f"jaywalk.{room}")
    objects = [getattr(package, name) for name in package.__all__]
    documented = [item for item in objects if inspect.isclass(item) or inspect.isfunction(item)]
    sections = [f"::: {item.__module__}.{item.__qualname__}" for item in documented]
    about = inspect.getdoc(package) or ""
    return "\n\n".join([f"# jaywalk.{room}", about, *sections]) + "\n"


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
        return {title: [f"api/{room}.md" for room in (*API_ROOMS, "jaywalk_agent")]}
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
    pages = pages_that_load_from_outside(site)
    for name in pages:
        sys.stdout.write(f"{site / name} loads something from another host\n")
    return 1 if pages or not (site / "index.html").exists() else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
