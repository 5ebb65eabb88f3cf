"""Values on which engines overflow, divide by zero, round and disagree, and questions that touch them."""

from __future__ import annotations

import datetime
import math
from decimal import Decimal

import pyarrow as pa

INTEGERS = [0, 1, -1, 5, 2**63 - 1, -(2**63), 2**53 + 1, None, 7, 10]
FLOATS = [0.0, -0.0, 1.5, math.nan, math.inf, -math.inf, 1e308, 5e-324, None, 2.5]
DECIMALS = ["0.00", "99999999.99", "-99999999.99", "0.01", None, "1.50", "2.50", "3.05", "-0.01", "10.00"]
TEXTS = ["", "a", "A", "12", "-3.5", "2024-02-30", "2024-02-29", "12\n", "É straße'%_\\", None]
FLAGS = [True, False, None, True, False, None, True, False, None, True]
DAYS = ["0001-01-01", "9999-12-31", "2024-02-29", None, "1969-12-31", "2000-01-01", "2024-02-28", "1582-10-20",
        "2024-03-01", "2024-01-01"]  # fmt: skip
MOMENTS = ["0001-01-01 00:00:00", "9999-12-31 23:59:59.999999", "2024-02-29 12:00:01", None,
           "2020-01-01 01:00:00", "2020-01-02 02:00:00", "2020-01-03 03:00:00", "2020-01-04 04:00:00",
           "2020-01-05 05:00:00", "1969-12-31 23:59:59"]  # fmt: skip

# Literals. Texts that mean something to a parser, a shell, a pattern or a collation.
HOSTILE_TEXTS = ("it's", "\\", "\\'", "%", "_", "é", "a\u0308", "😀", "\u202e", "${env:HOME}", "$1", ":x", "?", "--",
                 "/*", "\n", "\t", "a ", " ", "A", "x" * 3000, "E'\\x41'", "{}", "\\u0041", "NaN", "infinity",
                 "'); --")  # fmt: skip
_ENDS = tuple(end for bits in (8, 16, 32, 64, 128) for end in (2 ** (bits - 1) - 1, -(2 ** (bits - 1))))
_SIZES = ("9" * 18, "9" * 19, "9" * 38, "1" + "0" * 38, f"0.{'9' * 38}", f"0.{'0' * 37}1", f"0.{'0' * 38}1", "999.9",
          f"{'9' * 15}.99", f"{'9' * 19}.{'9' * 19}", f"{'9' * 20}.{'9' * 19}", "1e38", "1e-38", "1e99", "1e-99",
          "3.4e38", "0.5", "0.05", "123456789.123456789")  # fmt: skip
HOSTILE_NUMBERS = (
    # The ends of every integer, and one beyond.
    *(str(number) for end in _ENDS for number in (end, end + (1 if end > 0 else -1))),
    *(f"{sign}{size}" for sign in ("", "-") for size in _SIZES),
    "0", "-0.0", "NULL", "9007199254740993", "1125899906842624", "1125899906842625",
)  # fmt: skip
HOSTILE_DAYS = ("DATE '0001-01-01'", "DATE '9999-12-31'", "DATE '1582-10-10'", "DATE '2024-02-29'",
                "TIMESTAMP '0001-01-01 00:00:00'", "TIMESTAMP '9999-12-31 23:59:59.999999'",
                "TIMESTAMP '1969-12-31 23:59:59'", "NULL")  # fmt: skip


def nasty_table() -> pa.Table:
    return typed_table(
        INTEGERS,
        FLOATS,
        [None if text is None else Decimal(text) for text in DECIMALS],
        TEXTS,
        FLAGS,
        [None if day is None else datetime.date.fromisoformat(day) for day in DAYS],
        [None if moment is None else datetime.datetime.fromisoformat(moment) for moment in MOMENTS],
    )


