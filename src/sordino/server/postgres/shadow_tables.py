"""What the shadow holds: PostgreSQL's catalogues as far as drivers read them, filled from the policy."""

from __future__ import annotations

from typing import Any

from sordino.curator.description import ColumnDescription, Description
from sordino.server.postgres.values import LENGTHS, OF_COLUMN, TEXT

PUBLIC, CATALOGUE, INFORMATION = 2200, 11, 13000
_FIRST_TABLE = 16384
_OWNER = 10

# Table: columns. Numbers of objects are BIGINT, as lists of names read as in PostgreSQL.
_TABLES = {
    "pg_namespace": "oid BIGINT, nspname VARCHAR, nspowner BIGINT, nspacl VARCHAR[]",
    "pg_class": "oid BIGINT, relname VARCHAR, relnamespace BIGINT, reltype BIGINT, reloftype BIGINT, relowner BIGINT, "
    "relam BIGINT, relfilenode BIGINT, reltablespace BIGINT, relpages INTEGER, reltuples FLOAT, "
    "reltoastrelid BIGINT, relhasindex BOOLEAN, relisshared BOOLEAN, relpersistence VARCHAR, relkind VARCHAR, "
    "relnatts SMALLINT, relchecks SMALLINT, relhasrules BOOLEAN, relhastriggers BOOLEAN, relhassubclass BOOLEAN, "
    "relrowsecurity BOOLEAN, relforcerowsecurity BOOLEAN, relispopulated BOOLEAN, relreplident VARCHAR, "
    "relispartition BOOLEAN, relpartbound VARCHAR, reloptions VARCHAR[], relacl VARCHAR[]",
    "pg_attribute": "attrelid BIGINT, attname VARCHAR, atttypid BIGINT, attlen SMALLINT, attnum SMALLINT, "
    "attndims INTEGER, atttypmod INTEGER, attnotnull BOOLEAN, atthasdef BOOLEAN, attidentity VARCHAR, "
    "attgenerated VARCHAR, attisdropped BOOLEAN, attislocal BOOLEAN, attcollation BIGINT, attstattarget INTEGER, "
    "attstorage VARCHAR, attcompression VARCHAR, attacl VARCHAR[], attoptions VARCHAR[], attfdwoptions VARCHAR[]",
    "pg_type": "oid BIGINT, typname VARCHAR, typnamespace BIGINT, typowner BIGINT, typlen SMALLINT, typbyval BOOLEAN, "
    "typtype VARCHAR, typcategory VARCHAR, typispreferred BOOLEAN, typisdefined BOOLEAN, typdelim VARCHAR, "
    "typrelid BIGINT, typelem BIGINT, typarray BIGINT, typinput VARCHAR, typoutput VARCHAR, typreceive VARCHAR, "
    "typsend VARCHAR, typbasetype BIGINT, typtypmod INTEGER, typcollation BIGINT, typnotnull BOOLEAN, "
    "typdefault VARCHAR",
    "pg_index": "indexrelid BIGINT, indrelid BIGINT, indnatts SMALLINT, indnkeyatts SMALLINT, indisunique BOOLEAN, "
    "indisprimary BOOLEAN, indisexclusion BOOLEAN, indimmediate BOOLEAN, indisclustered BOOLEAN, indisvalid BOOLEAN, "
    "indisready BOOLEAN, indislive BOOLEAN, indisreplident BOOLEAN, indnullsnotdistinct BOOLEAN, indkey SMALLINT[], "
    "indcollation BIGINT[], indclass BIGINT[], indoption SMALLINT[], indexprs VARCHAR, indpred VARCHAR",
    "pg_constraint": "oid BIGINT, conname VARCHAR, connamespace BIGINT, contype VARCHAR, condeferrable BOOLEAN, "
    "condeferred BOOLEAN, convalidated BOOLEAN, conrelid BIGINT, contypid BIGINT, conindid BIGINT, "
    "conparentid BIGINT, confrelid BIGINT, confupdtype VARCHAR, confdeltype VARCHAR, confmatchtype VARCHAR, "
    "conislocal BOOLEAN, coninhcount INTEGER, connoinherit BOOLEAN, conkey SMALLINT[], confkey SMALLINT[], "
    "conbin VARCHAR, confdelsetcols SMALLINT[]",
    "pg_attrdef": "oid BIGINT, adrelid BIGINT, adnum SMALLINT, adbin VARCHAR",
    "pg_description": "objoid BIGINT, classoid BIGINT, objsubid INTEGER, description VARCHAR",
    "pg_shdescription": "objoid BIGINT, classoid BIGINT, description VARCHAR",
    "pg_proc": "oid BIGINT, proname VARCHAR, pronamespace BIGINT, proowner BIGINT, prolang BIGINT, prokind VARCHAR, "
    "proretset BOOLEAN, prorettype BIGINT, proargtypes VARCHAR, proargnames VARCHAR[], proisstrict BOOLEAN",
    "pg_am": "oid BIGINT, amname VARCHAR, amtype VARCHAR",
    "pg_database": "oid BIGINT, datname VARCHAR, datdba BIGINT, encoding INTEGER, datlocprovider VARCHAR, "
    "datistemplate BOOLEAN, datallowconn BOOLEAN, datconnlimit INTEGER, datcollate VARCHAR, datctype VARCHAR, "
    "daticulocale VARCHAR, datacl VARCHAR[], dattablespace BIGINT",
    "pg_roles": "oid BIGINT, rolname VARCHAR, rolsuper BOOLEAN, rolinherit BOOLEAN, rolcreaterole BOOLEAN, "
    "rolcreatedb BOOLEAN, rolcanlogin BOOLEAN, rolreplication BOOLEAN, rolconnlimit INTEGER, rolvaliduntil TIMESTAMP, "
    "rolbypassrls BOOLEAN",
    "pg_auth_members": "roleid BIGINT, member BIGINT, grantor BIGINT, admin_option BOOLEAN",
    "pg_user": "usename VARCHAR, usesysid BIGINT, usesuper BOOLEAN",
    "pg_collation": "oid BIGINT, collname VARCHAR, collnamespace BIGINT, collcollate VARCHAR, collctype VARCHAR",
    "pg_inherits": "inhrelid BIGINT, inhparent BIGINT, inhseqno INTEGER, inhdetachpending BOOLEAN",
    "pg_policy": "oid BIGINT, polname VARCHAR, polrelid BIGINT, polcmd VARCHAR, polpermissive BOOLEAN, "
    "polroles BIGINT[], polqual VARCHAR, polwithcheck VARCHAR",
    "pg_publication": "oid BIGINT, pubname VARCHAR, puballtables BOOLEAN",
    "pg_publication_rel": "oid BIGINT, prpubid BIGINT, prrelid BIGINT, prqual VARCHAR, prattrs SMALLINT[]",
    "pg_publication_namespace": "oid BIGINT, pnpubid BIGINT, pnnspid BIGINT",
    "pg_statistic_ext": "oid BIGINT, stxrelid BIGINT, stxname VARCHAR, stxnamespace BIGINT, stxkeys SMALLINT[], "
    "stxkind VARCHAR[], stxstattarget INTEGER",
    "pg_trigger": "oid BIGINT, tgrelid BIGINT, tgname VARCHAR, tgisinternal BOOLEAN, tgenabled VARCHAR, "
    "tgparentid BIGINT, tgconstraint BIGINT",
    "pg_rewrite": "oid BIGINT, rulename VARCHAR, ev_class BIGINT, ev_type VARCHAR, ev_enabled VARCHAR, "
    "is_instead BOOLEAN",
    "pg_depend": "classid BIGINT, objid BIGINT, objsubid INTEGER, refclassid BIGINT, refobjid BIGINT, "
    "refobjsubid INTEGER, deptype VARCHAR",
    "pg_enum": "oid BIGINT, enumtypid BIGINT, enumsortorder FLOAT, enumlabel VARCHAR",
    "pg_range": "rngtypid BIGINT, rngsubtype BIGINT, rngmultitypid BIGINT, rngcollation BIGINT, rngsubopc BIGINT, "
    "rngcanonical VARCHAR, rngsubdiff VARCHAR",
    "pg_sequence": "seqrelid BIGINT, seqtypid BIGINT, seqstart BIGINT, seqincrement BIGINT, seqmax BIGINT, "
    "seqmin BIGINT, seqcache BIGINT, seqcycle BOOLEAN",
    "pg_extension": "oid BIGINT, extname VARCHAR, extowner BIGINT, extnamespace BIGINT, extversion VARCHAR",
    "pg_foreign_table": "ftrelid BIGINT, ftserver BIGINT, ftoptions VARCHAR[]",
    "pg_foreign_server": "oid BIGINT, srvname VARCHAR, srvowner BIGINT, srvfdw BIGINT",
    "pg_opclass": "oid BIGINT, opcmethod BIGINT, opcname VARCHAR, opcdefault BOOLEAN",
    "pg_tablespace": "oid BIGINT, spcname VARCHAR",
    "pg_settings": "name VARCHAR, setting VARCHAR, unit VARCHAR, category VARCHAR, short_desc VARCHAR",
    "pg_stat_user_tables": "relid BIGINT, schemaname VARCHAR, relname VARCHAR, n_live_tup BIGINT",
    "pg_stat_activity": "datid BIGINT, datname VARCHAR, pid INTEGER, usename VARCHAR, state VARCHAR, query VARCHAR",
    "pg_matviews": "schemaname VARCHAR, matviewname VARCHAR, definition VARCHAR",
    "pg_views": "schemaname VARCHAR, viewname VARCHAR, viewowner VARCHAR, definition VARCHAR",
    "pg_indexes": "schemaname VARCHAR, tablename VARCHAR, indexname VARCHAR, tablespace VARCHAR, indexdef VARCHAR",
    "pg_tables": "schemaname VARCHAR, tablename VARCHAR, tableowner VARCHAR, tablespace VARCHAR, hasindexes BOOLEAN, "
    "hasrules BOOLEAN, hastriggers BOOLEAN, rowsecurity BOOLEAN",
}
_INFORMATION = {
    "schemata": "catalog_name VARCHAR, schema_name VARCHAR, schema_owner VARCHAR",
    "tables": "table_catalog VARCHAR, table_schema VARCHAR, table_name VARCHAR, table_type VARCHAR, "
    "is_insertable_into VARCHAR",
    "columns": "table_catalog VARCHAR, table_schema VARCHAR, table_name VARCHAR, column_name VARCHAR, "
    "ordinal_position INTEGER, column_default VARCHAR, is_nullable VARCHAR, data_type VARCHAR, "
    "character_maximum_length INTEGER, numeric_precision INTEGER, numeric_scale INTEGER, "
    "datetime_precision INTEGER, udt_schema VARCHAR, udt_name VARCHAR, is_identity VARCHAR, is_generated VARCHAR",
    "views": "table_catalog VARCHAR, table_schema VARCHAR, table_name VARCHAR, view_definition VARCHAR",
    "table_constraints": "constraint_catalog VARCHAR, constraint_schema VARCHAR, constraint_name VARCHAR, "
    "table_schema VARCHAR, table_name VARCHAR, constraint_type VARCHAR",
    "key_column_usage": "constraint_catalog VARCHAR, constraint_schema VARCHAR, constraint_name VARCHAR, "
    "table_schema VARCHAR, table_name VARCHAR, column_name VARCHAR, ordinal_position INTEGER, "
    "position_in_unique_constraint INTEGER",
    "constraint_column_usage": "table_schema VARCHAR, table_name VARCHAR, column_name VARCHAR, "
    "constraint_schema VARCHAR, constraint_name VARCHAR",
    "referential_constraints": "constraint_schema VARCHAR, constraint_name VARCHAR, "
    "unique_constraint_schema VARCHAR, unique_constraint_name VARCHAR",
}
# Functions that catalogues questions call, as macros; of the rows they know nothing.
_MACROS = (
    "pg_table_is_visible(x) AS true",
    "pg_type_is_visible(x) AS true",
    "pg_function_is_visible(x) AS true",
    "pg_collation_is_visible(x) AS true",
    "pg_get_userbyid(x) AS 'owner'",
    "pg_get_expr(a, b, c := false) AS CAST(NULL AS VARCHAR)",
    "pg_get_constraintdef(a, b := false) AS (SELECT CASE contype WHEN 'p' THEN 'PRIMARY KEY' ELSE 'FOREIGN KEY' END "
    "FROM shadow.pg_constraint WHERE oid = a)",
    "pg_get_indexdef(a, b := 0, c := false) AS ''",
    "pg_get_viewdef(a, b := false) AS ''",
    "pg_get_statisticsobjdef_columns(a) AS ''",
    "pg_get_serial_sequence(a, b) AS CAST(NULL AS VARCHAR)",
    "pg_relation_is_publishable(x) AS false",
    "pg_encoding_to_char(x) AS 'UTF8'",
    "pg_is_in_recovery() AS false",
    "pg_backend_pid() AS 1",
    "pg_total_relation_size(x) AS 0",
    "pg_relation_size(x) AS 0",
    "pg_size_pretty(x) AS '0 bytes'",
    "pg_index_column_has_property(a, b, c) AS false",
    "obj_description(a, b := '') AS CAST(NULL AS VARCHAR)",
    "col_description(a, b) AS CAST(NULL AS VARCHAR)",
    "shobj_description(a, b := '') AS CAST(NULL AS VARCHAR)",
    "has_schema_privilege(a, b, c := '') AS true",
    "has_table_privilege(a, b, c := '') AS true",
    "has_database_privilege(a, b, c := '') AS true",
    "has_column_privilege(a, b, c, d := '') AS true",
    "has_any_column_privilege(a, b, c := '') AS true",
    "set_config(a, b, c) AS b",
    "current_setting_of(a) AS (SELECT setting FROM shadow.pg_settings WHERE name = lower(a))",
    "quote_ident(x) AS x",
    "array_upper(a, b) AS len(a)",
    "array_lower(a, b) AS CASE WHEN len(a) > 0 THEN 1 END",
    "to_regtype(x) AS (SELECT oid FROM shadow.pg_type WHERE typname = CAST(x AS VARCHAR))",
    "to_regclass(x) AS (SELECT oid FROM shadow.pg_class WHERE relname = regexp_replace(CAST(x AS VARCHAR), "
    "'^(public|pg_catalog)[.]', ''))",
    "format_type(oid_of, modifier) AS (SELECT CASE typname WHEN 'int8' THEN 'bigint' WHEN 'int4' THEN 'integer' "
    "WHEN 'int2' THEN 'smallint' WHEN 'bool' THEN 'boolean' WHEN 'float8' THEN 'double precision' "
    "WHEN 'float4' THEN 'real' WHEN 'timestamp' THEN 'timestamp without time zone' "
    "WHEN 'timestamptz' THEN 'timestamp with time zone' WHEN 'varchar' THEN 'character varying' "
    "WHEN 'bpchar' THEN 'character' ELSE typname END FROM shadow.pg_type WHERE oid = oid_of)",
    "regclass_oid(x) AS coalesce(TRY_CAST(x AS BIGINT), (SELECT oid FROM shadow.pg_class WHERE relname = "
    "replace(regexp_replace(CAST(x AS VARCHAR), '^(public|pg_catalog)[.]', ''), '\"', '')), "
    "(SELECT oid FROM shadow.pg_catalogue_oids WHERE name = regexp_replace(CAST(x AS VARCHAR), '^pg_catalog[.]', '')))",
    "regclass_name(x) AS coalesce((SELECT relname FROM shadow.pg_class WHERE oid = TRY_CAST(x AS BIGINT)), "
    "CAST(x AS VARCHAR))",
    "regtype_oid(x) AS coalesce(TRY_CAST(x AS BIGINT), (SELECT oid FROM shadow.pg_type WHERE typname = CAST(x AS "
    "VARCHAR)))",
)
KNOWN_FUNCTIONS = frozenset(macro.partition("(")[0] for macro in _MACROS)
SCHEMA = (
    "CREATE SCHEMA shadow",
    "CREATE SCHEMA shadow_information",
    *(f"CREATE TABLE shadow.{name} ({columns})" for name, columns in _TABLES.items()),
    *(f"CREATE TABLE shadow_information.{name} ({columns})" for name, columns in _INFORMATION.items()),
    "CREATE TABLE shadow.pg_catalogue_oids (name VARCHAR, oid BIGINT)",
    *(f"CREATE MACRO {macro}" for macro in _MACROS),
)
_TYPES = {
    16: ("bool", "B", 1000), 17: ("bytea", "U", 1001), 18: ("char", "Z", 1002), 19: ("name", "S", 1003),
    20: ("int8", "N", 1016), 21: ("int2", "N", 1005), 23: ("int4", "N", 1007), 25: ("text", "S", 1009),
    26: ("oid", "N", 1028), 700: ("float4", "N", 1021), 701: ("float8", "N", 1022), 705: ("unknown", "X", 0),
    1042: ("bpchar", "S", 1014), 1043: ("varchar", "S", 1015), 1082: ("date", "D", 1182), 1083: ("time", "D", 1183),
    1114: ("timestamp", "D", 1115), 1184: ("timestamptz", "D", 1185), 1700: ("numeric", "N", 1231),
    2950: ("uuid", "U", 2951),
}  # fmt: skip


