"""The docs site builds strictly (a broken link is an error), and its pages load nothing from elsewhere."""

import importlib
import os
import re
import subprocess
import sys
from pathlib import Path
from pkgutil import resolve_name
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]
MODULES = ("graphs", "learn", "series", "logs", "audit", "ledger", "testing")


def test_the_site_builds_and_stands_alone(tmp_path):
    # without --quiet, which also silences what --strict counts
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "mkdocs",
            "build",
            "--strict",
            "--site-dir",
            str(tmp_path / "site"),
        ],
        cwd=ROOT,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    pages = list((tmp_path / "site").rglob("*.html"))
    assert len(pages) > 40
    for page in pages:
        content = page.read_text(encoding="utf-8")
        assert not re.search(r'<(?:script|img|iframe)[^>]*\ssrc="(?:https?:)?//', content), page
        assert not re.search(r'<link[^>]*\shref="(?:https?:)?//', content), page
        assert not re.search(r"@import|fonts\.g", content), page
    reference = (tmp_path / "site" / "reference" / "sordino.html").read_text(encoding="utf-8")
    for signature in ("select", "quantile", "add_noise", "connect"):
        assert re.search(rf'<span class="nf">{signature}</span>', reference), signature


@pytest.mark.parametrize("module", ["sordino", *(f"sordino.{name}" for name in MODULES)])
def test_the_reference_has_every_public_name_and_no_other(module):
    """By object: where a file and its function have one name, a page names the function inside the file."""
    page = ROOT / "docs" / "reference" / f"{module.split('.')[-1]}.md"
    listed = re.findall(r"^::: (\S+)$", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    home = importlib.import_module(module)
    public = {name: getattr(home, name) for name in home.__all__ if not name.startswith("__")}
    if module == "sordino":
        public = {name: value for name, value in public.items() if not isinstance(value, ModuleType)}
    found = {path.rpartition(".")[2]: resolve_name(path) for path in listed}
    assert len(found) == len(listed)
    assert found.keys() == public.keys()
    assert all(found[name] is public[name] for name in public)
