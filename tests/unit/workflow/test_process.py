"""Processes: the report's tables cell by cell, queries as tasks, and what is refused."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from sordino.core import ParameterError, SordinoError, UnsupportedError
from sordino.workflow import Process

ROOT = Path(__file__).parents[3]
GOLDEN = json.loads((ROOT / "tests/golden/workflow.json").read_text())
LOGS = Process.load(ROOT / "examples/log_correlation.yaml")


def test_table_31_cell_by_cell():
    golden = GOLDEN["table_31"]
    table = LOGS.disclosure()
    assert list(table.columns) == golden["columns"]
    assert {name: list(words) for name, words in table.words().items()} == golden["rows"]
    assert list(table.rows) == list(golden["rows"])  # in the report's order too
    assert table.warnings == ()


def test_split_rows_show_what_the_merged_one_hides():
    table = LOGS.disclosure(split=True)
    assert table.cell("mutual_chains_O1", "ORG1").text == "V"
    assert table.cell("mutual_chains_O2", "ORG1").text == "-"
    assert table.cell("mutual_chains_protected", "ORG1").text == "H"


def test_figure_80_cell_by_cell():
    golden = GOLDEN["figure_80"]
    table = LOGS.leaks(objects=list(golden["rows"]))
    assert list(table.columns) == golden["columns"]
    words = {name: list(row) for name, row in table.words().items()}
    assert words.pop("network (secure)") == ["if"] * 4
    assert words == golden["rows"]
    for name, by_input in GOLDEN["conditions"].items():
        if name != "source":
            for source, conditions in by_input.items():
                assert [list(one) for one in table.cell(name, source).conditions] == conditions


def test_events_of_one_organisation_do_reach_the_other():
    """The report says that none do; its own figure 80 says 'if'."""
    golden = GOLDEN["dependencies"]
    table = LOGS.dependencies()
    assert {name: list(words) for name, words in table.words().items()} == golden["rows"]
    assert "mutual_chains_O1" in table.cell("ORG1", "log_storage_O2").why


def test_the_same_table_as_text_csv_and_json():
    table = LOGS.disclosure()
    read = list(csv.reader(io.StringIO(table.to_csv())))
    assert read[0] == ["object", "ORG1", "ORG2", "MPC", "shared over"]
    assert len(read) == 25 == len(str(table).splitlines())
    document = json.loads(json.dumps(table.to_dict()))
    assert document["rows"][0]["cells"]["ORG1"]["value"] == "V"


def test_names_that_look_like_formulas_are_no_formulas_in_csv():
    process = Process.load(
        {"parties": ["p"], "tasks": [{"name": "t", "by": "p", "from": ["=1+1"], "to": ["y"]}]}
    )
    assert "'=1+1" in process.disclosure().to_csv()


def make(tasks, sends=(), parties=("A", "B")):
    return Process.load({"parties": list(parties), "tasks": list(tasks), "sends": list(sends)})


def task(name="t", by="A", **more):
    return {"name": name, "by": by, **more}


MAKE = task(**{"from": ["x"], "to": ["y"]})


@pytest.mark.parametrize(
    ("tasks", "sends", "message"),
    [
        ([task(by="C", **{"from": ["x"], "to": ["y"]})], [], "task 't': unknown party 'C'"),
        ([MAKE], [{"what": "z", "from": "A", "to": "B"}], "unknown object 'z'"),
        ([MAKE], [{"what": "y", "from": "A", "to": "Bb"}], "the send of y: unknown party 'Bb'; did you mean 'B'"),
        ([MAKE], [{"what": "y", "from": "B", "to": "A"}], "B sends y to A and does not hold it: A does"),
        ([MAKE, task("u", to=["y"])], [], "two tasks make y: task 't' of A and task 'u' of A"),
        ([task(**{"from": ["x"], "to": ["y"]}), task("u", **{"from": ["y"], "to": ["x"]})], [], "a cycle"),
        ([task(kind="open", **{"from": ["x"], "to": ["y"]})], [], "opens x, which was never protected"),
        ([MAKE, task("o", kind="open", **{"from": ["y"], "to": ["z"]})], [], "opens y, which was never protected"),
        ([task(kind="protect", **{"from": ["x"], "to": ["h"]}), task("u", "B", **{"from": ["h"], "to": ["z"]})],
         [{"what": "h", "from": "A", "to": "B"}], "task 'u' of B reads h, which B holds hidden only"),
        ([task(kind="protects", **{"from": ["x"], "to": ["y"]})], [], "did you mean 'protect'"),
        ([task(form=["x"], to=["y"])], [], "unknown field 'form'"),
        ([task(**{"from": ["x"]})], [], "makes nothing"),
        ([task(**{"from": {"x": 3}, "to": ["y"]})], [], "the filter of x must be a list of names"),
        ([MAKE, MAKE], [], "two tasks 't' of A"),
        ([task(epsilon=-1, **{"from": ["x"], "to": ["y"]})], [], "epsilon must be >= 0"),
        ([task(epsilon=1, sensitivity={"z": 1}, **{"from": ["x"], "to": ["y"]})], [], "'z', which it does not read"),
        ([MAKE], [{"what": "y", "from": "A", "to": "B", "over": "pigeon"}], "over must be one of secure, plain"),
        ([], [], "no tasks"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_with_its_name(tasks, sends, message):
    with pytest.raises(ParameterError, match=message):
        make(tasks, sends)


def test_bad_files_are_said_with_their_line(tmp_path):
    with pytest.raises(ParameterError, match=r"line 2.*given twice"):
        Process.load("parties: [A]\nparties: [B]\n")
    with pytest.raises(ParameterError, match="not YAML"):
        Process.load("parties: [A\ntasks: {")
    with pytest.raises(ParameterError, match="cannot be read"):
        Process.load(tmp_path / "missing.yaml")


def test_a_party_that_opened_something_may_use_it_and_plain_sends_are_warned_of():
    process = make(
        [
            task(kind="protect", **{"from": ["x"], "to": ["h"]}),
            task("o", "B", kind="open", **{"from": ["h"], "to": ["z"]}),
            task("u", "B", **{"from": ["z"], "to": ["w"]}),
        ],
        [
            {"what": "h", "from": "A", "to": "B", "over": "secure"},
            {"what": "w", "from": "B", "to": "A", "over": "plain"},
        ],
    )
    assert process.disclosure().cell("w", "shared over").text == "MF"
    assert len(process.warnings) == 1
    assert "w is visible to A" in process.warnings[0]


def test_what_others_protected_is_not_seen_by_whom_a_joint_opening_joins_to_it():
    """B opens what A and C protected; that makes one row of all, and does not show A what C has."""
    tasks = [
        task("pa", "A", kind="protect", **{"from": ["x"], "to": ["hx"]}),
        task("pc", "C", kind="protect", **{"from": ["y"], "to": ["hy"]}),
        task("o", "B", kind="open", **{"from": ["hx", "hy"], "to": ["z"]}),
    ]
    sends = [{"what": what, "from": sender, "to": receiver}
             for what, sender, receiver in (("hx", "A", "B"), ("hy", "C", "B"), ("hy", "C", "A"))]  # fmt: skip
    assert make(tasks, sends, "ABC").disclosure(split=True).cell("hy", "A").text == "H"
    make([*tasks, task("own", "A", **{"from": ["hx"], "to": ["w"]})], sends, "ABC")
    with pytest.raises(ParameterError, match="task 'other' of A reads hy, which A holds hidden only"):
        make([*tasks, task("other", "A", **{"from": ["hy"], "to": ["w"]})], sends, "ABC")


def test_where_inputs_are_stated_a_slip_in_a_name_is_no_input():
    def load(inputs, *tasks):
        return Process.load({"parties": ["A"], "inputs": inputs, "tasks": list(tasks)})

    assert load(["x"], MAKE).leaks().words() == {"y": ("always",)}
    with pytest.raises(ParameterError, match="task 'u' of A: unknown object 'yy'; did you mean 'y'"):
        load(["x"], MAKE, task("u", **{"from": ["yy"], "to": ["z"]}))
    with pytest.raises(ParameterError, match="z is stated as an input, but no task reads it"):
        load(["x", "z"], MAKE)
    with pytest.raises(ParameterError, match="y is stated as an input, but task 't' of A makes it"):
        load(["x", "y"], MAKE, task("u", **{"from": ["y"], "to": ["z"]}))


def test_what_is_read_and_never_sent_is_warned_of():
    process = make([MAKE, task("u", "B", **{"from": ["y"], "to": ["z"]})])
    assert "task 'u' of B reads y, which A makes and nobody sends to B" in process.warnings[0]


SHIPS = {
    "name": "late ships",
    "by": "A",
    "sql": "SELECT ship.name, port.harbour AS goal FROM ship JOIN port ON ship.port = port.id "
    "WHERE ship.speed < 10 AND port.open = 1",
    "to": ["late"],
}


def test_a_query_flows_by_columns():
    table = make([SHIPS]).leaks(columns=True)
    assert set(table.columns) == {
        "ship.name",
        "ship.port",
        "ship.speed",
        "port.harbour",
        "port.id",
        "port.open",
    }
    assert table.cell("late.name", "ship.name").conditions == (
        ("port.open = 1", "ship.port = port.id", "ship.speed < 10"),
    )
    assert table.cell("late.name", "port.harbour").text == "never"
    assert table.cell("late.name", "port.open").text == "if"
    assert table.cell("late.goal", "port.harbour").text == "if"
    assert make([SHIPS]).leaks().words()["late"] == ("if", "if")


def test_queries_without_conditions_always_leak_and_left_joins_have_none_for_the_left():
    plain = make([task(sql="SELECT a, b + 1 AS c FROM t", to=["y"])]).leaks(columns=True)
    assert plain.cell("y.a", "t.a").text == "always"
    assert plain.cell("y.a", "t.b").text == "never"
    left = make([task(sql="SELECT u.a, v.b FROM u LEFT JOIN v ON u.k = v.k", to=["y"])]).leaks(columns=True)
    assert left.cell("y.a", "u.a").text == "always"
    assert left.cell("y.b", "v.b").text == "if"
    grouped = make([task(sql="SELECT COUNT(*) AS n FROM t GROUP BY g", to=["y"])]).leaks(columns=True)
    assert grouped.cell("y.n", "t.g").text == "always"


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("SELECT * FROM t", r"SELECT \* does not name"),
        ("SELECT a FROM (SELECT 1 AS a) q", "sub-select"),
        ("SELECT a FROM t LIMIT 3", "LIMIT"),
        ("SELECT a FROM t, u", "of which table is a"),
        ("DELETE FROM t", "task is SELECT"),
        ("SELECT x.a FROM t", "of no table"),
        ("SELECT t.a FROM t FULL JOIN u ON t.k = u.k", "not followed"),
        ("SELECT a FROM t UNION SELECT a FROM u", "task is SELECT"),
        ("SELECT a, b AS a FROM t", "two columns"),
        ("SELEC a FROM", "cannot be read|task is SELECT"),
        ("SELECT ARRAY(SELECT b FROM u) AS a FROM t", "sub-select"),
        ("SELECT a FROM t WHERE b IN (SELECT b FROM u)", "sub-select"),
        ("SELECT a FROM t FETCH FIRST 3 ROWS ONLY", "LIMIT"),
        ("SELECT a FROM t OFFSET 3", "OFFSET"),
        ("SELECT DISTINCT ON (b) a FROM t", "DISTINCT … ON"),
        ("SELECT a FROM t TABLESAMPLE (10 PERCENT)", "SAMPLE"),
        ("SELECT a FROM t AS t(a, b)", "COLUMNS"),
        ("SELECT a, SUM(b) AS n FROM t GROUP BY ALL", "GROUP … ALL"),
        ("SELECT a + b AS g, SUM(c) AS n FROM t GROUP BY g", "is 'g' a column of a table or of the result"),
        ("SELECT a FROM t GROUP BY 2", "the result has no column 2"),
        ("SELECT t.a FROM t LEFT ANTI JOIN u ON t.k = u.k", "not followed"),
        ("SELECT t FROM t", "a whole row"),
        ("SELECT a FROM read_csv('b.csv')", "no table"),
    ],
)
def test_queries_that_are_not_followed_name_the_task(sql, message):
    with pytest.raises((UnsupportedError, ParameterError), match=message) as told:
        make([task("ask", sql=sql, to=["y"])])
    assert "task 'ask'" in str(told.value)
    assert isinstance(told.value, SordinoError)


def test_a_query_after_a_query_reads_what_that_makes():
    first = task(sql="SELECT a AS Name FROM t", to=["y"])
    assert make([first, task("u", sql="SELECT name FROM y", to=["z"])]).leaks(columns=True).words() == {
        "y.name": ("always",),
        "z.name": ("always",),
    }
    with pytest.raises(
        ParameterError, match=r"task 'u' of A reads y\.a, which task 't' of A does not make: it makes name"
    ):
        make([first, task("u", sql="SELECT a FROM y", to=["z"])])


def test_costs_stand_beside_words():
    process = make(
        [
            task("count", sensitivity=1, **{"from": {"x": "recent"}, "to": ["n"]}),
            task("noise", epsilon="0.5", **{"from": ["n"], "to": ["noisy"]}),
            task("show", **{"from": ["noisy"], "to": ["page"]}),
        ]
    )
    cell = process.leaks().cell("page", "x")
    assert (cell.text, cell.epsilon) == ("if", 0.5)
    assert "ε = 0.5" in cell.why
    assert process.leaks().cell("n", "x").epsilon is None