def fill_rows(description: Description) -> dict[str, list[tuple[Any, ...]]]:
    """The rows of every catalogue that has some."""
    owner = "owner"
    base = description.dataset
    rows: dict[str, list[tuple[Any, ...]]] = {f"shadow.{name}": [] for name in _TABLES}
    rows |= {f"shadow_information.{name}": [] for name in _INFORMATION}
    rows["shadow.pg_namespace"] = [
        (CATALOGUE, "pg_catalog", _OWNER, None),
        (PUBLIC, "public", _OWNER, None),
        (INFORMATION, "information_schema", _OWNER, None),
    ]
    rows["shadow.pg_roles"] = [(_OWNER, owner, False, True, False, False, True, False, -1, None, False)]
    rows["shadow.pg_database"] = [
        (5, base, _OWNER, 6, "c", False, True, -1, "C", "C", None, None, 1663),
    ]
    rows["shadow.pg_am"] = [(2, "heap", "t"), (403, "btree", "i")]
    rows["shadow.pg_collation"] = [(100, "default", CATALOGUE, None, None)]
    rows["shadow.pg_settings"] = [
        ("server_version_num", "150000", None, "", ""),
        ("server_version", "15.0", None, "", ""),
        ("max_index_keys", "32", None, "", ""),
        ("search_path", "public", None, "", ""),
    ]
    rows["shadow.pg_catalogue_oids"] = [(name, 1200 + place) for place, name in enumerate(_TABLES)]
    rows["shadow.pg_type"] = [row for oid, told in _TYPES.items() for row in _type_rows(oid, *told)]
    rows["shadow_information.schemata"] = [(base, "public", owner), (base, "information_schema", owner)]
    numbers = {table.name.casefold(): _FIRST_TABLE + place for place, table in enumerate(description.tables)}
    further = _FIRST_TABLE + 10_000
    for table in description.tables:
        oid = numbers[table.name.casefold()]
        keyed = bool(table.key)
        rows["shadow.pg_class"].append(_class_row(oid, table.name, PUBLIC, "r", len(table.columns), keyed))
        rows["shadow.pg_tables"].append(("public", table.name, owner, None, keyed, False, False, False))
        rows["shadow_information.tables"].append((base, "public", table.name, "BASE TABLE", "NO"))
        places = {column.name.casefold(): place for place, column in enumerate(table.columns, 1)}
        for place, column in enumerate(table.columns, 1):
            needed = column.name in table.key
            rows["shadow.pg_attribute"].append(_attribute_row(oid, column, place, needed))
            rows["shadow_information.columns"].append(_column_row(base, table.name, column, place, needed))
        if keyed:
            further += 1
            name, key = f"{table.name}_pkey", [places[column.casefold()] for column in table.key]
            rows["shadow.pg_class"].append(_class_row(further, name, PUBLIC, "i", len(key), False))
            rows["shadow.pg_index"].append(
                (further, oid, len(key), len(key), True, True, False, True, False, True, True, True, False, False, key,
                 [0] * len(key), [0] * len(key), [0] * len(key), None, None)
            )  # fmt: skip
            rows["shadow.pg_constraint"].append(
                _constraint_row(further + 20_000, name, "p", oid, further, 0, key, None)
            )
            rows["shadow_information.table_constraints"].append(
                (base, "public", name, "public", table.name, "PRIMARY KEY")
            )
            for place, part in enumerate(table.key, 1):
                rows["shadow_information.key_column_usage"].append(
                    (base, "public", name, "public", table.name, part, place, None)
                )
    return rows


