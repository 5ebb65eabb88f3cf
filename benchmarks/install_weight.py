"""What does `pip install sordino` bring, and which workload needs it?

Walks the declared requirements of the base install, adds up the files of every package, times its import in a fresh
process (what the packages before it in the table already loaded is not taken off), and runs one small question of every
workload to see which packages it loads. Prints a Markdown table. Trees are not
among them: they need an extra.

    python benchmarks/install_weight.py
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import textwrap
from importlib.metadata import Distribution, distribution, packages_distributions, requires
from pathlib import Path

ROOT = "sordino"
TRIES = 3
WORKLOADS = {
    "import": "import sordino",
    "help": "from sordino.cli.app import run; run(['--help'])",
    "select": "import sordino as sd; sd.select([3.0, 1.0], profile=1.0, epsilon=1.0)",
    "noise": "import sordino as sd; sd.add_noise(3, 1.0, epsilon=1.0, noise='laplace', step=1)",
    "quantile": "import sordino as sd; sd.quantile([1.0, 2.0, 3.0], 0.5, bounds=(0, 9), step=1, epsilon=1.0)",
    "graph": """
        from sordino.graphs import Graph, count, top_k
        graph = Graph.from_edges([(0, 1), (1, 2), (0, 2)])
        count(graph, "triangles", epsilon=1.0), top_k(graph, 1, epsilon=1.0)
        """,
    "SQL": """
        import pyarrow, sordino as sd
        policy = {"version": 1, "dataset": "d", "tables": {"t": {}}, "budgets": {"ann": {"epsilon": 1}}}
        with sd.connect({"t": pyarrow.table({"a": [1, 2]})}, policy=policy) as curator:
            curator.session("ann").query("SELECT COUNT(*) FROM t", 1)
        """,
    "batch": """
        import sordino as sd
        from sordino.ledger import compose_batch
        compose_batch([sd.Guarantee(sd.Loss(epsilon=0.1), sd.add_remove_row(), "any")] * 9, 1e-6)
        """,
    "demo": "from sordino.cli.app import run; run(['demo', '--output', '/dev/null'])",
}
# After a workload: every package of which a module is loaded.
PROBE = """
import sys, json
sys.stdout.flush()
print('\\n' + json.dumps(sorted({name.split('.')[0] for name in sys.modules})))
"""


def closure() -> dict[str, tuple[Distribution, str]]:
    """Every package of the base install, with the requirement of ours that brings it first."""
    found: dict[str, tuple[Distribution, str]] = {}
    waiting = [(name, name) for name in required(ROOT)]
    while waiting:
        name, source = waiting.pop(0)
        if name not in found:
            found[name] = distribution(name), source
            waiting += [(further, source) for further in required(name)]
    return found


def required(name: str) -> list[str]:
    """The packages that one needs always: without extras, and without markers for other systems."""
    from packaging.requirements import Requirement

    wanted = map(Requirement, requires(name) or [])
    return [canonical(one.name) for one in wanted if one.marker is None or one.marker.evaluate({"extra": ""})]


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def size(package: Distribution) -> int:
    """The bytes of all its files, without what Python compiles."""
    files = (Path(str(file.locate())) for file in package.files or [] if "__pycache__" not in str(file))
    return sum(path.stat().st_size for path in files if path.is_file())


def modules_of(name: str) -> list[str]:
    """The importable names of a package."""
    return sorted(
        module
        for module, owners in packages_distributions().items()
        if name in map(canonical, owners) and not module.startswith("_")
    )


def import_seconds(module: str) -> float:
    """The least of a few fresh processes."""
    code = f"import time; t = time.perf_counter(); import {module}; print(time.perf_counter() - t)"
    return min(float(run(code)) for _ in range(TRIES))


def run(code: str) -> str:
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{code}\n{done.stderr}")
    return done.stdout


def main() -> None:
    packages = closure()
    loaded = {
        name: set(json.loads(run(textwrap.dedent(code) + PROBE).splitlines()[-1]))
        for name, code in WORKLOADS.items()
    }
    rows = []
    for name, (package, source) in packages.items():
        modules = modules_of(name)
        users = [workload for workload, seen in loaded.items() if seen & set(modules)]
        used = sorted(set(modules) & set().union(*loaded.values()))
        seconds = import_seconds(used[0]) if used else 0.0
        rows.append((size(package), name, package.version, source, seconds, users))
    print("| package | version | brought by | MB | import, s | loaded by |")
    print("|---|---|---|---:|---:|---|")
    for weight, name, version, source, seconds, users in sorted(rows, reverse=True):
        by = "" if source == name else source
        everyone = "all but import and help" if len(users) == len(WORKLOADS) - 2 else ", ".join(users)
        print(f"| {name} | {version} | {by} | {weight / 1e6:.1f} | {seconds:.2f} | {everyone or 'none'} |")
    print(f"| **{len(rows)} packages** | | | **{sum(row[0] for row in rows) / 1e6:.0f}** | | |")


if __name__ == "__main__":
    main()
