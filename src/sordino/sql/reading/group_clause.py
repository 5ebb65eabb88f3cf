"""What stands in GROUP BY: a column or an expression, perhaps by its place or its name in the SELECT list."""

from __future__ import annotations

from sqlglot import exp

from sordino.sql.reading.names import Names, Scope


def find_grouped(node: exp.Expr, select: exp.Select, scope: Scope, names: Names) -> exp.Expr:
    """A column, or the place or the name of one in the SELECT list; a column of FROM goes before a name there."""
    text = names.text
    node = node.unnest() if isinstance(node, exp.Paren) else node
    if isinstance(node, exp.Column) and not node.table and not names.knows(node, scope):
        named = [column for column in select.expressions if column.alias.casefold() == node.name.casefold()]
        if len(named) > 1:
            text.wrong(node, "two columns of the answer have this name")
        node = named[0].unalias() if named else node
    if isinstance(node, exp.Literal) and not node.is_string and str(node.this).isdigit():
        place = int(node.this)
        if not 1 <= place <= len(select.expressions):
            text.wrong(
                f"GROUP BY {place}", f"the SELECT has {len(select.expressions)} columns", keyword="GROUP"
            )
        node = select.expressions[place - 1].unalias()
    while isinstance(node, exp.Paren):
        node = node.this
    if isinstance(node, exp.Rollup | exp.Cube | exp.GroupingSets):
        text.refuse(
            node, "GROUP BY takes columns and expressions; ask each grouping by itself", keyword="GROUP"
        )
    return node
