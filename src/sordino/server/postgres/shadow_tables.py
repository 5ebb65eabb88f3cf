"""What the shadow holds: PostgreSQL's catalogues, filled from the policy: names, types, keys, nothing of rows."""

from __future__ import annotations

from typing import Any

from sordino.curator.description import ColumnDescription, Description, TableDescription
from sordino.server.postgres.session_settings import DEFAULTS
from sordino.server.postgres.shadow_functions import MACROS, TYPE_WORDS
from sordino.server.postgres.shadow_relations import RELATIONS, make_row
from sordino.server.postgres.values import ARRAYS, LENGTHS, NUMERIC, OF_COLUMN, TEXT, VECTORS

PUBLIC, CATALOGUE, INFORMATION = 2200, 11, 13000
_FIRST_CATALOGUE, _FIRST_TABLE, _FIRST_INDEX, _FIRST_CONSTRAINT = 1200, 16384, 30000, 50000
_OWNER, _OWNER_NAME = 10, "owner"
_ANYBODY_READS = ["=r/owner"]  # analysts ask; nobody writes

SCHEMA = (
    "CREATE SCHEMA shadow",
    "CREATE SCHEMA shadow_information",
    *(
        f"CREATE TABLE {name} ({', '.join(f'{column} {kind}' for column, kind in columns.items())})"
        for name, columns in RELATIONS.items()
    ),
    "CREATE TABLE shadow.lookups (kind VARCHAR, name VARCHAR, meaning VARCHAR)",
    *(f"CREATE MACRO {macro}" for macro in MACROS),
)
# Number: name and category.
_TYPES = {
    16: ("bool", "B"), 17: ("bytea", "U"), 18: ("char", "Z"), 19: ("name", "S"), 20: ("int8", "N"), 21: ("int2", "N"),
    22: ("int2vector", "A"), 23: ("int4", "N"), 24: ("regproc", "N"), 25: ("text", "S"), 26: ("oid", "N"),
    30: ("oidvector", "A"), 114: ("json", "U"), 700: ("float4", "N"), 701: ("float8", "N"), 705: ("unknown", "X"),
    1042: ("bpchar", "S"), 1043: ("varchar", "S"), 1082: ("date", "D"), 1083: ("time", "D"), 1114: ("timestamp", "D"),
    1184: ("timestamptz", "D"), 1186: ("interval", "T"), 1700: ("numeric", "N"), 2205: ("regclass", "N"),
    2206: ("regtype", "N"), 2950: ("uuid", "U"), 3802: ("jsonb", "U"),
}  # fmt: skip
_PREFERRED = ("bool", "text", "oid", "float8", "timestamptz", "interval")


class _Filling:
    """Rows by relation, and the numbers that are given to what they name."""

    def __init__(self, description: Description) -> None:
        self.base = description.dataset
        self.rows: dict[str, list[tuple[Any, ...]]] = {}
        self.tables = {table.name.casefold(): table for table in description.tables}
        self.numbers = {name: _FIRST_TABLE + place for place, name in enumerate(self.tables)}
        self.indexes = {name: _FIRST_INDEX + place for place, name in enumerate(self.tables)}
        self.referred = {
            to.rpartition(".")[0].casefold() for one in description.tables for _, to in one.foreign_keys
        }
        self.constraints = _FIRST_CONSTRAINT
        self.meanings: dict[
            tuple[str, str], str
        ] = {}  # what the shadow's functions look up, by kind and name

    def add(self, relation: str, **values: Any) -> None:
        """A row of a catalogue."""
        name = f"shadow.{relation}"
        self.rows.setdefault(name, []).append(make_row(name, values))

    def tell(self, relation: str, **values: Any) -> None:
        """A row of the information schema."""
        name = f"shadow_information.{relation}"
        self.rows.setdefault(name, []).append(make_row(name, values))

    def mean(self, kind: str, name: object, meaning: object) -> None:
        """What a function says of a name; of two with one name, the first."""
        self.meanings.setdefault((kind, str(name)), str(meaning))

    def call(self, kind: str, name: str, number: int) -> None:
        """The number of a name and the name of a number."""
        self.mean(kind, name, number)
        self.mean(f"{kind} name", number, name)


