"""`sordino topk` and `sordino count` on edge lists as people have them."""

import gzip
import json

import pytest

EDGES = [("hub", f"leaf{i}") for i in range(20)] + [("a", "b"), ("b", "c"), ("c", "a"), ("a", "hub")]


@pytest.fixture
def graphs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = [f"{u} {v}" for u, v in EDGES]
    (tmp_path / "friends.txt").write_text("# who knows whom\n" + "\n".join(lines) + "\n")
    (tmp_path / "friends.csv").write_text("source,target\n" + "\n".join(f"{u},{v}" for u, v in EDGES) + "\n")
    with gzip.open(tmp_path / "friends.txt.gz", "wt") as file:
        file.write("\n".join(lines) + "\n")
    (tmp_path / "broken.txt").write_text("1 2\n3\n4 5\n")
    (tmp_path / "negative.txt").write_text("1 2\n-3 4\n")
    (tmp_path / "empty.txt").write_text("")
    (tmp_path / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n\x00\x01\xff\xfe")
    return tmp_path


@pytest.mark.parametrize("file", [("friends.txt",), ("friends.csv", "--header"), ("friends.txt.gz",)])
def test_topk_names_the_hub(sordino, graphs, file):
    result = sordino("topk", *file, "-k", 1, "--epsilon", 1e4)
    assert result.code == 0
    assert result.out.splitlines()[0] == "hub"
    assert "one edge added or removed between existing nodes" in result.out


def test_topk_as_json_with_a_projection(sordino, graphs):
    result = sordino(
        "topk", "friends.txt", "-k", 2, "--epsilon", 3, "--max-degree", 5, "--excess", "project", "--json"
    )
    document = json.loads(result.out)
    assert len(document["value"]) == 2
    assert "projection" in document["guarantee"]["theorem"]
    assert document["guarantee"]["epsilon"] == pytest.approx(3)


@pytest.mark.parametrize(
    ("arguments", "exact"),
    [(("triangles",), 1), (("edges",), 24), (("k_stars", "-k", 2), 210 + 3 + 1 + 1), (("k_triangles",), 0)],
)
def test_counts_are_exact_for_a_large_budget(sordino, graphs, arguments, exact):
    result = sordino("count", "friends.txt", *arguments, "--epsilon", 1e6)
    assert result.code == 0
    assert int(result.out.splitlines()[0]) == exact


def test_a_histogram_prints_a_number_for_every_degree(sordino, graphs):
    result = sordino(
        "count", "friends.txt", "degree_histogram", "--epsilon", 1e6, "--max-degree", 22, "--json"
    )
    value = json.loads(result.out)["value"]
    assert len(value) == 23
    assert value[1] == 20


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("topk", "friends.txt", "-k", 0, "--epsilon", 1), 2, "k must be >= 1"),
        (("topk", "friends.txt", "-k", 99, "--epsilon", 1), 2, "at most the number of nodes"),
        (("topk", "friends.txt", "-k", 1, "--epsilon", 0), 2, "epsilon must be > 0"),
        (("topk", "friends.txt", "-k", 1, "--epsilon", 1, "--max-degree", 0), 2, "max_degree must be >= 1"),
        (("topk", "friends.txt", "-k", 1, "--epsilon", 1, "--max-degree", 3), 3, "max_degree = 3"),
        (
            ("topk", "friends.txt", "-k", 1, "--epsilon", 1, "--metric", "pagerank"),
            2,
            "metric must be one of",
        ),
        (("topk", "friends.csv", "-k", 1, "--epsilon", 1), 2, "header"),
        (("topk", "broken.txt", "-k", 1, "--epsilon", 1), None, "line 2"),
        (("topk", "negative.txt", "-k", 1, "--epsilon", 1), None, "line 2"),
        (("topk", "empty.txt", "-k", 1, "--epsilon", 1), None, "empty"),
        (("topk", "picture.png", "-k", 1, "--epsilon", 1), None, "sordino:"),
        (("topk", "nowhere.txt", "-k", 1, "--epsilon", 1), 2, "nowhere.txt"),
        (("count", "friends.txt", "triangels", "--epsilon", 1), 2, "did you mean 'triangles'"),
        (("count", "friends.txt", "k_stars", "--epsilon", 1), 2, "k"),
        (("count", "friends.txt", "triangles", "--epsilon", "nan"), 2, "finite"),
        (("count", "friends.txt", "triangles", "--epsilon", 1, "--mechanism", "laplace"), 2, "delta"),
    ],
)
def test_bad_input_is_one_line(sordino, graphs, arguments, code, message):
    result = sordino(*arguments)
    assert result.code in ((2, 3) if code is None else (code,))
    assert message in result.err
    assert result.err.count("\n") == 1
    assert result.out == ""
    assert "Traceback" not in result.err
