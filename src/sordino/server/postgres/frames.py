"""Frames of the protocol: a letter, a length and a body. What is malformed raises `FrameError`."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

SSL_REQUEST = 80877103
GSS_REQUEST = 80877104
CANCEL_REQUEST = 80877102


class FrameError(Exception):
    """What came is not of this protocol."""


@dataclass(slots=True)
class MessageBody:
    """The body of a frame, read from its beginning; every reading checks that it is there."""

    content: bytes
    place: int = 0

    def take(self, count: int) -> bytes:
        """So many bytes."""
        if count < 0 or self.place + count > len(self.content):
            raise FrameError("a message ends too early")
        self.place += count
        return self.content[self.place - count : self.place]

    def int16(self) -> int:
        """A signed number of two bytes."""
        return int(struct.unpack("!h", self.take(2))[0])

    def int32(self) -> int:
        """A signed number of four bytes."""
        return int(struct.unpack("!i", self.take(4))[0])

    def count(self) -> int:
        """How many of something follow."""
        number = self.int16() & 0xFFFF
        if number > len(self.content):
            raise FrameError("a message counts more than it holds")
        return number

    def text(self) -> str:
        """Up to the next zero byte, in UTF-8."""
        end = self.content.find(b"\0", self.place)
        if end < 0:
            raise FrameError("a text in a message has no end")
        raw = self.take(end - self.place)
        self.place += 1
        try:
            return raw.decode("utf-8")
        except UnicodeDecodeError:
            raise FrameError("a text in a message is not UTF-8") from None

    def value(self) -> bytes | None:
        """A value with its length, or NULL."""
        length = self.int32()
        return None if length == -1 else self.take(length)

    def end(self) -> None:
        """Nothing may follow."""
        if self.place != len(self.content):
            raise FrameError("a message is longer than it says")


def frame(letter: bytes, body: bytes = b"") -> bytes:
    """One message."""
    return letter + struct.pack("!i", len(body) + 4) + body


def text(value: str) -> bytes:
    """A text and its zero byte; a text cannot hold one."""
    return value.replace("\0", "").encode("utf-8", errors="replace") + b"\0"


def fields(letter: bytes, content: Mapping[str, str]) -> bytes:
    """An error or a notice: letters with texts."""
    return frame(letter, b"".join(name.encode() + text(value) for name, value in content.items()) + b"\0")


def parameter_status(name: str, value: str) -> bytes:
    """What a client shall know of the session."""
    return frame(b"S", text(name) + text(value))


def row_description(columns: Sequence[tuple[str, int, int, int]]) -> bytes:
    """Columns as name, type, length and format."""
    body = struct.pack("!h", len(columns))
    for name, oid, length, format_code in columns:
        body += text(name) + struct.pack("!ihihih", 0, 0, oid, length, -1, format_code)
    return frame(b"T", body)


def data_row(values: Sequence[bytes | None]) -> bytes:
    """One row of encoded values."""
    body = struct.pack("!h", len(values))
    for value in values:
        body += struct.pack("!i", -1) if value is None else struct.pack("!i", len(value)) + value
    return frame(b"D", body)


def parameter_description(oids: Sequence[int]) -> bytes:
    """The types of a statement's parameters."""
    return frame(b"t", struct.pack(f"!h{len(oids)}i", len(oids), *oids))


def copy_out(columns: int, binary: bool) -> bytes:
    """Rows follow as a copy."""
    code = int(binary)
    return frame(b"H", struct.pack(f"!bh{columns}h", code, columns, *[code] * columns))
