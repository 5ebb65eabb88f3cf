"""Questions about PostgreSQL's catalogues, rewritten for the shadow."""

from __future__ import annotations

import re

from sqlglot import exp, parse_one
from sqlglot.dialects import DuckDB, Postgres
from sqlglot.errors import ParseError

from sordino.server.postgres.shadow_tables import KNOWN_FUNCTIONS

_CASTS = {"regclass": "regclass_oid", "regtype": "regtype_oid"}
_TEXTS = (
    "text",
    "name",
    "char",
    "bpchar",
    "cstring",
    "regproc",
    "regprocedure",
    "regnamespace",
    "pg_node_tree",
)
_NUMBERS = ("oid", "xid", "regrole", "int2vector", "oidvector")
_NAMES = {
    "currentversion": "version",
    "currentschema": "current_schema",
    "currentdatabase": "current_database",
}
_ROUTINES = ("typreceive", "typsend", "typinput", "typoutput")
_OPERATOR = re.compile(r"OPERATOR\s*\(\s*pg_catalog\s*\.\s*([^)\s]+)\s*\)", re.IGNORECASE)
_COLLATION = re.compile(r"\bCOLLATE\s+(?:pg_catalog\.)?\"?\w+\"?", re.IGNORECASE)


def rewrite(sql: str, name: str) -> str:
    """The question in the shadow's words; ``name``: who asks."""
    plain = _COLLATION.sub(" ", _OPERATOR.sub(r" \1 ", sql))
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
    """A column of a result is called by its function, as in PostgreSQL."""
    inner = node.expression if isinstance(node, exp.Dot) else node
    if isinstance(inner, exp.Func) and not isinstance(inner, exp.Cast | exp.Case):
        called = inner.name if isinstance(inner, exp.Anonymous) else _NAMES.get(inner.key, inner.sql_name())
        return exp.alias_(node, called.lower(), quoted=True)
    if (
        isinstance(node, exp.Column)
        and not node.table
        and node.name.lower() in ("current_user", "session_user")
    ):
        return exp.alias_(node, node.name.lower(), quoted=True)
    return node


def _rewritten(node: exp.Expr, name: str) -> exp.Expr:
    if isinstance(node, exp.Table):
        return _table(node)
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
    if isinstance(node, exp.Anonymous | exp.Func):
        return _function(node, name)
    if (
        isinstance(node, exp.Column)
        and not node.table
        and node.name.lower() in ("current_user", "session_user")
    ):
        return exp.Literal.string(name)
    return node


def _table(node: exp.Table) -> exp.Expr:
    schema = node.text("db").lower()
    if isinstance(node.this, exp.Func):
        node.set("db", None)  # a function that gives rows
        return node
    if schema == "information_schema":
        node.set("db", exp.to_identifier("shadow_information"))
    elif schema == "pg_catalog" or (not schema and node.name.lower().startswith("pg_")):
        node.set("db", exp.to_identifier("shadow"))
    return node


def _function(node: exp.Expr, name: str) -> exp.Expr:
    called = (
        (node.name if isinstance(node, exp.Anonymous) else node.sql_name()).lower()
        if isinstance(node, exp.Func)
        else ""
    )
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
    unknown = called.startswith("pg_") and called not in KNOWN_FUNCTIONS
    if unknown or called == "json_build_object":
        return exp.cast(exp.Null(), "VARCHAR")  # of functions that we do not know, nothing is known
    return node


def _cast(node: exp.Cast) -> exp.Expr:
    kind = node.to.sql(dialect=Postgres).lower().replace("pg_catalog.", "").strip('"')
    if kind in _CASTS:
        if kind == "regclass" and not isinstance(node.this, exp.Literal):
            below = node.parent
            if isinstance(below, exp.Cast) or not isinstance(below, exp.EQ | exp.In):
                return exp.Anonymous(this="regclass_name", expressions=[node.this])
        return exp.Anonymous(this=_CASTS[kind], expressions=[node.this])
    if kind in _NUMBERS:
        return exp.cast(node.this, "BIGINT")
    if kind in _TEXTS or kind.startswith(("name", "char")):
        return exp.cast(node.this, "VARCHAR")
    return node
