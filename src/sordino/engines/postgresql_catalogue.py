"""PostgreSQL's tables: what may be asked about, what is a view in disguise, and how each is read."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sqlglot import exp

from sordino.engines.canonical import Found, Reading, list_projection, refer_to_place
from sordino.engines.constraints import ForeignReference, UniqueKey, add_constraints
from sordino.engines.engine import Column, ColumnType, Table

# Built-in types alone: a type of the same name in another schema is another type.
_TYPES: dict[str, ColumnType] = {
    "int2": "integer",
    "int4": "integer",
    "int8": "integer",
    "numeric": "decimal",
    "float4": "float",
    "float8": "float",
    "text": "text",
    "varchar": "text",
    "bpchar": "text",
    "name": "text",
    "enum": "text",
    "uuid": "text",  # 36 characters in lower case, as on other engines
    "bool": "boolean",
    "date": "date",
    "timestamp": "timestamp",
    "timestamptz": "timestamp",
}
# Text that is compared by bytes as it stands, if its collation is "C".
_PLAIN = ("text", "varchar")
_GENERATED = "a virtual generated column is computed whenever it is read, and may fail on some rows: store it"

# Ordinary and partitioned tables, views, materialised views. Foreign tables are left out: what lies behind them
# need not keep to the snapshot. Views in disguise count as views:
# * a part of a partitioned table, a parent, a child: its rows are rows of another table, or another's are rows of it;
# * a table with row-level security: which rows it has may depend on other tables;
# * a partitioned table with a foreign part.
# `%s`: the schemas of the user's own search path. The first in it that has a name gives it; the session's own search
# path is pg_catalog by now.
CATALOGUE = """
    WITH RECURSIVE domains (oid, base) AS (
        SELECT d.oid, d.typbasetype FROM pg_type d WHERE d.typtype = 'd'
        UNION ALL
        SELECT o.oid, d.typbasetype FROM domains o JOIN pg_type d ON d.oid = o.base WHERE d.typtype = 'd'
    ), parts (whole, part) AS (
        SELECT i.inhparent, i.inhrelid FROM pg_inherits i
        UNION
        SELECT p.whole, i.inhrelid FROM parts p JOIN pg_inherits i ON i.inhparent = p.part
    )
    SELECT n.nspname, c.relname,
           n.nspname = (SELECT s.name FROM unnest(%s::text[]) WITH ORDINALITY AS s (name, place)
                        JOIN pg_namespace m ON m.nspname = s.name
                        JOIN pg_class o ON o.relnamespace = m.oid AND o.relname = c.relname
                        ORDER BY s.place LIMIT 1)
               AND NOT EXISTS (SELECT FROM pg_class o WHERE o.relname = c.relname
                               AND o.relnamespace = 'pg_catalog'::regnamespace),
           a.attname,
           CASE WHEN b.typtype = 'e' THEN 'enum' WHEN b.typnamespace = 'pg_catalog'::regnamespace THEN b.typname END,
           -- a domain's NOT NULL holds when rows are cast, not when they are stored
           NOT a.attnotnull OR EXISTS (SELECT FROM pg_constraint k WHERE k.conrelid = c.oid AND k.contype = 'n'
                                       AND NOT k.convalidated AND k.conkey = ARRAY[a.attnum])
               -- nor need the rows of a child keep to what its parent says, or those of a foreign part
               OR EXISTS (SELECT FROM parts p JOIN pg_class o ON o.oid = p.part
                          WHERE p.whole = c.oid AND (c.relkind <> 'p' OR o.relkind NOT IN ('r', 'p'))),
           c.relkind IN ('v', 'm') OR c.relrowsecurity
               OR EXISTS (SELECT FROM pg_inherits i WHERE i.inhrelid = c.oid)
               OR CASE WHEN c.relkind = 'p'
                       THEN EXISTS (SELECT FROM parts p JOIN pg_class o ON o.oid = p.part
                                    WHERE p.whole = c.oid AND o.relkind NOT IN ('r', 'p'))
                       ELSE EXISTS (SELECT FROM pg_inherits i WHERE i.inhparent = c.oid) END,
           -- the s of numeric(p, s), 11 bits with a sign, and p above them
           CASE WHEN t.typname = 'numeric' AND a.atttypmod >= 4 AND (a.atttypmod - 4) & 2047 < 1024
                THEN (a.atttypmod - 4) & 2047 END,
           CASE WHEN t.typname = 'numeric' AND a.atttypmod >= 4 THEN ((a.atttypmod - 4) >> 16) & 65535 END,
           a.attcollation = 950 AND d.oid IS NULL,  -- "C"
           ARRAY(SELECT e.enumlabel::text FROM pg_enum e WHERE e.enumtypid = b.oid ORDER BY e.enumsortorder),
           a.attgenerated = 'v'
    FROM pg_class c
    JOIN pg_namespace n ON n.oid = c.relnamespace
    JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
    JOIN pg_type t ON t.oid = a.atttypid
    LEFT JOIN domains d ON d.oid = t.oid AND NOT EXISTS (
        SELECT FROM pg_type e WHERE e.oid = d.base AND e.typtype = 'd')
    JOIN pg_type b ON b.oid = coalesce(d.base, t.oid)
    WHERE c.relkind IN ('r', 'p', 'v', 'm') AND has_table_privilege(c.oid, 'SELECT')
      AND n.nspname NOT LIKE 'pg!_%%' ESCAPE '!' AND n.nspname <> 'information_schema'
    ORDER BY n.nspname, c.relname, a.attnum
