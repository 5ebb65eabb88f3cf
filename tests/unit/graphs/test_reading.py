"""Files of edges: the same graph from each format, and the line of what is wrong."""

from __future__ import annotations

import gzip

import networkx
import polars
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sordino.core import ParameterError, PrivateDataError
from sordino.graphs.graph import Dropped, Graph

from .test_graph import edge_set

GOOD = [
    "0 1\n1 2\n",
    "0 1\n1 2",
    "0\t1\r\n1\t2\r\n",
    "0,1\n1,2\n",
    "0;1\n1; 2\n",
    "source,target\n0,1\n1,2\n",
    "# a comment\n% another\n\n0   1  \n \n  1 \t 2\n# the end",
    "#nodes\nu v\n0 1\n1 2\n",
    "\ufeff0,1\n1,2\n",
    "\ufeffid_1,id_2\n0,1\n1,2\n",
    "00 01\n1 2\n",
]


def write(tmp_path, content, name="edges.txt"):
    path = tmp_path / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


@pytest.mark.parametrize("content", GOOD)
@pytest.mark.parametrize("compress", [False, True])
def test_text_of_integers(tmp_path, content, compress):
    data = gzip.compress(content.encode()) if compress else content
    graph = Graph.read(write(tmp_path, data))
    assert edge_set(graph) == {(0, 1), (1, 2)}
    assert graph.labels is None
    assert graph.nodes == 3


@pytest.mark.parametrize(
    ("content", "header"),
    [
        ("ann bob\nbob José\n", None),
        ("ann\tbob\nbob\tJosé", None),
        ("ann,bob\nbob, José\n", False),
        ("from,to\nann,bob\nbob,José\n", True),
        ("# names\n\nfrom;to\n ann ;bob\r\nbob;José\r\n", True),
        ('from,to\n"ann",bob\n% quoted\n"bob","José"\n', True),
        ("from to\nann  bob\n bob José \n", True),
    ],
)
def test_text_of_names(tmp_path, content, header):
    graph = Graph.read(write(tmp_path, content), header=header)
    assert list(graph.labels) == ["José", "ann", "bob"]
    assert edge_set(graph) == {("ann", "bob"), ("José", "bob")}


def test_names_may_hold_blanks_and_separators(tmp_path):
    tabs = Graph.read(write(tmp_path, "ann lee\tbob\n"))
    assert list(tabs.labels) == ["ann lee", "bob"]
    quoted = Graph.read(write(tmp_path, '"lee, ann",bob\nbob,cy\n'), header=False)
    assert list(quoted.labels) == ["bob", "cy", "lee, ann"]
    assert quoted.dropped.reveal() == Dropped()


def test_integers_are_read_as_names_on_request(tmp_path):
    graph = Graph.read(write(tmp_path, "1 -2\n-2 010\n"), ids="text")
    assert list(graph.labels) == ["-2", "010", "1"]


FURTHER = [
    "0 1 {}\n1 2 {'weight': 1}\n",
    "0 1 0.5\n1 2 -2\n",
    "0\t1\t+.5e-3\r\n1\t2\t7.E8\r\n",
    "0,1,{'a': 1, 'b': '} \\\\n'}\n1,2,{}",
    "0 1 3 1082040961\n1 2 4 1082155839\n",
    "0,1, 0.5 ,3\n1,2,1,3\n",
    "source,target,weight\n0,1,1\n1,2,0.25\n",
    "target source weight time\n0 1 1 1\n1 2 1 1\n",
]


@pytest.mark.parametrize("content", FURTHER)
def test_what_follows_two_ids_is_ignored(tmp_path, content):
    graph = Graph.read(write(tmp_path, content))
    assert edge_set(graph) == {(0, 1), (1, 2)}
    named = content.replace("0", "ann", 1) if content[0] == "0" else None
    if named is not None:
        graph = Graph.read(write(tmp_path, named), header=False, nodes=["ann", "1", "2"], ids="text")
        assert {frozenset(edge) for edge in edge_set(graph)} == {frozenset(("ann", "1")), frozenset("12")}


def test_names_with_attributes_in_quotes(tmp_path):
    content = 'from,to,about\n"ann",bob,"{\'w\': 1, \'x\': 2}"\nbob,"cy, jr",{}\n'
    graph = Graph.read(write(tmp_path, content), header=True)
    assert edge_set(graph) == {("ann", "bob"), ("bob", "cy, jr")}