def fill_rows(description: Description) -> dict[str, list[tuple[Any, ...]]]:
    """The rows of every catalogue that has some."""
    filling = _Filling(description)
    _fill_server(filling)
    for table in description.tables:
        _fill_table(filling, table)
        if table.key:
            _fill_key(filling, table)
        for place, (column, to) in enumerate(table.foreign_keys, 1):
            _fill_reference(filling, table, place, column, to)
    for place, name in enumerate(RELATIONS):
        filling.call("relation", name.partition(".")[2], _FIRST_CATALOGUE + place)
    filling.rows["shadow.lookups"] = [(*key, meaning) for key, meaning in filling.meanings.items()]
    return filling.rows


def _fill_server(filling: _Filling) -> None:
    base = filling.base
    for oid, name in ((CATALOGUE, "pg_catalog"), (PUBLIC, "public"), (INFORMATION, "information_schema")):
        filling.add("pg_namespace", oid=oid, nspname=name, nspowner=_OWNER)
        filling.call("schema", name, oid)
        filling.tell("schemata", catalog_name=base, schema_name=name, schema_owner=_OWNER_NAME)
    filling.add(
        "pg_roles", oid=_OWNER, rolname=_OWNER_NAME, rolinherit=True, rolcanlogin=True, rolconnlimit=-1
    )
    filling.add("pg_user", usename=_OWNER_NAME, usesysid=_OWNER)
    filling.add("pg_database", oid=5, datname=base, datdba=_OWNER, encoding=6, datlocprovider="c", datallowconn=True,
                datconnlimit=-1, datcollate="C", datctype="C", dattablespace=1663)  # fmt: skip
    filling.add("pg_tablespace", oid=1663, spcname="pg_default", spcowner=_OWNER)
    filling.add("pg_am", oid=2, amname="heap", amtype="t")
    filling.add("pg_am", oid=403, amname="btree", amtype="i")
    filling.add("pg_collation", oid=100, collname="default", collnamespace=CATALOGUE)
    filling.tell("information_schema_catalog_name", catalog_name=base)
    for name, setting in DEFAULTS.items():
        if " " in name:  # SHOW spells some in words
            continue
        filling.mean("setting", name, setting)
        filling.add("pg_settings", name=name, setting=setting, category="", short_desc="", vartype="string")
    for oid, (name, category) in _TYPES.items():
        _fill_type(filling, oid, name, category)


def _fill_type(filling: _Filling, oid: int, name: str, category: str) -> None:
    length = LENGTHS.get(oid, -1)
    plain = {"typnamespace": CATALOGUE, "typowner": _OWNER, "typtype": "b", "typisdefined": True, "typdelim": ",",
             "typtypmod": -1, "typmodin": "-", "typmodout": "-", "typanalyze": "-", "typsubscript": "-",
             "typalign": "i", "typcollation": 100 if category == "S" else 0,
             "typstorage": "p" if length > 0 else "x"}  # fmt: skip
    array = ARRAYS.get(oid, 0)
    _call_type(filling, oid, name, TYPE_WORDS.get(name, name))
    filling.add("pg_type", oid=oid, typname=name, typlen=length, typbyval=0 < length <= 8, typcategory=category,
                typispreferred=name in _PREFERRED, typarray=array, typelem=VECTORS.get(oid, 0),
                typinput=f"{name}in", typoutput=f"{name}out", typreceive=f"{name}recv", typsend=f"{name}send",
                **plain)  # fmt: skip
    if array:
        _call_type(filling, array, f"_{name}", f"{TYPE_WORDS.get(name, name)}[]")
        filling.add("pg_type", oid=array, typname=f"_{name}", typlen=-1, typcategory="A", typelem=oid,
                    typinput="array_in", typoutput="array_out", typreceive="array_recv", typsend="array_send",
                    **plain)  # fmt: skip


def _call_type(filling: _Filling, oid: int, name: str, word: str) -> None:
    filling.call("type", word, oid)
    filling.mean("type", name, oid)