def typed_table(i, f, n, s, b, d, t) -> pa.Table:
    return pa.table(
        {
            "i": pa.array(i, pa.int64()),
            "f": pa.array(f, pa.float64()),
            "n": pa.array(n, pa.decimal128(10, 2)),
            "s": pa.array(s, pa.string()),
            "b": pa.array(b, pa.bool_()),
            "d": pa.array(d, pa.date32()),
            "t": pa.array(t, pa.timestamp("us")),
        }
    )


POLICY = {
    "version": 1,
    "dataset": "nasty",
    "tables": {
        "r": {
            "columns": {
                "i": {"bounds": [-10, 10], "domain": [0, 1, 7, None]},
                "f": {"bounds": [-2, 3], "granularity": 0.5},
                "n": {"bounds": [-5.5, 50], "granularity": 0.01},
                "s": {"domain": ["a", "12", None, ""]},
                "b": {"domain": [True, False]},
                "d": {"domain": ["2024-02-29", "2000-01-01"]},
            }
        },
        "p": {"private": False},
    },
}

# All of them are accepted in every dialect.
CONDITIONS = """
i IS DISTINCT FROM 3
i IS NOT DISTINCT FROM NULL
f IS DISTINCT FROM f
f IS NOT DISTINCT FROM f / f
f IS NOT DISTINCT FROM i
n IS DISTINCT FROM 1.5
n IS NOT DISTINCT FROM f
s IS DISTINCT FROM 'a'
b IS NOT DISTINCT FROM (i > 3)
d IS DISTINCT FROM t
NOT (f IS DISTINCT FROM n)
i + i > 3
i * i * i * i > 0
i - 1 < f
i * f >= n
f * f * f = 0
f + 1 > 0
f / f = 1
f / i > 0.1
n / i > 0.1
n * n > 3.0
n = 1.5
n <> 1.5
n IN (1.5, 2.5)
n > f
-i > 3
-f > 3
- -i > 3
ABS(i) > 3
ABS(f) > 1
ABS(n) > 1
i % 3 = 1
i % 3 = -1
f = f
f > 1e99
f < 1
f IS NULL
f IS NOT NULL
NOT (s IS NOT NULL)
NOT (f > 1)
i = 9223372036854775807
i = 9223372036854775808
i > -9223372036854775808
i < 2.5
i IN (1, 2.5, NULL)
i NOT IN (1, NULL)
s = 'a'
s <> 'a'
s = '12' OR s = 'É'
s LIKE '%'
s LIKE '_'
s LIKE 'É%'
s NOT LIKE '%a%'
LOWER(s) = 'a'
UPPER(s) = 'A'
LENGTH(s) = 1
LENGTH(s) > 5
SUBSTRING(s, 1, 1) = '1'
SUBSTRING(s, 2) = '2'
SUBSTRING(s, 3, 0) = ''
s || s = 'aa'
s || 'x' LIKE '%x'
CAST(s AS BIGINT) = 12
CAST(s AS BIGINT) + 1 > 0
CAST(s AS DOUBLE PRECISION) < 0
CAST(s AS DATE) = d
CAST(s AS DATE) IS NULL
CAST('' AS BIGINT) IS NULL
CAST('12' AS BIGINT) + i > 0
CAST('x' AS DOUBLE PRECISION) IS NULL
CAST(COALESCE('', NULL) AS DATE) IS NULL
CAST(i AS TEXT) = '5'
CAST(i AS DOUBLE PRECISION) * 2 > 3
CAST(n AS DOUBLE PRECISION) / 3 > 1
CAST(b AS BIGINT) = 1
CAST(b AS BIGINT) + i > 1
CAST(t AS DATE) = d
CAST(d AS TIMESTAMP) < t
d < t
d = '2024-02-29'
d < DATE '2024-02-29'
d IN ('2024-02-29', '2000-01-01')
t >= '2020-01-03'
t < TIMESTAMP '2020-01-03 03:00:00'
t > d
EXTRACT(YEAR FROM d) = 2024
EXTRACT(MONTH FROM t) = 1
EXTRACT(DAY FROM d) + 1 > 3
EXTRACT(YEAR FROM t) % 4 = 0
b
NOT b
b IS TRUE
b IS NOT FALSE
b = TRUE
b IS NULL OR i > 3
b AND f > 1 OR NOT b AND i < 3
(b OR i > 0) AND (f > 0 OR n > 0)
(i > 0) = b
CASE WHEN b THEN i ELSE f END > 1
CASE b WHEN TRUE THEN 1 ELSE 0 END = 1
CASE s WHEN 'a' THEN 1 WHEN NULL THEN 2 END IS NULL
COALESCE(i, f, 0) > 1
COALESCE(n, 1) = 1
COALESCE(s, 'zz') = 'zz'
NULLIF(i, 5) IS NULL
NULLIF(s, 'a') IS NULL
NULLIF(f, 1.5) IS NULL
GREATEST(i, f) > 2
LEAST(i, 3, NULL) = 3
LEAST(n, 1.5) = 1.5
GREATEST(f, 0) < 1
NULL IS NULL
i = NULL
NULL
TRUE
FALSE OR b
1 = 1
1.0 / 0 IS NULL
0.1 + 0.2 = 0.3
f / 0 IS NULL
f / (i - i) IS NULL
i - -1 = 0
i - (-1) = 0
2 * (i + 1) = 4
i BETWEEN 1 AND 7
i NOT BETWEEN 1 AND 7
f BETWEEN i AND 100
COALESCE(NULL, NULL) IS NULL
CASE WHEN TRUE THEN NULL END IS NULL
i * 1e100 * 1e100 > 3
(f > 1) IS NULL
f / 1e-70 > 1
1e-70 * 1e-70 * f > 0
""".strip().splitlines()

