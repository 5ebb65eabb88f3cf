"""The page of trees and forests, whose tables are rewritten by the commands that measure them."""

from __future__ import annotations

import re

import output

PAGE = output.ROOT / "docs" / "learning.md"


def rewrite(marker: str, text: str) -> None:
    """Print a table, and put it between its markers in the page."""
    print(f"\n{text}")
    page = PAGE.read_text()
    pattern = re.compile(f"(<!-- {marker} -->\n).*?(\n<!-- /{marker} -->)", re.DOTALL)
    if not pattern.search(page):
        raise SystemExit(f"{PAGE.name} has no place marked {marker}")
    PAGE.write_text(pattern.sub(lambda match: match.group(1) + text + match.group(2), page))
