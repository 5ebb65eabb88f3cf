"""Reservation: budget that is durably gone, and the one way to turn it into a release."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any

from sordino.core import Guarantee, LedgerError, SordinoError, SuspendedError
from sordino.core.parameters import as_written
from sordino.ledger.composition import make_printable
from sordino.ledger.suspension import SUSPENSION_NOTICE

if TYPE_CHECKING:
    from sordino.ledger.ledger import Ledger


class NothingReleased(SordinoError):  # noqa: N818 - it reports what did not happen
    """Raised by who produces an answer: no randomness was drawn and nothing was told, so the budget goes back.

    Whether it is raised must not depend on private values; raise it for what the question alone decides, or for an
    engine that could not be reached.
    """


@dataclass(frozen=True, slots=True)
class StoredRelease:
    """A release as the ledger holds it: ``content`` is plain data; ``reused`` if it was answered at no cost.

    >>> import sordino as sd
    >>> from sordino.ledger import Ledger, Limit
    >>> guarantee = sd.Guarantee(sd.Loss(epsilon=0.5), sd.add_remove_row(), "Laplace mechanism")
    >>> ledger = Ledger.in_memory()
    >>> account = ledger.grant("shop", "ann", Limit.of(epsilon=2), distance=guarantee.distance)
    >>> paid = ledger.spend("shop", "ann", guarantee, "how many?", lambda: {"value": 41}, mechanism="laplace")
    >>> ledger.stored("shop", "ann", "how many?").content
    {'value': 41}
    """

    content: dict[str, Any]
    number: int
    time: str
    reused: bool = False


@dataclass(frozen=True, slots=True)
class Reservation:
    """Budget subtracted on disk. It never comes back by itself: a crash or an error wastes it.

    It is a claim: the ledger goes by what it has recorded under ``number`` and refuses what differs.

    As a context manager it gives the budget back only if the block raises `NothingReleased`. A block that ends in any
    other way without a commit or a refund suspends the account (`suspension.py`), and so does a process that ends.

    >>> import sordino as sd
    >>> from sordino.ledger import Ledger, Limit
    >>> guarantee = sd.Guarantee(sd.Loss(epsilon=0.5), sd.add_remove_row(), "Laplace mechanism")
    >>> ledger = Ledger.in_memory()
    >>> account = ledger.grant("shop", "ann", Limit.of(epsilon=2), distance=guarantee.distance)
    >>> with ledger.reserve("shop", "ann", guarantee, question="how many?") as reservation:
    ...     stored = reservation.commit({"value": 41})
    >>> stored.content
    {'value': 41}
    """

    ledger: Ledger
    number: int
    dataset: str
    analyst: str
    guarantee: Guarantee

    def commit(self, release: Mapping[str, Any]) -> StoredRelease:
        """Store the release durably. Only what this returns may be handed out."""
        check_release(release, self.guarantee)
        return self.ledger._commit(self, release)

    def refund(self) -> None:
        """Give the budget back: only where no randomness was drawn and nothing was released."""
        self.ledger._refund(self)

    def __enter__(self) -> Reservation:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, NothingReleased):
            self.refund()
        elif not self.ledger._fail(self) and isinstance(error, Exception):
            raise SuspendedError(SUSPENSION_NOTICE) from None


def check_release(release: Mapping[str, Any], reserved: Guarantee) -> None:
    """A release that says of itself that it lost more than was reserved is not stored, hence not handed out."""
    if not isinstance(release, Mapping):
        raise LedgerError(
            "a release to store must be a dict of plain data, such as Release.to_dict(); nothing was released"
        )
    claimed = release.get("guarantee")
    if not isinstance(claimed, Mapping):
        return
    for name, least in (("epsilon", reserved.epsilon), ("delta", reserved.delta), ("rho", reserved.rho)):
        said = claimed.get(name)
        if said is not None and (least is None or as_written(name, said) > as_written(name, least)):
            raise LedgerError(
                f"the release states {name} {said} and {make_printable(reserved.loss)} was reserved; "
                "nothing was released"
            )
    if "distance" in claimed and claimed["distance"] != str(reserved.distance):
        raise LedgerError(
            f"the release is per {claimed['distance']} and {reserved.distance} was reserved; nothing was released"
        )
