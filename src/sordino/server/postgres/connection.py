"""One connection: start-up, SCRAM, then messages one after the other until it ends."""

from __future__ import annotations

import asyncio
import logging
import ssl
import struct
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Any

from sqlglot.dialects import Postgres

from sordino.core import SordinoError
from sordino.core.errors import UnknownTokenError
from sordino.sampling.source import random_bytes
from sordino.server import scram
from sordino.server.identity import Identity
from sordino.server.log import log
from sordino.server.postgres import frames
from sordino.server.postgres.answering import Answering, Result
from sordino.server.postgres.catalogue import Catalogue
from sordino.server.postgres.frames import FrameError, MessageBody, frame, text
from sordino.server.postgres.parameters import (
    DialectName,
    FilledStatement,
    count_parameters,
    fill_parameters,
    write_parameter,
)
from sordino.server.postgres.session_settings import DEFAULTS, SessionSettings
from sordino.server.postgres.sqlstate import state_error, write_error, write_notice
from sordino.server.postgres.statements import Parsed, sort_statement, split_statements
from sordino.server.postgres.values import (
    BOOL,
    BPCHAR,
    DATE,
    NAME,
    TEXT,
    TIMESTAMP,
    TIMESTAMPTZ,
    UNKNOWN,
    VARCHAR,
    WireColumn,
    decode,
    encode,
)
from sordino.server.service import Service
from sordino.server.settings import LARGEST_REQUEST

_MOST_STATEMENTS = 500  # prepared, or portals, of one connection; each is at most as long as a question
_FIRST_MESSAGES = 10_000  # bytes of one message of somebody who is not known yet
_TOLD = ("server_version", "server_encoding", "client_encoding", "datestyle", "timezone", "integer_datetimes",
         "standard_conforming_strings", "intervalstyle", "is_superuser")  # fmt: skip
_SPELLED = {"datestyle": "DateStyle", "timezone": "TimeZone", "intervalstyle": "IntervalStyle"}