@pytest.mark.parametrize("delimiter", [" ", "\t", ",", ";"])
@pytest.mark.parametrize("names", [False, True])
@pytest.mark.parametrize("data", [True, False, ["weight"], ["weight", "time"]])
def test_edge_lists_of_networkx(tmp_path, delimiter, names, data):
    graph = networkx.karate_club_graph()
    for place, (_, _, attributes) in enumerate(graph.edges(data=True)):
        attributes["time"] = place
        if place % 3 == 0 and data is True:
            attributes["note"] = "a, b; {'\t\"#% \n"
    if names:
        graph = networkx.relabel_nodes(graph, {node: f"n{node}" for node in graph})
    path = tmp_path / "edges.txt"
    networkx.write_edgelist(graph, path, delimiter=delimiter, data=data)
    read = Graph.read(path, header=False)
    assert {frozenset(edge) for edge in edge_set(read)} == {frozenset(edge) for edge in graph.edges()}
    networkx.write_weighted_edgelist(graph, path, delimiter=delimiter)
    assert edge_set(Graph.read(path, header=False)) == edge_set(read)


def test_columns_of_ids_come_first_in_text(tmp_path):
    frame = networkx.to_pandas_edgelist(networkx.Graph([(0, 1), (1, 2)]))
    frame.assign(weight=1.5).to_csv(tmp_path / "edges.csv", index=False)
    assert edge_set(Graph.read(tmp_path / "edges.csv")) == {(0, 1), (1, 2)}
    frame.to_csv(tmp_path / "edges.csv")
    with pytest.raises(ParameterError, match=r"first column of .* has no name"):
        Graph.read(tmp_path / "edges.csv")
    with pytest.raises(ParameterError, match=r"columns from and to of .* must come first"):
        Graph.read(write(tmp_path, "id,From,to\n7,0,1\n"))


def test_nodes_are_declared(tmp_path):
    assert Graph.read(write(tmp_path, "0 1\n"), nodes=5).nodes == 5
    assert Graph.read(write(tmp_path, "7 9\n"), nodes=[9, 8, 7]).labels.tolist() == [9, 8, 7]
    names = write(tmp_path, "ann bob\n", "names.txt")
    assert Graph.read(names, nodes=["cy", "bob", "ann"]).degrees.tolist() == [0, 1, 1]
    quoted = write(tmp_path, '"ann",bob\n', "quoted.csv")
    assert Graph.read(quoted, header=False, nodes=["cy", "bob", "ann"]).degrees.tolist() == [0, 1, 1]
    assert Graph.read(write(tmp_path, "# no edges\n", "none.txt"), nodes=3).edges == 0


def test_self_loops_and_duplicates_are_counted(tmp_path):
    graph = Graph.read(write(tmp_path, "0 1\n1 0\n1 1\n"))
    assert graph.dropped.reveal() == Dropped(self_loops=1, duplicates=1)


def test_parquet(tmp_path):
    path = tmp_path / "edges.parquet"
    polars.DataFrame({"u": [0, 1], "v": [1, 2]}).write_parquet(path)
    assert edge_set(Graph.read(path)) == edge_set(Graph.of(path)) == {(0, 1), (1, 2)}
    polars.DataFrame({"u": ["b", "a"], "v": ["a", "c"]}).write_parquet(path)
    assert list(Graph.read(str(path)).labels) == ["a", "b", "c"]
    polars.DataFrame({"u": [0], "v": [1], "w": [2]}).write_parquet(path)
    with pytest.raises(ParameterError, match=r"two columns, or .* source and target; it has 3"):
        Graph.read(path)
    polars.DataFrame({"weight": [5.0], "source": [0], "target": [1]}).write_parquet(path)
    assert edge_set(Graph.read(path)) == {(0, 1)}
    polars.DataFrame({"u": [0, None], "v": [1, 2]}).write_parquet(path)
    with pytest.raises(PrivateDataError, match="holds nulls"):
        Graph.read(path)
    path.write_bytes(path.read_bytes()[:40])
    with pytest.raises(ParameterError, match="as Parquet"):
        Graph.read(path)


