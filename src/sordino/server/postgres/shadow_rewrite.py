"""Questions about PostgreSQL's catalogues, rewritten for the shadow."""

from __future__ import annotations

import re

from sqlglot import exp, parse_one
from sqlglot.dialects import DuckDB, Postgres
from sqlglot.errors import ParseError

from sordino.server.postgres.shadow_functions import KNOWN_FUNCTIONS, ROW_FUNCTIONS
from sordino.server.postgres.values import read_list

_OBJECTS = ("regclass", "regtype", "regnamespace")  # numbers where they are compared, else names
_TEXTS = (
    "text",
    "name",
    "char",
    "bpchar",
    "cstring",
    "regproc",
    "regprocedure",
    "aclitem",
    "pg_node_tree",
)
_NUMBERS = ("oid", "xid", "regrole")
_NAMES = {
    "currentversion": "version",
    "currentschema": "current_schema",
    "currentdatabase": "current_database",
    "currenttimestamp": "now",
    "arrayagg": "array_agg",
    "groupconcat": "string_agg",
    "arraysize": "array_length",
}
_NOW = (
    "current_timestamp",
    "now",
    "localtimestamp",
    "statement_timestamp",
    "clock_timestamp",
    "transaction_timestamp",
)
_ROUTINES = ("typreceive", "typsend", "typinput", "typoutput")
_OPERATOR = re.compile(r"OPERATOR\s*\(\s*pg_catalog\s*\.\s*([^)\s]+)\s*\)", re.IGNORECASE)
_OBJECT_LIST = re.compile(r"::\s*(?:pg_catalog\s*\.\s*)?(reg\w+|oid|xid)\s*\[\s*\]", re.IGNORECASE)
_COLLATION = re.compile(r"\bCOLLATE\s+(?:pg_catalog\.)?\"?\w+\"?", re.IGNORECASE)


def rewrite(sql: str, name: str) -> str:
    """The question in the shadow's words; ``name``: who asks."""
    plain = _COLLATION.sub(" ", _OPERATOR.sub(r" \1 ", sql))
    # The parser does not know lists of these types.
    plain = _OBJECT_LIST.sub(
        lambda found: "::bigint[]" if found[1].lower() in ("oid", "xid") else "::text[]", plain
    )
    tree = parse_one(plain, read=Postgres)
    if not isinstance(tree, exp.Query) or tree.find(exp.DML, exp.DDL, exp.Command, exp.Into):
        raise ParseError("only questions are asked of the catalogue")
    for select in tree.find_all(exp.Select):
        select.set("expressions", [_named(item) for item in select.expressions])
    # From the leaves upwards, so that what stands inside of a rewritten part is rewritten too.
    for node in reversed(list(tree.walk())):
        written = _rewritten(node, name)
        if written is not node:
            tree = written if node is tree else tree
            node.replace(written)
    return tree.sql(dialect=DuckDB)


def _named(node: exp.Expr) -> exp.Expr:
    """A column of a result is called by what it is of, as in PostgreSQL."""
    if isinstance(node, exp.Alias | exp.Star) or (isinstance(node, exp.Column) and not _is_user(node)):
        return node
    name = _name_of(node)
    return exp.alias_(node, name, quoted=True) if name else node


def _name_of(node: exp.Expr | None) -> str:
    if isinstance(node, exp.Cast | exp.Paren | exp.Bracket):
        return _name_of(node.this)
    if isinstance(node, exp.Case):
        return _name_of(node.args.get("default")) or "case"
    if isinstance(node, exp.Dot):
        return (
            node.expression.name if isinstance(node.expression, exp.Identifier) else _name_of(node.expression)
        )
    if isinstance(node, exp.Func):
        called = node.name if isinstance(node, exp.Anonymous) else _NAMES.get(node.key, node.sql_name())
        return called.lower()
    if isinstance(node, exp.Subquery):
        return node.selects[0].alias_or_name if node.selects else ""
    return node.name if isinstance(node, exp.Column) else ""


