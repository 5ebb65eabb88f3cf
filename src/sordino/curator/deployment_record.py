"""The record of a deployment for the public Deployments Registry, from a ledger and, where it is given, a policy.

Everything in it is public: limits, losses, distances, mechanisms, and what the policy declares. No released value and
no text of a question is in it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from importlib.metadata import version
from typing import Any

from sordino.core import Loss, ParameterError
from sordino.curator.accounts import distance_of
from sordino.ledger import Account, Event, Ledger, Limit
from sordino.ledger.composition import Amount
from sordino.ledger.payment import RENEWABLE
from sordino.sql.policy import Policy

NOT_STATED = "Not stated."


def make_deployment_record(
    ledger: Ledger, dataset: str, *, policy: Policy | None = None, stated: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Plain data in the form of the registry. ``stated``: what only people know (`STATED`), else "Not stated."."""
    events = list(ledger.history(dataset))
    if not events:
        raise ParameterError(f"the ledger holds nothing about {dataset!r}")
    words = dict.fromkeys(STATED, NOT_STATED) | dict(stated or {})
    unknown = sorted(set(words) - set(STATED))
    if unknown:
        raise ParameterError(f"unknown field {unknown[0]!r}: {', '.join(STATED)} are accepted")
    if policy is not None and policy.dataset != dataset:
        raise ParameterError(f"the policy is about {policy.dataset!r}, and the record about {dataset!r}")
    committed = [event for event in events if event.kind == "commit"]
    if any((event.release or {}).get("private") is False for event in committed):
        raise ParameterError(
            f"{dataset!r} has releases that were drawn from a seeded source and are NOT PRIVATE: no record can say "
            "what they protect"
        )
    paid = {event.number: event for event in events if event.kind == "reserve"}
    releases = [paid[event.reservation] for event in committed if event.reservation in paid]
    accounts = [account for account in ledger.accounts() if account.dataset == dataset]
    told = ledger.distance(dataset) or NOT_STATED
    unit = told if policy is None else distance_of(policy).unit
    return {
        "url_slug": _slug(words["name"] if words["name"] != NOT_STATED else dataset),
        "status": "Draft",
        "tier": 3,
        "deployment": {
            "basic": {
                "name": words["name"] if words["name"] != NOT_STATED else dataset,
                "data_curators": [words["curator"]],
                "description": words["description"],
                "intended_use": words["intended_use"],
                "data_product_type": "SQL queries",
                "data_product_region": words["region"],
                "publication_date": (releases or events)[0].time[:10],
            },
            "dp_variant": {
                "variant_name": _name_variant(accounts),
                "data_domain": _describe_domain(policy),
                "unprotected_quantities": _describe_unprotected(policy),
            },
            "privacy_loss": {
                "privacy_unit": unit,
                "privacy_unit_details": f"Neighbours differ by {told}." if told != NOT_STATED else told,
                "privacy_parameters": _find_parameters(accounts),
                "privacy_parameters_details": "; ".join(_describe_account(account) for account in accounts),
            },
            "deployment_model": {
                "model_name": "Central",
                "actors": "The owner holds data, policy and ledger. Analysts see what they paid for.",
                "release_type": "One release" if len(releases) == 1 else "Many releases",
                "release_type_details": _describe_horizon(releases),
                "access_type": "Interactive",
                "access_type_details": _describe_access(accounts),
            },
            "accounting": {
                "post_processing": "Released numbers are calculated with, sorted, cut and rounded; nothing else.",
                "composition": "A privacy filter adds up the losses of all questions of an account, however they were "
                "chosen; a cap, where there is one, adds up all accounts.",
            },
            "implementation": {
                "preprocessing_and_hyperparameter_tuning": "Bounds, domains, grids and noise are chosen by public "
                "parameters; limits on what one unit contributes are chosen privately and paid for.",
                "mechanisms": _describe_mechanisms(releases),
                "justification": words["justification"],
            },
            "administrative": {"registry_authors": [words["author"]], "notes": words["notes"]},
        },
    }


STATED = (
    "name", "curator", "description", "intended_use", "region", "author", "notes", "justification",
)  # fmt: skip