class Ended(Exception):  # noqa: N818
    """The client has gone, or must."""


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
        self._reader, self._writer = reader, writer
        self._patience = service.settings.patience
        self._dialect: DialectName = service.curator.data.engine.dialect
        self._tables: Collection[str] = {name.lower() for name in service.curator.policy.tables}
        self._settings = SessionSettings()
        self._prepared: dict[str, PreparedStatement] = {}
        self._portals: dict[str, Portal] = {}
        self._state = b"I"
        self._skipping = False
        self._look_at(FilledStatement(""))
        peer = writer.get_extra_info("peername")
        self._address = str(peer[0]) if isinstance(peer, tuple) else "local"

    async def run(self) -> None:
        """All of it; nothing is raised."""
        try:
            identity = await asyncio.wait_for(self._start(), self._patience)
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
            with suppress(Exception):
                self._writer.close()
                await asyncio.wait_for(self._writer.wait_closed(), 5)
            self._writer.transport.abort()  # who does not take what was sent does not keep the connection

    async def _bid_farewell(self, error: BaseException) -> None:
        with suppress(ConnectionError, TimeoutError, ssl.SSLError):
            await self._send(write_error(error, fatal=True))

    # -- start-up --------------------------------------------------------------------------------------------------

    async def _start(self) -> Identity:
        for _ in range(3):  # a client may ask for GSS, then for TLS, then begin
            (length,) = struct.unpack("!i", await self._reader.readexactly(4))
            if not 8 <= length <= _FIRST_MESSAGES:
                raise FrameError("the first message has a wrong length")
            body = MessageBody(await self._reader.readexactly(length - 4))
            version = body.int32()
            if version == frames.CANCEL_REQUEST:
                raise Ended  # what is under way was paid for, and ends as it ends
            if version in (frames.SSL_REQUEST, frames.GSS_REQUEST):
                await self._answer_encryption(version)
                continue
            if version >> 16 != 3:
                raise state_error(
                    "0A000", f"protocol {version >> 16}.{version & 0xFFFF} is not spoken here: 3.0 is"
                )
            return await self._authenticate(_read_pairs(body), version & 0xFFFF)
        raise FrameError("a connection begins with at most two requests for encryption")

    async def _answer_encryption(self, version: int) -> None:
        if version == frames.SSL_REQUEST and self._tls is not None:
            # Nothing is read between our yes and the handshake: what came in the clear would be lost or, worse, heard.
            transport: Any = self._writer.transport
            transport.pause_reading()
            if getattr(self._reader, "_buffer", b""):
                raise FrameError("nothing may follow a request for encryption before it was answered")
            self._writer.write(b"S")
            await self._writer.start_tls(self._tls)
            return
        await self._send(b"N")

    async def _authenticate(self, pairs: dict[str, str], minor: int) -> Identity:
        if self._tls is not None and self._writer.get_extra_info("ssl_object") is None:
            raise state_error("28000", "this server takes encrypted connections only: sslmode=require")
        if minor:
            await self._send(frame(b"v", struct.pack("!ii", 3 << 16, 0)))
        name = pairs.get("user", "")
        if not name:
            raise state_error("28000", "no user was named")
        for setting, value in _read_options(pairs).items():
            self._settings.set(setting, value)
        await self._send(frame(b"R", struct.pack("!i", 10) + text(scram.MECHANISM) + b"\0"))
        body = await self._password_message()
        mechanism, first = body.text(), body.value()
        if mechanism != scram.MECHANISM or first is None:
            raise FrameError(f"{scram.MECHANISM} is the way to log in")
        try:
            exchange = scram.begin(first, self._service.tokens.salt(name))
            await self._send(frame(b"R", struct.pack("!i", 11) + exchange.answer.encode()))
            proof = (await self._password_message()).content
            known = (
                self._service.tokens.verifiers(name)
                if self._service.attempts.open_for(self._address, name)
                else []
            )
            place, signature = scram.finish(exchange, proof, [keys for _, keys in known])
        except scram.ScramError:
            await self._service.reject(self._address, name, "pgwire")
            raise UnknownTokenError from None
        await self._service.write_down("login", protocol="pgwire", analyst=name, token=known[place][0].token)
        await self._send(
            frame(b"R", struct.pack("!i", 12) + signature.encode()) + frame(b"R", struct.pack("!i", 0))
        )
        return known[place][0]

    async def _password_message(self) -> MessageBody:
        letter, body = await self._read(_FIRST_MESSAGES)
        if letter != b"p":
            raise FrameError("a password message was expected")
        return body

    async def _welcome(self) -> None:
        told = b"".join(
            frames.parameter_status(_SPELLED.get(name, name), self._settings.others.get(name, DEFAULTS[name]))
            for name in _TOLD
        )
        key = frame(b"K", random_bytes(8))
        await self._send(told + key + self._ready())

    # -- messages --------------------------------------------------------------------------------------------------

    async def _take_message(self) -> None:
        letter, body = await self._read()
        if letter == b"X":
            raise Ended
        if letter == b"S":
            self._skipping = False
            await self._send(self._ready())
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
                    await self._send(frame(b"I"))
                    continue
                result = await self._carry_out(statement)
                if statement.kind == "copy":
                    await self._send_copy(result, statement.binary)
                    continue
                answer = b"".join(map(write_notice, result.notices))
                if result.columns is not None:
                    answer += frames.row_description([column.described(0) for column in result.columns])
                    answer += _write_rows(result.columns, result.rows, [0])
                await self._send(answer + frame(b"C", text(result.tag)))
            except (SordinoError, FrameError) as error:
                await self._fail(error, part, FilledStatement(part, ((0, start),)))
                break
        await self._send(self._ready())

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
        await self._send(frame(b"1"))

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
            decode(value, oid, _pick(formats, place))
            for place, (value, oid) in enumerate(zip(values, prepared.oids, strict=True))
        ]
        statement, filled = self._fill(prepared.sql, decoded)
        self._portals[name] = Portal(statement, filled, results)
        await self._send(frame(b"2"))

    async def _describe(self, body: MessageBody) -> None:
        kind, name = body.take(1), body.text()
        if kind == b"S":
            prepared = self._find(name)
            await self._send(frames.parameter_description(prepared.oids))
            statement, filled = self._fill(prepared.sql, [_example(oid) for oid in prepared.oids])
            self._look_at(filled)
            columns, formats = await self._answering.describe(statement), [0]
        elif kind == b"P":
            portal = self._find_portal(name)
            self._look_at(portal.filled)
            columns, formats = await self._answering.describe(portal.statement), portal.formats
        else:
            raise FrameError("a description is of a statement or of a portal")
        if columns is None:
            await self._send(frame(b"n"))
            return
        await self._send(
            frames.row_description(
                [column.described(_pick(formats, place)) for place, column in enumerate(columns)]
            )
        )

    async def _execute(self, body: MessageBody) -> None:
        name, most = body.text(), body.int32()
        body.end()
        portal = self._find_portal(name)
        self._look_at(portal.filled)
        if portal.statement.kind == "empty":
            await self._send(frame(b"I"))
            return
        if portal.result is None:
            portal.result = await self._carry_out(portal.statement)
            await self._send(b"".join(map(write_notice, portal.result.notices)))
        result = portal.result
        if portal.statement.kind == "copy":
            await self._send_copy(result, portal.statement.binary)
            return
        if result.columns is None:
            await self._send(frame(b"C", text(result.tag)))
            return
        end = len(result.rows) if most <= 0 else min(len(result.rows), portal.sent + most)
        rows = result.rows[portal.sent : end]
        portal.sent = end
        done = end == len(result.rows)
        await self._send(
            _write_rows(result.columns, rows, portal.formats)
            + (frame(b"C", text(f"SELECT {len(rows)}")) if done else frame(b"s"))
        )

    async def _close(self, body: MessageBody) -> None:
        kind, name = body.take(1), body.text()
        (self._prepared if kind == b"S" else self._portals).pop(name, None)
        await self._send(frame(b"3"))

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
        await self._send(write_error(error, sql, origin.origin))
        if isinstance(error, UnknownTokenError):  # the token was revoked while the connection was open
            raise Ended

    # -- bytes -----------------------------------------------------------------------------------------------------

    async def _send_copy(self, result: Result, binary: bool) -> None:
        columns = result.columns or ()
        parts = [b"".join(map(write_notice, result.notices)), frames.copy_out(len(columns), binary)]
        rows = [_copy_row(columns, row, binary) for row in result.rows]
        if binary:
            rows.append(struct.pack("!h", -1))
            rows[0] = (
                b"PGCOPY\n\xff\r\n\0" + struct.pack("!ii", 0, 0) + rows[0]
            )  # some clients want them together
        parts += [frame(b"d", row) for row in rows]
        await self._send(b"".join([*parts, frame(b"c"), frame(b"C", text(f"COPY {len(result.rows)}"))]))

    async def _read(self, most: int = LARGEST_REQUEST) -> tuple[bytes, MessageBody]:
        letter = await self._reader.readexactly(1)
        (length,) = struct.unpack("!i", await self._reader.readexactly(4))
        if not 4 <= length <= most:
            raise FrameError(f"a message may hold {most} bytes at most")
        content = await asyncio.wait_for(self._reader.readexactly(length - 4), self._patience)
        return letter, MessageBody(content)

    async def _send(self, content: bytes) -> None:
        self._writer.write(content)
        await asyncio.wait_for(self._writer.drain(), self._patience)

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


