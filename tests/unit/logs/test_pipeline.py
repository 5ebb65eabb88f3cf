"""The pipeline against the same steps taken one by one with the brute-force rule."""

from __future__ import annotations

from random import Random

import pytest

import sordino as sd
from sordino.logs import KnownChains, run_pipeline
from tests.oracles.log_chains import Entry, give_owner, list_chains

from .random_logs import NAMES, as_table, draw_log, read_rows


def key_of(ordered: list[Entry], chain: list[int], same: str):
    steps = [ordered[place - 1][2] for place in chain]
    if same == "columns":
        return tuple(steps)
    return tuple(tuple(sorted(value for value in step if value is not None)) for step in steps)


def follow_by_hand(logs: dict[str, list[Entry]], known: dict[str, set], share: str, same: str):
    """What is shared, what comes back, and what is known afterwards."""
    shared = []
    for owner, log in logs.items():
        ordered, chains = list_chains(log, "any")
        for chain in chains:
            is_new = len(chain) > 1 and key_of(ordered, chain, same) not in known[owner]
            if (len(chain) == 1 and share != "unknown") or (is_new and share != "uncorrelated"):
                shared.extend((place, owner, ordered[place - 1]) for place in chain)
    places = {owner: index for index, owner in enumerate(logs)}
    joint = [entry for _, _, entry in sorted(shared, key=lambda s: (s[2][0], places[s[1]], s[0]))]
    ordered, chains = list_chains(joint, "any")
    after = {
        owner: known[owner]
        | {
            key_of(ordered, chain, same)
            for chain in chains
            if len(chain) > 1 and any(ordered[place - 1][1] == owner for place in chain)
        }
        for owner in logs
    }
    return joint, {owner: give_owner(ordered, chains, owner)[0] for owner in logs}, after


def draw_known(random: Random, log: list[Entry], width: int):
    """Some chains of the log itself, and one that is not in it."""
    ordered, chains = list_chains(log, "any")
    kept = [chain for chain in chains if len(chain) > 1 and random.random() < 0.5]
    rows = [
        {"chain": number, "position": position, **dict(zip(NAMES, ordered[place - 1][2], strict=False))}
        for number, chain in enumerate(kept)
        for position, place in enumerate(chain, start=1)
    ]
    rows.append({"chain": 99, "position": 1, **dict.fromkeys(NAMES[:width], "elsewhere")})
    import pyarrow as pa

    columns = {name: [row[name] for row in rows] for name in ("chain", "position")}
    texts = {name: pa.array([row[name] for row in rows], pa.string()) for name in NAMES[:width]}
    return pa.table(columns | texts), [[ordered[place - 1][2] for place in chain] for chain in kept]


@pytest.mark.parametrize("share", ["both", "uncorrelated", "unknown"])
@pytest.mark.parametrize("same", ["values", "columns"])
def test_the_pipeline_is_its_steps(share, same):
    random = Random(f"pipeline {share} {same}")
    for _ in range(60):
        entries = draw_log(random, largest=20, owners=3)
        people = sorted({who for _, who, _ in entries})
        if len(people) < 2:
            continue
        width = len(entries[0][2])
        logs = {who: [entry for entry in entries if entry[1] == who] for who in people}
        known, keys = {}, {}
        for who, log in logs.items():
            known[who], chains = draw_known(random, log, width)
            everything = [*chains, [("elsewhere",) * width]]
            keys[who] = {
                key_of([(0, "", step) for step in chain], list(range(1, len(chain) + 1)), same)
                for chain in everything
            }
        found = run_pipeline(
            {who: as_table(log).drop_columns(["owner"]) for who, log in logs.items()},
            values=NAMES[:width],
            known=known,
            share=share,
            same=same,
            backend="emulate",
        )
        joint, shown, after = follow_by_hand(logs, keys, share, same)
        assert sum(part.shared for part in found.own.values()) == len(joint)
        for who in people:
            assert read_rows(found.joint.for_owner(who)) == shown[who]
            assert set(found.known[who].chains) == after[who]
            assert found.new[who] == len(after[who]) - len(keys[who])


def test_what_is_known_is_read_again_as_it_was_written(tmp_path):
    import pyarrow.csv

    log = [(1, "a", ("p", None)), (2, "a", ("p", "q")), (3, "b", (None, "q"))]
    chains = sd.logs.correlate(as_table(log), values=["x", "y"])
    first = KnownChains.read(chains.for_owner("a"), ["x", "y"], "columns")
    pyarrow.csv.write_csv(first.to_table(), tmp_path / "known.csv")
    again = KnownChains.read(tmp_path / "known.csv", ["x", "y"], "columns")
    assert again == first
    assert chains.known(again).num_rows == 3
    assert chains.known(tmp_path / "known.csv").num_rows == chains.known(first.to_table()).num_rows == 3
    assert chains.unknown(again).num_rows == 0
    assert chains.unknown(KnownChains(("x", "y"), "columns"), owner="b").num_rows == 3
    assert len(KnownChains.read(None, ["x"])) == 0
    assert KnownChains(("x",)).to_table().num_rows == 0


def test_a_second_run_knows_what_the_first_found():
    log = {
        "a": as_table([(1, "a", ("p",)), (3, "a", ("q",)), (4, "a", ("q",))]).drop_columns(["owner"]),
        "b": as_table([(2, "b", ("p",))]).drop_columns(["owner"]),
    }
    first = run_pipeline(log, values=["x"], backend="emulate")
    assert first.new == {"a": 2, "b": 1}
    second = run_pipeline(log, values=["x"], known=first.known, backend="emulate")
    assert second.own["a"].shared == 1  # its chain of its own is known now
    assert second.new == {"a": 0, "b": 0}


def test_nothing_left_to_share_is_an_empty_joint_run():
    log = as_table([(1, "a", ("p",)), (2, "a", ("p",))]).drop_columns(["owner"])
    found = run_pipeline({"a": log, "b": log}, values=["x"], share="uncorrelated", backend="emulate")
    assert found.joint.numbers == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"known": {"c": None}}, "an owner of known chains must be one of a, b, got 'c'"),
        ({"share": "all"}, "share must be one of both, uncorrelated, unknown, got 'all'"),
        ({"timeout": -1}, "timeout must be > 0"),
        ({"hide_times": "yes"}, "hide_times must be"),
        ({"same": "shape"}, "same must be one of values, columns, got 'shape'"),
        ({"known": {"a": as_table([(1, "a", ("p",))])}}, "must have a column 'chain'"),
        ({"known": {"a": KnownChains(("y",))}}, "must be of the same columns"),
    ],
)
def test_bad_options_are_refused(options, message):
    log = as_table([(1, "a", ("p",))]).drop_columns(["owner"])
    with pytest.raises(sd.ParameterError, match=message):
        run_pipeline({"a": log, "b": log}, values=["x"], backend="emulate", **options)


def test_the_pipeline_wants_one_log_per_owner():
    with pytest.raises(sd.ParameterError, match="one log per owner"):
        run_pipeline(as_table([(1, "a", ("p",))]), values=["x"])
