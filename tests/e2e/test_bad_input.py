"""Bad input: one line on standard error, the right exit code, no traceback, no output, no values."""

import os
import subprocess
import sys

import pytest

VOTES = ("select", "votes.csv", "--score", "votes")
GOOD = (*VOTES, "--sensitivity", 1)
PAY = ("quantile", "pay.csv", "--column", "salary")
NODES = ("select", "nodes.csv", "--score", "ebc")

PARAMETERS = [
    ((*GOOD, "-e", 0), "epsilon must be > 0"),
    ((*GOOD, "-e", -0.5), "epsilon must be > 0, got -0.5"),
    ((*GOOD, "-e", "nan"), "epsilon must be finite"),
    ((*GOOD, "-e", "inf"), "epsilon must be finite"),
    ((*GOOD, "-e", "much"), "'--epsilon'"),
    ((*GOOD, "-e", "0,5"), "got '0,5'"),
    ((*GOOD, "--epsilon=half"), "'half'"),
    (GOOD, "Missing option '--epsilon'"),
    ((*GOOD, "-e", 1, "--delta", 1), "delta must be in [0, 1)"),
    ((*GOOD, "-e", 1, "--delta", -0.1), "delta must be in [0, 1)"),
    ((*VOTES, "-e", 1), "exactly one of --sensitivity X and --profile FILE"),
    ((*VOTES, "-e", 1, "--sensitivity", 0), "must be > 0"),
    ((*GOOD, "-e", 1, "--bound", 2), "--bound belongs to --profile"),
    ((*GOOD, "-e", 1, "--mechanism", "permute_and_flop"), "did you mean 'permute_and_flip'"),
    ((*GOOD, "-e", 1, "--mechanism", "local_dampening", "--sampler", "dice"), "sampler must be one of"),
    ((*GOOD, "-e", 1, "--mechanism", "smooth_noisy_max", "--noise", "pink"), "noise must be one of"),
    ((*GOOD, "-e", 1, "--monotone", "--distance", "replace"), "monotone"),
    ((*GOOD, "-e", 1, "--k", 0), "k must be >= 1"),
    ((*GOOD, "-e", 1, "--k", 9), "k must be at most the number of candidates (3)"),
    ((*GOOD, "-e", 1, "--distance", "far"), "'--distance'"),
    (("select", "votes.csv", "--score", "vote", "--sensitivity", 1, "-e", 1), "did you mean 'votes'"),
    (("select", "votes.csv", "--sensitivity", 1, "-e", 1), "give --score: one of the columns"),
    ((*GOOD, "-e", 1, "--label", "partei"), "must be one of party, votes, got 'partei'"),
    (
        ("select", "none.csv", "--score", "a", "--sensitivity", 1, "-e", 1),
        "cannot read none.csv: no such file",
    ),
    (("select", ".", "--score", "a", "--sensitivity", 1, "-e", 1), "cannot read .: is a directory"),
    (("select", "none.parquet", "--score", "a", "--sensitivity", 1, "-e", 1), "cannot read none.parquet"),
    ((*NODES, "--profile", "delta.csv", "-e", 1), "--profile needs --bound"),
    (
        (*NODES, "--profile", "delta.csv", "--bound", 4, "--label", "node", "-e", 1),
        "must not exceed its bound 4",
    ),
    ((*NODES, "--profile", "short.csv", "--bound", 9, "-e", 1), "they must agree"),
    ((*NODES, "--profile", "short.csv", "--label", "node", "--bound", 9, "-e", 1), "they must agree"),
    ((*NODES, "--profile", "falling.csv", "--bound", 9, "-e", 1), "must not decrease"),
    ((*NODES, "--profile", "missing.csv", "--label", "node", "--bound", 9, "-e", 1), "no row for 2 of the 4"),
    ((*NODES, "--profile", "one_row.csv", "--bound", "inf", "-e", 1), "finite bound"),
    ((*PAY, "--bounds", 9, 0, "--step", 1, "-e", 1), "lo < hi"),
    ((*PAY, "--bounds", 0, 0, "--step", 1, "-e", 1), "lo < hi"),
    ((*PAY, "--bounds", 0, "nan", "--step", 1, "-e", 1), "must be finite"),
    ((*PAY, "--bounds", 0, 5000, "--step", 0, "-e", 1), "step must be > 0"),
    ((*PAY, "--bounds", 0, 5000, "--step", 9999, "-e", 1), "step must be at most the width"),
    ((*PAY, "--bounds", 0, 5000, "--step", 1e-9, "-e", 1), "lattice points"),
    ((*PAY, "--bounds", 0, 5000, "--step", 1, "-e", 1, "-q", 1), "q must be in (0, 1)"),
    ((*PAY, "--bounds", 0, 5000, "--step", 1, "-e", 0), "epsilon must be > 0"),
    (
        (*PAY, "--bounds", 0, 5000, "--step", 1, "-e", 1, "--mechanism", "best"),
        "mechanism must be one of auto",
    ),
    ((*PAY, "--step", 1, "-e", 1), "Missing option '--bounds'"),
    (("quantile", "pay.csv", "--bounds", 0, 1, "--step", 1, "-e", 1), "give --column"),
    (("compare", "votes.csv", "--score", "votes", "--sensitivity", 1, "-e", -1), "epsilon must be > 0"),
    (("demo", "-e", 0, "--no-report"), "epsilon must be > 0"),
    (("demo", "-o", "nowhere/report.html"), "--output must be a file in a directory that exists"),
    (("frobnicate",), "No such command 'frobnicate'"),
    (("audit", "--slow"), "No such option"),
    (("select", "empty.csv", "--score", "a", "--sensitivity", 1, "-e", 1), "has no header"),
    (("select", "header.csv", "--score", "a", "--sensitivity", 1, "-e", 1), "at least one candidate"),
    (("select", "twice.csv", "--score", "a", "--sensitivity", 1, "-e", 1), "more than one column named 'a'"),
]

