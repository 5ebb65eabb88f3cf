"""Writes analytical questions as people and generators write them: mostly good SQL, much of which is never answered.

One seed gives one text. ``oddness`` says how often something stands in the text that no private answer exists for:
at 0 nearly all of it is understood, at 1 nearly nothing is.
"""

from __future__ import annotations

from random import Random

from sordino.engines import Column, Table
from sordino.sql.policy import Policy

DIALECTS = ("duckdb", "postgres", "spark")
FIELDS = {
    "version": 1,
    "dataset": "storm",
    "tables": {
        "posts": {
            "columns": {
                "score": {"bounds": [-10, 100]},
                "views": {"bounds": [0, 5000]},
                "price": {"bounds": [0, 100], "granularity": 0.01},
                "kind": {"domain": ["question", "answer", None]},
                "closed": {"domain": [True, False]},
            }
        },
        "users": {
            "weight": 2,
            "columns": {
                "age": {"bounds": [0, 120]},
                "rate": {"bounds": [-1, 1], "granularity": 0.5},
                "country": {"domain": ["NL", "DE", "Côte d'Ivoire"]},
            },
        },
        "votes": {"columns": {"weight": {"bounds": [-1, 1]}}},
        "tags": {"private": False},
    },
}
POLICY = Policy.load(FIELDS)
_TYPES = {
    "posts": {"id": "integer", "owner": "integer", "score": "integer", "views": "integer", "price": "decimal",
              "title": "text", "kind": "text", "closed": "boolean", "made": "date", "touched": "timestamp",
              "extra": "other"},
    "users": {"id": "integer", "age": "integer", "rate": "float", "name": "text", "country": "text",
              "born": "date", "seen": "timestamp", "active": "boolean"},
    "votes": {"id": "integer", "post": "integer", "voter": "integer", "weight": "integer", "cast_at": "timestamp"},
    "tags": {"id": "integer", "word": "text", "post": "integer"},
}  # fmt: skip
CATALOGUE = {
    name: Table(
        name,
        tuple(
            Column(column, kind, scale=2, digits=8) if kind == "decimal" else Column(column, kind)
            for column, kind in columns.items()
        ),
    )
    for name, columns in _TYPES.items()
}
SCHEMA = """
    CREATE TABLE posts (id BIGINT, owner BIGINT, score BIGINT, views INTEGER, price DECIMAL(8, 2), title VARCHAR,
        kind VARCHAR, closed BOOLEAN, made DATE, touched TIMESTAMP, extra INTEGER[]);
    CREATE TABLE users (id BIGINT, age INTEGER, rate DOUBLE, name VARCHAR, country VARCHAR, born DATE,
        seen TIMESTAMP, active BOOLEAN);
    CREATE TABLE votes (id BIGINT, post BIGINT, voter BIGINT, weight INTEGER, cast_at TIMESTAMP);
    CREATE TABLE tags (id BIGINT, word VARCHAR, post BIGINT);
    INSERT INTO posts SELECT i, i % 5, i * 7 % 90 - 9, i * 31, i / 3, 'post ' || i,
        CASE i % 3 WHEN 0 THEN 'question' WHEN 1 THEN 'answer' END, i % 4 = 0, DATE '2024-02-27' + i::INTEGER,
        TIMESTAMP '2024-02-27 10:00:00' + INTERVAL (i) HOUR, [i] FROM range(12) t(i);
    INSERT INTO users SELECT i, 20 + i, i / 4, 'user ' || i, CASE WHEN i > 1 THEN 'NL' ELSE 'DE' END,
        DATE '1990-01-01', NULL, i % 2 = 0 FROM range(5) t(i);
    INSERT INTO votes SELECT i, i % 12, i % 5, i % 3 - 1, TIMESTAMP '2024-03-01 00:00:00' FROM range(20) t(i);
    INSERT INTO tags SELECT i, 'word ' || i, i % 12 FROM range(6) t(i);
"""
_TYPE_NAMES = ("BIGINT", "INTEGER", "DOUBLE PRECISION", "DOUBLE", "TEXT", "VARCHAR(3)", "DATE", "TIMESTAMP",
               "BOOLEAN",
               "DECIMAL(10, 2)", "INT[]", "JSON", "INTERVAL", "TIMESTAMP WITH TIME ZONE", "STRUCT<a: INT>",
               "MAP<STRING, INT>", "UUID", "REAL", "nonsense")  # fmt: skip