def _is_user(node: exp.Expr) -> bool:
    return (
        isinstance(node, exp.Column)
        and not node.table
        and node.name.lower() in ("current_user", "session_user")
    )


def _rewritten(node: exp.Expr, name: str) -> exp.Expr:
    if isinstance(node, exp.Table):
        return _table(node, name)
    if (
        isinstance(node, exp.Unnest)
        and isinstance(node.parent, exp.From | exp.Join)
        and not node.args["offset"]
    ):
        return _rows_of(_unnested(node.expressions[0]), node.args.get("alias"), "unnest")
    if isinstance(node, exp.Dot) and node.this.name.lower() in ("pg_catalog", "information_schema"):
        return _function(node.expression, name)
    if isinstance(node, exp.Cast):
        return _cast(node)
    if isinstance(node, exp.Column) and node.text("db").lower() in ("pg_catalog", "information_schema"):
        node.set("db", None)
        return node
    if isinstance(node, exp.EQ | exp.NEQ) and node.left.name.lower() in _ROUTINES and node.right.name == "0":
        node.set("expression", exp.Literal.string("-"))  # what PostgreSQL writes for no routine
        return node
    if isinstance(node, exp.EQ | exp.NEQ):
        return _compared_with_list(node)
    if isinstance(node, exp.Func):
        return node if isinstance(node.parent, exp.Table) else _function(node, name)
    return exp.Literal.string(name) if _is_user(node) else node


def _compared_with_list(node: exp.EQ | exp.NEQ) -> exp.Expr:
    """``x = ANY ('{a,b}')`` and ``x <> ALL ('{a,b}')`` as x IN (…): there a text becomes what x is."""
    right = node.right
    if isinstance(node, exp.EQ) and isinstance(right, exp.Any):
        given = right.this.unnest()
    elif isinstance(node, exp.NEQ) and isinstance(right, exp.Anonymous) and right.name.lower() == "all":
        given = right.expressions[0].unnest()
    else:
        return node
    items = (
        _read_literal(given)
        if _is_text(given)
        else given.expressions
        if isinstance(given, exp.Array)
        else None
    )
    if items is None or not all(isinstance(item, exp.Literal | exp.Null) for item in items):
        return node
    within = exp.In(this=node.left.copy(), expressions=items) if items else exp.false()
    return exp.not_(exp.paren(within)) if isinstance(node, exp.NEQ) else exp.paren(within)


def _is_text(node: exp.Expr) -> bool:
    return isinstance(node, exp.Literal) and node.is_string


def _read_literal(node: exp.Expr) -> list[exp.Expr] | None:
    found = read_list(node.name or "{}")  # while a question is only described, its lists are empty texts
    return (
        None
        if found is None
        else [exp.null() if item is None else exp.Literal.string(item) for item in found]
    )


def _table(node: exp.Table, name: str) -> exp.Expr:
    schema = node.text("db").lower()
    if isinstance(node.this, exp.Func):
        return _from_function(node, node.this, name)
    if schema == "information_schema":
        node.set("db", exp.to_identifier("shadow_information"))
    elif schema == "pg_catalog" or (not schema and node.name.lower().startswith("pg_")):
        node.set("db", exp.to_identifier("shadow"))
    return node


def _from_function(node: exp.Table, inner: exp.Func, name: str) -> exp.Expr:
    """A function in FROM: its rows, or the one row of its value; a column is called as the table unless it is named."""
    called = _called(inner)
    if called in ROW_FUNCTIONS:
        node.set("db", None)
        return node
    if isinstance(inner, exp.ExplodingGenerateSeries):
        series = exp.Anonymous(this="generate_series", expressions=list(inner.args.values()))
        value, called = _unnested(series), "generate_series"
    elif isinstance(inner, exp.Explode):
        value, called = _unnested(inner.this), "unnest"
    elif called.startswith("pg_") and called not in KNOWN_FUNCTIONS:
        raise ParseError(f"{called} gives no rows here")
    else:
        value = _function(inner, name)
    return _rows_of(value, node.args.get("alias"), called, numbered=bool(node.args.get("ordinality")))