def _read_pairs(body: MessageBody) -> dict[str, str]:
    pairs: dict[str, str] = {}
    while body.place < len(body.content) - 1:
        name = body.text()
        pairs[name] = body.text()
    return pairs


def _read_options(pairs: dict[str, str]) -> dict[str, str]:
    """Settings of the start-up message, and those of its ``options``: ``-c sordino.epsilon=0.1``."""
    settings = {
        name: value
        for name, value in pairs.items()
        if name not in ("user", "database", "options", "replication")
    }
    words = pairs.get("options", "").replace("\\ ", "\0").split()
    for place, word in enumerate(words):
        given = words[place + 1] if word == "-c" and place + 1 < len(words) else word.removeprefix("-c")
        given = given.removeprefix("--").replace("\0", " ")
        name, equals, value = given.partition("=")
        if word.startswith("-") and equals:
            settings[name] = value
    return {name: value for name, value in settings.items() if not name.startswith("_pq_.")}


def _write_rows(columns: tuple[WireColumn, ...], rows: list[tuple[Any, ...]], formats: list[int]) -> bytes:
    codes = [_pick(formats, place) for place in range(len(columns))]
    return b"".join(
        frames.data_row(
            [encode(value, column.oid, code) for value, column, code in zip(row, columns, codes, strict=True)]
        )
        for row in rows
    )


def _copy_row(columns: tuple[WireColumn, ...], row: tuple[Any, ...], binary: bool) -> bytes:
    values = [encode(value, column.oid, int(binary)) for value, column in zip(row, columns, strict=True)]
    if binary:
        cells = [
            b"\xff\xff\xff\xff" if value is None else struct.pack("!i", len(value)) + value
            for value in values
        ]
        return struct.pack("!h", len(values)) + b"".join(cells)
    return b"\t".join(rb"\N" if value is None else _escaped(value) for value in values) + b"\n"


def _escaped(value: bytes) -> bytes:
    for plain, written in ((b"\\", b"\\\\"), (b"\t", rb"\t"), (b"\n", rb"\n"), (b"\r", rb"\r")):
        value = value.replace(plain, written)
    return value


def _pick(formats: list[int], place: int) -> int:
    """One format for all, one for each, or text."""
    if not formats:
        return 0
    return formats[0] if len(formats) == 1 else formats[place] if place < len(formats) else 0


def _example(oid: int) -> Any:
    """A value of a type, for a description before values are known."""
    if oid in (TEXT, UNKNOWN, BPCHAR, VARCHAR, NAME):
        return ""
    if oid == BOOL:
        return True
    if oid == DATE:
        return date(2000, 1, 1)
    return datetime(2000, 1, 1) if oid in (TIMESTAMP, TIMESTAMPTZ) else 1
