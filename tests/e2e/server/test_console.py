"""The console in a real browser: ask, pay, be wrong, look back; the owner's page; keys alone; no script of others."""

from __future__ import annotations

import contextlib
import os
import shutil
import time
from pathlib import Path

import pytest

import sordino as sd
from tests.e2e.server.serving import HOSTILE, POLICY, serving

pytestmark = pytest.mark.slow
GROUPS = "SELECT city, COUNT(*) AS n FROM orders GROUP BY city"


@pytest.fixture(scope="module")
def browser():
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    driver = shutil.which("chromedriver")
    if path is None or driver is None:
        pytest.skip("no Chromium and chromedriver on this machine (Debian: chromium chromium-driver)")
    selenium = pytest.importorskip("selenium.webdriver", reason="drives the browser")
    options = selenium.ChromeOptions()
    options.binary_location = path
    for word in ("--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=1200,1000"):
        options.add_argument(word)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    opened = selenium.Chrome(options, selenium.ChromeService(driver))
    yield opened
    opened.quit()


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    with serving(tmp_path_factory.mktemp("console")) as server:
        yield server


def until(condition, seconds=20):
    from selenium.common.exceptions import StaleElementReferenceException

    end = time.monotonic() + seconds
    while time.monotonic() < end:
        with contextlib.suppress(StaleElementReferenceException):  # drawn anew meanwhile
            if found := condition():
                return found
        time.sleep(0.05)
    raise AssertionError("what was waited for did not come")


def see(browser, name):
    return browser.find_element("id", name)


def enter(browser, running, name):
    browser.delete_all_cookies()
    browser.get(running.http)
    until(lambda: see(browser, "token").is_displayed())
    see(browser, "token").send_keys(running.tokens[name] + "\n")
    until(lambda: see(browser, "sql").is_displayed() and see(browser, "tables").text)


def picture(browser, name):
    """Screenshots for a person, where a folder is named."""
    folder = os.environ.get("SORDINO_PICTURES")
    if folder:
        browser.save_screenshot(str(Path(folder) / f"{name}.png"))


def write(browser, sql):
    editor = see(browser, "sql")
    editor.clear()
    editor.send_keys(sql)


@pytest.fixture
def quiet(browser):
    """The console of the browser says nothing: no script failed and no policy was broken."""
    browser.get_log("browser")
    yield
    said = [line["message"] for line in browser.get_log("browser")]
    assert not [line for line in said if "401" not in line and "400" not in line], said


def test_a_wrong_token_is_told_so(browser, running, quiet):
    browser.delete_all_cookies()
    browser.get(running.http)
    until(lambda: see(browser, "token").is_displayed())
    see(browser, "token").send_keys("sdt_wrong\n")
    assert until(lambda: see(browser, "login-error").text)
    assert not see(browser, "console").is_displayed()


def test_preview_then_pay_then_look_back(browser, running, quiet):
    enter(browser, running, "ann")
    before = running.spent("ann")
    write(browser, GROUPS)
    assert not see(browser, "pay").is_enabled()
    see(browser, "preview").click()
    until(lambda: see(browser, "preview-panel").is_displayed())
    assert running.spent("ann") == before
    picture(browser, "preview")
    until(lambda: see(browser, "pay").is_enabled())
    see(browser, "pay").click()
    panel = until(lambda: "Rome" in see(browser, "answer-panel").text and see(browser, "answer-panel"))
    assert running.spent("ann") == pytest.approx(before + 0.1)
    assert panel.find_elements("css selector", "table")
    assert panel.find_elements("css selector", "svg")
    picture(browser, "answer-light")
    browser.find_element("css selector", "[data-page=history]").click()
    assert until(lambda: GROUPS in see(browser, "history-list").text)
    picture(browser, "history")


def test_an_answer_that_was_paid_for_before_is_said_to_be_free(browser, running, quiet):
    enter(browser, running, "ann")
    spent = []
    for _ in range(2):
        write(browser, "SELECT COUNT(*) AS asked_twice FROM orders")
        see(browser, "preview").click()
        until(lambda: see(browser, "pay").is_enabled())
        see(browser, "pay").click()
        until(lambda: "Guarantee" in see(browser, "answer-panel").text)
        assert not see(browser, "preview-panel").is_displayed()  # what was left before would be misread
        spent.append(running.spent("ann"))
        assert ("nothing was paid" in see(browser, "answer-panel").text) == (len(spent) == 2)
        browser.refresh()
        until(lambda: see(browser, "sql").is_displayed() and see(browser, "tables").text)
    assert spent[0] == spent[1]


