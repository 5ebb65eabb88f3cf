"""`sordino tree` on files as people have them, and the slips that they make."""

import json

import pyarrow as pa
import pyarrow.parquet
import pytest

SCHEMA = {"colour": ["red", "blue"], "age": {"bounds": [0, 100], "bins": 4}}
GIVEN = ("--target", "bought", "--schema", "schema.json", "--classes", "no,yes", "--max-rows", 1000)


@pytest.fixture
def shop(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [("red" if n % 2 else "blue", float(n % 100), "yes" if n % 2 else "no") for n in range(300)]
    columns = dict(zip(("colour", "age", "bought"), map(list, zip(*rows, strict=True)), strict=True))
    pyarrow.parquet.write_table(pa.table(columns), tmp_path / "visits.parquet")
    (tmp_path / "schema.json").write_text(json.dumps(SCHEMA))
    (tmp_path / "visits.png").mkdir()
    return tmp_path


def test_a_tree_is_shown_with_its_guarantee(sordino, shop):
    result = sordino("tree", "visits.parquet", *GIVEN, "--epsilon", 100, "--depth", 1)
    assert result.code == 0
    assert "colour = red  → yes" in result.out
    assert "one row added or removed" in result.out


def test_a_tree_is_told_as_json_and_drawn(sordino, shop):
    result = sordino("tree", "visits.parquet", *GIVEN, "--epsilon", 100, "--plot", "tree.png", "--json")
    assert result.code == 0
    assert "colour" in json.dumps(json.loads(result.out))
    assert (shop / "tree.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (("--epsilon", 0), "epsilon must be > 0"),
        (("--epsilon", 1, "--target", "bougth"), "did you mean 'bought'"),
        (("--epsilon", 1, "--max-rows", 10), "more rows than max_rows = 10"),
        (("--epsilon", 1, "--schema", "nowhere.json"), "nowhere.json"),
        (("--epsilon", 1, "--classes", "yes"), "at least two labels"),
        (("--epsilon", 1, "--criterion", "ginni"), "did you mean 'gini'"),
        (("--epsilon", 1, "--depth", 0), "depth"),
        (("--epsilon", 1, "--plot", "tree.docx"), "FILE.png, FILE.svg or FILE.pdf, got 'tree.docx'"),
        (("--epsilon", 1, "--plot", "nowhere/tree.png"), "nowhere/tree.png cannot be written: no such"),
        (("--epsilon", 1, "--plot", "visits.png"), "visits.png cannot be written: is a directory"),
    ],
)
def test_slips_are_explained_in_a_sentence(sordino, shop, changes, message):
    result = sordino("tree", "visits.parquet", *GIVEN, *changes)
    assert result.code != 0
    assert message in result.err
    assert "Traceback" not in result.err
