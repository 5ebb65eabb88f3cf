"""The owner's routes: what is not private, and who may spend what."""

# No postponed annotations: the framework reads them when a route is made.

from typing import Any

from fastapi import APIRouter
from starlette.responses import Response

from sordino.curator.policy_view import describe_policy
from sordino.ledger import Limit
from sordino.server.http.asker import Owner
from sordino.server.http.bodies import ExplainBody, LimitBody

routes = APIRouter(prefix="/v1")


@routes.post("/explain", summary="Owner: exact answer, bounds and noise of a question. NOT PRIVATE")
async def explain(who: Owner, body: ExplainBody) -> Response:
    """`Curator.explain`, opened."""
    given = body.arguments()
    return await who.read("explain", lambda: who.service.curator.explain(**given).reveal(), **given)


@routes.get("/accounts", summary="Owner: all accounts of the data set, the cap first")
async def accounts(who: Owner) -> Response:
    """`Ledger.accounts` of this data set."""
    data, ledger = who.service.curator.data, who.service.ledger

    def listed() -> dict[str, Any]:
        data.accounts.prepare(who.identity.name, None, "accounts")
        found = [account for account in ledger.accounts() if account.dataset == data.policy.dataset]
        return {"accounts": [account.to_dict() for account in found]}

    return await who.read("accounts", listed)


@routes.post("/accounts/{analyst:path}/grant", summary="Owner: set what an analyst may spend in all")
async def grant_budget(who: Owner, analyst: str, body: LimitBody) -> Response:
    """`Ledger.grant`."""
    given = body.arguments()
    policy, ledger = who.service.curator.policy, who.service.ledger
    return await who.read(
        "grant",
        lambda: ledger.grant(policy.dataset, analyst, Limit.of(**given)).to_dict(),
        account=analyst,
        **given,
    )


@routes.post("/accounts/{analyst:path}/revoke", summary="Owner: take an analyst's budget back")
async def revoke_budget(who: Owner, analyst: str) -> Response:
    """`Ledger.revoke`."""
    policy, ledger = who.service.curator.policy, who.service.ledger
    return await who.read("revoke", lambda: ledger.revoke(policy.dataset, analyst).to_dict(), account=analyst)


@routes.post("/accounts/{analyst:path}/resume", summary="Owner: open a suspended account again")
async def resume_account(who: Owner, analyst: str) -> Response:
    """`Curator.resume`."""
    return await who.read("resume", lambda: who.service.curator.resume(analyst).to_dict(), account=analyst)


@routes.get("/policy", summary="Owner: what is public and what is not")
async def policy(who: Owner) -> Response:
    """What the policy says, and the budgets that it declares."""
    return await who.read("policy", lambda: describe_policy(who.service.curator.data))
