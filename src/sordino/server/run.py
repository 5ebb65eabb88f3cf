"""A server's life: open what it holds, listen, and stop without leaving a question half told."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import socket
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from sordino.core import MissingExtraError, ParameterError
from sordino.server.log import log
from sordino.server.service import Service
from sordino.server.settings import Settings

if TYPE_CHECKING:
    import uvicorn

Addresses = dict[str, str]


@asynccontextmanager
async def listening(service: Service) -> AsyncIterator[Addresses]:
    """All front doors of a service, open; the addresses by protocol. What is under way ends before they close."""
    settings = service.settings
    tls = make_tls(settings)  # first: what every door would say in its own way, if at all
    async with contextlib.AsyncExitStack() as doors:
        addresses: Addresses = {}
        if settings.http_port is not None:
            addresses["http"] = await doors.enter_async_context(_http_door(service))
        if settings.postgres_port is not None:
            from sordino.server.postgres.door import postgres_door

            port = await doors.enter_async_context(postgres_door(service, tls))
            addresses["pgwire"] = (
                f"postgresql://{_shown(settings.host)}:{port}/{service.curator.policy.dataset}"
            )
        if settings.flight_port is not None:
            from sordino.server.flight.door import flight_door

            port = await doors.enter_async_context(flight_door(service))
            scheme = "grpc+tls" if settings.encrypted else "grpc"
            addresses["flight"] = f"{scheme}://{_shown(settings.host)}:{port}"
        log("listening", addresses=addresses)
        try:
            yield addresses
        finally:
            await service.stop()
            log("stopped")


async def serve(service: Service, ready: Callable[[Addresses], None]) -> None:
    """Listen until the process is told to end (SIGINT, SIGTERM)."""
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, ended.set)
    async with listening(service) as addresses:
        ready(addresses)
        await ended.wait()


@asynccontextmanager
async def _http_door(service: Service) -> AsyncIterator[str]:
    settings = service.settings
    server = _make_http_server(service)
    door = open_socket(settings.host, settings.http_port or 0)
    task = asyncio.create_task(server.serve(sockets=[door]))
    try:
        while not server.started and not task.done():
            await asyncio.sleep(0.01)
        if task.done():
            task.result()
            raise ParameterError("the HTTP server did not start")
        scheme = "https" if settings.encrypted else "http"
        yield f"{scheme}://{_shown(settings.host)}:{door.getsockname()[1]}"
    finally:
        server.should_exit = True
        await task
        door.close()


def _make_http_server(service: Service) -> uvicorn.Server:
    try:
        import uvicorn

        from sordino.server.http.app import make_app
        from sordino.server.http.timely import TimelyProtocol
    except ImportError:
        raise MissingExtraError("a server needs more packages: pip install 'sordino[server]'") from None
    settings = service.settings

    class Quiet(uvicorn.Server):
        """Signals are ours."""

        @contextlib.contextmanager
        def capture_signals(self):  # type: ignore[no-untyped-def]
            yield

    class Timely(TimelyProtocol):
        """As long as the owner says."""

        patience = settings.patience

    config = uvicorn.Config(
        make_app(service),
        http=Timely,
        log_config=None,
        log_level="critical",
        access_log=False,
        lifespan="off",
        ssl_certfile=settings.certificate,
        ssl_keyfile=None if settings.key is None else str(settings.key),
        limit_concurrency=settings.connections,
        timeout_keep_alive=15,
        timeout_graceful_shutdown=30,
        server_header=False,
        date_header=False,
        proxy_headers=False,
        h11_max_incomplete_event_size=64 * 1024,
    )
    return Quiet(config)


def open_socket(host: str, port: int) -> socket.socket:
    """A listening socket, or an error that says whose address it is."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # Said to be TCP, or asyncio would leave Nagle's delay of 40 ms on every answer.
    door = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        door.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        door.bind((host, port))
        door.listen(256)
    except OSError as error:
        door.close()
        raise ParameterError(
            f"cannot listen on {host} port {port}: {(error.strerror or str(error)).lower()}"
        ) from None
    return door


def make_tls(settings: Settings) -> ssl.SSLContext | None:
    """TLS by the certificate files, 1.2 or newer."""
    if settings.certificate is None or settings.key is None:
        return None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    try:
        context.load_cert_chain(settings.certificate, settings.key)
    except (OSError, ssl.SSLError):
        raise ParameterError(
            f"{settings.certificate} and {settings.key} are not a certificate and its key (PEM)"
        ) from None
    return context


def _shown(host: str) -> str:
    return f"[{host}]" if ":" in host else host
