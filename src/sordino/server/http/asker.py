"""Asker: somebody who was identified, with the service that they ask; what routes are given."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import Depends
from starlette.requests import Request
from starlette.responses import Response

from sordino.curator import Session
from sordino.server.http.errors import respond
from sordino.server.http.login import identify_request
from sordino.server.identity import Identity
from sordino.server.service import Service


@dataclass(frozen=True, slots=True)
class Asker:
    """An identity and its service."""

    service: Service
    identity: Identity

    @property
    def session(self) -> Session:
        """The questions of this identity."""
        return self.service.session(self.identity)

    async def read(self, act: str, work: Callable[[], Any], **facts: Any) -> Response:
        """What costs nothing."""
        return respond(await self.service.ask(self.identity, "http", act, work, **facts))

    async def pay(self, act: str, work: Callable[[], dict[str, Any]], **facts: Any) -> Response:
        """What may cost something, with what is left afterwards."""

        def answered() -> dict[str, Any]:
            return work() | {"budget": self.session.budget().to_dict()}

        return respond(await self.service.ask(self.identity, "http", act, answered, paid=True, **facts))


async def _identify(request: Request) -> Asker:
    service: Service = request.app.state.service
    return Asker(service, await identify_request(request, service))


async def _identify_owner(request: Request) -> Asker:
    asker = await _identify(request)
    asker.identity.require_owner()
    return asker


Who = Annotated[Asker, Depends(_identify)]
Owner = Annotated[Asker, Depends(_identify_owner)]
