"""`sordino risk` as a newcomer uses it, and its page in a browser."""

from __future__ import annotations

import json
import math
import shutil

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
        (["epsilon", "--goal", "is(c)", "--prior", "c", "--advantage", "0.1"], "the prior 'c' names no kind"),
        (
            ["epsilon", "--goal", "is(c)", "--prior", "setPriro ('x', 1)", "--advantage", "0.1"],
            "the prior \"setPriro ('x', 1)\" names no kind: did you mean 'setPrior'?",
        ),
        (
            ["epsilon", "--goal", "is(c)", "--prior", "c setPriro ('x', 1)", "--advantage", "0.1"],
            "did you mean 'setPrior'?",
        ),
        (["curve"], "exactly one"),
        (["curve", "--epsilon", "1", "--plot", "x.txt"], "FILE.html"),
        (["curve", "--rho", "1", "--laplace"], "pure epsilon"),
        (["curve", "--epsilon", "1", "--delta", "1e-6", "--plot", "x.html"], "about a pure epsilon"),
        (["curve", "--rho", "1", "--plot", "x.html"], "about a pure epsilon"),
        (["curve", "--epsilon", "1", "--plot", "nowhere/x.html"], "cannot be written"),
        (["epsilon", "--goal", "is(c)", "--prior", "setPrior ('x', 1)", "--advantage", "0.1"], "certain"),
    ],
)
def test_mistakes_are_one_line(capsys, words, message):
    code, _, err = ask(capsys, *words)
    assert code != 0
    assert message in err
    assert len(err.strip().splitlines()) == 1


@pytest.fixture(scope="module")
def browser():
    """Chromium without a window, driven as a person would: by keys and choices."""
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    driver = shutil.which("chromedriver")
    if path is None or driver is None:
        pytest.skip("no Chromium and chromedriver on this machine (Debian: chromium chromium-driver)")
    selenium = pytest.importorskip("selenium.webdriver", reason="drives the browser")
    options = selenium.ChromeOptions()
    options.binary_location = path
    for word in ("--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=900,1000"):
        options.add_argument(word)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    opened = selenium.Chrome(options, selenium.ChromeService(driver))
    yield opened
    opened.quit()


def read(browser, name):
    return browser.find_element("id", name).text


def test_the_page_needs_nothing_but_itself(tmp_path, capsys):
    page = tmp_path / "risk.html"
    assert ask(capsys, "curve", "--epsilon", "1", "--plot", str(page))[0] == 0
    text = page.read_text()
    assert "http" not in text.replace("http-equiv", "").replace("http://www.w3.org/2000/svg", "")
    assert "default-src 'none'" in text


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_follows_its_sliders_in_a_browser(tmp_path, capsys, browser, scheme):
    page = tmp_path / "risk.html"
    assert ask(capsys, "curve", "--epsilon", "1", "--plot", str(page))[0] == 0
    shade = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", shade)
    browser.get(page.as_uri())
    # what a record says lies two changes apart: 1/(1 + 9/e²) is 45.085 %; whether it is there, one: 1/(1 + 9/e) is
    # 23.197 %; down, 1/(1 + 9e) is 3.927 %: what is promised is rounded to the safe side
    assert "believes it with at most 45.1 % afterwards" in read(browser, "sentence")
    browser.find_element("css selector", "option[value=presence]").click()
    assert "believes it with at most 23.2 % afterwards, and with at least 3.9 %" in read(browser, "sentence")
    before = browser.find_element("id", "curve").get_attribute("d")
    slider, prior = browser.find_element("id", "epsilon"), browser.find_element("id", "prior")
    slider.send_keys("\ue010")  # End
    assert read(browser, "epsilon-shown") == "10.0"
    assert browser.find_element("id", "curve").get_attribute("d") != before
    slider.send_keys("\ue011")  # Home
    assert read(browser, "epsilon-shown") == "0.0100"
    prior.send_keys("\ue014")  # one step to the right: 11 %
    assert "with 11 % before believes it with at most 11.1 %" in read(browser, "sentence")
    paper = browser.find_element("tag name", "body").value_of_css_property("background-color")
    assert paper.startswith("rgba(255, 255, 255" if scheme == "light" else "rgba(27, 27, 27")
    assert browser.get_log("browser") == []  # no error, nothing refused


@pytest.mark.slow
def test_the_slider_reaches_the_epsilon_that_was_given(tmp_path, capsys, browser):
    page = tmp_path / "risk.html"
    assert ask(capsys, "curve", "--epsilon", "20", "--units", "1", "--plot", str(page))[0] == 0
    browser.get(page.as_uri())
    assert read(browser, "epsilon-shown") == "20.0"
    assert "at most 100 % afterwards" in read(browser, "sentence")
