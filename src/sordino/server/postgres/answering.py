"""From statements to results: what is described costs nothing, what is executed may."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from sordino.core import ParameterError, Release
from sordino.core.release_view import list_meanings
from sordino.curator.answer import quote_question
from sordino.curator.answer_columns import list_answer_columns
from sordino.curator.description import Description, TableDescription, read_metadata
from sordino.curator.description_view import list_description
from sordino.curator.questions.sql import SqlQuestion
from sordino.server.identity import Identity
from sordino.server.postgres.catalogue import Catalogue
from sordino.server.postgres.session_settings import SessionSettings, read_price
from sordino.server.postgres.statements import Parsed, read_comment
from sordino.server.postgres.values import OF_KIND, TEXT, WireColumn
from sordino.server.service import Service

Found = TypeVar("Found")


@dataclass(frozen=True, slots=True)
class Result:
    """What one statement gives: rows with their columns, or only a word that says what was done."""

    tag: str
    columns: tuple[WireColumn, ...] | None = None
    rows: list[tuple[Any, ...]] = field(default_factory=list)
    notices: tuple[str, ...] = ()


@dataclass(slots=True)
class Answering:
    """The statements of one connection."""

    service: Service
    catalogue: Catalogue
    identity: Identity
    settings: SessionSettings

    async def describe(self, statement: Parsed) -> tuple[WireColumn, ...] | None:
        """The columns that a statement will have; None where it has no rows. Nothing is paid."""
        if statement.kind == "private":
            return await self._free("describe", lambda: self._private_columns(statement))
        if statement.kind == "catalogue":
            async with self.catalogue.turn:
                return await self._free("describe", lambda: self.catalogue.describe(statement.sql))
        if statement.kind == "explain":
            return (WireColumn("QUERY PLAN", TEXT),)
        if statement.kind in ("describe", "show"):
            result = await self.execute(statement)
            return result.columns
        return None

    async def execute(self, statement: Parsed) -> Result:
        """What a statement gives."""
        sql = statement.sql
        if statement.kind == "private":
            return await self._ask(statement)
        if statement.kind == "catalogue":
            async with self.catalogue.turn:
                columns, rows = await self._free(
                    "catalogue", lambda: self.catalogue.ask(sql, self.identity.name)
                )
            return Result(f"SELECT {len(rows)}", columns, rows)
        if statement.kind == "explain":
            return await self._free("preview", lambda: self._preview(statement))
        if statement.kind == "describe":
            return await self._free("tables", lambda: self._metadata(sql))
        if statement.kind == "show":
            name, value = self.settings.show(sql)
            return Result("SHOW", (WireColumn(name, TEXT),), [(value,)])
        if statement.kind == "set":
            self.settings.execute(sql)
            return Result("SET")
        if statement.kind == "reset":
            self.settings.reset(sql)
            return Result("RESET")
        return Result(statement.word or "OK")

    async def _free(self, act: str, work: Callable[[], Found]) -> Found:
        return await self.service.ask(self.identity, "pgwire", act, work)

    async def _ask(self, statement: Parsed) -> Result:
        sql, options = statement.sql, self._options(statement)

        def answered() -> Result:
            session = self.service.session(self.identity)
            columns = self._private_columns(statement)
            release = session.query(sql, **options)
            return _tabulate(release, columns, str(session.budget()))

        given = {"sql": sql} | options
        result: Result = await self.service.ask(
            self.identity, "pgwire", "query", answered, paid=True, **given
        )
        return result

    def _options(self, statement: Parsed) -> dict[str, Any]:
        """The price of a statement: its own comment, else the connection's settings, else the server's default."""
        found = dict(self.settings.price)
        for name, value in read_comment(statement.sent).items():
            found[name] = read_price(name, value)
            if name in ("epsilon", "rho"):
                found.pop("rho" if name == "epsilon" else "epsilon", None)
        if "epsilon" not in found and "rho" not in found:
            if self.service.settings.epsilon is None:
                raise ParameterError(
                    "say what the question may cost: SET sordino.epsilon = 0.1; or in the statement, "
                    "/* sordino: epsilon = 0.1 */"
                )
            found["epsilon"] = float(self.service.settings.epsilon)
        return found

    def _private_columns(self, statement: Parsed) -> tuple[WireColumn, ...]:
        options = {name: value for name, value in self._options(statement).items() if name != "reuse"}
        quote = quote_question(self.service.curator.data, SqlQuestion(statement.sql, options))
        return tuple(
            WireColumn(column.name, OF_KIND[column.kind]) for column in list_answer_columns(quote.plan)
        )

    def _preview(self, statement: Parsed) -> Result:
        names = ("epsilon", "delta", "rho", "mechanism", "noise", "error_share")
        options = {name: value for name, value in self._options(statement).items() if name in names}
        preview = self.service.session(self.identity).preview(statement.inner, **options)
        lines = [(line,) for line in str(preview).split("\n")]
        return Result("EXPLAIN", (WireColumn("QUERY PLAN", TEXT),), lines)

    def _metadata(self, sql: str) -> Result:
        describe = read_metadata(sql)
        if describe is None:
            raise ParameterError("write SHOW TABLES, DESCRIBE, or DESCRIBE and the name of a table")
        found = describe(self.service.curator.data, self.identity.name)
        tables = [found] if isinstance(found, TableDescription) else list(_tables(found))
        listed = list_description(tables)
        columns = tuple(WireColumn(name, TEXT) for name in listed)
        rows = [
            tuple(None if cell is None else str(cell) for cell in row)
            for row in zip(*listed.values(), strict=True)
        ]
        return Result(f"SELECT {len(rows)}", columns, rows)


def _tables(description: Description) -> tuple[TableDescription, ...]:
    return description.tables


def _tabulate(release: Release, columns: tuple[WireColumn, ...], left: str) -> Result:
    """Rows by the columns that were described, and what the answer cost and means."""
    value = release.value.tolist() if hasattr(release.value, "tolist") else release.value
    rows = (
        [tuple(row[column.name] for column in columns) for row in value]
        if isinstance(value, list)
        else [(value,)]
    )
    notices = (f"paid: {release.guarantee}", *list_meanings(release), *release.notes, f"left: {left}")
    return Result(f"SELECT {len(rows)}", columns, rows, notices)