"""
# Keys: unique indexes of all rows over plain columns, whose equality is one of PostgreSQL's own (user-defined operator
# classes have object ids from 16384 on). A deferred one is checked at commit, and a snapshot sees what is committed.
# Foreign keys: checked for all rows, with every trigger that enforces them switched on; those that PostgreSQL derives
# for the parts of a partitioned table count with the one they are derived from. Of texts, those of one type that are
# compared by their bytes: a collation that is not deterministic lets 'A' refer to 'a', and CHAR(n) takes off blanks.
CONSTRAINTS = """
    WITH RECURSIVE family (root, member) AS (
        SELECT k.oid, k.oid FROM pg_constraint k WHERE k.contype = 'f' AND k.conparentid = 0
        UNION ALL
        SELECT f.root, k.oid FROM family f JOIN pg_constraint k ON k.conparentid = f.member
    )
    SELECT CASE WHEN i.indisprimary THEN 'primary' ELSE 'unique' END, n.nspname, c.relname,
           ARRAY(SELECT a.attname::text FROM unnest(i.indkey::int2[]) WITH ORDINALITY AS p (number, place)
                 JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = p.number
                 WHERE p.place <= i.indnkeyatts ORDER BY p.place),
           NULL, NULL, NULL
    FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE i.indisunique AND i.indisvalid AND i.indisready AND i.indislive AND NOT i.indisexclusion
      AND i.indpred IS NULL AND i.indexprs IS NULL
      AND NOT EXISTS (SELECT FROM unnest(i.indclass::oid[]) AS o (oid) WHERE o.oid >= 16384)
    UNION ALL
    SELECT 'foreign', n.nspname, c.relname,
           ARRAY(SELECT a.attname::text FROM unnest(k.conkey) WITH ORDINALITY AS p (number, place)
                 JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = p.number ORDER BY p.place),
           m.nspname, o.relname,
           ARRAY(SELECT a.attname::text FROM unnest(k.confkey) WITH ORDINALITY AS p (number, place)
                 JOIN pg_attribute a ON a.attrelid = o.oid AND a.attnum = p.number ORDER BY p.place)
    FROM pg_constraint k
    JOIN pg_class c ON c.oid = k.conrelid JOIN pg_namespace n ON n.oid = c.relnamespace
    JOIN pg_class o ON o.oid = k.confrelid JOIN pg_namespace m ON m.oid = o.relnamespace
    JOIN pg_index i ON i.indexrelid = k.conindid AND i.indisvalid AND NOT i.indisexclusion
    WHERE k.contype = 'f' AND k.conparentid = 0
      AND NOT EXISTS (SELECT FROM family f JOIN pg_constraint b ON b.oid = f.member
                      WHERE f.root = k.oid AND NOT b.convalidated)
      AND NOT EXISTS (SELECT FROM family f JOIN pg_trigger t ON t.tgconstraint = f.member
                      WHERE f.root = k.oid AND t.tgenabled NOT IN ('O', 'A'))
      AND NOT EXISTS (SELECT FROM unnest(k.conkey, k.confkey) AS p (own, other)
                      JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = p.own
                      JOIN pg_attribute b ON b.attrelid = o.oid AND b.attnum = p.other
                      WHERE (a.attcollation <> 0 OR b.attcollation <> 0)
                        AND (a.atttypid <> b.atttypid
                             OR EXISTS (SELECT FROM pg_collation x WHERE x.oid IN (a.attcollation, b.attcollation)
                                        AND NOT x.collisdeterministic)))