BAD_LINES = [
    ("0 1\n77 2 3\n", 2, "another number of fields"),
    ("0 1\n77\n", 2, "fewer fields"),
    ("0 1\n77,\n", 2, "fewer fields"),
    ("0,1\n\n77,2,\n", 3, "another number of fields"),
    ("0 1\n77 2 # note\n", 2, "another number of fields"),
    ("0,,1\n", 1, "not a whole number"),
    ("0 1\n77 -2\n", 2, "negative"),
    ("-77 2\n", 1, "negative"),
    ("# note\n0 1\n77 x\n", 3, "not a whole number"),
    ("u,v\n0,1\n77,x\n", 3, "not a whole number"),
    ("0 1\n77.0 2\n", 2, "not a whole number"),
    ("0 1\n1_77 2\n", 2, "not a whole number"),
    ("0 1\n77e3 2\n", 2, "not a whole number"),
    ("0 1\n+77 2\n", 2, "not a whole number"),
    ("0 1\nnan 77\n", 2, "not a whole number"),
    ("0 1\n- 77\n", 2, "not a whole number"),
    ("0 1\n77 \u0661\n", 2, "not a whole number"),
    ("0 1\n77 9223372036854775807\n", 2, "2\\^63"),
    ("0 1\n77 99999999999999999999999\n", 2, "2\\^63"),
    ("ann bob\n77cy\n", 2, "fewer fields"),
    ("ann bob\n77cy dan eve\n", 2, "another number of fields"),
    ("ann\tbob\n\n77cy\tdan\teve\n", 3, "another number of fields"),
    ("ann\tbob\n77cy\t\tdan\n", 2, "empty"),
    ("77\n", 1, "fewer fields"),
    ("ann77\n", 1, "fewer fields"),
    ("The quick brown fox 77\n", 1, "only numbers"),
    ("0 1 1.5\n77 2\n", 2, "another number of fields"),
    ("0 1 1.5\n77 2 1 2\n", 2, "another number of fields"),
    ("0 1 1.5\n77 2 friend\n", 2, "only numbers"),
    ("0 1 1.5\n77 2 1.5.2\n", 2, "only numbers"),
    ("0 1 1.5\n77 2 1e\n", 2, "only numbers"),
    ("0 1 1.5\n77 2 -\n", 2, "only numbers"),
    ("0,1,1.5\n77,2,\n", 2, "only numbers"),
    ("0,1,1.5\n77,2,,3\n", 2, "only numbers"),
    ("0 1 {}\n77 2 {'weight'\n", 2, "only numbers"),
    ("0 1 {}\n77 2 3 {}\n", 2, "only numbers"),
    ("0 1 {}\n77 2\n", 2, "another number of fields"),
    ("0 1 2 3\n1 77\n", 2, "another number of fields"),  # an adjacency list
    ("ann bob 1\n77cy dan eve\n", 2, "only numbers"),
    ("ann\tbob\t1\n77cy\tdan\n", 2, "another number of fields"),
]


@pytest.mark.parametrize(("content", "line", "message"), BAD_LINES)
def test_malformed_lines_are_named_and_not_shown(tmp_path, content, line, message):
    with pytest.raises(PrivateDataError, match=f"^line {line} of .*({message})") as caught:
        Graph.read(write(tmp_path, content))
    assert "77" not in str(caught.value).replace(str(tmp_path), "")


@pytest.mark.parametrize(
    ("content", "line", "message"),
    [
        ("a,b\nc\n", 2, "fewer fields"),
        ('a,"b"\nc\n', 2, "fewer fields"),
        ('a,"b",1\nc,d,e\n', 2, "only numbers"),
        ("a,b\nc,\n", 2, "empty"),
        ("a,b\nc,d,e\n", 2, "another number of fields"),
        ('a,"b"\nc,d,e\n', 2, "another number of fields"),
        ('a,"b"\n\nc,""\n', 3, "empty"),
        ('a,"b"\nc,"d\n', 2, "not CSV"),
        ('a,"b"\nc,"d"e\n', 2, "not CSV"),
        (b"a,b\nc,\xff\xfe\n", 2, "not UTF-8"),
        (b'a,"b"\nc,\xff\n', 2, "not UTF-8"),
    ],
)
def test_malformed_lines_of_csv_names(tmp_path, content, line, message):
    with pytest.raises(PrivateDataError, match=f"^line {line} of .*{message}"):
        Graph.read(write(tmp_path, content), header=False)


def test_what_is_not_text_is_refused(tmp_path):
    with pytest.raises(PrivateDataError, match=r"line 3 of .* is not UTF-8 text"):
        Graph.read(write(tmp_path, b"ann bob\n\ncy\xff dan\n"))
    with pytest.raises(ParameterError, match="not a text file"):
        Graph.read(write(tmp_path, "0 1\n1 2\n".encode("utf-16")))
    with pytest.raises(PrivateDataError, match="line 1 of "):
        Graph.read(write(tmp_path, bytes(range(128, 256))))
    with pytest.raises(PrivateDataError, match=r"line 2 of .* not a whole number"):
        Graph.read(write(tmp_path, b"0 1\n\xff 2\n"))


