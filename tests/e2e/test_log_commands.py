"""`sordino logs`: correlate, pipeline and demo."""

from __future__ import annotations

import json

import pytest

from tests.oracles.log_chains import give_owner, list_chains
from tests.unit.logs.test_correlation import GOLDEN_LOG


@pytest.fixture
def logs(tmp_path, monkeypatch):
    """The worked example, one file per owner and one for all."""
    monkeypatch.chdir(tmp_path)
    for owner in ("O1", "O2"):
        rows = [f"{time},{ip},{user or ''}\n" for time, who, (ip, user) in GOLDEN_LOG if who == owner]
        (tmp_path / f"{owner}.csv").write_text("time,ip,user\n" + "".join(rows))
    rows = [f"{time},{who},{ip},{user or ''}\n" for time, who, (ip, user) in GOLDEN_LOG]
    (tmp_path / "all.csv").write_text("time,owner,ip,user\n" + "".join(rows))
    (tmp_path / "O1.log").write_text("1 10.0.0.1 ann\n5 10.0.0.1 eve\n")
    (tmp_path / "O2.log").write_text("3 10.0.0.1 bob\n")
    return tmp_path


BOTH = ("O1=O1.csv", "O2=O2.csv", "--values", "ip,user")


def read_chains(said, owner):
    return sorted(
        (e["place"], e["time"], e["owner"], e["ip"], e["user"], chain["chain"], e["position"])
        for chain in said["owners"][owner]["chains"]
        for e in chain["entries"]
    )


@pytest.mark.parametrize("how", [(), ("--emulate",), ("--secret",)])
@pytest.mark.parametrize("files", [BOTH, ("all.csv", "--values", "ip,user")])
def test_every_way_prints_what_the_rule_gives(logs, sordino, how, files):
    done = sordino("logs", "correlate", *files, *how, "--json")
    assert done.code == 0, done.err
    said = json.loads(done.out)
    ordered, chains = list_chains(GOLDEN_LOG, "any")
    for owner in ("O1", "O2"):
        shown, alone = give_owner(ordered, chains, owner)
        assert read_chains(said, owner) == shown
        assert [tuple(entry.values()) for entry in said["owners"][owner]["uncorrelated"]] == alone
    assert (said["operations"] is None) == (how == ())


def test_one_owner_is_shown_alone(logs, sordino):
    done = sordino("logs", "correlate", *BOTH, "--owner", "O2")
    assert done.code == 0, done.err
    assert "O2: 3 chains with 8 entries, 2 uncorrelated" in done.out
    assert "sue" not in done.out  # chain 10 is O1's alone
    assert "O1: " not in done.out
    said = json.loads(sordino("logs", "correlate", *BOTH, "--owner", "O2", "--json").out)
    assert list(said["owners"]) == ["O2"]


def test_results_are_written_for_each_owner(logs, sordino):
    (logs / "out").mkdir()
    done = sordino("logs", "correlate", *BOTH, "--output", "out", "--json")
    assert done.code == 0, done.err
    assert {path.name for path in (logs / "out").iterdir()} == {
        f"{owner}_{kind}.csv" for owner in ("O1", "O2") for kind in ("chains", "uncorrelated")
    }
    assert "sue" not in (logs / "out" / "O2_chains.csv").read_text()
    assert "kim" in (logs / "out" / "O2_uncorrelated.csv").read_text()
    assert "kim" not in (logs / "out" / "O1_chains.csv").read_text()


def test_the_pipeline_learns_from_run_to_run(logs, sordino):
    (logs / "out").mkdir()
    first = json.loads(sordino("logs", "pipeline", *BOTH, "--emulate", "-o", "out", "--json").out)
    assert first["owners"]["O1"]["new_known_chains"] > 0
    again = sordino(
        "logs",
        "pipeline",
        *BOTH,
        "--known",
        "O1=out/O1_known.csv",
        "--known",
        "O2=out/O2_known.csv",
        "--emulate",
        "--json",
    )
    said = json.loads(again.out)["owners"]
    assert said["O1"]["known_chains"] >= first["owners"]["O1"]["known_chains"]
    assert said["O1"]["shared_entries"] < said["O1"]["entries"]
    table = sordino("logs", "pipeline", *BOTH, "--emulate", "--share", "unknown")
    assert table.code == 0
    assert "known now" in table.out


