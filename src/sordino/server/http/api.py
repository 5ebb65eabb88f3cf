"""The API under ``/v1``: the methods of a Session as routes. The owner's are in `owner.py`."""

# No postponed annotations: the framework reads them when a route is made.

import json
from typing import Any

from fastapi import APIRouter
from starlette.responses import Response

from sordino.core import ParameterError, Release
from sordino.curator.answer import answer_question
from sordino.curator.history import list_questions
from sordino.curator.quote import Question, Quote
from sordino.ledger.event import write_distance_key
from sordino.server.http.asker import Asker, Who
from sordino.server.http.bodies import (
    CountBody,
    ForestBody,
    PreviewBody,
    QuantileBody,
    QueryBody,
    SelectBody,
    SeriesBody,
    TopKBody,
    TreeBody,
)

routes = APIRouter(prefix="/v1")


@routes.post("/query", summary="Ask one SELECT; what it costs is paid")
async def query(who: Who, body: QueryBody) -> Response:
    """`Session.query`."""
    given = body.arguments()
    return await who.pay("query", lambda: write_release(who.session.query(**given)), **given)


@routes.post("/preview", summary="What a question would cost; nothing is paid")
async def preview(who: Who, body: PreviewBody) -> Response:
    """`Session.preview`."""
    return await who.read("preview", lambda: who.session.preview(**body.arguments()).to_dict())


@routes.post("/quantile", summary="A value near a quantile of a column")
async def quantile(who: Who, body: QuantileBody) -> Response:
    """`Session.quantile`."""
    given = body.arguments()
    return await who.pay("quantile", lambda: write_release(who.session.quantile(**given)), **given)


@routes.post("/select", summary="The group with the largest number")
async def select(who: Who, body: SelectBody) -> Response:
    """`Session.select`."""
    given = body.arguments()
    return await who.pay("select", lambda: write_release(who.session.select(**given)), **given)


@routes.post("/count", summary="How many triangles, edges, … a graph has")
async def count(who: Who, body: CountBody) -> Response:
    """`Session.count`."""
    given = body.arguments()
    return await who.pay("count", lambda: write_release(who.session.count(**given)), **given)


@routes.post("/top-k", summary="The most influential nodes of a graph")
async def top_k(who: Who, body: TopKBody) -> Response:
    """`Session.top_k`."""
    given = body.arguments()
    return await who.pay("top-k", lambda: write_release(who.session.top_k(**given)), **given)


@routes.post("/tree", summary="A decision tree, as data")
async def tree(who: Who, body: TreeBody) -> Response:
    """`Session.tree`, before it is made a classifier."""
    given = body.model_dump(exclude={"reuse"})

    def grown() -> dict[str, Any]:
        from sordino.curator.questions.tree import TreeQuestion

        return _answer(who, TreeQuestion(**given), body.reuse)

    return await who.pay("tree", grown, **given)


@routes.post("/forest", summary="A random forest, as data")
async def forest(who: Who, body: ForestBody) -> Response:
    """`Session.forest`, before it is made a classifier."""
    given = body.model_dump(exclude={"reuse"})

    def grown() -> dict[str, Any]:
        from sordino.curator.questions.forest import ForestQuestion

        return _answer(who, ForestQuestion(**given), body.reuse)

    return await who.pay("forest", grown, **given)


@routes.get("/budget", summary="What may be spent, was spent and is left")
async def budget(who: Who) -> Response:
    """`Session.budget`."""
    return await who.read("budget", lambda: who.session.budget().to_dict())


@routes.get("/history", summary="The questions that were paid for, with their answers, newest first")
async def history(who: Who, limit: int = 100) -> Response:
    """The asker's own payments and releases."""
    if not 0 < limit <= 1000:
        raise ParameterError(f"limit must lie between 1 and 1000, got {limit}")
    dataset = who.service.curator.policy.dataset

    def listed() -> dict[str, Any]:
        return {"questions": list_questions(who.service.ledger, dataset, who.identity.name, limit)}

    return await who.read("history", listed)


@routes.get("/tables", summary="What may be asked about")
async def tables(who: Who) -> Response:
    """`Session.tables`."""
    return await who.read("tables", lambda: who.session.tables().to_dict())


@routes.get("/tables/{table:path}", summary="One table")
async def table(who: Who, table: str) -> Response:
    """`Session.describe`."""
    return await who.read("tables", lambda: who.session.describe(table).to_dict())


@routes.post("/series", summary="Open a series, or find the one that is the same; paid once")
async def open_series(who: Who, body: SeriesBody) -> Response:
    """`Session.series`."""
    given = body.arguments()
    return await who.pay("series", lambda: {"series": who.session.series(**given).describe()}, **given)


@routes.get("/series", summary="One series and its answers so far")
async def show_series(who: Who, name: str) -> Response:
    """`Session.find_series` and its totals."""

    def shown() -> dict[str, Any]:
        series = who.session.find_series(name)
        totals = [write_release(series.total(number)) for number in range(1, series.answered + 1)]
        return {"series": series.describe(), "totals": [total["release"] for total in totals]}

    return await who.read("series", shown)


@routes.post("/series/next", summary="The answer to the next interval that is over")
async def next_interval(who: Who, name: str) -> Response:
    """`Series.next`."""
    return await who.pay(
        "series next", lambda: write_release(who.session.find_series(name).next()), name=name
    )


def write_release(release: Release) -> dict[str, Any]:
    """A release as a document, with its Distance in the form that a client reads back."""
    distance = json.loads(write_distance_key(release.guarantee.distance))
    return {"release": release.to_dict() | {"distance": distance}}


def _answer(who: Asker, question: Question[Quote], reuse: bool) -> dict[str, Any]:
    data = who.service.curator.data
    return write_release(answer_question(data, who.identity.name, question, reuse=reuse))
