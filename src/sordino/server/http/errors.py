"""Errors over HTTP: the library's own kinds, as documents with a status."""

from __future__ import annotations

import logging
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response

from sordino.core import SordinoError
from sordino.core.json_form import DEFECT, error_document, error_form, json_text
from sordino.server.log import log

# By the code of an error; what is not here is a defect.
STATUS = {
    "parameter": 400,
    "calibration": 400,
    "usage": 400,
    "private_data": 409,
    "unsupported": 422,
    "unauthenticated": 401,
    "forbidden": 403,
    "budget": 403,
    "suspended": 403,
    "busy": 429,
    "engine": 503,
    "ledger": 503,
    "missing_extra": 501,
    "missing": 404,
}


def respond(content: Any, status: int = 200) -> Response:
    """A document by the one rule for numbers."""
    headers = {"Cache-Control": "no-store"}
    return Response(json_text(content), status, headers, media_type="application/json")


def respond_error(error: BaseException) -> Response:
    """An error as a document; of one that nobody foresaw its kind and line alone."""
    document = error_form(error)
    code = document["error"]["code"]
    if code == DEFECT:
        document = error_document(DEFECT, "a defect in the server; its owner finds more in the server's log")
        log("defect", level=logging.ERROR, kind=type(error).__name__)
    response = respond(document, STATUS.get(code, 500))
    if code == "unauthenticated":
        response.headers["WWW-Authenticate"] = 'Bearer realm="sordino"'
    return response


def handle_errors(app: FastAPI) -> None:
    """No stack trace and no page of the framework leaves."""

    @app.exception_handler(SordinoError)
    async def own(request: Request, error: SordinoError) -> Response:
        return respond_error(error)

    @app.exception_handler(RequestValidationError)
    async def malformed(request: Request, error: RequestValidationError) -> Response:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"] if part != "body")
        return respond(error_document("parameter", f"{place or 'the body'}: {first['msg']}"), 400)

    @app.exception_handler(HTTPException)
    async def routed(request: Request, error: HTTPException) -> Response:
        code = {404: "missing", 400: "parameter"}.get(error.status_code, "usage")
        words = {
            400: "the body is no JSON document",
            404: "there is nothing at this address",
            405: "this address takes another method",
        }
        message = words.get(error.status_code, str(error.detail))
        return respond(error_document(code, message), error.status_code)

    @app.exception_handler(Exception)
    async def unforeseen(request: Request, error: Exception) -> Response:
        return respond_error(error)
