"""`sordino workflow` and `sordino components` as a user runs them, and the page in a real browser."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LOGS = str(ROOT / "examples/log_correlation.yaml")
GOLDEN = json.loads((ROOT / "tests/golden/workflow.json").read_text())


def test_the_example_is_what_the_command_examples_writes():
    assert (ROOT / "src/sordino/demo/log_correlation.yaml").read_bytes() == Path(LOGS).read_bytes()


def test_table_31_on_the_command_line(sordino):
    table = sordino("workflow", "disclosure", LOGS, "--csv")
    rows = list(csv.reader(io.StringIO(table.out)))
    assert {name: cells for name, *cells in rows[1:]} == GOLDEN["table_31"]["rows"]
    document = json.loads(sordino("workflow", "disclosure", LOGS, "--json", "--split").out)
    assert len(document["rows"]) == 28


def test_figure_80_on_the_command_line(sordino):
    golden = GOLDEN["figure_80"]["rows"]
    shown = sordino("workflow", "leaks", LOGS, "--objects", ",".join(golden), "--csv")
    rows = {name: cells for name, *cells in list(csv.reader(io.StringIO(shown.out)))[1:]}
    assert {name: rows[name] for name in golden} == golden
    told = sordino("workflow", "leaks", LOGS, "--objects", "unknown_events_O1", "--conditions")
    assert "if (not correlated) or (correlated and not known)" in told.out
    assert "MPC    H" in sordino("workflow", "dependencies", LOGS).out


def test_costs_and_queries(sordino, files):
    assert sordino("examples", "made").code == 0
    told = sordino("workflow", "cost", "made/shop-workflow.yaml")
    assert told.out.splitlines() == [
        "orders: ε = 0.1 per row",
        "customers: ε = 1.2 per row",
        "either: ε = 1.2 (a change of customers)",
    ]
    (files / "schema.sql").write_text(
        "CREATE TABLE o (id INT PRIMARY KEY, c INT); CREATE TABLE c (id INT PRIMARY KEY, city INT);"
    )
    (files / "sql.yaml").write_text(
        "inputs: {o: row, c: row}\n"
        "steps:\n"
        "  placed: {from: [o, c], sql: 'SELECT o.id, city FROM o JOIN c ON o.c = c.id'}\n"
        "  noisy: {from: [placed], epsilon: 0.25}\n"
        "release: [noisy]\n"
    )
    refused = sordino("workflow", "cost", "sql.yaml")
    assert refused.code != 0
    assert "step 'placed' is given as SQL: give the schema" in refused.err
    document = json.loads(sordino("workflow", "cost", "sql.yaml", "-s", "schema.sql", "--json").out)
    assert document["inputs"]["o"]["epsilon"] == 0.25
    assert document["inputs"]["c"]["epsilon"] == "inf"  # a city can have any number of orders


def test_components(sordino, files):
    (files / "shares.json").write_text('{"equations": [[1, 1, 1]], "norm": 1, "sensitivities": [1, 2, 3]}')
    told = sordino("components", "shares.json", "--rho", "0")
    assert "class distance: 2" in told.out
    assert "sensitivity: 4 (independent columns, for matches)" in told.out
    assert "pivots: no pivots" in told.out
    (files / "abc.json").write_text('{"distances": [[0,1,1],[1,0,1],[1,1,0]], "names": ["a","b","c"]}')
    assert "complement: none" in sordino("components", "abc.json", "--rho", "a,b|c").out


MISTAKES = [
    (("components", "none.json", "--rho", "0"), "none.json cannot be read: no such file or directory"),
    (("components", "votes.csv", "--rho", "0"), "is not JSON"),
    (("components", "space.json"), "give --rho"),
    (("components", "space.json", "--rho", "a|b"), "point c is in no class"),
    (
        ("components", "bad.json", "--rho", "a|b|c"),
        "triangle inequality fails: a and c are 5 apart, and 2 by way of b",
    ),
    (("workflow", "cost", "none.yaml"), "none.yaml cannot be read: no such file or directory"),
    (("workflow", "leaks", LOGS, "--objects", "unknown"), "no object 'unknown'"),
    (("workflow", "leaks", LOGS, "--csv", "--json"), "--csv or --json"),
    (("workflow", "page", LOGS, "-o", "nowhere/x.html"), "cannot be written"),
    (("workflow", "disclosure", "votes.csv"), "the process"),
]


@pytest.mark.parametrize(("words", "message"), MISTAKES, ids=lambda value: str(value)[:40])
def test_mistakes_are_one_line(sordino, files, words, message):
    (files / "space.json").write_text('{"distances": [[0,1,2],[1,0,1],[2,1,0]], "names": ["a","b","c"]}')
    (files / "bad.json").write_text('{"distances": [[0,1,5],[1,0,1],[5,1,0]], "names": ["a","b","c"]}')
    told = sordino(*words)
    assert told.code != 0
    assert message in told.err
    assert len(told.err.strip().splitlines()) == 1


HOSTILE = """
title: "</title><script>document.title = 'owned'</script>@@__TABLES__@@"
parties: ["A & <b>B</b>", "\\"C\\""]
tasks:
  - {name: "<img src=x onerror=alert(1)>", by: "A & <b>B</b>", from: {"x\\" onfocus=\\"a(1)": "a<b"}, to: ["</td>y"]}
