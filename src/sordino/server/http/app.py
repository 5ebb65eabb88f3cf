"""The web application: API, console and health, behind one guard."""

from __future__ import annotations

from fastapi import FastAPI
from starlette.responses import Response

import sordino
from sordino.server.http import api, console, owner
from sordino.server.http.errors import handle_errors, respond
from sordino.server.http.guard import Guard
from sordino.server.service import Service

_ABOUT = (
    "Questions about private data, each paid from the budget of its token. Errors are "
    '{"error": {"code", "message", "place"}}, with the codes of the library.'
)


def make_app(service: Service) -> FastAPI:
    """An ASGI application over a service."""
    app = FastAPI(
        title="Sordino",
        version=sordino.__version__,
        description=_ABOUT,
        openapi_url="/v1/openapi.json",
        docs_url=None,
        redoc_url=None,
        swagger_ui_oauth2_redirect_url=None,
    )
    handle_errors(app)
    app.state.service = service
    app.include_router(api.routes)
    app.include_router(owner.routes)
    app.include_router(console.routes)

    @app.get("/health", summary="Whether the process answers")
    async def health() -> Response:
        return respond({"status": "up"})

    @app.get("/ready", summary="Whether questions can be answered")
    async def ready() -> Response:
        return (
            respond({"status": "ready"}) if await service.ready() else respond({"status": "not ready"}, 503)
        )

    app.add_middleware(Guard)
    return app
