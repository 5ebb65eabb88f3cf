"""Functions that questions about catalogues call, as macros of the shadow; of rows they know nothing."""

# A name without its schema and quotes. What is given to a macro stands outside of every SELECT of it: inside, a column
# that it names would be looked for in the macro's own tables first.
_SHORT = "replace(regexp_replace(CAST(x AS VARCHAR), '^\"?(public|pg_catalog|information_schema)\"?[.]', ''), '\"', '')"
# What `format_type` calls a type; others have the names that they have.
TYPE_WORDS = {
    "int8": "bigint",
    "int4": "integer",
    "int2": "smallint",
    "bool": "boolean",
    "float8": "double precision",
    "float4": "real",
    "timestamp": "timestamp without time zone",
    "timestamptz": "timestamp with time zone",
    "time": "time without time zone",
    "varchar": "character varying",
    "bpchar": "character",
}
_MAY_READ = "CASE WHEN c = '' THEN CAST(b AS VARCHAR) ELSE c END ILIKE '%select%'"

MACROS = (
    "looked_up(asked, x) AS list_extract(map_extract((SELECT map(list(name), list(meaning)) FROM shadow.lookups "
    "WHERE kind = asked), CAST(x AS VARCHAR)), 1)",
    "pg_get_userbyid(x) AS 'owner'",
    "pg_get_expr(a, b, c := false) AS CAST(NULL AS VARCHAR)",
    "pg_get_constraintdef(x, b := false) AS looked_up('constraint', x)",
    "pg_get_indexdef(x, b := 0, c := false) AS looked_up('index', CAST(x AS VARCHAR) || '.' || CAST(b AS VARCHAR))",
    "pg_get_viewdef(a, b := false) AS ''",
    "pg_get_statisticsobjdef_columns(a) AS ''",
    "pg_get_serial_sequence(a, b) AS CAST(NULL AS VARCHAR)",
    "pg_partition_ancestors(x) AS CAST(NULL AS BIGINT)",
    "pg_relation_is_publishable(x) AS false",
    "pg_relation_is_updatable(x, y) AS 0",
    "pg_column_is_updatable(x, y, z) AS false",
    "pg_encoding_to_char(x) AS 'UTF8'",
    "pg_is_in_recovery() AS false",
    "pg_backend_pid() AS 1",
    "pg_total_relation_size(x) AS 0",
    "pg_relation_size(x, y := '') AS 0",
    "pg_table_size(x) AS 0",
    "pg_indexes_size(x) AS 0",
    "pg_database_size(x) AS 0",
    "pg_tablespace_size(x) AS 0",
    "pg_size_pretty(x) AS '0 bytes'",
    "pg_index_column_has_property(a, b, c) AS false",
    "pg_typeof(x) AS typeof(x)",
    "obj_description(a, b := '') AS CAST(NULL AS VARCHAR)",
    "col_description(a, b) AS CAST(NULL AS VARCHAR)",
    "shobj_description(a, b := '') AS CAST(NULL AS VARCHAR)",
    "has_schema_privilege(a, b, c := '') AS CASE WHEN c = '' THEN CAST(b AS VARCHAR) ELSE c END NOT ILIKE '%create%'",
    f"has_table_privilege(a, b, c := '') AS {_MAY_READ}",
    f"has_any_column_privilege(a, b, c := '') AS {_MAY_READ}",
    "has_column_privilege(a, b, c, d := '') AS CASE WHEN d = '' THEN CAST(c AS VARCHAR) ELSE d END ILIKE '%select%'",
    "has_database_privilege(a, b, c := '') AS CASE WHEN c = '' THEN CAST(b AS VARCHAR) ELSE c END ILIKE '%connect%'",
    "has_sequence_privilege(a, b, c := '') AS false",
    "has_function_privilege(a, b, c := '') AS false",
    "set_config(a, b, c) AS b",
    "current_setting_of(x) AS looked_up('setting', lower(x))",
    "quote_ident(x) AS CASE WHEN regexp_full_match(x, '[a-z_][a-z0-9_$]*') THEN x "
    "ELSE '\"' || replace(x, '\"', '\"\"') || '\"' END",
    "quote_literal(x) AS '''' || replace(CAST(x AS VARCHAR), '''', '''''') || ''''",
    "array_upper(a, b) AS len(a)",
    "array_lower(a, b) AS CASE WHEN len(a) > 0 THEN 1 END",
    "_pg_expandarray(a) AS unnest([{'x': a[i], 'n': i} for i in range(1, len(a) + 1)])",
    "format_type(x, modifier) AS looked_up('type name', x)",
    f"to_regclass(x) AS CAST(looked_up('relation', {_SHORT}) AS BIGINT)",
    f"to_regtype(x) AS CAST(looked_up('type', lower({_SHORT})) AS BIGINT)",
    f"to_regnamespace(x) AS CAST(looked_up('schema', {_SHORT}) AS BIGINT)",
    "regclass_oid(x) AS coalesce(TRY_CAST(x AS BIGINT), to_regclass(x))",
    "regclass_name(x) AS coalesce(looked_up('relation name', x), CAST(x AS VARCHAR))",
    "regtype_oid(x) AS coalesce(TRY_CAST(x AS BIGINT), to_regtype(x))",
    "regtype_name(x) AS coalesce(looked_up('type name', x), CAST(x AS VARCHAR))",
    "regnamespace_oid(x) AS coalesce(TRY_CAST(x AS BIGINT), to_regnamespace(x))",
    "regnamespace_name(x) AS coalesce(looked_up('schema name', x), CAST(x AS VARCHAR))",
    "pg_get_keywords() AS TABLE SELECT keyword_name AS word, upper(keyword_category[1]) AS catcode, true AS barelabel, "
    "keyword_category AS catdesc, 'can be bare label' AS baredesc FROM duckdb_keywords()",
)
KNOWN_FUNCTIONS = frozenset(macro.partition("(")[0] for macro in MACROS)
# Functions that give rows in FROM; any other that is known stands there as the one row of its value.
ROW_FUNCTIONS = frozenset(macro.partition("(")[0] for macro in MACROS if ") AS TABLE " in macro)