def _type_rows(oid: int, name: str, category: str, array: int) -> list[tuple[Any, ...]]:
    length = LENGTHS.get(oid, -1)
    plain = (oid, name, CATALOGUE, _OWNER, length, 0 < length <= 8, "b", category, False, True, ",", 0, 0, array,
             f"{name}in", f"{name}out", f"{name}recv", f"{name}send", 0, -1, 0, False, None)  # fmt: skip
    if not array:
        return [plain]
    of = (array, f"_{name}", CATALOGUE, _OWNER, -1, False, "b", "A", False, True, ",", 0, oid, 0, "array_in",
          "array_out", "array_recv", "array_send", 0, -1, 0, False, None)  # fmt: skip
    return [plain, of]


def _class_row(oid: int, name: str, schema: int, kind: str, columns: int, indexed: bool) -> tuple[Any, ...]:
    return (oid, name, schema, 0, 0, _OWNER, 2 if kind == "r" else 403, oid, 0, 0, -1.0, 0, indexed, False, "p", kind,
            columns, 0, False, False, False, False, False, True, "d", False, None, None, None)  # fmt: skip


def _attribute_row(table: int, column: ColumnDescription, place: int, needed: bool) -> tuple[Any, ...]:
    oid = OF_COLUMN.get(column.type.partition("(")[0], TEXT)
    collation = 100 if oid == TEXT else 0
    return (table, column.name, oid, LENGTHS.get(oid, -1), place, 0, -1, needed, False, "", "", False, True, collation,
            -1, "p", "", None, None, None)  # fmt: skip


def _column_row(
    base: str, table: str, column: ColumnDescription, place: int, needed: bool
) -> tuple[Any, ...]:
    oid = OF_COLUMN.get(column.type.partition("(")[0], TEXT)
    name = _TYPES[oid][0]
    words = {"int8": "bigint", "float8": "double precision", "bool": "boolean",
             "timestamp": "timestamp without time zone"}  # fmt: skip
    return (base, "public", table, column.name, place, None, "NO" if needed else "YES", words.get(name, name), None,
            None, None, None, "pg_catalog", name, "NO", "NEVER")  # fmt: skip


def _constraint_row(
    oid: int,
    name: str,
    kind: str,
    table: int,
    index: int,
    target: int,
    key: list[int],
    there: list[int] | None,
) -> tuple[Any, ...]:
    return (oid, name, PUBLIC, kind, False, False, True, table, 0, index, 0, target, " ", " ", " ", True, 0, True, key,
            there, None, None)  # fmt: skip
