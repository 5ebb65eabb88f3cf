"""What an owner's result is made of: what was opened to it, public facts, and its own entries."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import numpy as np
import pyarrow as pa
import pytest

from sordino import ParameterError
from sordino.logs.codes import draw_key, encode_secretly, hash_text
from sordino.logs.entries import Entries, make_entries
from sordino.logs.field import PRIME
from sordino.logs.machine import Emulation, Machine
from sordino.logs.payload import choose_width, encode_payload, pack, unpack
from sordino.logs.secret_program import run_program
from sordino.logs.shared_log import prepare_log, read_opened

from .random_logs import NAMES, as_table, draw_log, read_rows


def spoil_others(entries: Entries, owner: str) -> Entries:
    """The same sizes and public facts, with nonsense in place of what is not this owner's."""
    own = entries.owner_of == entries.owners.index(owner)
    columns = {"time": entries.table.column("time"), "owner": entries.table.column("owner")}
    for name in entries.values:
        texts = entries.table.column(name).to_pylist()
        columns[name] = pa.array(
            [text if mine else "?" for text, mine in zip(texts, own, strict=True)], pa.string()
        )
    return replace(entries, table=pa.table(columns))


@pytest.mark.slow
@pytest.mark.parametrize("hide_times", [False, True])
def test_an_owner_needs_nothing_but_what_was_opened_to_it(hide_times):
    random = Random("opened")
    for _ in range(60):
        log = draw_log(random, size=9)
        entries = make_entries(as_table(log), values=NAMES[: len(log[0][2])])
        results = run_program(
            prepare_log(entries, by_column=False, hide_times=hide_times, width=None), Machine(Emulation())
        )
        whole = read_opened(entries, lambda index: results[index], hide_times=hide_times)  # noqa: B023
        for place, owner in enumerate(entries.owners):
            alone = read_opened(
                spoil_others(entries, owner),
                lambda index: results[index] if index == place else np.zeros_like(results[index]),  # noqa: B023
                hide_times=hide_times,
            )
            assert read_rows(alone.for_owner(owner)) == read_rows(whole.for_owner(owner))
            assert read_rows(alone.unmatched(owner)) == read_rows(whole.unmatched(owner))


def test_numbers_that_are_no_result_are_refused():
    entries = make_entries(as_table([(1, "a", ("p",)), (2, "b", ("p",))]), values=["x"])
    with pytest.raises(ParameterError, match="no result of the computation; nothing is shown"):
        read_opened(entries, lambda index: np.full((2, 6), 5, np.uint64), hide_times=False)


def test_payloads_come_back_as_they_were():
    contents = [[], [None], ["", "x"], ["Grüße 🎻", None, 'a"b'], ["\0" * 9], ["y" * 200]]
    packed = [encode_payload(content) for content in contents]
    width = choose_width(packed, None)
    rows = pack(packed, width)
    assert width % 28 == 0
    assert rows.shape == (len(contents), width // 7)
    assert int(rows.max()) < 2**56 < PRIME
    assert [unpack(row) for row in rows] == contents


def test_widths_are_rounded_up_or_given():
    assert choose_width([], None) == 28
    assert choose_width([b"x" * 26], None) == 28
    assert choose_width([b"x" * 27], None) == 56
    assert choose_width([b"x"], 84) == 84


def test_codes_depend_on_the_key_and_nulls_are_fresh():
    first, second = draw_key(), draw_key()
    assert first != second
    assert hash_text("ann", first) == hash_text("ann", first) != hash_text("ann", second)
    entries = make_entries(as_table([(1, "a", (None, "p")), (2, "b", (None, "p"))]), values=["x", "y"])
    codes = encode_secretly(entries, first)
    assert codes[0, 1] == codes[1, 1]
    assert codes[0, 0] != codes[1, 0]  # equal with probability 2⁻⁶¹
    assert (encode_secretly(entries, first)[:, 0] != codes[:, 0]).all()
    assert int(codes.max()) < PRIME