_NUMBER_FUNCTIONS = ("ROUND({a})", "ROUND({a}, 2)", "FLOOR({a})", "CEIL({a})", "SQRT({a})", "POWER({a}, {b})",
                     "LN({a})",
                     "EXP({a})", "MOD({a}, {b})", "SIGN({a})", "RANDOM()", "{a} ^ {b}", "{a} ** {b}", "{a} // {b}",
                     "{a} & {b}", "{a} << 2", "~{a}", "WIDTH_BUCKET({a}, 0, 10, 5)", "DATEDIFF('day', {d}, {d})",
                     "DATE_PART('year', {d})", "EXTRACT(EPOCH FROM {d})", "HASH({t})", "ARRAY_LENGTH({l})",
                     "CARDINALITY({l})", "({l})[1]", "POSITION('a' IN {t})", "STRPOS({t}, 'a')", "INSTR({t}, 'a')",
                     "({j} ->> 'n')::INT", "MEDIAN({a})", "STDDEV({a})", "APPROX_COUNT_DISTINCT({a})", "MAX({a})",
                     "COUNT(DISTINCT {a})", "SUM({a}) FILTER (WHERE {p})",
                     "PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY {a})", "my_own({a}, {t})", "pg_sleep(1)",
                     "DECODE({a}, 1, 2, 3)", "IFF({p}, {a}, {b})", "NVL({a}, {b})", "IFNULL({a}, {b})",
                     "ZEROIFNULL({a})", "TRY_CAST({t} AS INT)", "LIST_SUM([{a}, {b}])",
                     "AGGREGATE({l}, 0, (x, y) -> x + y)",
                     "1_000", "0x1F", "1e", ".5", "5.", "{a}!", "@{a}", "|/ {a}", "$1", "?", ":limit", "@x",
                     "#{a}")  # fmt: skip
_TEXT_FUNCTIONS = ("CONCAT({t}, {u})", "CONCAT_WS('-', {t}, {u})", "TRIM({t})", "TRIM(BOTH 'x' FROM {t})",
                   "LEFT({t}, 2)",
                   "RIGHT({t}, 2)", "REPLACE({t}, 'a', 'b')", "REGEXP_REPLACE({t}, '(a+)+$', '\\1', 'g')",
                   "SPLIT_PART({t}, ',', 1)", "STRING_AGG({t}, ',' ORDER BY {t})", "LISTAGG({t}, ',')",
                   "INITCAP({t})",
                   "SUBSTRING({t} FROM 2 FOR 3)", "OVERLAY({t} PLACING 'x' FROM 1)", "LPAD({t}, 5, '0')",
                   "REPEAT({t}, 9)",
                   "TO_CHAR({d}, 'YYYY-MM')", "STRFTIME({d}, '%Y')", "DATE_FORMAT({d}, 'yyyy')", "MD5({t})",
                   "{t} COLLATE \"C\"", "CHR(65)", "QUOTE_LITERAL({t})", "{j} ->> 'a'", "{j} #>> '{{a,b}}'",
                   "FORMAT('{{}}', {t})", "CURRENT_USER", "VERSION()", "E'\\n'", "U&'\\0041'", "$$body$$",
                   "$q$bo'dy$q$",
                   "X'41'", "N'x'", "r'raw'", "{t}[1:2]", "({t}, {u})", "ROW({t}, {u})", "{{'a': {t}}}")  # fmt: skip
