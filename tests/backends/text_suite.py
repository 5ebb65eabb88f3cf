"""Texts of every kind that an engine has: equal if and only if they are the same characters, wherever compared.

The expected answers are those of Python on the values without padding; an engine's collations, padding, enumerations
and settings must not show.
"""

from __future__ import annotations

import itertools
from collections import Counter

from sqlglot import exp, parse_one

VALUES = ("a", "A", "b", "ab", "Ab", "ä", "Ä", "", "a ", " a", "\u0061\u0308", "😀", "z'", None)
LITERALS = ("a", "A", "a ", "a  ", "ab", "ä", "a\u0308", "", " ", "😀", "no label")


def text(value):
    return exp.Literal.string(value)


def column(name, table=None):
    return exp.column(name, table=table, quoted=True)


def count_where(condition):
    return exp.Count(this=exp.case().when(condition, exp.Literal.number(1)))


def ask(snapshot, expressions, source):
    """One row of answers."""
    names = [exp.alias_(part, f"n{i}") for i, part in enumerate(expressions)]
    return [answer[0].as_py() for answer in snapshot.aggregate(exp.select(*names).from_(source)).columns]


def check_texts(engine, kinds, *, table="kinds"):
    """``kinds``: text column of ``table`` → the texts in it, row by row, as they are without padding."""
    where = exp.to_table(table)
    with engine.snapshot() as snapshot:
        for name, values in kinds.items():
            present = [value for value in values if value is not None]
            groups = f'SELECT "{name}" AS v, COUNT(*) AS n FROM {table} GROUP BY "{name}"'
            found = snapshot.aggregate(parse_one(groups)).to_pydict()
            assert dict(zip(found["v"], found["n"], strict=True)) == Counter(values), name
            asked, expected = [], []
            for literal in LITERALS:
                it = column(name)
                asked += [
                    count_where(exp.EQ(this=it, expression=text(literal))),
                    count_where(exp.NEQ(this=it.copy(), expression=text(literal))),
                    count_where(exp.In(this=it.copy(), expressions=[text(literal), text("?")])),
                    count_where(
                        exp.EQ(
                            this=exp.Coalesce(this=it.copy(), expressions=[text("-")]),
                            expression=text(literal),
                        )
                    ),
                    count_where(
                        exp.Is(
                            this=exp.Nullif(this=it.copy(), expression=text(literal)), expression=exp.null()
                        )
                    ),
                    count_where(
                        exp.EQ(
                            this=exp.Paren(this=exp.DPipe(this=it.copy(), expression=text("!"))),
                            expression=text(literal + "!"),
                        )
                    ),
                    count_where(
                        exp.EQ(
                            this=exp.Substring(
                                this=it.copy(), start=exp.Literal.number(1), length=exp.Literal.number(9)
                            ),
                            expression=text(literal),
                        )
                    ),
                    count_where(
                        exp.EQ(
                            this=exp.Anonymous(
                                this="TRANSLATE", expressions=[it.copy(), text("q"), text("r")]
                            ),
                            expression=text(literal),
                        )
                    ),
                    count_where(
                        exp.EQ(
                            this=exp.case(it.copy()).when(text(literal), text("yes")).else_(text("no")),
                            expression=text("yes"),
                        )
                    ),
                    count_where(exp.Like(this=it.copy(), expression=text(literal + "%"))),
                ]
                same = present.count(literal)
                starts = sum(value.startswith(literal) for value in present)
                nulls = len(values) - len(present)
                expected += [
                    same,
                    len(present) - same,
                    same,
                    same,
                    same + nulls,
                    same,
                    same,
                    same,
                    same,
                    starts,
                ]
            asked += [
                exp.Count(this=exp.Distinct(expressions=[column(name)])),
                exp.Sum(this=exp.Length(this=column(name))),
            ]
            expected += [len(set(present)), sum(map(len, present))]
            assert ask(snapshot, asked, where) == expected, name
        for one, two in itertools.product(kinds, repeat=2):
            joined = (
                exp.select(exp.alias_(exp.Count(this=exp.Star()), "n"))
                .from_(exp.alias_(where.copy(), "x", table=True))
                .join(
                    exp.alias_(where.copy(), "y", table=True),
                    on=exp.EQ(this=column(one, "x"), expression=column(two, "y")),
                )
            )
            pairs = sum(a == b for a in kinds[one] for b in kinds[two] if None not in (a, b))
            assert snapshot.aggregate(joined).to_pydict() == {"n": [pairs]}, (one, two)
            both = exp.EQ(this=column(one), expression=column(two))
            greatest = exp.Greatest(this=column(one), expressions=[column(two), text("")], ignore_nulls=True)
            chosen = exp.case().when(exp.EQ(this=column(one), expression=text("a")), column(one))
            chosen = chosen.else_(column(two))
            rows = list(zip(kinds[one], kinds[two], strict=True))
            found = ask(
                snapshot,
                [
                    count_where(both),
                    count_where(exp.EQ(this=greatest, expression=column(one))),
                    count_where(exp.EQ(this=chosen, expression=text("ab"))),
                ],
                where,
            )
            largest = [max((v for v in (a, b, "") if v is not None), key=str.encode) for a, b in rows]
            assert found == [
                sum(a == b for a, b in rows if None not in (a, b)),
                sum(a == big for (a, _), big in zip(rows, largest, strict=True) if a is not None),
                sum((a if a == "a" else b) == "ab" for a, b in rows),
            ], (one, two)
        pairs = list(itertools.product(LITERALS, repeat=2))
        constants = [count_where(exp.EQ(this=text(a), expression=text(b))) for a, b in pairs]
        one_row = exp.select(exp.alias_(exp.Literal.number(1), "one")).subquery("s")
        assert ask(snapshot, constants, one_row) == [int(a == b) for a, b in pairs]