SUMS = """
SUM(i)
SUM(f)
SUM(n)
AVG(f)
AVG(i)
COUNT(f)
COUNT(s)
COUNT(d)
COUNT(1)
SUM(i * f)
SUM(n * i)
SUM(n + f)
SUM(2 * n - 1)
SUM(n / 2)
SUM(ABS(i))
SUM(-f)
SUM(1)
SUM(0.5)
SUM(CAST(b AS BIGINT))
SUM(COALESCE(i, 5))
SUM(CASE WHEN b THEN 3 ELSE n END)
SUM(CASE WHEN i > 3 THEN 1 ELSE 0 END)
SUM(LEAST(GREATEST(i, -3), 1000000000))
SUM(LEAST(GREATEST(LENGTH(s), 0), 4))
SUM(LEAST(GREATEST(CAST(s AS BIGINT), 0), 1125899906842624))
""".strip().splitlines()

STATEMENTS = """
SELECT i, COUNT(*), SUM(n) FROM r GROUP BY i
SELECT s, b, COUNT(*), SUM(n), AVG(f) FROM r GROUP BY s, b
SELECT d, COUNT(i) FROM r GROUP BY 1
SELECT COUNT(*), SUM(x.n) FROM r x, r y WHERE x.i = y.i AND x.f < y.f AND x.n < y.n
SELECT COUNT(*) FROM r x JOIN r y ON x.n = y.n
SELECT COUNT(*) FROM r x JOIN r y USING (f)
SELECT COUNT(*) FROM r x JOIN r y USING (t, d)
SELECT p.s, COUNT(*) FROM r JOIN p ON r.s = p.s GROUP BY p.s
SELECT p.i, p.b, COUNT(*), SUM(r.f) FROM r CROSS JOIN p GROUP BY p.i, p.b
WITH w AS (SELECT i AS k, n * 2 AS m FROM r WHERE b) SELECT COUNT(*), SUM(w.m) FROM w JOIN w AS v ON w.k < v.k
SELECT COUNT(*) FROM (SELECT * FROM (SELECT i, s FROM r WHERE i > 0) AS a WHERE s <> '') AS c
""".strip().splitlines()
