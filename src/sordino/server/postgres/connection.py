"""One connection: after its start, messages one after the other until it ends."""

from __future__ import annotations

import asyncio
import logging
import ssl
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from sqlglot.dialects import Postgres

from sordino.core import SordinoError
from sordino.core.errors import UnknownTokenError
from sordino.sampling.source import random_bytes
from sordino.server.log import log
from sordino.server.postgres import frames
from sordino.server.postgres.answering import Answering, Result
from sordino.server.postgres.catalogue import Catalogue
from sordino.server.postgres.channel import Channel, Ended
from sordino.server.postgres.frames import FrameError, MessageBody, frame, text
from sordino.server.postgres.parameters import (
    DialectName,
    FilledStatement,
    count_parameters,
    fill_parameters,
    write_parameter,
)
from sordino.server.postgres.rows import example, pick_format, write_copy, write_rows
from sordino.server.postgres.session_settings import DEFAULTS, SessionSettings
from sordino.server.postgres.sqlstate import state_error, write_error, write_notice
from sordino.server.postgres.startup import start_connection
from sordino.server.postgres.statements import Parsed, sort_statement, split_statements
from sordino.server.postgres.values import UNKNOWN, decode
from sordino.server.service import Service

_MOST_STATEMENTS = 500  # prepared, or portals, of one connection; each is at most as long as a question
_MOST_HELD = 10  # portals of one connection with rows that are still to be sent
_TOLD = ("server_version", "server_encoding", "client_encoding", "datestyle", "timezone", "integer_datetimes",
         "standard_conforming_strings", "intervalstyle", "is_superuser")  # fmt: skip
_SPELLED = {"datestyle": "DateStyle", "timezone": "TimeZone", "intervalstyle": "IntervalStyle"}


@dataclass(slots=True)
class PreparedStatement:
    """A statement that was parsed, with the types of its parameters."""

    sql: str
    oids: list[int]


@dataclass(slots=True)
class Portal:
    """A prepared statement with its values, and what is left to send of its rows."""

    statement: Parsed
    filled: FilledStatement
    formats: list[int]
    result: Result | None = None
    sent: int = 0


