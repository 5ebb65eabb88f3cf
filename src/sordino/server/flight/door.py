"""The door of Flight SQL: a gRPC server in threads of its own, over the same service."""

from __future__ import annotations

import asyncio
import base64
import logging
import threading
from collections.abc import AsyncIterator, Callable, Coroutine
from collections.abc import Set as AbstractSet
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import wraps
from typing import Any, TypeVar

import pyarrow as pa
from pyarrow import flight

from sordino.core import ParameterError, SordinoError
from sordino.core.json_form import error_form, json_text
from sordino.curator.answer import quote_question
from sordino.curator.answer_columns import AnswerColumn, list_answer_columns
from sordino.curator.description import describe_data
from sordino.curator.questions.sql import SqlQuestion
from sordino.server.flight.handles import Handles, SentQuestion
from sordino.server.flight.messages import envelop, make, open_envelope
from sordino.server.flight.metadata import CATALOGUE_COMMANDS, answer_metadata
from sordino.server.identity import Identity
from sordino.server.log import log
from sordino.server.postgres.session_settings import NUMBERS, read_price
from sordino.server.service import Service
from sordino.server.settings import LONGEST_STATEMENT

_TYPES = {
    "integer": pa.int64(),
    "number": pa.float64(),
    "text": pa.string(),
    "boolean": pa.bool_(),
    "date": pa.string(),
    "timestamp": pa.string(),
}
_PRICE = (*NUMBERS, "reuse", "non_negative", "mechanism", "noise", "filters")
_KINDS = {
    "unauthenticated": flight.FlightUnauthenticatedError,
    "forbidden": flight.FlightUnauthorizedError,
    "budget": flight.FlightUnauthorizedError,
    "suspended": flight.FlightUnauthorizedError,
    "busy": flight.FlightUnavailableError,
    "engine": flight.FlightUnavailableError,
    "ledger": flight.FlightUnavailableError,
}
_QUERIES = frozenset({"CommandStatementQuery", "CommandPreparedStatementQuery"})
_TICKETS = frozenset({"TicketStatementQuery"})
_ACTIONS = {
    "CreatePreparedStatement": "ActionCreatePreparedStatementRequest",
    "ClosePreparedStatement": "ActionClosePreparedStatementRequest",
}
Found = TypeVar("Found")


def _guarded(method: Callable[..., Found]) -> Callable[..., Found]:
    """Only errors of Flight leave: of all others its library would send the stack."""

    @wraps(method)
    def called(*given: Any) -> Found:
        try:
            return method(*given)
        except flight.FlightError:
            raise
        except Exception as error:
            log("defect", level=logging.ERROR, protocol="flight", kind=type(error).__name__)
        raise flight.FlightInternalError("a defect in the server; its owner finds more in the server's log")

    return called


class _WithoutStack(flight.FlightServerError):  # type: ignore[misc]
    """An error of GetSchema, for which alone Flight's library sends the stack of its own errors too.

    It writes the stack with `traceback`, which asks for the cause first; if that fails, it sends the kind alone.
    """

    @property
    def __cause__(self) -> BaseException | None:
        raise AttributeError


class _Headers(flight.ServerMiddleware):  # type: ignore[misc]
    """What a call says of itself."""

    def __init__(self, given: dict[str, str]) -> None:
        self.given = given


class _Callers(flight.ServerMiddlewareFactory):  # type: ignore[misc]
    @_guarded
    def start_call(self, info: Any, headers: dict[str, list[Any]]) -> _Headers:
        return _Headers({name.lower(): str(values[0]) for name, values in headers.items() if values})


@dataclass(frozen=True, slots=True)
class _Caller:
    """Who calls, and what their questions may cost."""

    identity: Identity
    options: dict[str, Any]