def _fill_table(filling: _Filling, table: TableDescription) -> None:
    number = filling.numbers[table.name.casefold()]
    named = {"table_catalog": filling.base, "table_schema": "public", "table_name": table.name}
    _fill_class(filling, number, table.name, "r", len(table.columns), relhasindex=bool(table.key),
                relhastriggers=bool(table.foreign_keys) or table.name.casefold() in filling.referred,
                relacl=_ANYBODY_READS)  # fmt: skip
    filling.add("pg_tables", schemaname="public", tablename=table.name, tableowner=_OWNER_NAME,
                hasindexes=bool(table.key))  # fmt: skip
    filling.tell("tables", **named, table_type="BASE TABLE", is_insertable_into="NO", is_typed="NO")
    grant = {"grantor": _OWNER_NAME, "grantee": "PUBLIC", "privilege_type": "SELECT", "is_grantable": "NO"}
    for relation in ("table_privileges", "role_table_grants"):
        filling.tell(relation, **named, **grant, with_hierarchy="YES")
    for place, column in enumerate(table.columns, 1):
        needed = column.name in table.key
        _fill_column(filling, number, named, column, place, needed)
        filling.tell("column_privileges", **named, **grant, column_name=column.name)


def _fill_class(filling: _Filling, oid: int, name: str, kind: str, columns: int, **more: Any) -> None:
    filling.call("relation", name, oid)
    filling.add("pg_class", oid=oid, relname=name, relnamespace=PUBLIC, relowner=_OWNER, relfilenode=oid,
                relam=2 if kind == "r" else 403, reltuples=-1.0, relpersistence="p", relkind=kind, relnatts=columns,
                relispopulated=True, relreplident="d", **more)  # fmt: skip


def _fill_column(
    filling: _Filling, table: int, named: dict[str, str], column: ColumnDescription, place: int, needed: bool
) -> None:
    kind, _, digits = column.type.partition("(")
    oid = OF_COLUMN.get(kind, TEXT)
    name = _TYPES[oid][0]
    precision, _, scale = digits.strip(")").partition(", ") if oid == NUMERIC else ("", "", "")
    filling.add("pg_attribute", attrelid=table, attname=column.name, atttypid=oid, attlen=LENGTHS.get(oid, -1),
                attnum=place, attstattarget=-1, attcacheoff=-1, attnotnull=needed, attislocal=True,
                atttypmod=((int(precision) << 16) | int(scale or 0)) + 4 if precision else -1,
                attcollation=100 if oid == TEXT else 0, attstorage="p" if oid in LENGTHS else "x", attalign="i",
                attbyval=0 < LENGTHS.get(oid, -1) <= 8, attidentity="", attgenerated="", attcompression="")  # fmt: skip
    filling.tell("columns", **named, column_name=column.name, ordinal_position=place,
                 is_nullable="NO" if needed else "YES", data_type=TYPE_WORDS.get(name, name), dtd_identifier=str(place),
                 numeric_precision={"int8": 64, "float8": 53}.get(name, int(precision) if precision else None),
                 numeric_precision_radix={"int8": 2, "float8": 2, "numeric": 10}.get(name),
                 numeric_scale=int(scale or 0) if precision else {"int8": 0}.get(name),
                 datetime_precision={"timestamp": 6, "date": 0}.get(name), udt_catalog=filling.base,
                 udt_schema="pg_catalog", udt_name=name, is_self_referencing="NO", is_identity="NO",
                 is_generated="NEVER", is_updatable="NO", identity_cycle="NO")  # fmt: skip


def _fill_key(filling: _Filling, table: TableDescription) -> None:
    number, name = filling.numbers[table.name.casefold()], f"{table.name}_pkey"
    places = _places(table, table.key)
    index = filling.indexes[table.name.casefold()]
    quoted = ", ".join(map(_quoted, table.key))
    nothing = [0] * len(places)
    _fill_class(filling, index, name, "i", len(places))
    for place, column in enumerate(table.key, 1):
        oid = OF_COLUMN.get(_type_of(table, column).partition("(")[0], TEXT)
        filling.mean("index", f"{index}.{place}", _quoted(column))
        filling.add("pg_attribute", attrelid=index, attname=column, atttypid=oid, attnum=place, atttypmod=-1,
                    attlen=LENGTHS.get(oid, -1), attislocal=True, attidentity="", attgenerated="")  # fmt: skip
    filling.add("pg_index", indexrelid=index, indrelid=number, indnatts=len(places), indnkeyatts=len(places),
                indisunique=True, indisprimary=True, indimmediate=True, indisvalid=True, indisready=True,
                indislive=True, indkey=places, indcollation=nothing, indclass=nothing, indoption=nothing)  # fmt: skip
    made = f"CREATE UNIQUE INDEX {_quoted(name)} ON public.{_quoted(table.name)} USING btree ({quoted})"
    filling.mean("index", f"{index}.0", made)
    filling.add("pg_indexes", schemaname="public", tablename=table.name, indexname=name, indexdef=made)
    text = f"PRIMARY KEY ({quoted})"
    _fill_constraint(filling, table, name, "PRIMARY KEY", text, table.key, conindid=index, confupdtype=" ",
                     confdeltype=" ", confmatchtype=" ")  # fmt: skip
    for column in table.key:
        _fill_usage(filling, name, table.name, column)