DATA = [
    (("select", "text.csv", "--score", "a", "--sensitivity", 1, "-e", 1), "line 3 of text.csv: column 'a'"),
    (("select", "gap.csv", "--score", "a", "--sensitivity", 1, "-e", 1), "line 2 of gap.csv: column 'a'"),
    (("select", "nan.csv", "--score", "a", "--sensitivity", 1, "-e", 1), "line 3 of nan.csv: column 'a'"),
    (
        ("select", "ragged.csv", "--score", "a", "--sensitivity", 1, "-e", 1),
        "line 4 of ragged.csv has 3 fields",
    ),
    (("select", "quote.csv", "--score", "a", "--sensitivity", 1, "-e", 1), "of quote.csv is not CSV"),
    (
        ("select", "latin.csv", "--score", "a", "--sensitivity", 1, "-e", 1),
        "line 2 of latin.csv is not UTF-8",
    ),
    ((*PAY, "--bounds", 0, 1050, "--step", 1, "-e", 1), "outside the bounds"),
]


@pytest.fixture
def bad_files(files):
    contents = {
        "short.csv": "d0,d1\n1,2\n1,2\n",
        "falling.csv": "d0,d1\n3,2\n",
        "missing.csv": "node,d0\na,1\nb,1\n",
        "empty.csv": "",
        "header.csv": "a,b\n",
        "twice.csv": "a,a\n1,2\n",
        "text.csv": "a,b\n1,2\nsecret123,2\n",
        "gap.csv": "a,b\n,2\n",
        "nan.csv": "a,b\n1,2\nnan,2\n",
        "ragged.csv": "a,b\n1,2\n\nsecret123,2,3\n",
        "quote.csv": 'a,b\n1,2\n"secret123" x,2\n',
    }
    for name, content in contents.items():
        (files / name).write_text(content, encoding="utf-8")
    (files / "latin.csv").write_bytes("a,b\n1,sécret123\n".encode("latin-1"))
    return files