def _unnested(items: exp.Expr) -> exp.Expr:
    return exp.Anonymous(this="unnest", expressions=[items.copy()])


def _rows_of(
    value: exp.Expr, alias: exp.TableAlias | None, called: str, *, numbered: bool = False
) -> exp.Expr:
    table = alias.name if alias is not None and alias.name else called
    names = [column.name for column in alias.columns] if alias is not None else []
    names += [table, "ordinality"][len(names) :]
    rows = exp.select(exp.alias_(value.copy(), names[0], quoted=True))
    if numbered:
        rows = exp.select("*", exp.alias_("ROW_NUMBER() OVER ()", names[1], quoted=True)).from_(
            rows.subquery("items")
        )
    return rows.subquery(exp.to_identifier(table, quoted=True))


def _function(node: exp.Expr, name: str) -> exp.Expr:
    called = _called(node)
    if called in ("current_user", "session_user", "user"):
        return exp.Literal.string(name)
    if called in ("version", "current_version"):
        return exp.Literal.string("PostgreSQL 15.0, spoken by Sordino")
    if called in ("current_schema", "currentschema", "schema"):
        return exp.Literal.string("public")
    if called in ("current_database", "current_catalog"):
        return exp.Subquery(this=exp.select("datname").from_("shadow.pg_database"))
    if called == "current_schemas":
        return exp.Array(expressions=[exp.Literal.string("pg_catalog"), exp.Literal.string("public")])
    if called == "current_setting":
        return exp.Anonymous(this="current_setting_of", expressions=node.expressions[:1] or [node.this])
    if called in _NOW:
        return exp.cast(node, "TIMESTAMP")  # the shadow's clock has no zone
    if called.startswith("pg_") and called.endswith("_is_visible"):
        return exp.true()
    unknown = called.startswith("pg_") and called not in KNOWN_FUNCTIONS
    if unknown or called == "json_build_object":
        return exp.cast(exp.Null(), "VARCHAR")  # of functions that we do not know, nothing is known
    return node


def _called(node: exp.Expr) -> str:
    if not isinstance(node, exp.Func):
        return ""
    return (node.name if isinstance(node, exp.Anonymous) else node.sql_name()).lower()


def _cast(node: exp.Cast) -> exp.Expr:
    kind = _kind(node)
    if kind in _OBJECTS:
        return exp.Anonymous(this=f"{kind}_{'oid' if _is_number(node) else 'name'}", expressions=[node.this])
    if kind.endswith("[]") and _is_text(node.this):
        items = _read_literal(node.this)
        if items is not None:
            listed = exp.Array(expressions=items)
            return listed if _is_texts(kind[:-2]) else exp.cast(listed, node.to)
    if kind.endswith("vector"):
        inner: exp.Expr = node.this
        return inner  # vectors are lists here
    if kind in _NUMBERS:
        return exp.TryCast(this=node.this, to=exp.DataType.build("BIGINT"))
    if kind in ("timestamptz", "timestamp with time zone"):
        return exp.cast(node.this, "TIMESTAMP")
    if kind == "information_schema.cardinal_number":
        return exp.cast(node.this, "INTEGER")
    return exp.cast(node.this, "VARCHAR") if _is_texts(kind) else node


def _kind(node: exp.Cast) -> str:
    return node.to.sql(dialect=Postgres).lower().replace("pg_catalog.", "").strip('"')


def _is_texts(kind: str) -> bool:
    return kind in _TEXTS or kind.startswith(("name", "char", "varchar", "information_schema."))


def _is_number(node: exp.Cast) -> bool:
    """Whether a name of an object stands where its number is meant."""
    above = node.parent
    while isinstance(above, exp.Paren):
        above = above.parent
    if isinstance(above, exp.Cast):
        return _kind(above) in _NUMBERS or _kind(above) in _OBJECTS
    return _is_text(node.this) or isinstance(above, exp.EQ | exp.NEQ | exp.In)
