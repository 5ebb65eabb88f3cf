"""The door of PostgreSQL's protocol: takes connections, and closes them when the server stops."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from ssl import SSLContext

from sordino.curator.description import describe_data
from sordino.server.postgres.catalogue import Catalogue
from sordino.server.postgres.connection import WireConnection
from sordino.server.postgres.sqlstate import state_error, write_error
from sordino.server.service import Service

_BUFFER = 1 << 16  # bytes that a client may send ahead of what was read


@asynccontextmanager
async def postgres_door(service: Service, tls: SSLContext | None) -> AsyncIterator[int]:
    """The port on which connections are taken."""
    catalogue = Catalogue(describe_data(service.curator.data))
    open_now: set[asyncio.Task[None]] = set()

    async def take(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if len(open_now) >= service.settings.connections:
            writer.write(write_error(state_error("53300", "too many connections"), fatal=True))
            writer.close()
            return
        task = asyncio.current_task()
        if task is not None:
            open_now.add(task)
        try:
            await WireConnection(service, catalogue, reader, writer, tls).run()
        except (
            asyncio.CancelledError
        ):  # the server stops; raised further, it would be a stack trace on its log
            return
        finally:
            if task is not None:
                open_now.discard(task)

    server = await asyncio.start_server(
        take, service.settings.host, service.settings.postgres_port or 0, limit=_BUFFER
    )
    try:
        yield int(server.sockets[0].getsockname()[1])
    finally:
        server.close()
        catalogue.close()
        for task in list(open_now):
            task.cancel()
        await asyncio.gather(*open_now, return_exceptions=True)
