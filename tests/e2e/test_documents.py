"""The examples of the README and of the pages run as they stand, and links lead somewhere."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from sordino.demo.example_files import PEOPLE_SCHEMA, SHOP_POLICY_TEXT
from tests.e2e.run_page import RUN, fenced_blocks

ROOT = Path(__file__).parents[2]
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
WITH_EXAMPLES = [page for page in PAGES if any(language in RUN for language, *_ in fenced_blocks(page))]
_IMPORT = re.compile(r"^\s*(?:import ([\w.]+)|from ([\w.]+) import)", flags=re.MULTILINE)
SHOWN_ONLY = ("text", "yaml", "json", "sql")


def name(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("page", [page for page in WITH_EXAMPLES if page.name != "README.md"], ids=name)
def test_the_examples_of_a_page_run(page, tmp_path):
    """The README's run in an environment of their own: `test_readme_environment.py`."""
    done = subprocess.run(
        [sys.executable, "-W", "error", str(ROOT / "tests/e2e/run_page.py"), str(page)],
        cwd=tmp_path,
        env=os.environ | {"MPLBACKEND": "Agg"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()


def test_pages_for_readers_have_examples():
    named = {name(page) for page in WITH_EXAMPLES}
    wanted = [
        *(ROOT / "docs/tutorial").glob("*.md"),
        *(ROOT / "docs/how-to").glob("*.md"),
        ROOT / "README.md",
    ]
    assert {name(page) for page in wanted if page.name != "index.md"} <= named


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_what_looks_like_a_command_is_run(page):
    for language, text, line in fenced_blocks(page):
        assert language in (*RUN, *SHOWN_ONLY), f"line {line}: {language}"
        if language not in RUN:
            # What serves does not end: the page about servers runs one in its own way.
            assert not re.search(r"^(\$ )?sordino (?!serve\b)\w", text, flags=re.MULTILINE), (
                f"line {line} is not run"
            )
    unfenced = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    assert not re.search(r"^ {4,}sordino \w", unfenced, flags=re.MULTILINE)


@pytest.mark.parametrize("page", WITH_EXAMPLES, ids=name)
def test_examples_import_what_a_user_has(page):
    """Packages of `pip install 'sordino[learn]'`, which the tutorial asks for, and nothing that only the tests have."""
    code = "\n".join(text for language, text, _ in fenced_blocks(page) if language == "python")
    imported = {module.split(".")[0] for pair in _IMPORT.findall(code) for module in pair if module}
    assert imported <= {*sys.stdlib_module_names, "sordino", "numpy", "pyarrow", "duckdb", "sklearn"}


def test_the_readme_shows_the_example_files_as_they_are():
    blocks = fenced_blocks(ROOT / "README.md")
    assert [text for language, text, _ in blocks if language == "yaml"] == [SHOP_POLICY_TEXT]
    (tree,) = (text for language, text, _ in blocks if language == "python" and "schema=" in text)
    assert eval(re.search(r"schema=(\{.*\}),\n", tree)[1]) == PEOPLE_SCHEMA


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_between_pages_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text()):
        if not target.startswith(("http://", "https://")):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_pages_that_code_names_exist():
    named = {
        page
        for folder in ("src", "tests", "benchmarks", "reproduce", "examples")
        for source in (ROOT / folder).rglob("*.py")
        for page in re.findall(r"docs/[\w/-]+\.md", source.read_text(encoding="utf-8"))
    }
    assert named
    assert {page for page in named if not (ROOT / page).is_file()} == set()


def test_every_marked_table_is_written_by_a_script():
    scripts = "".join(
        script.read_text()
        for folder in ("benchmarks", "reproduce")
        for script in (ROOT / folder).glob("*.py")
    )
    markers = {
        marker
        for page in PAGES
        for marker in re.findall(r"^<!-- ([\w-]+) -->$", page.read_text(), re.MULTILINE)
    }
    assert markers
    assert {marker for marker in markers if f'"{marker}"' not in scripts} == set()
