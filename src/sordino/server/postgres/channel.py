"""The bytes of one connection: messages are read and sent in bounded time and size."""

from __future__ import annotations

import asyncio
import ssl
import struct
from contextlib import suppress
from typing import Any

from sordino.server.postgres.frames import FrameError, MessageBody
from sordino.server.settings import LARGEST_REQUEST


class Ended(Exception):  # noqa: N818
    """The client has gone, or must."""


class Channel:
    """A client's stream; ``patience``: seconds that half a message, or what was sent, may take."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, patience: float) -> None:
        self._reader, self._writer, self._patience = reader, writer, patience
        peer = writer.get_extra_info("peername")
        self.address = str(peer[0]) if isinstance(peer, tuple) else "local"

    @property
    def encrypted(self) -> bool:
        """Whether TLS has begun."""
        return self._writer.get_extra_info("ssl_object") is not None

    async def encrypt(self, tls: ssl.SSLContext) -> None:
        """Say yes to a request for TLS, and begin it."""
        # Nothing is read between our yes and the handshake: what came in the clear would be lost or, worse, heard.
        transport: Any = self._writer.transport
        transport.pause_reading()
        if getattr(self._reader, "_buffer", b""):
            raise FrameError("nothing may follow a request for encryption before it was answered")
        self._writer.write(b"S")
        await self._writer.start_tls(tls)

    async def read_first(self, most: int) -> MessageBody:
        """A message without a letter, as connections begin."""
        (length,) = struct.unpack("!i", await self._reader.readexactly(4))
        if not 8 <= length <= most:
            raise FrameError("the first message has a wrong length")
        return MessageBody(await self._reader.readexactly(length - 4))

    async def read(self, most: int = LARGEST_REQUEST) -> tuple[bytes, MessageBody]:
        """The next message, however long it takes to begin."""
        letter = await self._reader.readexactly(1)
        (length,) = struct.unpack("!i", await self._reader.readexactly(4))
        if not 4 <= length <= most:
            raise FrameError(f"a message may hold {most} bytes at most")
        content = await asyncio.wait_for(self._reader.readexactly(length - 4), self._patience)
        return letter, MessageBody(content)

    async def send(self, content: bytes) -> None:
        """Send, and wait until the client takes it."""
        self._writer.write(content)
        await asyncio.wait_for(self._writer.drain(), self._patience)

    async def close(self) -> None:
        """End it; who does not take what was sent does not keep the connection."""
        with suppress(Exception):
            self._writer.close()
            await asyncio.wait_for(self._writer.wait_closed(), 5)
        self._writer.transport.abort()