class FlightSqlServer(flight.FlightServerBase):  # type: ignore[misc]
    """Flight SQL as far as queries, prepared queries and catalogues go.

    A question is paid for when its answer is first fetched (DoGet); a ticket that is fetched again gives the same
    answer. Preparing and asking for a schema cost nothing.
    """

    def __init__(self, service: Service, loop: asyncio.AbstractEventLoop) -> None:
        settings = service.settings
        scheme = "grpc+tls" if settings.encrypted else "grpc"
        certificates = None
        if settings.certificate is not None and settings.key is not None:
            certificates = [(settings.certificate.read_bytes(), settings.key.read_bytes())]
        super().__init__(
            f"{scheme}://{settings.host}:{settings.flight_port or 0}",
            tls_certificates=certificates,
            auth_handler=None,
            middleware={"headers": _Callers()},
        )
        self._service, self._loop = service, loop
        self._description = describe_data(service.curator.data)
        # Apart: a prepared question is not pushed out by the tickets of its own executions.
        self._prepared, self._tickets = Handles(), Handles()

    # -- what Flight calls -----------------------------------------------------------------------------------------

    @_guarded
    def get_flight_info(self, context: Any, descriptor: Any) -> Any:
        """Where the answer to a command is, and its schema."""
        caller = self._caller(context)
        kind, command = _command(descriptor.command, _QUERIES | CATALOGUE_COMMANDS)
        if kind == "CommandStatementQuery":
            schema = self._schema(caller, command.query, caller.options)
            ticket = self._ticket(caller, command.query)
        elif kind == "CommandPreparedStatementQuery":
            asked = self._find(self._prepared, caller, command.prepared_statement_handle)
            schema = self._schema(caller, asked.sql, asked.options)
            # Executing a prepared question again asks it again, so every execution has a ticket of its own.
            ticket = self._ticket(caller, asked.sql)
        else:
            schema, ticket = self._metadata(caller, kind, command).schema, descriptor.command
        endpoint = flight.FlightEndpoint(ticket, [])
        return flight.FlightInfo(schema, descriptor, [endpoint], -1, -1)

    @_guarded
    def get_schema(self, context: Any, descriptor: Any) -> Any:
        """The schema of an answer."""
        try:
            return flight.SchemaResult(self.get_flight_info(context, descriptor).schema)
        except flight.FlightError as error:
            told = str(error)
        raise _WithoutStack(told)

    @_guarded
    def do_get(self, context: Any, ticket: Any) -> Any:
        """The answer itself."""
        caller = self._caller(context)
        kind, command = _command(ticket.ticket, _TICKETS | CATALOGUE_COMMANDS)
        if kind == "TicketStatementQuery":
            asked = self._find(self._tickets, caller, command.statement_handle)
            return flight.RecordBatchStream(self._answer(caller, asked))
        return flight.RecordBatchStream(self._metadata(caller, kind, command))

    @_guarded
    def list_actions(self, context: Any) -> list[tuple[str, str]]:
        """What `do_action` does."""
        self._caller(context)
        return [("CreatePreparedStatement", "prepare a question"), ("ClosePreparedStatement", "forget it")]

    @_guarded
    def do_action(self, context: Any, action: Any) -> list[Any]:
        """Prepare a question or forget one."""
        caller = self._caller(context)
        if action.type not in _ACTIONS:
            raise flight.FlightServerError("this action is not done here")
        _, request = _command(action.body.to_pybytes(), {_ACTIONS[action.type]})
        if action.type == "CreatePreparedStatement":
            schema = self._schema(caller, request.query, caller.options)
            asked = SentQuestion(request.query, dict(caller.options))
            handle = self._prepared.keep(caller.identity.token, asked)
            result = make(
                "ActionCreatePreparedStatementResult",
                prepared_statement_handle=handle,
                dataset_schema=schema.serialize().to_pybytes(),
                parameter_schema=pa.schema([]).serialize().to_pybytes(),
            )
            return [flight.Result(envelop(result))]
        self._prepared.forget(caller.identity.token, request.prepared_statement_handle)
        return []

    @_guarded
    def do_put(self, context: Any, *given: Any) -> None:
        """Nothing is written here."""
        self._refuse(context)

    @_guarded
    def do_exchange(self, context: Any, *given: Any) -> None:
        """Nothing is exchanged here."""
        self._refuse(context)

    @_guarded
    def list_flights(self, context: Any, criteria: Any) -> None:
        """Nothing is listed here: Flight SQL has catalogues."""
        self._refuse(context)

    # -- how -------------------------------------------------------------------------------------------------------

    def _caller(self, context: Any) -> _Caller:
        given: dict[str, str] = context.get_middleware("headers").given
        token = _token(given.get("authorization", ""))
        identity = self._wait(self._service.identify(token, _address(context.peer()), "flight"))
        try:
            options = {
                name: read_price(name, given[key]) for name in _PRICE if (key := f"sordino-{name}") in given
            }
        except SordinoError as error:
            raise _translated(error) from None
        return _Caller(identity, options)

    def _refuse(self, context: Any) -> None:
        """To who may ask, a refusal; without it the library would send a stack."""
        self._caller(context)
        raise flight.FlightServerError("this call of Flight is not answered here")

    def _ticket(self, caller: _Caller, sql: str) -> bytes:
        handle = self._tickets.keep(caller.identity.token, SentQuestion(sql, dict(caller.options)))
        return envelop(make("TicketStatementQuery", statement_handle=handle))

    def _find(self, handles: Handles, caller: _Caller, handle: bytes) -> SentQuestion:
        asked = handles.find(caller.identity.token, handle)
        if asked is None:
            raise flight.FlightServerError("there is no such statement of yours")
        return asked

    def _wait(self, work: Coroutine[Any, Any, Found]) -> Found:
        try:
            return asyncio.run_coroutine_threadsafe(work, self._loop).result()
        except SordinoError as error:
            raise _translated(error) from None

    def _free(self, caller: _Caller, act: str, work: Callable[[], Found]) -> Found:
        return self._wait(self._service.ask(caller.identity, "flight", act, work))

    def _schema(self, caller: _Caller, sql: str, options: dict[str, Any]) -> pa.Schema:
        if len(sql) > LONGEST_STATEMENT:
            raise flight.FlightServerError(
                f"the query is {len(sql)} characters long: at most {LONGEST_STATEMENT} are read"
            )
        return self._free(caller, "describe", lambda: _schema_of(self._columns(sql, options)))

    def _columns(self, sql: str, options: dict[str, Any]) -> tuple[AnswerColumn, ...]:
        given = {name: value for name, value in self._priced(options).items() if name != "reuse"}
        quote = quote_question(self._service.curator.data, SqlQuestion(sql, given))
        return list_answer_columns(quote.plan)

    def _priced(self, options: dict[str, Any]) -> dict[str, Any]:
        if "epsilon" in options or "rho" in options:
            return options
        if self._service.settings.epsilon is None:
            raise ParameterError("say what the question may cost: the header sordino-epsilon, such as 0.1")
        return options | {"epsilon": float(self._service.settings.epsilon)}

    def _answer(self, caller: _Caller, asked: SentQuestion) -> pa.Table:
        with asked.turn:  # who fetches a ticket twice at once waits for the one answer
            if asked.answer is None:
                asked.answer = self._pay(caller, asked)
            return asked.answer

    def _pay(self, caller: _Caller, asked: SentQuestion) -> pa.Table:
        def answered() -> pa.Table:
            options = self._priced(asked.options)
            columns = self._columns(asked.sql, asked.options)
            release = self._service.session(caller.identity).query(asked.sql, **options)
            rows = release.value if isinstance(release.value, list) else [{columns[0].name: release.value}]
            schema = _schema_of(columns).with_metadata(
                {"guarantee": str(release.guarantee), "notes": "\n".join(release.notes)}
            )
            arrays = [pa.array([row[item.name] for row in rows], item.type) for item in schema]
            return pa.Table.from_arrays(arrays, schema=schema)

        facts = {"sql": asked.sql} | asked.options
        return self._wait(self._service.ask(caller.identity, "flight", "query", answered, paid=True, **facts))

    def _metadata(self, caller: _Caller, kind: str, command: Any) -> pa.Table:
        return self._free(caller, "tables", lambda: answer_metadata(kind, command, self._description))


