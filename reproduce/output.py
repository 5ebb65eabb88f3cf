"""Where results go: CSV and PNG in results/reproduce, small pictures and tables into the docs."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
from matplotlib.figure import Figure
from PIL import Image

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "results" / "reproduce"
PAGES = tuple(ROOT / "docs" / "benchmarks" / page for page in ("reproduction.md", "reproduction-trees.md"))
IMAGES = ROOT / "docs" / "img"
# One colour per method in every figure.
COLOURS = {
    "exponential": "#7f7f7f",
    "permute-and-flip": "#000000",
    "LD, printed profile": "#d62728",
    "LD, exact profile": "#1f77b4",
    "value, inverse sensitivity": "#2ca02c",
}


def write_csv(name: str, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    RESULTS.mkdir(parents=True, exist_ok=True)
    with (RESULTS / f"{name}.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        for row in rows:
            writer.writerow([f"{cell:.10g}" if isinstance(cell, float) else cell for cell in row])


def save_figure(name: str, figure: Figure) -> None:
    RESULTS.mkdir(parents=True, exist_ok=True)
    IMAGES.mkdir(parents=True, exist_ok=True)
    figure.savefig(RESULTS / f"{name}.png", dpi=90)
    # a palette keeps the committed copy small
    with Image.open(RESULTS / f"{name}.png") as picture:
        picture.convert("RGB").quantize(96).save(IMAGES / f"{name}.png", optimize=True)


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def rewrite(marker: str, text: str) -> None:
    """Print a table, and put it between its markers in the page that has them."""
    print(f"\n{text}")
    pattern = re.compile(f"(<!-- {marker} -->\n).*?(\n<!-- /{marker} -->)", re.DOTALL)
    found = [page for page in PAGES if pattern.search(page.read_text())]
    if not found:
        raise SystemExit(f"no page has a place marked {marker}")
    for page in found:
        page.write_text(pattern.sub(lambda match: match.group(1) + text + match.group(2), page.read_text()))
