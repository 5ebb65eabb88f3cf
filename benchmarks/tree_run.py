"""Trees and forests beside diffprivlib's: tables here, JSON in results/, with --write-docs also docs/learning.md."""

from __future__ import annotations

import argparse
import json
import os
import platform
import re

import peers
import report
import tree_accuracy
import tree_speed
import tree_table

PAGE = report.PAGE.with_name("learning.md")
QUESTIONS = {"tree_speed": tree_speed.run, "tree_table": tree_table.run, "tree_accuracy": tree_accuracy.run}


def rewrite(marker: str, text: str) -> None:
    """Put a text between its markers in the page."""
    page = PAGE.read_text()
    pattern = re.compile(f"(<!-- {marker} -->\n).*?(\n<!-- /{marker} -->)", re.DOTALL)
    if not pattern.search(page):
        raise SystemExit(f"{PAGE.name} has no place marked {marker}")
    PAGE.write_text(pattern.sub(lambda match: match.group(1) + text + match.group(2), page))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few repetitions: does it run?")
    parser.add_argument("--write-docs", action="store_true", help="rewrite the tables of docs/learning.md")
    parser.add_argument("--only", choices=list(QUESTIONS), action="append", help="one question (repeatable)")
    options = parser.parse_args()
    results = {}
    for name in options.only or QUESTIONS:
        for part in QUESTIONS[name](options.quick):
            print(f"\n{part.markdown()}", flush=True)
            results[part.marker] = {"table": [part.header, *part.rows], "raw": part.raw}
            if options.write_docs:
                rewrite(part.marker, part.markdown())
    if options.write_docs:
        machine = ", ".join(f"{key} {value}" for key, value in peers.versions().items())
        rewrite("tree-machine", f"Measured on {os.cpu_count()} cores ({platform.machine()}), {machine}.")
    path = report.PAGE.parent.parent / "results" / "tree_benchmarks.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(results, indent=1, ensure_ascii=False))


if __name__ == "__main__":
    main()