def test_a_log_comes_from_a_pipe(logs, sordino):
    content = (logs / "all.csv").read_bytes()
    piped = sordino("logs", "correlate", "-", "--values", "ip,user", "--json", stdin=content)
    assert piped.code == 0, piped.err
    assert piped.out == sordino("logs", "correlate", "all.csv", "--values", "ip,user", "--json").out
    twice = sordino("logs", "correlate", "-", "--values", "ip", stdin=b"time,ip,ip\n1,a,b\n")
    assert twice.code == 2
    assert "two columns of the same name" in twice.err


def test_raw_lines_are_read_by_a_pattern(logs, sordino):
    done = sordino(
        "logs", "correlate", "O1=O1.log", "O2=O2.log", "--values", "ip", "--json",
        "--pattern", r"(?P<time>\d+) (?P<ip>\S+)",
    )  # fmt: skip
    assert done.code == 0, done.err
    assert len(json.loads(done.out)["owners"]["O2"]["chains"][0]["entries"]) == 3


@pytest.mark.parametrize(
    "how", [("--emulate", "--owners", "4"), ("--entries", "15"), ("--emulate", "--hide-times")]
)
def test_the_demo_finds_both_equal(sordino, how):
    done = sordino("logs", "demo", *how)
    assert done.code == 0, done.err
    assert "the same" in done.out
    assert "DIFFERENT" not in done.out


def test_a_demo_that_differs_fails(sordino, monkeypatch):
    from sordino import logs as package

    real = package.correlate_secret

    def forget(made, **options):
        found = real(made, **options)
        first, *others = found.owners
        shorter = {first: found.for_owner(first).slice(1)} | {name: found.for_owner(name) for name in others}
        return package.Chains(found.owners, found.values, shorter, found.uncorrelated)

    monkeypatch.setattr(package, "correlate_secret", forget)
    done = sordino("logs", "demo", "--emulate")
    assert done.code == 1
    assert done.out.count("DIFFERENT") == 1


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("O1=O1.csv", "--values", "host"), 2, "must have one column 'host'"),
        (("O1=O1.csv", "O1=O2.csv", "--values", "ip"), 2, "every owner must be named once"),
        (("O1=O1.csv", "O2.csv", "--values", "ip"), 2, "a log must be OWNER=FILE"),
        (("O1=O1.csv", "--values", "ip", "--secret"), 2, "at least 2 owners"),
        (("O1=none.csv", "--values", "ip"), 2, "cannot read none.csv"),
        ((*BOTH, "--hide-times"), 2, "--hide-times belongs to --secret"),
        ((*BOTH, "--owner", "O3"), 2, "--owner must be one of O1, O2"),
        ((*BOTH, "--output", "nowhere"), 2, "--output must be a folder that exists"),
        ((*BOTH, "--match", "all"), 2, "--match"),
        (
            ("O1=O1.csv", "O2=bad.csv", "--values", "ip"),
            3,
            "line 3 of bad.csv: the time 'time' cannot be read",
        ),
        (("O2=back.csv", "--values", "ip", "--sorted"), 3, "line 3 of back.csv"),
    ],
)
def test_bad_input_is_said_in_one_line(logs, sordino, words, code, message):
    (logs / "bad.csv").write_text("time,ip\n1,x\nhidden,y\n")
    (logs / "back.csv").write_text("time,ip\n2,x\n1,y\n")
    done = sordino("logs", "correlate", *words)
    assert (done.code, done.out) == (code, "")
    assert message in done.err
    assert "hidden" not in done.err


def test_large_logs_need_a_yes(logs, sordino):
    (logs / "long.csv").write_text("time,owner,ip\n" + "".join(f"{i},{'ab'[i % 2]},x\n" for i in range(3001)))
    done = sordino("logs", "correlate", "long.csv", "--values", "ip", "--emulate")
    assert done.code == 2
    assert "3001 entries are more than 3000" in done.err
    assert "--yes" in done.err