"""


def find_tables(rows: list[tuple[Any, ...]], constraints: list[tuple[Any, ...]]) -> Found:
    """From the rows of `CATALOGUE` and `CONSTRAINTS`; a name with a dot in it is left out."""
    grouped: dict[tuple[str, str], list[tuple[Any, ...]]] = {}
    for schema, table, *rest in rows:
        if "." not in schema and "." not in table:
            grouped.setdefault((schema, table), []).append(tuple(rest))
    tables, readings, names = {}, {}, {}
    for (schema, table), parts in grouped.items():
        name = names[schema, table] = table if parts[0][0] else f"{schema}.{table}"
        kept = [part for part in parts if not part[-1]]
        columns = tuple(
            _column(column, kind, nullable, precision, scale, labels)
            for _, column, kind, nullable, _, scale, precision, _, labels, _ in kept
        )
        forms = [
            (column.name, _canonical(column, part[2], part[7]))
            for column, part in zip(columns, kept, strict=True)
        ]
        left_out = tuple((part[1], _GENERATED) for part in parts if part[-1])
        tables[name] = Table(name, columns, bool(parts[0][4]), left_out)
        changed = left_out or any(form is not None for _, form in forms)
        readings[name] = Reading(refer_to_place(schema, table), list_projection(forms) if changed else None)
    keys, references = [], []
    for kind, schema, table, columns, *to in constraints:
        if (schema, table) in names and kind != "foreign":
            keys.append(UniqueKey(names[schema, table], tuple(columns), kind == "primary"))
        elif (schema, table) in names and (to[0], to[1]) in names:
            own, other = names[schema, table], names[to[0], to[1]]
            references.append(ForeignReference(own, tuple(columns), other, tuple(to[2])))
    return Found(add_constraints(tables, keys, references), readings)


def order_by_bytes(expression: exp.Expr) -> exp.Expr:
    """A text under the collation that compares bytes."""
    return exp.Collate(this=expression, expression=exp.to_identifier("C", quoted=True))


def _column(
    name: str, kind: str, nullable: bool, precision: int | None, scale: int | None, labels: Iterable[str]
) -> Column:
    """As it is read: a decimal of known digits is NULL where it is NaN (`_canonical`), which NOT NULL allows."""
    digits = _digits(precision, scale)
    return Column(
        name, _TYPES.get(kind, "other"), nullable or digits is not None, digits, scale, tuple(labels)
    )


def _digits(precision: int | None, scale: int | None) -> int | None:
    """The digits of numeric(p, s), if other engines too have such decimals."""
    return precision if precision is not None and scale is not None and scale <= precision <= 38 else None


def _canonical(column: Column, kind: str | None, plain: bool) -> exp.Expr | None:
    """How a column is read; None: as it is.

    CHAR(n) loses its padding when it becomes text. An enumeration raises when it is compared with what is none of its
    labels, and a cast of it to text can be redefined by whoever owns the type; CONCAT takes the label itself. A NaN of
    a decimal is NULL: other engines have none.
    """
    form: exp.Expr = exp.column(column.name, quoted=True)
    if column.digits is not None:
        nan = exp.cast(exp.Literal.string("NaN"), exp.DataType.Type.DECIMAL)
        return exp.Nullif(this=form, expression=nan)
    if column.type != "text" or (plain and kind in _PLAIN):
        return None
    if kind == "enum":
        label = exp.Anonymous(this="CONCAT", expressions=[form])
        return order_by_bytes(exp.case().when(form.is_(exp.null()), exp.null()).else_(label))
    return order_by_bytes(exp.cast(form, exp.DataType.Type.TEXT))