_DAY_FUNCTIONS = ("{d} + INTERVAL '1' DAY", "{d} - INTERVAL '3 months'", "{d} + INTERVAL 1 YEAR",
                  "DATE_TRUNC('month', {d})",
                  "NOW()", "CURRENT_DATE", "CURRENT_TIMESTAMP", "DATE_ADD({d}, 7)", "{d} AT TIME ZONE 'UTC'",
                  "{d} + 7",
                  "MAKE_DATE(2024, 1, 31)", "TO_DATE({t}, 'YYYY')", "LAST_DAY({d})", "AGE({d}, {d})",
                  "INTERVAL '1-2' YEAR TO MONTH", "DATE '2024-02-30'", "TIMESTAMPTZ '2024-01-01 00:00:00+02'",
                  "STRPTIME({t}, '%Y')", "GENERATE_SERIES({d}, {d}, INTERVAL '1 day')")  # fmt: skip
_TRUTH_FUNCTIONS = ("EXISTS ({q})", "NOT EXISTS ({q})", "{a} IN ({q})", "{a} NOT IN ({q})", "{a} = ANY ({q})",
                    "{a} > ALL ({l})", "{t} ILIKE '%x%'", "{t} SIMILAR TO '(a|b)%'", "{t} ~ '^a'", "{t} !~* 'b'",
                    "{t} RLIKE 'x'", "{t} GLOB 'x*'", "{t} LIKE 'a!%' ESCAPE '!'", "REGEXP_MATCHES({t}, 'x')",
                    "({a}, {b}) = (1, 2)", "({a}, {b}) IN ((1, 2), (3, 4))", "{l} @> {l}", "{l} && {l}", "{j} ? 'a'",
                    "{j} ?| ARRAY['a']", "ARRAY_CONTAINS({l}, {a})", "{t} = ANY(ARRAY['x', 'y'])",
                    "({d}, {d}) OVERLAPS ({d}, {d})",
                    "{t} < {u}", "{p} XOR {r}", "{p} IS UNKNOWN", "{a} <=> {b}", "{a} == {b}",
                    "{a} BETWEEN SYMMETRIC {b} AND 1",
                    "ISNULL({a})", "{a} NOTNULL", "{a} IS OF (INT)", "STARTS_WITH({t}, 'a')", "BOOL_AND({p})",
                    "COUNT(*) > 1", "{t} IN ({u}, 'x')", "CONTAINS({t}, 'x')")  # fmt: skip


