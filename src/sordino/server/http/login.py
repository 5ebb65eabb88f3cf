"""Who a request is from: a bearer token, or the console's cookie with its proof against forged forms."""

from __future__ import annotations

import base64
import binascii
import hmac
import json
import time
from typing import TYPE_CHECKING

from sordino.core.errors import UnknownTokenError
from sordino.server.identity import Identity

if TYPE_CHECKING:
    from starlette.requests import Request

    from sordino.server.service import Service

COOKIE = "sordino"
PROOF = "x-sordino-proof"
HOURS = 12


async def identify_request(request: Request, service: Service) -> Identity:
    """The identity behind a request, or UnknownTokenError.

    A cookie counts only for a request that also carries the proof that the console's own page was given: another site
    can make a browser send the cookie, and cannot read the proof. (The cookie is SameSite=Strict as well.)
    """
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        return await service.identify(token.strip(), client_address(request, service), "http")
    cookie = request.cookies.get(COOKIE)
    if cookie is None:
        raise UnknownTokenError
    identity = read_cookie(cookie, service)
    if not hmac.compare_digest(make_proof(cookie, service).encode(), request.headers.get(PROOF, "").encode()):
        raise UnknownTokenError
    return identity


def client_address(request: Request, service: Service) -> str:
    """Where a request comes from; what proxies say counts only as far as there are proxies."""
    proxies = service.settings.proxies
    said = [part.strip() for part in request.headers.get("x-forwarded-for", "").split(",") if part.strip()]
    if proxies and len(said) >= proxies:
        return said[-proxies][:100]
    return request.client.host if request.client is not None else "unknown"


def make_cookie(identity: Identity, service: Service) -> str:
    """A signed text that stands for a token that was shown; it ends after some hours."""
    content = {
        "name": identity.name,
        "owner": identity.owner,
        "token": identity.token,
        "until": int(time.time()) + HOURS * 3600,
    }
    text = base64.urlsafe_b64encode(json.dumps(content).encode()).decode()
    return f"{text}.{_sign('cookie', text, service)}"


def read_cookie(cookie: str, service: Service) -> Identity:
    """Whom a cookie stands for, if it is ours, not over, and its token still opens."""
    text, _, signature = cookie.partition(".")
    if not hmac.compare_digest(_sign("cookie", text, service).encode(), signature.encode(errors="replace")):
        raise UnknownTokenError
    try:
        content = json.loads(base64.urlsafe_b64decode(text))
    except (ValueError, binascii.Error):
        raise UnknownTokenError from None
    identity = Identity(content["name"], content["owner"], content["token"])
    if content["until"] < time.time() or not service.tokens.still_valid(identity):
        raise UnknownTokenError
    return identity


def make_proof(cookie: str, service: Service) -> str:
    """What the console's page sends along with its cookie."""
    return _sign("proof", cookie, service)


def _sign(what: str, text: str, service: Service) -> str:
    return hmac.new(
        service.tokens.cookie_key(), f"{what} {text}".encode(errors="replace"), "sha256"
    ).hexdigest()