sends: [{what: "</td>y", from: "A & <b>B</b>", to: "\\"C\\"", over: plain}]
"""
# Goes to a cell by the keyboard, then points at a box, and writes what the page says into its title.
VISIT = """<script>
const first = document.querySelector("#disclosure td[tabindex='0']");
first.focus();
const press = (key) => document.activeElement.dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true}));
press("ArrowDown"); press("ArrowRight");
// a window without focus, as headless ones may be, moves the focus and says nothing of it
document.activeElement.dispatchEvent(new FocusEvent("focusin", {bubbles: true}));
const told = [document.getElementById("why").textContent, document.querySelectorAll("g.box.lit").length];
document.querySelector("g.box").dispatchEvent(new PointerEvent("pointerover", {bubbles: true}));
told.push(document.getElementById("why").textContent, document.querySelectorAll("script").length);
document.body.dataset.told = JSON.stringify(told);
</script>"""


def visit(page: Path, profile: Path) -> tuple[str, list]:
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if browser is None:
        pytest.skip("no Chromium on this machine: the page is not opened")
    tried = page.with_name("tried.html")
    tried.write_text(page.read_text(encoding="utf-8").replace("</body>", f"{VISIT}</body>"), encoding="utf-8")
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
               "--disable-component-update", "--disable-sync", f"--user-data-dir={profile}"]  # fmt: skip
    shown = subprocess.run(
        [browser, *options, "--dump-dom", tried.as_uri()],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    ).stdout
    told = (
        re.search(r'data-told="(.*?)"', shown)[1]
        .replace("&quot;", '"')
        .replace("&lt;", "<")
        .replace("&gt;", ">")
    )
    return shown, json.loads(told.replace("&amp;", "&"))


def test_the_page_explains_its_cells_in_a_browser(sordino, tmp_path):
    page = tmp_path / "process.html"
    assert sordino("workflow", "page", LOGS, "-o", page).code == 0
    text = page.read_text(encoding="utf-8")
    assert "http" not in text.replace("http-equiv", "")
    assert text.count('role="grid"') == 4
    for name, cells in GOLDEN["table_31"]["rows"].items():
        assert f">{name}</th>" in text
        assert len(cells) == 4
    _, (cell, lit, box, _) = visit(page, tmp_path / "profile")
    assert cell.startswith("detected_event_chains_O2 · ORG2: V")
    assert "ORG2 makes detected_event_chains_O2, in task 'find correlations', and sees its content" in cell
    assert lit == 2  # who makes it, and who reads it
    assert box.startswith("log_storage_O1log_storage_O1: an input of ORG1")


def test_texts_of_a_process_are_only_texts(sordino, tmp_path):
    (tmp_path / "hostile.yaml").write_text(HOSTILE, encoding="utf-8")
    page = tmp_path / "hostile.html"
    assert sordino("workflow", "page", tmp_path / "hostile.yaml", "-o", page).code == 0
    text = page.read_text(encoding="utf-8")
    assert "<img" not in text
    assert "<b>" not in text
    assert ' onfocus="' not in text
    shown, (cell, _, _, scripts) = visit(page, tmp_path / "profile")
    assert scripts == 2  # the page's own and the visitor's
    assert "owned" not in re.search(r"<title>(.*?)</title>", shown)[1].replace("'owned'", "")
    assert "whoever listens" in text
    assert cell