class Storm:
    """Random questions of one dialect; ``depth`` bounds the nesting of what is written."""

    def __init__(self, draw: Random, dialect: str, oddness: float) -> None:
        self.draw, self.dialect, self.oddness = draw, dialect, oddness
        self._sources: list[tuple[str, str]] = []
        self._made = 0

    # --- choices

    def odd(self, factor: float = 1.0) -> bool:
        return self.draw.random() < self.oddness * factor

    def likely(self, chance: float) -> bool:
        return self.draw.random() < chance

    def of(self, *kinds: str) -> str | None:
        """A column of one of these types in what FROM names."""
        found = [
            (alias, column)
            for alias, table in self._sources
            for column, kind in _TYPES[table].items()
            if kind in kinds
        ]
        if not found:
            return None
        alias, column = self.draw.choice(found)
        if self.odd(0.03):
            column = self.draw.choice(
                ["nothing", column.upper(), f'"{column}"', f"`{column}`", f"[{column}]", "*"]
            )
        alone = len(self._sources) == 1 and self.likely(0.5)
        return column if alone else f"{alias}.{column}"

    def fill(self, pattern: str, depth: int) -> str:
        """The pattern with expressions of the kinds that its letters stand for."""
        makers = {"a": self.number, "b": self.number, "t": self.text, "u": self.text, "d": self.day, "p": self.truth,
                  "r": self.truth, "l": self.array, "j": self.json, "q": self.sub_query}  # fmt: skip
        parts = {letter: make(depth - 1) for letter, make in makers.items() if "{" + letter + "}" in pattern}
        return pattern.format(**parts)

    # --- expressions

    def number(self, depth: int) -> str:
        d = self.draw
        if depth <= 0 or self.likely(0.25):
            literal = d.choice(["0", "1", "2", "10", "-3", "0.5", "1e3", "NULL", "42"])
            return literal if self.likely(0.3) else self.of("integer", "decimal", "float") or literal
        if self.odd(0.3):
            return self.fill(d.choice(_NUMBER_FUNCTIONS), depth)
        if self.odd(0.1):
            return self.window(depth)
        return self.fill(
            d.choice(["{a} + {b}", "({a} - {b})", "({a} * {b})", "{a} / NULLIF({b}, 0)", "-({a})", "ABS({a})",
                      "COALESCE({a}, {b})", "GREATEST({a}, {b})", "LEAST({a}, {b})", "CAST({a} AS DOUBLE PRECISION)",
                      "CASE WHEN {p} THEN {a} ELSE {b} END", "CASE WHEN {p} THEN {a} END", "LENGTH({t})",
                      "EXTRACT(YEAR FROM {d})"]), depth)  # fmt: skip

    def text(self, depth: int) -> str:
        d = self.draw
        if depth <= 0 or self.likely(0.4):
            literal = d.choice(["'question'", "'NL'", "''", "'it''s'", "'Côte d''Ivoire'", "'%'", "NULL"])
            return literal if self.likely(0.3) else self.of("text") or literal
        if self.odd(0.4):
            return self.fill(d.choice(_TEXT_FUNCTIONS), depth)
        return self.fill(d.choice(["LOWER({t})", "UPPER({t})", "{t} || {u}", "SUBSTRING({t}, 1, 3)",
                                   "COALESCE({t}, 'x')",
                                   "NULLIF({t}, '')", "CASE WHEN {p} THEN {t} ELSE {u} END"]), depth)  # fmt: skip

    def day(self, depth: int) -> str:
        literal = self.draw.choice(
            ["DATE '2024-01-31'", "CAST('2024-02-29' AS DATE)", "TIMESTAMP '2024-01-01 12:00:00'"]
        )
        if depth > 0 and self.odd(0.4):
            return self.fill(self.draw.choice(_DAY_FUNCTIONS), depth)
        if depth > 0 and self.likely(0.2):
            return self.fill(self.draw.choice(["CAST({d} AS DATE)", "COALESCE({d}, {d})"]), depth)
        return self.of("date", "timestamp") or literal if self.likely(0.7) else literal

    def truth(self, depth: int) -> str:
        d = self.draw
        if depth <= 0 or self.likely(0.1):
            return d.choice([self.of("boolean") or "TRUE", "TRUE", f"{self.of('integer') or '1'} > 3"])
        if self.odd(0.25):
            return self.fill(d.choice(_TRUTH_FUNCTIONS), depth)
        if self.odd(0.03):
            return f"{self.of('other') or 'NULL'} IS NOT NULL"
        return self.fill(
            d.choice(["{a} > {b}", "{a} = {b}", "{a} <= {b}", "{a} <> {b}", "{a} BETWEEN {b} AND 100",
                      "{a} IN (1, 2, 3)",
                      "{a} NOT IN (4, 5)", "{t} = {u}", "{t} LIKE 'p%'", "{t} NOT LIKE '%x'", "{t} IN ('NL', 'DE')",
                      "{d} >= DATE '2024-01-01'", "{d} < {d}", "{t} IS NULL", "{a} IS NOT NULL", "({p} AND {r})",
                      "({p} OR {r})", "NOT ({p})", "{a} IS DISTINCT FROM {b}", "({p}) IS TRUE"]), depth)  # fmt: skip

    def array(self, depth: int) -> str:
        return self.fill(self.draw.choice(["ARRAY[{a}, {b}]", "[{a}, {b}]", "ARRAY({q})", "extra",
                                           "ARRAY_AGG({a})", "[]",
                                           "STRING_TO_ARRAY({t}, ',')", "[x * 2 FOR x IN [{a}] IF x > 1]",
                                           "TRANSFORM(ARRAY({a}), x -> x + 1)", "'{{1,2}}'::INT[]"]),
                                           depth)  # fmt: skip

    def json(self, depth: int) -> str:
        return self.fill(self.draw.choice(["{t}::JSON", "{t}::JSONB -> 'a' -> 0", "JSON_OBJECT('a': {a})",
                                           "TO_JSON({a})",
                                           "JSON_EXTRACT({t}, '$.a[*]')", "{t}:a.b[0]", "PARSE_JSON({t}):a"]),
                                           depth)  # fmt: skip

    def window(self, depth: int) -> str:
        d = self.draw
        name = d.choice(["ROW_NUMBER()", "RANK()", "NTILE(4)", "LAG({a}, 1, 0)", "LEAD({a}) IGNORE NULLS",
                         "FIRST_VALUE({a})", "SUM({a})", "COUNT(*)", "COUNT(*) FILTER (WHERE {p})"])  # fmt: skip
        frame = d.choice(["", "", " ROWS BETWEEN 1 PRECEDING AND CURRENT ROW", " RANGE UNBOUNDED PRECEDING",
                          " ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING EXCLUDE TIES",
                          " GROUPS 2 PRECEDING",
                          " RANGE BETWEEN INTERVAL '1 day' PRECEDING AND CURRENT ROW"])  # fmt: skip
        over = d.choice(["()", "(PARTITION BY {t} ORDER BY {a} DESC NULLS LAST" + frame + ")",
                         "(ORDER BY {a}" + frame + ")",
                         "win", "(win" + frame + ")"])  # fmt: skip
        return self.fill(f"{name} OVER {over}", depth)

    # --- queries

    def sub_query(self, depth: int) -> str:
        """A SELECT in brackets or after IN and EXISTS, with names of its own and those around it."""
        before = list(self._sources)
        inner = Storm(self.draw, self.dialect, self.oddness)
        inner._made = self._made + 7
        text = inner.rows(max(depth, 0)) if self.likely(0.7) else inner.question(max(depth - 1, 0))
        self._sources = before
        return text

    def name(self) -> str:
        self._made += 1
        return f"x{self._made}"

    def table(self, depth: int) -> str:
        """One item of FROM; what it offers is added to the names."""
        d = self.draw
        if self.odd(0.15):
            return self.fill(
                d.choice(["LATERAL ({q}) AS lat", "UNNEST({l}) AS u(x)", "GENERATE_SERIES(1, 10) AS g", "range(10)",
                          "(VALUES (1, 'a'), (2, 'b')) AS v (x, y)", "read_csv('x.csv')", "'x.parquet'",
                          "posts TABLESAMPLE BERNOULLI (10)", "posts AS OF TIMESTAMP '2024-01-01'",
                          "information_schema.tables",
                          "posts PIVOT (SUM(score) FOR kind IN ('question', 'answer'))", "main.posts p0",
                          "ONLY users",
                          "posts UNPIVOT (v FOR n IN (score, views))", "nowhere", '"posts"', "`posts`", "[posts]",
                          "ROWS FROM (generate_series(1, 2)) AS r", "TABLE(f(1))", "JSON_TABLE('[]', '$[*]')",
                          "posts MATCH_RECOGNIZE (PATTERN (a b))", "posts LATERAL VIEW EXPLODE(extra) e AS y",
                          "posts FOR SYSTEM_TIME AS OF NOW()", "({q})"]), depth)  # fmt: skip
        table, alias = d.choice(list(_TYPES)), self.name()
        if depth > 0 and self.likely(0.15):
            columns = ", ".join(_TYPES[table]) if self.likely(0.5) else "*"
            inner = Storm(d, self.dialect, self.oddness * 0.5)
            inner._sources = [(table, table)]
            where = f" WHERE {inner.truth(depth - 1)}" if self.likely(0.5) else ""
            self._sources.append((alias, table))
            return f"(SELECT {columns} FROM {table}{where}) AS {alias}"
        self._sources.append((alias, table))
        return f"{table} {d.choice(['', 'AS '])}{alias}"

    def sources(self, depth: int) -> str:
        d = self.draw
        text = self.table(depth)
        for _ in range(d.choice([0, 0, 0, 1, 1, 2, 3])):
            if self.likely(0.15):
                text += f", {self.table(depth)}"
                continue
            kind = "JOIN"
            if self.odd(0.25):
                kind = d.choice(["LEFT JOIN", "RIGHT OUTER JOIN", "FULL JOIN", "NATURAL JOIN", "SEMI JOIN",
                                 "LEFT ANTI JOIN",
                                 "ASOF JOIN", "POSITIONAL JOIN", "CROSS JOIN LATERAL", "CROSS APPLY", "STRAIGHT_JOIN",
                                 "LEFT JOIN LATERAL", "GLOBAL JOIN"])  # fmt: skip
            count = len(self._sources)
            right = self.table(depth)
            text += f" {self.draw.choice(['INNER ', '']) if kind == 'JOIN' else ''}{kind} {right}"
            if len(self._sources) > count and count:
                left, mine = d.choice(self._sources[:count]), self._sources[-1]
                pairs = [
                    (a, b)
                    for a, ka in _TYPES[left[1]].items()
                    for b, kb in _TYPES[mine[1]].items()
                    if ka == kb == "integer"
                ]
                a, b = d.choice(pairs)
                text += (
                    f" ON {left[0]}.{a} = {mine[0]}.{b}"
                    if not self.odd(0.1)
                    else d.choice([" USING (id)", "", " USING id"])
                )
                text += f" AND {self.truth(1)}" if self.likely(0.2) else ""
            else:
                text += " ON TRUE"
        return text

    def measure(self, depth: int) -> str:
        d = self.draw
        if self.odd(0.3):
            return self.number(depth)
        return self.fill(
            d.choice(["COUNT(*)", "COUNT(*)", "COUNT({a})", "COUNT({t})", "SUM(LEAST(GREATEST({a}, 0), 100))",
                      "AVG(LEAST(GREATEST({a}, 0), 10))", "COUNT(CASE WHEN {p} THEN 1 END)",
                      "SUM(CASE WHEN {p} THEN 1 ELSE 0 END)", f"SUM({self.of('integer') or '1'})"]),
                      depth)  # fmt: skip

    def key(self) -> str | None:
        known = [(alias, column) for alias, table in self._sources for column in ("kind", "country", "closed", "word")
                 if column in _TYPES[table]]  # fmt: skip
        return ".".join(self.draw.choice(known)) if known else None

    def rows(self, depth: int) -> str:
        """A SELECT that makes rows."""
        source = self.sources(depth)
        items = [f"{self.number(depth - 1)} AS n{place}" for place in range(self.draw.randint(1, 3))]
        where = f" WHERE {self.truth(depth)}" if self.likely(0.6) else ""
        return f"SELECT {', '.join(items)} FROM {source}{where}{self.tail(depth)}"

    def tail(self, depth: int) -> str:
        """Clauses that are never answered."""
        d, text = self.draw, ""
        for chance, pattern in [
            (0.2, " HAVING {a} > {b}"), (0.05, " WINDOW win AS (PARTITION BY {t})"),
            (0.1, " QUALIFY ROW_NUMBER() OVER () = 1"),
            (0.15, d.choice([" ORDER BY {a} DESC, 2", " ORDER BY ALL", " SORT BY {a}", " CLUSTER BY {t}"])),
            (0.2, d.choice([" LIMIT 10", " LIMIT 10 OFFSET 5", " FETCH FIRST 3 ROWS ONLY", " LIMIT 10%",
            " LIMIT ALL"])),
            (0.03, d.choice([" FOR UPDATE", " USING SAMPLE 10%", " OFFSET 3 ROWS", " INTO OUTFILE 'x'"])),
        ]:  # fmt: skip
            if self.odd(chance):
                text += self.fill(pattern, depth)
        return text

    def question(self, depth: int) -> str:
        """A SELECT with aggregates."""
        d = self.draw
        source = self.sources(depth)
        items = [self.measure(depth) for _ in range(d.choice([1, 1, 1, 2, 3]))]
        group = ""
        key = self.key() if self.likely(0.4) else None
        if key is not None:
            items.insert(0, key)
            group = f" GROUP BY {key}" if self.likely(0.8) else " GROUP BY 1"
        if self.odd(0.15):
            group = self.fill(d.choice([" GROUP BY ROLLUP ({t}, {u})", " GROUP BY GROUPING SETS (({t}), ({u}), ())",
                                        " GROUP BY CUBE ({t}, {a})", " GROUP BY ALL",
                                        " GROUP BY {a}, {t} WITH ROLLUP",
                                        " GROUP BY ()", " GROUP BY DISTINCT {t}"]), depth)  # fmt: skip
        items = [f"{item} AS {d.choice(['n', 'total', chr(34) + 'the sum' + chr(34), 'größe'])}{place}"
                 if self.likely(0.3) else item for place, item in enumerate(items)]  # fmt: skip
        distinct = (
            d.choice(["DISTINCT ", "DISTINCT ON (1) ", "ALL ", "TOP 5 ", "/*+ hint */ "])
            if self.odd(0.08)
            else ""
        )
        where = f" WHERE {self.truth(depth)}" if self.likely(0.7) else ""
        order = " ORDER BY 1 DESC" if self.likely(0.15) else ""
        return f"SELECT {distinct}{', '.join(items)} FROM {source}{where}{group}{order}{self.tail(depth)}"

    def statement(self) -> str:
        """One whole text."""
        d = self.draw
        depth = d.choice([1, 2, 2, 3, 3, 4])
        text = ""
        if self.likely(0.15):
            table, name = d.choice(list(_TYPES)), f"cte{d.randint(1, 9)}"
            columns = ", ".join(_TYPES[table])
            recursive = "RECURSIVE " if self.odd(0.15) else ""
            body = f"SELECT {columns} FROM {table}" if not self.odd(0.4) else self.sub_query(depth)
            self._sources.append((name, table))
            where = f" WHERE {self.truth(depth)}" if self.likely(0.6) else ""
            text = f"WITH {recursive}{name} AS ({body}) SELECT {self.measure(depth)} FROM {name}{where}"
        else:
            text = self.question(depth)
        if self.odd(0.1):
            self._sources = []
            text += f" {d.choice(['UNION', 'UNION ALL', 'INTERSECT', 'EXCEPT ALL', 'UNION ALL BY NAME', 'MINUS'])} "
            text += self.question(depth)
        if self.odd(0.04):
            text = self.fill(
                d.choice(["INSERT INTO posts {q}", "CREATE TABLE z AS {q}", "EXPLAIN ANALYZE {q}",
                          "DELETE FROM posts WHERE {p}",
                          "MERGE INTO posts USING users ON TRUE WHEN MATCHED THEN DELETE", "COPY ({q}) TO 'x.csv'",
                          "FROM posts |> WHERE {p} |> AGGREGATE COUNT(*)", "FROM posts", "TABLE posts",
                          "VALUES ({a}, {t})",
                          "PIVOT posts ON kind USING SUM(score)", "SET x = {a}", "CALL f({a})", "BEGIN; {q}; COMMIT",
                          "WITH gone AS (DELETE FROM posts RETURNING *) SELECT COUNT(*) FROM gone",
                          "({q}) LIMIT 1"]), depth)  # fmt: skip
        return text
