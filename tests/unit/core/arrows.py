"""What a source file imports and names, found in its syntax tree; and which of that its place does not allow.

Every function takes a file's path inside the package (``"sql/reading/read.py"``) and its text, so that planted sources
can be given to it as well as real ones.

What counts as an import: `import` and `from … import` anywhere in a file, relative ones too, in functions and under
TYPE_CHECKING; `import_module` of a text; and what is taken from the root package, by name (``from sordino import
select``) or by attribute (``sd.select``), which counts as an import of the place where the name is at home. Only the
search for cycles leaves out what stands under TYPE_CHECKING, which never runs. A package that Python loads on the way
to a module of it is not an import: every package would be in a cycle with whatever it re-exports.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass
from functools import cache
from pathlib import Path, PurePosixPath

ROOT = "sordino"
SOURCE = Path(__file__).parents[3] / "src" / ROOT

# Whatever is drawn from these is not drawn by `sordino.sampling`.
RANDOMNESS = (
    "random",
    "secrets",
    "numpy.random",
    "scipy.stats.qmc",
    "os.urandom",
    "os.getrandom",
    "ssl.RAND_bytes",
    "uuid.uuid1",
    "uuid.uuid4",
)
# Methods and functions that draw, whatever they are called on.
DRAWING = {"rvs", "check_random_state", "SystemRandom", "default_rng", "RandomState"}


@dataclass(frozen=True, slots=True)
class Use:
    """A dotted name that a file imports or reaches through what it imports; ``typing``: for type checkers alone."""

    name: str
    line: int
    imported: bool
    typing: bool = False


def read_sources() -> dict[str, str]:
    """The text of every file of the package by its path inside it."""
    return {path.relative_to(SOURCE).as_posix(): path.read_text() for path in sorted(SOURCE.rglob("*.py"))}


def name_module(path: str) -> str:
    """The dotted name of a file's module."""
    parts = (ROOT, *PurePosixPath(path).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def list_uses(path: str, text: str, homes: Mapping[str, str]) -> list[Use]:
    """All that a file imports, and the attributes that it reaches through imported modules.

    ``homes``: the names of the root package, each with the module it comes from.
    """
    nodes = _list_nodes(text)
    typing = {id(inner) for node in nodes if _is_for_typing(node) for inner in _walk_body(node)}
    aliases: dict[str, str] = {}
    found = []
    for node in nodes:
        for name, alias in _list_imported(node, path):
            found.append(Use(name, node.lineno, True, id(node) in typing))
            if alias is not None:
                aliases[alias] = name
    for node in nodes:
        dotted = None if isinstance(node, ast.Name) else _name_attribute(node, aliases)
        if dotted is not None:
            through_root = ROOT in (
                aliases.get(name.id) for name in ast.walk(node) if isinstance(name, ast.Name)
            )
            found.append(Use(dotted, node.lineno, through_root, id(node) in typing))
    return [
        Use(_find_home(use.name, homes) if use.imported else use.name, use.line, use.imported, use.typing)
        for use in found
    ]


@cache
def _list_nodes(text: str) -> list[ast.AST]:
    """All nodes of a file: every check goes through every file."""
    return list(ast.walk(ast.parse(text)))


def _is_for_typing(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and any(
        "TYPE_CHECKING" in (getattr(inner, "id", ""), getattr(inner, "attr", ""))
        for inner in ast.walk(node.test)
    )


def _walk_body(node: ast.AST) -> Iterator[ast.AST]:
    assert isinstance(node, ast.If)
    for statement in node.body:
        yield from ast.walk(statement)


def _list_imported(node: ast.AST, path: str) -> Iterator[tuple[str, str | None]]:
    """What one node imports, and the name by which the file then knows it."""
    if isinstance(node, ast.Import):
        for item in node.names:
            yield item.name, item.asname
            if item.asname is None:
                first = item.name.split(".")[0]
                yield first, first
    elif isinstance(node, ast.ImportFrom):
        base = _resolve_relative(node, path)
        for item in node.names:
            yield f"{base}.{item.name}", item.asname or item.name
    elif isinstance(node, ast.Call) and _ends_with(node.func, ("import_module", "__import__")) and node.args:
        asked = node.args[0]
        if isinstance(asked, ast.Constant) and isinstance(asked.value, str):
            yield asked.value, None


def _resolve_relative(node: ast.ImportFrom, path: str) -> str:
    if not node.level:
        return node.module or ""
    # The package of a file is its folder, of an `__init__` too.
    package = [ROOT, *PurePosixPath(path).parts[:-1]]
    package = package[: len(package) - node.level + 1]
    return ".".join([*package, node.module] if node.module else package)


def _ends_with(node: ast.AST, names: tuple[str, ...]) -> bool:
    return (getattr(node, "id", None) or getattr(node, "attr", None)) in names


def _name_attribute(node: ast.AST, aliases: Mapping[str, str]) -> str | None:
    """The dotted name behind ``np.random.normal`` or ``getattr(np, "random")``, where np was imported."""
    if isinstance(node, ast.Name):
        return aliases.get(node.id)
    if isinstance(node, ast.Attribute):
        inner = _name_attribute(node.value, aliases)
        return None if inner is None else f"{inner}.{node.attr}"
    if (
        isinstance(node, ast.Call)
        and _ends_with(node.func, ("getattr",))
        and len(node.args) > 1
        and isinstance(node.args[1], ast.Constant)
    ):
        inner = _name_attribute(node.args[0], aliases)
        return None if inner is None else f"{inner}.{node.args[1].value}"
    return None


def _find_home(name: str, homes: Mapping[str, str]) -> str:
    """``sordino.select`` is at home in ``sordino.mechanisms.selection``."""
    parts = name.split(".")
    if parts[0] == ROOT and len(parts) > 1 and parts[1] in homes:
        return ".".join([ROOT, homes[parts[1]], *parts[1:]])
    return name


def find_wrong_arrows(
    path: str, text: str, allowed: Mapping[str, Set[str]], homes: Mapping[str, str]
) -> list[str]:
    """Imports that the table of arrows does not have; a row of it is for the files that no longer row is for."""
    own = _find_row(name_module(path), allowed)
    wrong = []
    for use in list_uses(path, text, homes):
        row = _find_row(use.name, allowed) if use.imported and use.name.startswith(f"{ROOT}.") else None
        if row is not None and own is not None and row not in (own, *allowed[own]):
            wrong.append(f"{path}:{use.line} imports {use.name}, and {own} may not import {row}")
    return sorted(set(wrong))


def _find_row(module: str, allowed: Mapping[str, Set[str]]) -> str | None:
    parts = module.split(".")[1:]
    rows = [".".join(parts[:length]) for length in range(len(parts), 0, -1)]
    return next((row for row in rows if row in allowed), None)


def find_stray_packages(
    path: str, text: str, everywhere: Set[str], adapters: Mapping[str, Set[str]]
) -> list[str]:
    """Imports of other people's packages outside the files that adapt them.

    ``everywhere``: packages that may be imported anywhere, unless ``adapters`` names the files for them.
    """
    wrong = []
    for use in list_uses(path, text, {}):
        package = use.name.split(".")[0]
        if not use.imported or package == ROOT:
            continue
        if package in adapters:
            if path not in adapters[package]:
                places = ", ".join(sorted(adapters[package]))
                wrong.append(f"{path}:{use.line} imports {package}, which is for {places}")
        elif package not in everywhere:
            wrong.append(f"{path}:{use.line} imports {package}, which nothing installs")
    return sorted(set(wrong))


def find_randomness(path: str, text: str) -> list[str]:
    """Names of sources of randomness, by import or by attribute, whatever they were imported as."""
    wrong = []
    for use in list_uses(path, text, {}):
        drawn = use.name.split(".")[-1] in DRAWING
        if drawn or any(use.name == source or use.name.startswith(f"{source}.") for source in RANDOMNESS):
            wrong.append(f"{path}:{use.line} uses {use.name}")
    for node in _list_nodes(text):
        if isinstance(node, ast.Attribute) and node.attr in DRAWING:
            wrong.append(f"{path}:{node.lineno} uses {node.attr}")
    return sorted(set(wrong))


def find_stars(path: str, text: str) -> list[str]:
    """Star imports: nothing above can see what they bring."""
    return [
        f"{path}:{node.lineno} imports * from {node.module}"
        for node in _list_nodes(text)
        if isinstance(node, ast.ImportFrom) and any(item.name == "*" for item in node.names)
    ]


def find_cycles(sources: Mapping[str, str], homes: Mapping[str, str]) -> list[list[str]]:
    """Modules that need one another while they run: the strongly connected components of more than one module."""
    modules = {name_module(path) for path in sources}
    needs = {
        name_module(path): {
            target
            for use in list_uses(path, text, homes)
            if use.imported and not use.typing
            for target in [_find_module(use.name, modules)]
            if target not in (None, ROOT, name_module(path))
        }
        for path, text in sources.items()
    }
    # The root only hands names on, and those count at home.
    needs[ROOT] = set()
    reached = {module: _reach(module, needs) for module in needs}
    cycles = {
        tuple(sorted(other for other in reached[module] if module in reached[other]))
        for module in needs
        if module in reached[module]
    }
    return sorted(map(list, cycles))


def _find_module(name: str, modules: Set[str]) -> str | None:
    """The module behind a dotted name: the name itself, or the longest part of it that is one."""
    parts = name.split(".")
    return next((part for n in range(len(parts), 0, -1) if (part := ".".join(parts[:n])) in modules), None)


def _reach(start: str, needs: Mapping[str, Set[str]]) -> set[str]:
    """All that is needed by what a module needs."""
    found: set[str] = set()
    waiting = list(needs[start])
    while waiting:
        module = waiting.pop()
        if module not in found:
            found.add(module)
            waiting += needs.get(module, set())
    return found
