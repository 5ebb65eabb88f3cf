"""`sordino risk` as a newcomer uses it, and its page in a browser."""

from __future__ import annotations

import json
import math
import shutil
import subprocess

import pytest

from sordino.cli.app import run

SMOKER = ["--goal", "is(smoker)", "--prior", "setPrior ('yes', 0.2) ('no', 0.8)"]


def ask(capsys, *words):
    code = run(["risk", *words])
    said = capsys.readouterr()
    return code, said.out, said.err


def test_epsilon_and_advantage_are_each_others_inverse(capsys):
    code, out, _ = ask(capsys, "epsilon", *SMOKER, "--advantage", "0.1", "--json")
    found = json.loads(out)
    assert code == 0
    assert found["epsilon"] == pytest.approx(math.log(0.8 * 0.3 / (0.2 * 0.7)))
    code, out, _ = ask(capsys, "advantage", *SMOKER, "--epsilon", str(found["epsilon"]), "--json")
    assert json.loads(out)["advantage"] == pytest.approx(0.1, abs=1e-6)


def test_people_read_a_sentence(capsys):
    code, out, _ = ask(capsys, "epsilon", *SMOKER, "--advantage", "0.1", "--uses", "2")
    assert code == 0
    assert "in each of 2 releases" in out
    assert "from 0.2 to 0.3" in out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["epsilon", "--goal", "is(smoker)", "--prior", "setPrior ('yes', 0.2)", "--advantage", "0.1"],
            "add up to 0.2",
        ),
        (
            ["epsilon", "--goal", "is(a) AND is(b)", "--prior", "set 'x' 'y'", "--advantage", "0.1"],
            "several columns",
        ),
        (["epsilon", *SMOKER, "--advantage", "2"], "advantage must be in"),
        (
            ["epsilon", "--goal", "is(c)", "--prior", "d set 'x' 'y'", "--advantage", "0.1"],
            "no prior is known",
        ),
        (["curve"], "exactly one"),
        (["curve", "--epsilon", "1", "--plot", "x.txt"], "FILE.html"),
        (["curve", "--rho", "1", "--laplace"], "pure epsilon"),
    ],
)
def test_mistakes_are_one_line(capsys, words, message):
    code, _, err = ask(capsys, *words)
    assert code != 0
    assert message in err
    assert len(err.strip().splitlines()) == 1


def test_the_page_works_in_a_browser_without_a_network(tmp_path, capsys):
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    page = tmp_path / "risk.html"
    assert ask(capsys, "curve", "--epsilon", "1", "--plot", str(page))[0] == 0
    assert "http" not in page.read_text().replace("http-equiv", "").replace("http://www.w3.org/2000/svg", "")
    if browser is None:
        pytest.skip("no Chromium on this machine: the page is not opened")
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
               "--disable-component-update", "--disable-sync", f"--user-data-dir={tmp_path / 'profile'}"]  # fmt: skip
    shown = subprocess.run(
        [browser, *options, "--dump-dom", page.as_uri()],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    ).stdout
    # the script has run: 1/(1 + 9/e) is 23 %
    assert "believes it with at most 23 % afterwards" in shown
