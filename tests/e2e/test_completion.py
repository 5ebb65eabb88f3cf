"""Completion in a real bash: the script that is shown works, and installing it once is enough."""

import os
import shutil
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash here")


@pytest.fixture
def bash(tmp_path):
    """Run lines in bash with a `sordino` on the path and a home of its own."""
    program = tmp_path / "bin" / "sordino"
    program.parent.mkdir()
    program.write_text(f"#!{sys.executable}\nfrom sordino.cli import main\nmain()\n")
    program.chmod(0o755)
    (tmp_path / "home").mkdir()
    environment = os.environ | {
        "PATH": f"{program.parent}:{os.environ['PATH']}",
        "HOME": str(tmp_path / "home"),
        "SHELL": "/bin/bash",
    }

    def run(lines):
        # Two commands, so that bash stays and is found as the parent of the program.
        done = subprocess.run(
            ["bash", "--norc", "-c", f"{lines}\ntrue"],
            capture_output=True,
            text=True,
            env=environment,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout

    return run


def completed(words):
    last = len(words) - 1
    return f"COMP_WORDS=({' '.join(words)}); COMP_CWORD={last}; _sordino_completion sordino; echo ${{COMPREPLY[*]}}"


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("sordino", "exp"), {"explain"}),
        (("sordino", "ledger", "re"), {"redeclare", "resume", "revoke"}),
        (("sordino", "explain", "--br"), {"--brief"}),
        (("sordino", "topk", "--excess", "p"), {"project"}),
    ],
)
def test_the_script_that_is_shown_completes(bash, words, expected):
    shown = bash(f'eval "$(sordino --show-completion)"\n{completed(words)}')
    assert set(shown.split()) == expected


def test_completion_installs_for_the_next_terminal(bash, tmp_path):
    assert "bash completion installed" in bash("sordino --install-completion")
    bash("sordino --install-completion")
    lines = (tmp_path / "home" / ".bashrc").read_text().split("\n")
    assert len([line for line in lines if line.startswith("source ")]) == 1
    assert bash(f". ~/.bashrc\n{completed(('sordino', 'exp'))}").split() == ["explain"]
