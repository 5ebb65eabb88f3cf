"""The SELECT list: which expressions over aggregates and group keys are asked, and under which names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from sordino.sql.question import Output
from sordino.sql.reading.released import ReleasedReader
from sordino.sql.released import Aggregated


def read_outputs(nodes: Sequence[exp.Expr], read: ReleasedReader) -> tuple[Output, ...]:
    """The columns of the answer; those with a name are known to the reader by it afterwards."""
    outputs = [_read_output(node, read) for node in nodes]
    for node, output in zip(nodes, outputs, strict=True):
        if isinstance(node, exp.Alias):
            read.give_name(node.alias, output.expression)
    return _with_names(outputs)


def _read_output(node: exp.Expr, read: ReleasedReader) -> Output:
    inner = node.unalias()
    while isinstance(inner, exp.Paren):
        inner = inner.this
    found = read.read(inner)
    if isinstance(node, exp.Alias):
        return Output(node.alias, found)
    if isinstance(found, Aggregated):
        return Output(found.aggregate.name, found)
    if isinstance(inner, exp.Column):
        return Output(inner.name, found)
    return Output(inner.key if isinstance(inner, exp.Func) else "value", found)


def _with_names(outputs: list[Output]) -> tuple[Output, ...]:
    taken: set[str] = set()
    result = []
    for output in outputs:
        name, number = output.name, 2
        while name.casefold() in taken:
            name, number = f"{output.name}_{number}", number + 1
        taken.add(name.casefold())
        result.append(replace(output, name=name))
    return tuple(result)
