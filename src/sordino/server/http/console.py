"""The console: a page for people, over the same API. Who logs in shows a token and gets a cookie for some hours."""

# No postponed annotations: the framework reads them when a route is made.

import asyncio
from importlib.resources import files

from fastapi import APIRouter, Request
from starlette.responses import Response

from sordino.core.json_form import error_document
from sordino.server.http.bodies import LoginBody
from sordino.server.http.errors import respond
from sordino.server.http.login import COOKIE, HOURS, client_address, make_proof, read_cookie
from sordino.server.identity import Identity
from sordino.server.service import Service

routes = APIRouter(include_in_schema=False)
_PAGES = {
    "index.html": "text/html; charset=utf-8",
    "console.css": "text/css; charset=utf-8",
    "console.js": "text/javascript; charset=utf-8",
    "chart.js": "text/javascript; charset=utf-8",
    "icon.svg": "image/svg+xml",
}


@routes.get("/")
async def index() -> Response:
    """The page."""
    return _page("index.html")


@routes.get("/console/{name}")
async def page(name: str) -> Response:
    """A file of the page; there are no others."""
    if name not in _PAGES:
        return respond(error_document("missing", "there is nothing at this address"), 404)
    return _page(name)


@routes.post("/login")
async def login(request: Request, body: LoginBody) -> Response:
    """A token for a cookie."""
    service: Service = request.app.state.service
    identity = await service.identify(body.token.strip(), client_address(request, service), "console")
    await service.enter(identity, "console")
    cookie = await asyncio.to_thread(service.tokens.begin_visit, identity, HOURS)
    response = respond(_me(identity, cookie, service))
    response.set_cookie(
        COOKIE,
        cookie,
        max_age=HOURS * 3600,
        httponly=True,
        samesite="strict",
        secure=service.settings.encrypted or bool(service.settings.proxies),
    )
    return response


@routes.post("/logout")
async def logout(request: Request) -> Response:
    """End the visit, for whoever else has the cookie too."""
    service: Service = request.app.state.service
    await asyncio.to_thread(service.tokens.end_visit, request.cookies.get(COOKIE))
    response = respond({"status": "out"})
    response.delete_cookie(COOKIE, httponly=True, samesite="strict")
    return response


@routes.get("/me")
async def me(request: Request) -> Response:
    """Who is logged in, with the proof that its requests carry; another site cannot read this."""
    service: Service = request.app.state.service
    cookie, identity = read_cookie(request, service)
    return respond(_me(identity, cookie, service))


def _me(identity: Identity, cookie: str, service: Service) -> dict[str, object]:
    return {
        "name": identity.name,
        "owner": identity.owner,
        "dataset": service.curator.policy.dataset,
        "proof": make_proof(cookie),
    }


def _page(name: str) -> Response:
    content = files("sordino.server.http").joinpath("pages", name).read_bytes()
    return Response(content, media_type=_PAGES[name], headers={"Cache-Control": "no-cache"})