def _slug(name: str) -> str:
    kept = "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in name.lower())
    return "-".join(part for part in kept.split("-") if part) or "deployment"


def _describe_horizon(releases: Sequence[Event]) -> str:
    said = f"{len(releases)} release{'' if len(releases) == 1 else 's'} so far."
    if any(event.scope == RENEWABLE for event in releases):
        return f"{said} The budget is for every time of a series and comes back as its values forget one another."
    return f"{said} A budget that is spent does not come back."


def _list_binding(accounts: Sequence[Account]) -> list[Account]:
    """The cap; without one all accounts, whose owners may share answers."""
    return [account for account in accounts if account.analyst is None] or list(accounts)


def _name_variant(accounts: Sequence[Account]) -> str:
    binding = _list_binding(accounts)
    if binding and all(account.limit.measure == "rho" for account in binding):
        return "Zero-concentrated DP"
    return "Approximate DP" if _find_parameters(accounts).get("delta") else "Pure DP"


def _find_parameters(accounts: Sequence[Account]) -> dict[str, float]:
    """Of the cap, or of all accounts together; of accounts of two measures the sum of their (ε, δ)."""
    limits = [_state_limit(account) for account in _list_binding(accounts)]
    if len({limit.measure for limit in limits}) == 2:
        stated = [
            Loss(rho=float(limit.amount.loss)).as_approximate(float(limit.at_delta or 0))
            if limit.measure == "rho"
            else Loss(epsilon=float(limit.amount.loss), delta=float(limit.amount.delta))
            for limit in limits
        ]
        return {
            "epsilon": math.fsum(loss.epsilon or 0.0 for loss in stated),
            "delta": math.fsum(
                [loss.delta for loss in stated]
                + [float(limit.amount.delta) for limit in limits if limit.measure == "rho"]
            ),
        }
    if not limits:
        return {}
    loss = sum((limit.amount.loss for limit in limits), Fraction(0))
    delta = sum((limit.amount.delta for limit in limits), Fraction(0))
    return {limits[0].measure: float(loss)} | ({"delta": float(delta)} if delta else {})


def _state_limit(account: Account) -> Limit:
    """What may be spent or, where a budget was lowered or taken back after that, what was."""
    limit, spent = account.limit, account.spent
    return replace(
        limit, amount=Amount(max(limit.amount.loss, spent.loss), max(limit.amount.delta, spent.delta))
    )


def _describe_account(account: Account) -> str:
    who = "all analysts together" if account.analyst is None else "one analyst"
    return f"{who}: {_state_limit(account)}"


def _describe_access(accounts: Sequence[Account]) -> str:
    analysts = sum(account.analyst is not None and bool(account.limit.amount.loss) for account in accounts)
    capped = any(account.analyst is None for account in accounts)
    rule = "a cap holds for all of them together" if capped else "they are assumed not to share answers"
    many = f"{analysts} analyst{'' if analysts == 1 else 's'}"
    return f"{many} with budgets of their own; {rule}."


def _describe_domain(policy: Policy | None) -> str:
    if policy is None:
        return "All databases."
    among = distance_of(policy).among
    said = "All databases with the tables of the policy."
    return f"{said} The guarantee is between {among}." if among else said


def _describe_unprotected(policy: Policy | None) -> str:
    public = (
        [] if policy is None else sorted(table.name for table in policy.tables.values() if not table.private)
    )
    tables = f"the tables {', '.join(public)}; " if public else ""
    if policy is not None and policy.measured:
        columns = [
            f"{t.name}.{c.name}" for t in policy.tables.values() for c in t.columns.values() if c.public
        ]
        tables += f"the columns {', '.join(columns)}; " if columns else ""
        tables += "" if policy.counts_rows else "how many rows there are; "
    return f"{tables}names, types, bounds and domains of columns; how long an answer takes."


def _describe_mechanisms(releases: Sequence[Event]) -> str:
    used = sorted({event.mechanism for event in releases if event.mechanism})
    named = "; ".join(used) if used else "none so far"
    return (
        f"{named}. Sordino {version('sordino')} draws exactly, on public lattices, so that no floating-point number "
        "carries the guarantee; how long an answer takes is not hidden."
    )