@asynccontextmanager
async def flight_door(service: Service) -> AsyncIterator[int]:
    """The port on which calls are taken."""
    server = await asyncio.to_thread(FlightSqlServer, service, asyncio.get_running_loop())
    thread = threading.Thread(target=server.serve, name="flight", daemon=True)
    thread.start()
    try:
        yield int(server.port)
    finally:
        await asyncio.to_thread(server.shutdown)
        await asyncio.to_thread(thread.join, 10)


def _schema_of(columns: tuple[AnswerColumn, ...]) -> pa.Schema:
    return pa.schema([(column.name, _TYPES[column.kind]) for column in columns])


def _command(content: bytes | None, kinds: AbstractSet[str]) -> tuple[str, Any]:
    found = open_envelope(bytes(content or b""))
    if found is None or found[0] not in kinds:
        raise flight.FlightServerError("this command of Flight SQL is not answered here")
    return found


def _address(peer: Any) -> str:
    """Of ``ipv4:127.0.0.1:4711`` the address without the port, so that a new connection is no new stranger."""
    text = peer.decode(errors="replace") if isinstance(peer, bytes) else str(peer)
    return text.rpartition(":")[0] or text


def _token(header: str) -> str:
    """Of ``Bearer TOKEN``, or of ``Basic`` with the token as password."""
    scheme, _, rest = header.partition(" ")
    if scheme.lower() == "basic":
        try:
            return base64.b64decode(rest, validate=True).decode().partition(":")[2]
        except ValueError:
            return ""
    return rest.strip() if scheme.lower() == "bearer" else ""


def _translated(error: SordinoError) -> Exception:
    """The nearest error that Flight knows, with our sentence, and our document beside it."""
    kind: type[Exception] = _KINDS.get(error.code, flight.FlightServerError)
    return kind(str(error), json_text(error_form(error)).encode())