def _is_one_clear_line(result):
    assert result.out == ""
    assert result.err.startswith("sordino: ")
    assert result.err.count("\n") == 1
    assert "Traceback" not in result.err
    assert "secret123" not in result.err


@pytest.mark.parametrize(("arguments", "message"), PARAMETERS, ids=lambda value: str(value)[:60])
def test_a_bad_parameter_is_refused_with_code_2(sordino, bad_files, arguments, message):
    result = sordino(*arguments)
    assert result.code == 2
    assert message in result.err
    _is_one_clear_line(result)


def test_what_has_no_sound_answer_is_refused_with_code_4(sordino, bad_files):
    options = ("--mechanism", "smooth_noise", "--distance", "add-remove")
    result = sordino(*PAY, "--bounds", 0, 5000, "--step", 1, "-e", 1, *options)
    assert result.code == 4
    assert "use permute_and_flip" in result.err
    _is_one_clear_line(result)


@pytest.mark.parametrize(("arguments", "message"), DATA, ids=lambda value: str(value)[:60])
def test_data_that_break_what_was_declared_are_refused_with_code_3(sordino, bad_files, arguments, message):
    result = sordino(*arguments)
    assert result.code == 3
    assert message in result.err
    _is_one_clear_line(result)


def test_parquet_with_text_or_nulls_is_refused(sordino, files):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    parquet.write_table(pyarrow.table({"a": ["x", "secret123"], "b": [1.0, None]}), files / "bad.parquet")
    ask = ("--sensitivity", 1, "-e", 1)
    text = sordino("select", "bad.parquet", "--score", "a", *ask)
    nulls = sordino("select", "bad.parquet", "--score", "b", *ask)
    (files / "fake.parquet").write_text("secret123")
    fake = sordino("select", "fake.parquet", "--score", "b", *ask)
    assert (text.code, nulls.code, fake.code) == (2, 3, 2)
    for result in (text, nulls, fake):
        _is_one_clear_line(result)


def test_a_defect_shows_its_place_but_no_data(sordino, files, monkeypatch):
    def broken(*arguments, **options):
        raise RuntimeError("secret123")

    monkeypatch.setattr("sordino.mechanisms.selection.select", broken)
    result = sordino(*GOOD, "-e", 1)
    assert result.code == 70
    assert "RuntimeError in broken" in result.err
    _is_one_clear_line(result)


def test_the_installed_program_leaves_with_the_code(files):
    program = [sys.executable, "-c", "from sordino.cli import main; main()"]
    done = subprocess.run([*program, *map(str, GOOD), "-e", "-1"], capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr == "sordino: epsilon must be > 0, got -1.0\n"


def test_a_reader_that_goes_away_is_no_error(files):
    program = [sys.executable, "-c", "from sordino.cli import main; main()", *map(str, GOOD), "-e", "1"]
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(program, stdout=write, stderr=subprocess.PIPE, text=True)
    os.close(write)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_record_in_place_of_a_header_is_never_shown(sordino, files):
    (files / "bare.csv").write_text("Jane Doe,98765\nJohn Roe,1\n")
    for column in ("pay", None):
        options = () if column is None else ("--column", column)
        result = sordino("quantile", "bare.csv", *options, "--bounds", 0, 9, "--step", 1, "--epsilon", 1)
        assert result.code == 2
        assert "looks like a record" in result.err
        assert "Jane" not in result.err
        assert "98765" not in result.err


def test_a_profile_without_a_header_is_refused(sordino, files):
    (files / "bare.csv").write_text("1,2\n1,2\n")
    result = sordino(
        "select", "votes.csv", "--score", "votes", "--profile", "bare.csv", "--bound", 3, "--epsilon", 1
    )
    assert result.code == 2
    assert "must name the columns" in result.err


def test_errors_speak_the_language_of_the_shell(sordino, files):
    result = sordino(
        "quantile", "pay.csv", "--column", "salary", "--bounds", 0, 9, "--step", 1, "--epsilon", 1
    )
    assert result.code == 3
    assert "(clip)" in result.err
    assert "clip=True" not in result.err
