"""Run the examples of a page as its reader would: every python and bash block, in order, in the current folder.

    python run_page.py README.md

Standard library only, so that it runs in the environment that the page itself describes. Python blocks share their
names, as in one session; bash blocks find the commands of this interpreter's environment first.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

_FENCE = re.compile(r"^```(\w+)[^\n]*\n(.*?)^```$", flags=re.DOTALL | re.MULTILINE)
RUN = ("python", "bash")


def fenced_blocks(page: Path) -> list[tuple[str, str, int]]:
    """Language, text and first line of every fenced block."""
    content = page.read_text(encoding="utf-8")
    return [(m[1], m[2], content.count("\n", 0, m.start(2)) + 1) for m in _FENCE.finditer(content)]


def run_page(page: Path) -> None:
    """Stop at the first block that fails."""
    names: dict[str, object] = {"__name__": "__main__"}
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    for language, text, line in fenced_blocks(page):
        sys.stdout.flush()
        if language == "python":
            exec(compile("\n" * (line - 1) + text, page.name, "exec"), names)
        elif language == "bash":
            done = subprocess.run(["bash", "-euo", "pipefail", "-c", text], env=os.environ | {"PATH": path})
            if done.returncode:
                raise SystemExit(f"{page.name}, line {line}: the shell left with {done.returncode}")


if __name__ == "__main__":
    run_page(Path(sys.argv[1]))