class WireConnection:
    """The protocol's state: who it is, what is prepared, and whether a transaction has failed."""

    def __init__(
        self,
        service: Service,
        catalogue: Catalogue,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        tls: ssl.SSLContext | None,
    ) -> None:
        self._service, self._catalogue, self._tls = service, catalogue, tls
        self._channel = Channel(reader, writer, service.settings.patience)
        self._dialect: DialectName = service.curator.data.engine.dialect
        self._tables: Collection[str] = {name.lower() for name in service.curator.policy.tables}
        self._settings = SessionSettings()
        self._prepared: dict[str, PreparedStatement] = {}
        self._portals: dict[str, Portal] = {}
        self._state = b"I"
        self._skipping = False
        self._look_at(FilledStatement(""))

    async def run(self) -> None:
        """All of it; nothing is raised."""
        try:
            beginning = start_connection(self._channel, self._service, self._tls, self._settings)
            identity = await asyncio.wait_for(beginning, self._service.settings.patience)
            self._answering = Answering(self._service, self._catalogue, identity, self._settings)
            await self._welcome()
            while True:
                await self._take_message()
        except (Ended, ConnectionError, TimeoutError, asyncio.IncompleteReadError, ssl.SSLError):
            pass
        except FrameError as error:
            await self._bid_farewell(error)
        except SordinoError as error:
            await self._bid_farewell(error)
        except Exception as error:
            log("defect", level=logging.ERROR, protocol="pgwire", kind=type(error).__name__)
            await self._bid_farewell(error)
        finally:
            await self._channel.close()

    async def _bid_farewell(self, error: BaseException) -> None:
        with suppress(ConnectionError, TimeoutError, ssl.SSLError):
            await self._channel.send(write_error(error, fatal=True))

    async def _welcome(self) -> None:
        told = b"".join(
            frames.parameter_status(_SPELLED.get(name, name), self._settings.others.get(name, DEFAULTS[name]))
            for name in _TOLD
        )
        key = frame(b"K", random_bytes(8))
        await self._channel.send(told + key + self._ready())

    # -- messages --------------------------------------------------------------------------------------------------

    async def _take_message(self) -> None:
        letter, body = await self._channel.read()
        if letter == b"X":
            raise Ended
        if letter == b"S":
            self._skipping = False
            if self._state == b"I":  # portals live as long as their transaction
                self._portals.clear()
            await self._channel.send(self._ready())
            return
        if letter == b"H" or self._skipping:
            return
        if letter == b"Q":
            await self._simple(body)
            return
        handler = {
            b"P": self._parse, b"B": self._bind, b"D": self._describe, b"E": self._execute, b"C": self._close,
        }.get(letter)  # fmt: skip
        if handler is None:
            if letter in (b"d", b"c", b"f"):
                return  # copies into the database are not asked for; what still arrives of one is dropped
            raise FrameError(f"there is no message {letter!r}")
        try:
            await handler(body)
        except (SordinoError, FrameError) as error:
            await self._fail(error, self._asked, self._origin)
            self._skipping = True

    async def _simple(self, body: MessageBody) -> None:
        sql = body.text()
        body.end()
        for start, part in split_statements(sql):
            try:
                statement = sort_statement(part, self._tables)
                if statement.kind == "empty":
                    await self._channel.send(frame(b"I"))
                    continue
                result = await self._carry_out(statement)
                if statement.kind == "copy":
                    await self._send_copy(result, statement.binary)
                    continue
                answer = b"".join(map(write_notice, result.notices))
                if result.columns is not None:
                    answer += frames.row_description([column.described(0) for column in result.columns])
                    answer += write_rows(result.columns, result.rows, [0])
                await self._channel.send(answer + frame(b"C", text(result.tag)))
            except (SordinoError, FrameError) as error:
                await self._fail(error, part, FilledStatement(part, ((0, start),)))
                break
        await self._channel.send(self._ready())

    async def _parse(self, body: MessageBody) -> None:
        name, sql = body.text(), body.text()
        oids = [body.int32() for _ in range(body.count())]
        body.end()
        self._look_at(FilledStatement(sql))
        if name and name in self._prepared:
            raise state_error("42P05", f"prepared statement {name!r} already exists")
        if len(self._prepared) >= _MOST_STATEMENTS:
            raise state_error("53000", "too many prepared statements on one connection")
        statement = sort_statement(sql, self._tables)
        if len(split_statements(sql)) > 1:
            raise state_error("42601", "cannot insert multiple commands into a prepared statement")
        count = max(len(oids), count_parameters(*self._parametrized(statement)))
        known = [oid or UNKNOWN for oid in oids] + [UNKNOWN] * (count - len(oids))
        self._prepared[name] = PreparedStatement(sql, self._catalogue.guess_types(sql, known))
        await self._channel.send(frame(b"1"))

    async def _bind(self, body: MessageBody) -> None:
        name, prepared = body.text(), self._find(body.text())
        self._look_at(FilledStatement(prepared.sql))
        formats = [body.int16() for _ in range(body.count())]
        values = [body.value() for _ in range(body.count())]
        results = [body.int16() for _ in range(body.count())]
        body.end()
        if len(values) != len(prepared.oids):
            raise state_error("08P01", f"{len(prepared.oids)} values are needed, got {len(values)}")
        if any(code not in (0, 1) for code in (*formats, *results)):
            raise FrameError("a format is 0 (text) or 1 (binary)")
        if len(self._portals) >= _MOST_STATEMENTS:
            raise state_error("53000", "too many portals on one connection")
        decoded = [
            decode(value, oid, pick_format(formats, place))
            for place, (value, oid) in enumerate(zip(values, prepared.oids, strict=True))
        ]
        statement, filled = self._fill(prepared.sql, decoded)
        self._portals[name] = Portal(statement, filled, results)
        await self._channel.send(frame(b"2"))

    async def _describe(self, body: MessageBody) -> None:
        kind, name = body.take(1), body.text()
        if kind == b"S":
            prepared = self._find(name)
            await self._channel.send(frames.parameter_description(prepared.oids))
            statement, filled = self._fill(prepared.sql, [example(oid) for oid in prepared.oids])
            self._look_at(filled)
            columns, formats = await self._answering.describe(statement), [0]
        elif kind == b"P":
            portal = self._find_portal(name)
            self._look_at(portal.filled)
            columns, formats = await self._answering.describe(portal.statement), portal.formats
        else:
            raise FrameError("a description is of a statement or of a portal")
        if columns is None:
            await self._channel.send(frame(b"n"))
            return
        await self._channel.send(
            frames.row_description(
                [column.described(pick_format(formats, place)) for place, column in enumerate(columns)]
            )
        )

    async def _execute(self, body: MessageBody) -> None:
        name, most = body.text(), body.int32()
        body.end()
        portal = self._find_portal(name)
        self._look_at(portal.filled)
        if portal.statement.kind == "empty":
            await self._channel.send(frame(b"I"))
            return
        if portal.result is None:
            held = sum(one.result is not None and bool(one.result.rows) for one in self._portals.values())
            if held >= _MOST_HELD:
                raise state_error(
                    "53000", "too many portals whose rows were not all taken, on one connection"
                )
            portal.result = await self._carry_out(portal.statement)
            await self._channel.send(b"".join(map(write_notice, portal.result.notices)))
        result = portal.result
        if portal.statement.kind == "copy":
            await self._send_copy(result, portal.statement.binary)
            return
        if result.columns is None:
            await self._channel.send(frame(b"C", text(result.tag)))
            return
        end = len(result.rows) if most <= 0 else min(len(result.rows), portal.sent + most)
        rows = result.rows[portal.sent : end]
        done = end == len(result.rows)
        portal.sent = 0 if done else end
        if done:
            result.rows.clear()  # nobody fetches them again
        await self._channel.send(
            write_rows(result.columns, rows, portal.formats)
            + (frame(b"C", text(f"SELECT {len(rows)}")) if done else frame(b"s"))
        )

    async def _close(self, body: MessageBody) -> None:
        kind, name = body.take(1), body.text()
        (self._prepared if kind == b"S" else self._portals).pop(name, None)
        await self._channel.send(frame(b"3"))

    async def _carry_out(self, statement: Parsed) -> Result:
        if statement.kind == "transaction":
            return self._transact(statement.word)
        if self._state == b"E":
            raise state_error(
                "25P02", "current transaction is aborted, commands ignored until end of transaction block"
            )
        if statement.kind == "copy":
            inner = replace(sort_statement(statement.inner, self._tables), sent=statement.sent)
            return await self._answering.execute(inner)
        return await self._answering.execute(statement)

    def _transact(self, word: str) -> Result:
        """Transactions are words here: nothing is written, and what was paid stays paid."""
        if word in ("BEGIN", "START"):
            self._state = self._state if self._state == b"E" else b"T"
            return Result("BEGIN")
        if word in ("SAVEPOINT", "RELEASE"):
            return Result(word)
        failed, self._state = self._state == b"E", b"I"
        self._portals.clear()
        return Result("ROLLBACK" if failed or word in ("ROLLBACK", "ABORT") else "COMMIT")

    def _parametrized(self, statement: Parsed) -> tuple[str, DialectName]:
        """The part of a statement that may have parameters, and by whose words it is read."""
        return statement.inner or statement.sql, Postgres if statement.kind == "catalogue" else self._dialect

    def _fill(self, sql: str, values: list[Any]) -> tuple[Parsed, FilledStatement]:
        statement = sort_statement(sql, self._tables)
        text_of, dialect = self._parametrized(statement)
        filled = fill_parameters(text_of, [write_parameter(value, dialect) for value in values], dialect)
        if statement.inner:
            return replace(statement, inner=filled.sql), filled
        return replace(statement, sql=filled.sql), filled

    def _look_at(self, filled: FilledStatement) -> None:
        """Errors are about this statement."""
        self._asked, self._origin = filled.sql, filled

    async def _fail(self, error: BaseException, sql: str, origin: FilledStatement) -> None:
        if self._state == b"T":
            self._state = b"E"
        await self._channel.send(write_error(error, sql, origin.origin))
        if isinstance(error, UnknownTokenError):  # the token was revoked while the connection was open
            raise Ended

    # -- bytes -----------------------------------------------------------------------------------------------------

    async def _send_copy(self, result: Result, binary: bool) -> None:
        notices = b"".join(map(write_notice, result.notices))
        copied = write_copy(result.columns or (), result.rows, binary)
        await self._channel.send(notices + copied + frame(b"C", text(f"COPY {len(result.rows)}")))

    def _ready(self) -> bytes:
        return frame(b"Z", self._state)

    def _find(self, name: str) -> PreparedStatement:
        if name not in self._prepared:
            raise state_error("26000", f"prepared statement {name!r} does not exist")
        return self._prepared[name]

    def _find_portal(self, name: str) -> Portal:
        if name not in self._portals:
            raise state_error("34000", f"portal {name!r} does not exist")
        return self._portals[name]
