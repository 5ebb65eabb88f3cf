"""Who a request is from: a bearer token, or the console's cookie with its proof against forged forms."""

from __future__ import annotations

import hmac
from typing import TYPE_CHECKING

from sordino.core.errors import UnknownTokenError
from sordino.server.identity import Identity

if TYPE_CHECKING:
    from starlette.requests import Request

    from sordino.server.service import Service

COOKIE = "sordino"
PROOF = "x-sordino-proof"
HOURS = 12  # that a cookie lasts


async def identify_request(request: Request, service: Service) -> Identity:
    """The identity behind a request, or UnknownTokenError.

    A cookie counts only for a request that also carries the proof that the console's own page was given: another site
    can make a browser send the cookie, and cannot read the proof. (The cookie is SameSite=Strict as well.)
    """
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        return await service.identify(token.strip(), client_address(request, service), "http")
    cookie, identity = read_cookie(request, service)
    if not hmac.compare_digest(make_proof(cookie).encode(), request.headers.get(PROOF, "").encode()):
        raise UnknownTokenError
    return identity


def client_address(request: Request, service: Service) -> str:
    """Where a request comes from; what proxies say counts only as far as there are proxies."""
    proxies = service.settings.proxies
    said = [part.strip() for part in request.headers.get("x-forwarded-for", "").split(",") if part.strip()]
    if proxies and len(said) >= proxies:
        return said[-proxies][:100]
    return request.client.host if request.client is not None else "unknown"


def read_cookie(request: Request, service: Service) -> tuple[str, Identity]:
    """The cookie of a visit that lasts, and whose it is."""
    cookie = request.cookies.get(COOKIE)
    identity = service.tokens.visitor(cookie)
    if cookie is None or identity is None:
        raise UnknownTokenError
    return cookie, identity


def make_proof(cookie: str) -> str:
    """What the console's page sends along with its cookie, which it cannot read itself."""
    return hmac.new(cookie.encode(), b"proof of the console's page", "sha256").hexdigest()