def test_an_error_points_at_its_place(browser, running, quiet):
    enter(browser, running, "ann")
    write(browser, "SELECT COUNT(*) FROM nothing")
    see(browser, "preview").click()
    assert until(lambda: see(browser, "ask-error").text)
    lines = see(browser, "ask-place").get_attribute("textContent").split("\n")
    caret = next(line for line in lines if "^" in line)
    above = lines[lines.index(caret) - 1]
    assert above[caret.index("^") :].startswith("nothing")
    picture(browser, "error")


def test_keys_alone(browser, running, quiet):
    from selenium.webdriver.common.keys import Keys

    enter(browser, running, "ann")
    before = running.spent("ann")
    editor = browser.switch_to.active_element  # the editor has the focus after the login
    assert editor.get_attribute("id") == "sql"
    editor.send_keys("SELECT COUNT(*) AS c FROM patients")
    editor.send_keys(Keys.CONTROL, Keys.ENTER)
    until(lambda: see(browser, "pay").is_enabled())
    browser.switch_to.active_element.send_keys(Keys.CONTROL, Keys.SHIFT, Keys.ENTER)
    until(lambda: see(browser, "answer-panel").text not in ("", "Asking …"))
    assert running.spent("ann") == pytest.approx(before + 0.1)


def test_hostile_names_are_text(browser, running, quiet):
    enter(browser, running, "ann")
    assert HOSTILE in see(browser, "tables").text
    assert not browser.find_elements("css selector", "#tables img")
    write(browser, f'SELECT "{HOSTILE}", COUNT(*) FROM odd GROUP BY "{HOSTILE}"')
    see(browser, "preview").click()
    until(lambda: see(browser, "preview-panel").is_displayed() or see(browser, "ask-error").text)
    assert not browser.find_elements("css selector", "img")


def test_the_owner_sees_accounts_and_explains(browser, running, quiet):
    enter(browser, running, "boss")
    write(browser, GROUPS)
    browser.find_element("id", "owner-tab").click()
    until(lambda: "bob" in see(browser, "accounts").text)
    see(browser, "explain").click()
    until(lambda: see(browser, "explained").text or see(browser, "owner-error").text)
    assert see(browser, "owner-error").text == ""
    assert until(lambda: see(browser, "policy").text)
    assert "card" in see(browser, "policy").get_attribute("textContent")  # the owner sees what is hidden
    picture(browser, "owner")


def row_of(browser, name):
    """The row of an account on the owner's page."""
    for row in browser.find_elements("css selector", "#accounts tbody tr"):
        if row.find_element("css selector", "td").text == name:
            return row
    return None


def press(browser, name, button):
    until(lambda: row_of(browser, name)).find_element("xpath", f".//button[text()='{button}']").click()


def set_limit(browser, name, value):
    row = until(lambda: row_of(browser, name))
    field = row.find_element("css selector", "input")
    field.clear()
    field.send_keys(value)
    press(browser, name, "Set")


def test_the_owner_grants_budget_by_a_click(browser, running, quiet):
    ledger = running.service.ledger
    enter(browser, running, "boss")
    see(browser, "owner-tab").click()
    before = len(ledger.history("shop"))
    until(lambda: row_of(browser, "bob"))
    assert float(ledger.account("shop", "bob").limit.amount.loss) == 1
    set_limit(browser, "bob", "2.5")
    until(lambda: "ε 2.5" in row_of(browser, "bob").text)
    assert float(ledger.account("shop", "bob").limit.amount.loss) == 2.5
    assert [(event.kind, event.analyst) for event in ledger.history("shop")[before:]] == [("grant", "bob")]
    assert float(ledger.account("shop", "eve").limit.amount.loss) == 1
    # What is no limit is refused in words, and changes nothing.
    for wrong in ("much", "-1", ""):
        set_limit(browser, "bob", wrong)
        assert until(lambda: see(browser, "accounts-error").text)
        assert float(ledger.account("shop", "bob").limit.amount.loss) == 2.5
    set_limit(browser, "bob", "3")
    until(lambda: float(ledger.account("shop", "bob").limit.amount.loss) == 3)
    until(lambda: not see(browser, "accounts-error").text)


