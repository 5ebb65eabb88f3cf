"""What stands before every route: the size of requests, and headers that keep browsers from doing more than shown."""

from __future__ import annotations

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sordino.core.json_form import error_document, json_text
from sordino.server.settings import LARGEST_REQUEST

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    b"content-security-policy": POLICY.encode(),
    b"x-content-type-options": b"nosniff",
    b"referrer-policy": b"no-referrer",
    b"cross-origin-opener-policy": b"same-origin",
    b"cross-origin-resource-policy": b"same-origin",
}


class Guard:
    """Refuses bodies beyond the limit, whether their length is said or not, and sets the headers."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        taken = 0
        body: list[Message] = []
        # The whole body is read here, so that what a route sees is never longer than the limit.
        while True:
            message = await receive()
            if message["type"] != "http.request":
                return
            taken += len(message.get("body", b""))
            if taken > LARGEST_REQUEST:
                await _refuse(_with_headers(send), 413, f"a request may hold {LARGEST_REQUEST} bytes at most")
                return
            body.append(message)
            if not message.get("more_body", False):
                break

        async def replay() -> Message:
            return body.pop(0) if body else await receive()

        await self._app(scope, replay, _with_headers(send))


def _with_headers(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            present = {name.lower() for name, _ in message["headers"]}
            added = [(name, value) for name, value in _HEADERS.items() if name not in present]
            message = {**message, "headers": [*message["headers"], *added]}
        await send(message)

    return sending


async def _refuse(send: Send, status: int, message: str) -> None:
    text = json_text(error_document("usage", message)).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(text)).encode())]
    await send(
        {"type": "http.response.start", "status": status, "headers": [*headers, (b"connection", b"close")]}
    )
    await send({"type": "http.response.body", "body": text})
