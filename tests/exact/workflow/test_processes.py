"""Tables of random processes against every way through them."""

from __future__ import annotations

import itertools

from sordino.workflow import Process
from tests.oracles import processes as oracle


def test_tables_of_random_processes_are_those_of_all_their_ways():
    letters: dict[str, int] = {}
    for seed in range(400):
        plain = oracle.random_process(seed)
        if not plain["tasks"]:
            continue
        process = Process.load(plain)
        assert set(process.objects) == oracle.objects(plain)
        split, leaks, dependencies = process.disclosure(split=True), process.leaks(), process.dependencies()
        for name, party in itertools.product(process.objects, process.parties):
            expected = oracle.disclosure(plain, party, name)
            assert split.cell(name, party).text == expected
            letters[expected] = letters.get(expected, 0) + 1
        for party, source in itertools.product(process.parties, process.inputs):
            expected = oracle.dependency(plain, party, source)
            assert dependencies.cell(party, source).text == expected
            letters[f"d{expected}"] = letters.get(f"d{expected}", 0) + 1
        for name, source in itertools.product(process.maker, process.inputs):
            word, ways = oracle.leak_word(plain, source, name)
            cell = leaks.cell(name, source)
            assert cell.text == word
            assert {frozenset(one) for one in cell.conditions} == ways
            letters[word] = letters.get(word, 0) + 1
    assert min(letters.values()) > 20, letters
    assert {"O", "V", "H", "-", "dD", "dI", "dH", "d-", "never", "if", "always"} <= set(letters)


def test_merged_rows_are_the_largest_of_their_objects():
    order = "-HVO"
    for seed in range(100):
        plain = oracle.random_process(seed)
        if not plain["tasks"]:
            continue
        process = Process.load(plain)
        merged = process.disclosure()
        assert sorted(name for row in merged.rows for name in row.split(", ")) == sorted(process.objects)
        for row, party in itertools.product(merged.rows, process.parties):
            cells = [oracle.disclosure(plain, party, name) for name in row.split(", ")]
            assert merged.cell(row, party).text == max(cells, key=order.index)