def test_an_owner_without_a_budget_sees_the_tables_and_grants_to_somebody_new(browser, tmp_path):
    policy = POLICY | {"budgets": {"ann": {"epsilon": 5}}}
    with serving(tmp_path, policy=policy, names=["ann"]) as server:
        enter(browser, server, "boss")
        assert "orders" in see(browser, "tables").text
        assert "no two rows share id" in see(browser, "tables").text
        assert "no budget of your own" in see(browser, "left").text
        assert not see(browser, "notice").is_displayed()
        see(browser, "owner-tab").click()
        until(lambda: browser.find_elements("id", "new-analyst"))
        see(browser, "new-analyst").send_keys("zoe / o'neil")
        see(browser, "new-limit").send_keys("0.75")
        see(browser, "new-grant").click()
        until(lambda: "ε 0.75" in (row_of(browser, "zoe / o'neil") or see(browser, "accounts-error")).text)
        assert float(server.service.ledger.account("shop", "zoe / o'neil").limit.amount.loss) == 0.75


def test_the_owner_resumes_a_suspended_analyst_by_a_click(browser, running, quiet):
    ledger = running.service.ledger
    enter(browser, running, "boss")
    see(browser, "owner-tab").click()
    until(lambda: row_of(browser, "eve"))
    assert not row_of(browser, "eve").find_elements("xpath", ".//button[text()='Resume']")

    def fail():
        raise RuntimeError

    guarantee = sd.Guarantee(sd.Loss(epsilon=0.25), sd.add_remove_row(), "a question that fails")
    with pytest.raises(RuntimeError):
        ledger.spend("shop", "eve", guarantee, "q", fail)
    assert ledger.account("shop", "eve").suspended
    with running.client("eve") as eve:
        body = {"sql": GROUPS, "epsilon": 0.1}
        assert eve.post("/v1/query", json=body).json()["error"]["code"] == "suspended"
        see(browser, "owner-tab").click()
        until(lambda: "suspended" in row_of(browser, "eve").text)
        picture(browser, "owner-suspended")
        press(browser, "eve", "Resume")
        until(lambda: (row := row_of(browser, "eve")) and "suspended" not in row.text)
        assert not ledger.account("shop", "eve").suspended
        assert [event.kind for event in ledger.history("shop", "eve")][-1] == "resume"
        assert eve.post("/v1/query", json=body).status_code == 200
    assert running.spent("eve") == pytest.approx(0.35)  # what failed stays paid


def test_the_owners_page_dark_and_on_a_phone(browser, running, quiet):
    enter(browser, running, "boss")
    see(browser, "owner-tab").click()
    until(lambda: row_of(browser, "bob"))
    dark = {"features": [{"name": "prefers-color-scheme", "value": "dark"}]}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", dark)
    picture(browser, "owner-dark")
    phone = {"width": 390, "height": 844, "deviceScaleFactor": 2, "mobile": True}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", phone)
    try:
        assert browser.execute_script("return document.documentElement.scrollWidth") <= 390
        picture(browser, "owner-phone")
        # All that the owner acts with can be reached without scrolling to the side.
        for place in browser.find_elements("css selector", "#accounts button, #accounts input"):
            box = place.rect
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= 390
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


def test_an_analyst_has_no_page_of_the_owner(browser, running, quiet):
    enter(browser, running, "ann")
    assert not see(browser, "owner-tab").is_displayed()
    assert "card" not in see(browser, "tables").text


def test_dark_and_on_a_phone(browser, running, quiet):
    enter(browser, running, "ann")
    light = browser.execute_script("return getComputedStyle(document.body).backgroundColor")
    dark = {"features": [{"name": "prefers-color-scheme", "value": "dark"}]}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", dark)
    assert browser.execute_script("return getComputedStyle(document.body).backgroundColor") != light
    write(browser, GROUPS)
    see(browser, "preview").click()
    until(lambda: see(browser, "preview-panel").is_displayed())
    picture(browser, "dark")
    phone = {"width": 390, "height": 844, "deviceScaleFactor": 2, "mobile": True}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", phone)
    wide = browser.execute_script("return document.documentElement.scrollWidth")
    assert wide <= 390, "the page is wider than the phone"
    picture(browser, "phone-dark")
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
