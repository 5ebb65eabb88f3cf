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


def test_nodes_without_an_edge_are_there_when_they_are_named(sordino, graphs):
    names = sorted({name for edge in EDGES for name in edge} | {"loner", "hermit"})
    (graphs / "people.txt").write_text("# everybody\n\n" + "\n".join(names) + "\n")
    histogram = ("count", "friends.txt", "degree_histogram", "-e", 1e6, "--max-degree", 22, "--json")
    assert json.loads(sordino(*histogram).out)["value"][0] == 0
    assert json.loads(sordino(*histogram, "--nodes", "people.txt").out)["value"][0] == 2
    everybody = sordino("topk", "friends.txt", "-k", len(names), "-e", 1, "--nodes", "people.txt", "--json")
    assert sorted(json.loads(everybody.out)["value"]) == names


def test_a_number_of_nodes_means_the_ids_below_it(sordino, graphs):
    (graphs / "path.txt").write_text("0 1\n1 2\n")
    histogram = ("count", "path.txt", "degree_histogram", "-e", 1e6, "--json")
    assert json.loads(sordino(*histogram, "--nodes", 5).out)["value"] == [2, 2, 1, 0, 0]
    (graphs / "ids.txt").write_text("2\n1\n0\n7\n")
    assert json.loads(sordino(*histogram, "--nodes", "ids.txt").out)["value"] == [1, 2, 1, 0]


@pytest.mark.parametrize(
    ("file", "nodes", "code", "message"),
    [
        ("friends.txt", "poeple.txt", 2, "cannot read poeple.txt: no such file"),
        ("friends.txt", 40, 3, "give nodes as the list of all ids"),
        ("friends.txt", 0, 3, "give nodes as the list of all ids"),
        ("friends.txt", "few.txt", 3, "not among the nodes that were declared"),
        ("friends.txt", "twice.txt", 2, "twice.txt names a node twice: it has 3 lines and 2 distinct ids"),
        ("friends.txt", "empty.txt", 2, "empty.txt names no nodes: it has one id per line"),
        ("friends.txt", "picture.png", 2, "picture.png is not UTF-8 text"),
        ("path.txt", 2, 3, "not among the nodes that were declared"),
        ("path.txt", 0, 2, "nodes must be >= 1"),
    ],
)
def test_nodes_that_do_not_fit_are_refused_in_one_line(sordino, graphs, file, nodes, code, message):
    (graphs / "path.txt").write_text("0 1\n1 2\n")
    (graphs / "few.txt").write_text("hub\na\n")
    (graphs / "twice.txt").write_text("hub\na\nhub\n")
    for command in (("topk", file, "-k", 1), ("count", file, "edges")):
        result = sordino(*command, "-e", 1, "--nodes", nodes)
        assert (result.code, result.out, result.err.count("\n")) == (code, "", 1), result
        assert message.lower() in result.err.lower()
