"""The peers, each in an environment of its own, driven as a subprocess that answers one JSON line per request."""

from __future__ import annotations

import json
import subprocess
import sys
import venv
from pathlib import Path
from types import TracebackType
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
ENVIRONMENTS = ROOT / ".venv-peers"
# diffprivlib 0.6 imports names that scikit-learn 1.8 no longer has.
REQUIREMENTS = {
    "opendp": ("opendp>=0.14", "numpy>=1.26"),
    "diffprivlib": ("diffprivlib>=0.6.5", "scikit-learn<1.8"),
    "igraph": ("igraph>=0.11",),
    "smartnoise": ("smartnoise-sql==1.0.10", "duckdb>=1.2.2"),
    "qrlew": ("pyqrlew==0.9.27", "duckdb>=1.2.2"),
    "pipelinedp": ("pipeline-dp>=0.3", "duckdb>=1.2.2"),
    "tumult": ("tmlt.analytics>=0.21", "duckdb>=1.2.2"),
    "opendp_polars": ("opendp[polars]>=0.16", "duckdb>=1.2.2", "pyarrow"),
    "tpchgen": ("tpchgen-cli>=2",),
}
# Where the package is not called like the peer.
PACKAGES = {
    "smartnoise": "smartnoise-sql",
    "qrlew": "pyqrlew",
    "pipelinedp": "pipeline-dp",
    "tumult": "tmlt.analytics",
    "opendp_polars": "opendp",
    "tpchgen": "tpchgen-cli",
}


def python_of(name: str) -> Path:
    """The interpreter of a peer's environment, made and filled when it is missing or its requirements changed."""
    folder = ENVIRONMENTS / name
    python = folder / "bin" / "python"
    if not is_installed(name):
        print(f"installing {name} into .venv-peers/{name} …", flush=True)
        venv.create(folder, with_pip=True, clear=True)
        install = [str(python), "-m", "pip", "install", "-q", "--disable-pip-version-check"]
        done = subprocess.run([*install, *REQUIREMENTS[name]], check=False, capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(f"{name} could not be installed:\n{done.stderr[-2000:]}")
        (folder / ".requirements").write_text("\n".join(REQUIREMENTS[name]))
    return python


def is_installed(name: str) -> bool:
    """Whether a peer has its environment, with what is required now."""
    stamp = ENVIRONMENTS / name / ".requirements"
    return stamp.is_file() and stamp.read_text() == "\n".join(REQUIREMENTS[name])


class Peer:
    """A running worker: ``ask`` sends a request and waits for the answer."""

    def __init__(self, name: str) -> None:
        worker = Path(__file__).with_name(f"peer_{name}.py")
        self.process = subprocess.Popen(
            [str(python_of(name)), "-W", "ignore", str(worker)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __enter__(self) -> Peer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.process.stdin:
            self.process.stdin.close()
        self.process.wait(timeout=30)

    def ask(self, **request: Any) -> dict[str, Any]:
        if self.process.stdin is None or self.process.stdout is None:
            raise SystemExit("the peer has no pipes")
        print(json.dumps(request), file=self.process.stdin, flush=True)
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"a peer stopped while answering {request['op']} (see above)")
        answer: dict[str, Any] = json.loads(line)
        return answer


def versions() -> dict[str, str]:
    """The versions in use, ours and those of the peers that have been installed."""
    import importlib.metadata

    found = {"python": sys.version.split()[0]}
    ours = ("sordino", "numpy", "scipy", "python-flint", "duckdb", "sqlglot")
    found |= {name: importlib.metadata.version(name) for name in ours}
    for name in filter(is_installed, REQUIREMENTS):
        code = f"import importlib.metadata as m; print(m.version({PACKAGES.get(name, name)!r}))"
        found[name] = subprocess.run(
            [str(python_of(name)), "-c", code], check=True, capture_output=True, text=True
        ).stdout.strip()
    return found
