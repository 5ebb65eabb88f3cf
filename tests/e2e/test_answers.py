"""Every command answers: text for people, one JSON document for programs, and a guarantee with both."""

import json
import subprocess
import sys

import pyarrow
import pyarrow.parquet
import pytest

VOTES = ("votes.csv", "--score", "votes", "--label", "party", "--sensitivity", 1)
NODES = ("nodes.csv", "--score", "ebc", "--label", "node", "--profile", "delta.csv", "--bound", 7.5)
PAY = ("pay.csv", "--column", "salary", "--bounds", 0, 5000, "--step", 1)


def test_select_names_the_label_and_the_guarantee(sordino, files):
    result = sordino("select", *VOTES, "--epsilon", 1, "--monotone")
    label, guarantee = result.out.splitlines()
    assert (result.code, result.err) == (0, "")
    assert label == "red"  # any other has probability below e^-3000
    assert "ε = 1 for one row added or removed" in guarantee


def test_select_with_json_prints_one_document(sordino, files):
    result = sordino("select", *VOTES, "--epsilon", 1, "--json")
    content = json.loads(result.out)
    assert content["label"] == "red"
    assert content["value"] == 0
    assert content["private"] is True
    assert content["guarantee"]["epsilon"] == 1.0


def test_select_reads_a_pipe_and_numbers_rows_without_labels(sordino, files):
    votes = (files / "votes.csv").read_bytes()
    result = sordino("select", "-", "--score", "votes", "--sensitivity", 1, "-e", 1, stdin=votes)
    assert result.out.splitlines()[0] == "1"


def test_top_k_gives_k_different_labels(sordino, files):
    content = json.loads(sordino("select", *VOTES, "-e", 1, "--k", 3, "--json").out)
    assert sorted(content["labels"]) == ["blue", "green", "red"]
    assert "3-fold" in content["guarantee"]["theorem"]


def test_profile_rows_are_matched_by_label(sordino, files):
    content = json.loads(sordino("select", *NODES, "-e", 1e4, "--mechanism", "local_dampening", "--json").out)
    assert content["label"] in ("a", "b")
    assert content["mechanism"] == "local_dampening"


def test_a_profile_matched_by_label_gives_the_errors_of_the_library(sordino, files):
    import sordino as sd

    content = json.loads(sordino("compare", *NODES, "-e", 2, "--json").out)
    profile = sd.Profile.from_table([[3, 5], [3, 5], [1, 2], [2, 3]], bound=7.5)
    expected = sd.compare([6.5, 6.5, 0, 0], profile=profile, epsilon=2.0)
    assert [e["expected_error"] for e in content["entries"]] == [e.expected_error for e in expected]
    assert content["confidential"] is True


def test_one_row_of_a_profile_serves_all_candidates(sordino, files):
    result = sordino(
        "select", "nodes.csv", "--score", "ebc", "--profile", "one_row.csv", "--bound", 7.5, "-e", 1
    )
    assert result.code == 0


def test_distance_enters_the_guarantee(sordino, files):
    result = sordino("select", *NODES, "-e", 1, "--distance", "flip-edge")
    assert "one edge added or removed" in result.out


def test_compare_says_that_its_table_is_confidential(sordino, files):
    result = sordino("compare", *VOTES, "-e", 1)
    assert result.code == 0
    assert "Confidential" in result.out
    assert "permute_and_flip" in result.out
    assert "needs delta" in result.out


@pytest.mark.parametrize("mechanism", ["auto", "exponential", "permute_and_flip", "smooth_noise"])
def test_quantile_is_near_the_median(sordino, files, mechanism):
    result = sordino("quantile", *PAY, "-q", 0.5, "--epsilon", 1000, "--mechanism", mechanism)
    value, guarantee = result.out.splitlines()
    assert abs(float(value) - 1050) <= 2
    assert "ε = 1000" in guarantee


def test_quantile_with_json_and_rows_added_or_removed(sordino, files):
    content = json.loads(sordino("quantile", *PAY, "-e", 1, "--distance", "add-remove", "--json").out)
    assert content["guarantee"]["distance"] == "one row added or removed"
    assert 0 <= content["value"] <= 5000


def test_quantile_of_the_only_column_of_a_pipe(sordino, files):
    ages = (files / "ages.csv").read_bytes()
    result = sordino("quantile", "-", "--bounds", 0, 120, "--step", 1, "-e", 1000, stdin=ages)
    assert float(result.out.splitlines()[0]) == 40


def test_a_file_without_rows_is_answered(sordino, files):
    (files / "none.csv").write_text("salary,name\n")
    table = pyarrow.table({"salary": pyarrow.nulls(0), "name": pyarrow.array([], pyarrow.string())})
    pyarrow.parquet.write_table(table, files / "none.parquet")
    for name in ("none.csv", "none.parquet"):
        result = sordino("quantile", name, *PAY[1:], "-e", 1, "--distance", "add-remove")
        assert (result.code, result.err) == (0, "")
        assert 0 <= float(result.out.splitlines()[0]) <= 5000


def test_quantile_clips_only_when_asked(sordino, files):
    narrow = ("pay.csv", "--column", "salary", "--bounds", 0, 1050, "--step", 1, "-e", 1)
    assert sordino("quantile", *narrow).code == 3
    assert sordino("quantile", *narrow, "--clip").code == 0


def test_parquet_gives_the_same_as_csv(sordino, files):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    table = pyarrow.table({"name": ["x"] * 101, "salary": [1000 + i for i in range(101)]})
    parquet.write_table(table, files / "pay.parquet")
    result = sordino("quantile", "pay.parquet", *PAY[1:], "-e", 1000)
    assert abs(float(result.out.splitlines()[0]) - 1050) <= 1


def test_semicolons_a_byte_order_mark_and_quotes_are_read(sordino, files):
    text = '﻿party;votes\r\n"the; reds\r\nof old";4120\r\nblue;3\r\n\r\n'
    (files / "european.csv").write_bytes(text.encode())
    result = sordino(
        "select", "european.csv", "--score", "votes", "--label", "party", "--sensitivity", 1, "-e", 1
    )
    assert result.out.splitlines()[0] == r"'the; reds\r\nof old'"


def test_version_and_bare_call(sordino):
    import sordino as sd

    assert sordino("--version").out == f"sordino {sd.__version__}\n"
    bare = sordino()
    assert bare.code == 0
    assert "Usage: sordino" in bare.out


@pytest.mark.parametrize(
    "command", [(), ("demo",), ("select",), ("quantile",), ("compare",), ("audit",), ("topk",), ("count",)]
)
def test_every_help_teaches_by_examples(sordino, command):
    result = sordino(*command, "--help")
    assert result.code == 0
    assert "Examples" in result.out
    assert f"sordino {command[0] if command else 'demo'}" in result.out
    assert max(map(len, result.out.splitlines())) <= 80


def test_importing_the_command_line_is_light():
    code = (
        "import sys, sordino.cli; heavy = {'numpy', 'scipy', 'flint', 'matplotlib', 'rich', 'narwhals'};"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