def _fill_reference(filling: _Filling, table: TableDescription, place: int, column: str, to: str) -> None:
    there_name, _, there_column = to.rpartition(".")
    there = filling.tables.get(there_name.casefold())
    if there is None:
        return
    name = f"{table.name}_{column}_fkey{place if place > 1 else ''}"
    target = next(
        (item.name for item in there.columns if item.name.casefold() == there_column.casefold()), there_column
    )
    text = f"FOREIGN KEY ({_quoted(column)}) REFERENCES {_quoted(there.name)}({_quoted(target)})"
    _fill_constraint(filling, table, name, "FOREIGN KEY", text, (column,), confupdtype="a", confdeltype="a",
                     confmatchtype="s", conindid=filling.indexes[there.name.casefold()],
                     confrelid=filling.numbers[there.name.casefold()], confkey=_places(there, (target,)))  # fmt: skip
    _fill_usage(filling, name, there.name, target)
    filling.tell("referential_constraints", constraint_catalog=filling.base, constraint_schema="public",
                 constraint_name=name, unique_constraint_catalog=filling.base, unique_constraint_schema="public",
                 unique_constraint_name=f"{there.name}_pkey" if there.key == (target,) else None, match_option="NONE",
                 update_rule="NO ACTION", delete_rule="NO ACTION")  # fmt: skip


def _fill_constraint(
    filling: _Filling,
    table: TableDescription,
    name: str,
    kind: str,
    text: str,
    columns: tuple[str, ...],
    **more: Any,
) -> None:
    filling.constraints += 1
    filling.add("pg_constraint", oid=filling.constraints, conname=name, connamespace=PUBLIC, contype=kind[0].lower(),
                convalidated=True, conislocal=True, connoinherit=True, conkey=_places(table, columns),
                conrelid=filling.numbers[table.name.casefold()], **more)  # fmt: skip
    filling.mean("constraint", filling.constraints, text)
    named = {"constraint_catalog": filling.base, "constraint_schema": "public", "constraint_name": name,
             "table_catalog": filling.base, "table_schema": "public", "table_name": table.name}  # fmt: skip
    filling.tell("table_constraints", **named, constraint_type=kind, is_deferrable="NO", initially_deferred="NO",
                 enforced="YES")  # fmt: skip
    for place, column in enumerate(columns, 1):
        filling.tell("key_column_usage", **named, column_name=column, ordinal_position=place,
                     position_in_unique_constraint=place if kind == "FOREIGN KEY" else None)  # fmt: skip


def _fill_usage(filling: _Filling, constraint: str, table: str, column: str) -> None:
    """The column that a key is of, or that a reference leads to."""
    filling.tell("constraint_column_usage", table_catalog=filling.base, table_schema="public", table_name=table,
                 column_name=column, constraint_catalog=filling.base, constraint_schema="public",
                 constraint_name=constraint)  # fmt: skip


def _places(table: TableDescription, columns: tuple[str, ...]) -> list[int]:
    places = {column.name.casefold(): place for place, column in enumerate(table.columns, 1)}
    return [places[column.casefold()] for column in columns]


def _type_of(table: TableDescription, name: str) -> str:
    return next(column.type for column in table.columns if column.name.casefold() == name.casefold())


def _quoted(name: str) -> str:
    plain = name.isascii() and name.replace("_", "a").isalnum() and name == name.lower()
    return name if plain and not name[0].isdigit() else '"' + name.replace('"', '""') + '"'
