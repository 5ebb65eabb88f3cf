"""Messages of Flight SQL that are spoken here, by their numbers in the protocol's definition."""

from __future__ import annotations

from typing import Any

from google.protobuf import any_pb2, descriptor_pb2, descriptor_pool, message_factory

_PACKAGE = "arrow.flight.protocol.sql"
_TEXT, _BYTES, _BOOL, _NUMBER = 9, 12, 8, 13
_REPEATED = 3

# Message: field name, number, type, whether repeated.
_MESSAGES: dict[str, list[tuple[str, int, int, bool]]] = {
    "CommandStatementQuery": [("query", 1, _TEXT, False), ("transaction_id", 2, _BYTES, False)],
    "TicketStatementQuery": [("statement_handle", 1, _BYTES, False)],
    "CommandPreparedStatementQuery": [("prepared_statement_handle", 1, _BYTES, False)],
    "ActionCreatePreparedStatementRequest": [
        ("query", 1, _TEXT, False),
        ("transaction_id", 2, _BYTES, False),
    ],
    "ActionCreatePreparedStatementResult": [
        ("prepared_statement_handle", 1, _BYTES, False),
        ("dataset_schema", 2, _BYTES, False),
        ("parameter_schema", 3, _BYTES, False),
    ],
    "ActionClosePreparedStatementRequest": [("prepared_statement_handle", 1, _BYTES, False)],
    "CommandGetSqlInfo": [("info", 1, _NUMBER, True)],
    "CommandGetCatalogs": [],
    "CommandGetDbSchemas": [("catalog", 1, _TEXT, False), ("db_schema_filter_pattern", 2, _TEXT, False)],
    "CommandGetTableTypes": [],
    "CommandGetTables": [
        ("catalog", 1, _TEXT, False),
        ("db_schema_filter_pattern", 2, _TEXT, False),
        ("table_name_filter_pattern", 3, _TEXT, False),
        ("table_types", 4, _TEXT, True),
        ("include_schema", 5, _BOOL, False),
    ],
}


def _define() -> dict[str, Any]:
    file = descriptor_pb2.FileDescriptorProto(
        name="sordino/flight_sql.proto", package=_PACKAGE, syntax="proto3"
    )
    for name, content in _MESSAGES.items():
        message = file.message_type.add(name=name)
        for field, number, kind, repeated in content:
            message.field.add(name=field, number=number, type=kind, label=_REPEATED if repeated else 1)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return {
        name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{_PACKAGE}.{name}"))
        for name in _MESSAGES
    }


_CLASSES = _define()


def make(kind: str, **content: Any) -> Any:
    """A message of a kind."""
    return _CLASSES[kind](**content)


def envelop(message: Any) -> bytes:
    """A message in the envelope that says its kind."""
    envelope = any_pb2.Any()
    envelope.Pack(message)
    return bytes(envelope.SerializeToString())


def open_envelope(content: bytes) -> tuple[str, Any] | None:
    """The kind of a message and the message; None for what is not spoken here, or no message at all."""
    envelope = any_pb2.Any()
    try:
        envelope.ParseFromString(content)
        kind = envelope.type_url.rpartition("/")[2].removeprefix(f"{_PACKAGE}.")
        if kind not in _CLASSES:
            return None
        return kind, _CLASSES[kind].FromString(envelope.value)
    except Exception:  # whatever a parser says of bytes that a stranger sent
        return None
