"""Structure of the package: unique names of public classes, and limits that may only fall."""

import ast
from collections import defaultdict
from functools import cache
from pathlib import Path

import jaywalk

PACKAGE = Path(jaywalk.__file__).parent
COMPAT = PACKAGE / "agents" / "compat"  # classes with the names of CARLA's own packages

# Classes that still share a name with another one. Remove a name once it is unique; never add one.
SHARED_NAMES: set[str] = set()

# Measured values. Lower them when you can; raise one only with a reason in the changelog.
MAX_FILES = 827
MAX_SMALL_MODULES = 14  # below SMALL_LINES and imported by a single module
MAX_LONG_FILES = 28  # above LONG_FILE_LINES
MAX_LONG_FUNCTIONS = 58  # above LONG_FUNCTION_LINES

SMALL_LINES = 80
LONG_FILE_LINES = 400
LONG_FUNCTION_LINES = 60


@cache
def _modules() -> dict[str, Path]:
    """Modules of the package by name; a package by the name of its folder."""
    modules = {}
    for file in sorted(PACKAGE.rglob("*.py")):
        parts = ("jaywalk", *file.relative_to(PACKAGE).with_suffix("").parts)
        modules[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file
    return modules


@cache
def _tree(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"))


def _line_count(file: Path) -> int:
    return len(file.read_text(encoding="utf-8").splitlines())


def _imported(node: ast.AST) -> list[str]:
    """Names of modules that a statement may import."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom) and node.module:
        return [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    return []


def _importers() -> dict[str, set[str]]:
    """Modules by the modules that import them, also within functions."""
    importers = defaultdict(set)
    for name, file in _modules().items():
        for node in ast.walk(_tree(file)):
            for target in _imported(node):
                if target in _modules() and target != name:
                    importers[target].add(name)
    return importers


def test_no_two_public_classes_share_a_name():
    places = defaultdict(list)
    for name, file in _modules().items():
        if COMPAT in file.parents:
            continue
        for node in _tree(file).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(f"{name}:{node.lineno}")
    shared = {name: where for name, where in places.items() if len(where) > 1}
    assert set(shared) == SHARED_NAMES, shared


def test_the_package_does_not_split_into_more_files():
    assert len(_modules()) <= MAX_FILES


def test_small_modules_are_not_made_for_a_single_importer():
    importers = _importers()
    small = [
        name
        for name, file in _modules().items()
        if len(importers[name]) == 1
        and file.name != "__init__.py"
        and _line_count(file) < SMALL_LINES
    ]
    assert len(small) <= MAX_SMALL_MODULES, small


def test_files_do_not_grow_long():
    lines = {name: _line_count(file) for name, file in _modules().items()}
    long = {name: count for name, count in lines.items() if count > LONG_FILE_LINES}
    assert len(long) <= MAX_LONG_FILES, long


def test_functions_do_not_grow_long():
    long = [
        f"{name}.{node.name}"
        for name, file in _modules().items()
        for node in ast.walk(_tree(file))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (node.end_lineno or 0) - node.lineno >= LONG_FUNCTION_LINES
    ]
    assert len(long) <= MAX_LONG_FUNCTIONS, long
