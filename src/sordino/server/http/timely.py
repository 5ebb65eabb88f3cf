"""HTTP connections that end when the client keeps the server waiting: for a request, or with an answer untaken."""

from __future__ import annotations

import asyncio
from typing import Any, ClassVar

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from sordino.core.json_form import error_document, json_text

_TOLD = json_text(error_document("usage", "the request did not come in time")).encode()
_HEADERS = [
    ("content-type", "application/json"),
    ("content-length", str(len(_TOLD))),
    ("connection", "close"),
]


class TimelyProtocol(H11Protocol):
    """HTTP/1.1 with a deadline for every request and for taking every answer.

    A request has its time from its first byte (the first one from the connection on) to the last of its body, over
    all of it, so that a byte now and then buys nothing. Between requests the time of keep-alive counts.
    """

    patience: ClassVar[float]

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._request: asyncio.TimerHandle | None = None
        self._answer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """The client has come, and is to ask."""
        super().connection_made(transport)
        self._expect_request()

    def data_received(self, data: bytes) -> None:
        """Some of a request."""
        super().data_received(data)
        if self.conn.their_state is h11.IDLE:
            self._expect_request()

    def handle_events(self) -> None:
        """Headers or a body that are whole, now or of a request that was sent ahead."""
        super().handle_events()
        if self.conn.their_state is h11.SEND_BODY:
            self._expect_request()
        elif self.conn.their_state is not h11.IDLE:
            self._stop_waiting()

    def pause_writing(self) -> None:
        """More was sent than the client takes."""
        super().pause_writing()
        self._expect_taken()

    def resume_writing(self) -> None:
        """The client takes it."""
        super().resume_writing()
        self._stop_offering()

    def on_response_complete(self) -> None:
        """An answer was sent; after the last one the connection closes as soon as it is taken."""
        super().on_response_complete()
        if self.transport.is_closing():
            self._expect_taken()

    def timeout_keep_alive_handler(self) -> None:
        """There was no further request."""
        super().timeout_keep_alive_handler()
        self._expect_taken()

    def connection_lost(self, exc: Exception | None) -> None:
        """The client has gone."""
        self._stop_waiting()
        self._stop_offering()
        super().connection_lost(exc)

    def _expect_request(self) -> None:
        if self._request is None and not self.transport.is_closing():
            self._request = self.loop.call_later(self.patience, self._refuse)

    def _expect_taken(self) -> None:
        if self._answer is None:
            self._answer = self.loop.call_later(self.patience, self.transport.abort)

    def _refuse(self) -> None:
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            events = (
                h11.Response(status_code=408, headers=_HEADERS, reason=b"Request Timeout"),
                h11.Data(data=_TOLD),
                h11.EndOfMessage(),
            )
            self.transport.write(b"".join(self.conn.send(event) or b"" for event in events))
        self.transport.close()
        self._expect_taken()

    def _stop_waiting(self) -> None:
        if self._request is not None:
            self._request.cancel()
            self._request = None

    def _stop_offering(self) -> None:
        if self._answer is not None:
            self._answer.cancel()
            self._answer = None