def test_ids_beyond_the_declared_nodes_are_named_by_line(tmp_path):
    with pytest.raises(PrivateDataError, match=r"line 2 of .* not among the nodes"):
        Graph.read(write(tmp_path, "0 1\n1 5\n"), nodes=5)
    with pytest.raises(PrivateDataError, match="not among the nodes"):
        Graph.read(write(tmp_path, "7 8\n"), nodes=[7, 9])
    with pytest.raises(PrivateDataError, match="not among the nodes"):
        Graph.read(write(tmp_path, "ann bob\n"), nodes=["ann", "cy"])
    for nodes, message in ((3, "not integers"), ([1, 2], "list of text")):
        with pytest.raises(PrivateDataError, match=message):
            Graph.read(write(tmp_path, "ann bob\n"), nodes=nodes)
        with pytest.raises(PrivateDataError, match=message):
            Graph.read(write(tmp_path, 'ann,"bob"\n'), header=False, nodes=nodes)
    with pytest.raises(ParameterError, match="nodes must be >= 1"):
        Graph.read(write(tmp_path, "0 1\n"), nodes=0)


def test_files_that_hold_no_edges(tmp_path):
    for content in ("", "\n\n", "# only\n% comments\n", gzip.compress(b"")):
        with pytest.raises(ParameterError, match="holds no edges: give nodes if"):
            Graph.read(write(tmp_path, content))
    with pytest.raises(ParameterError, match="holds no edges: give nodes if"):
        Graph.read(write(tmp_path, "u,v\n"), header=True)


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(ParameterError, match=r"cannot read .*missing.txt: No such file"):
        Graph.read(tmp_path / "missing.txt")
    with pytest.raises(ParameterError, match=r"cannot read .*: Is a directory"):
        Graph.read(tmp_path)
    whole = gzip.compress(b"0 1\n" * 1000)
    damaged = bytearray(whole)
    damaged[15] ^= 255
    for content in (whole[:-9], bytes(damaged), b"\x1f\x8bnot gzip"):
        with pytest.raises(ParameterError, match="damaged or cut short"):
            Graph.read(write(tmp_path, content))


def test_a_header_of_names_is_not_guessed(tmp_path):
    with pytest.raises(ParameterError, match="header or no header"):
        Graph.read(write(tmp_path, "source,target\nann,bob\n"))


def test_options_are_checked(tmp_path):
    path = write(tmp_path, "0 1\n")
    with pytest.raises(ParameterError, match="ids must be one of auto, integer, text, got 'int'"):
        Graph.read(path, ids="int")
    with pytest.raises(ParameterError, match="header must be True, False or None, got 3"):
        Graph.read(path, header=3)
    with pytest.raises(PrivateDataError, match=r"line 1 of .* not a whole number"):
        Graph.read(write(tmp_path, "ann bob\n"), ids="integer")
    with pytest.raises(PrivateDataError, match=r"line 1 of .* not a whole number"):
        Graph.read(write(tmp_path, "u v\n1 2\n"), ids="integer", header=False)


names = st.text(
    st.characters(exclude_categories=("Cs", "Cc", "Zs", "Zl", "Zp"), exclude_characters='"#%,;'), min_size=1
)


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.tuples(names, names), min_size=1, max_size=20),
    st.sampled_from([" ", "\t", ",", ";", "quoted"]),
)
def test_names_survive_the_round_trip(tmp_path_factory, pairs, separator):
    if separator == "quoted":
        text = "".join(f'"{u}","{v}"\n' for u, v in pairs)
    else:
        text = "".join(f"{u}{separator}{v}\n" for u, v in pairs)
    path = tmp_path_factory.mktemp("names") / "edges"
    path.write_text(text, encoding="utf-8", newline="\n")
    graph = Graph.read(path, ids="text", header=False)
    assert edge_set(graph) == {tuple(sorted(pair)) for pair in pairs if pair[0] != pair[1]}
    assert list(graph.labels) == sorted({name for pair in pairs for name in pair})


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 2**63 - 2), st.integers(0, 2**63 - 2)), min_size=1, max_size=20))
def test_integers_survive_the_round_trip(tmp_path_factory, pairs):
    path = tmp_path_factory.mktemp("integers") / "edges"
    path.write_text("".join(f"{u} {v}\n" for u, v in pairs))
    graph = Graph.read(path)
    assert edge_set(graph) == {tuple(sorted(pair)) for pair in pairs if pair[0] != pair[1]}
