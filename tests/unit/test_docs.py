"""Everything with a name is documented, and no link is broken."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
import typer.main

from jaywalk.cli.listing import KINDS, rows_of
from jaywalk.cli.main import app
from jaywalk.server.process import ServerProcess

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])


def text(name):
    return (ROOT / name).read_text(encoding="utf-8")


def commands():
    """Every verb, with the sub-commands of those that have some."""
    for verb, command in typer.main.get_command(app).commands.items():
        yield verb
        for below in getattr(command.loaded, "commands", {}):
            yield f"{verb} {below}"


@pytest.mark.parametrize("command", list(commands()))
def test_every_command_is_documented(command):
    page = text("docs/reference/cli.md")
    assert f"## jaywalk {command.split()[0]}\n" in page
    assert f"jaywalk {command}" in page


@pytest.mark.parametrize("verb", [c for c in commands() if " " not in c])
def test_the_readme_names_every_verb(verb):
    assert f"`jaywalk {verb}`" in text("README.md")


def test_every_rpc_method_is_documented_once():
    lines = text("docs/reference/server.md").split("## Dialects")[0].splitlines()
    rows = "\n".join(line for line in lines if line.startswith("|"))
    documented = re.findall(r"`([a-zA-Z_]+)`", rows)
    methods = {row["name"] for row in rows_of("methods")}
    assert methods - set(documented) == set()
    assert set(documented) - methods == set()
    assert len(documented) == len(set(documented))


@pytest.mark.parametrize("kind", ["sensors", "towns", "dialects"])
def test_everything_of_a_kind_is_documented(kind):
    page = text(f"docs/reference/{'server' if kind == 'dialects' else kind}.md")
    assert [row["name"] for row in rows_of(kind) if row["name"] not in page] == []


def test_every_kind_is_documented():
    page = text("docs/reference/cli.md")
    assert [entry.name for entry in KINDS if f"`{entry.name}`" not in page] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)]+)\)", page.read_text(encoding="utf-8")):
        if "://" in target:
            continue
        path, _, anchor = target.partition("#")
        aim = (page.parent / path).resolve() if path else page
        assert aim.exists(), target
        if anchor:
            headings = re.findall(r"^#+ (.+)$", aim.read_text(encoding="utf-8"), re.MULTILINE)
            slugs = [re.sub(r"[^\w\- ]", "", h.lower()).replace(" ", "-") for h in headings]
            assert anchor in slugs, target


def test_every_page_is_reachable_from_the_index():
    index = text("docs/index.md")
    pages = [p.relative_to(ROOT / "docs").as_posix() for p in (ROOT / "docs").rglob("*.md")]
    assert [page for page in pages if page != "index.md" and f"({page})" not in index] == []


@pytest.mark.slow
def test_the_example_in_the_readme_runs():
    example = re.search(r"```python\n(.+?)```", text("README.md"), re.DOTALL).group(1)
    with ServerProcess() as server:
        code = example.replace("2000", str(server.port))
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, timeout=600, check=False
        )
    assert done.returncode == 0, done.stderr
    assert float(done.stdout.split(" m/s")[0]) > 5.0


def test_pictures_are_small():
    assert [p.name for p in (ROOT / "docs/img").iterdir() if p.stat().st_size > 400_000] == []


def test_architecture_names_files_that_exist():
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    flows = re.split(r"\n## From ", text)[1:]
    assert len(flows) == 3
    for flow in flows:
        (folder,) = re.findall(r"file \(below `([^`]+)`\)", flow)
        files = re.findall(r"^\| \d+ \| `([^`]+\.py)`", flow, re.MULTILINE)
        assert 5 < len(files) < 15
        assert [name for name in files if not (ROOT / folder / name).is_file()] == []


def test_glossary_names_code_that_exists():
    text = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    named = re.findall(r"`([a-z_0-9/]+/[a-z_0-9]+(?:\.py)?)`", text)
    assert len(named) > 30
    folders = ROOT, ROOT / "src/jaywalk"
    assert [name for name in named if not any((top / name).exists() for top in folders)] == []
