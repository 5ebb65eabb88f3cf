"""Question and Quote: what can be asked of a data set, whatever the workload."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, runtime_checkable

from sordino.core import Guarantee, Release
from sordino.engines import Snapshot

if TYPE_CHECKING:
    from sordino.curator.dataset import DataSet
    from sordino.sql.answering.forecast import Forecast


class Quote(Protocol):
    """How a question will be answered and what that costs: settled by the question, the policy and public tables.

    Two questions are the same if their identity and their parameters are.
    """

    @property
    def text(self) -> str:
        """The question as it was asked, for the ledger's record."""

    @property
    def identity(self) -> str:
        """The question without what does not change the numbers that are released."""

    @property
    def parameters(self) -> Mapping[str, Any]:
        """What else it was asked with, as plain data."""

    @property
    def guarantee(self) -> Guarantee:
        """What is paid."""

    @property
    def mechanism(self) -> str:
        """What will be drawn."""

    def measure(self, snapshot: Snapshot) -> Any:
        """Everything that the draw needs of the rows, from one snapshot. Private.

        A tree asks for more as it grows, so the snapshot stays open while it is drawn.
        """

    def draw(self, measured: Any) -> dict[str, Any]:
        """All that is released, as the plain data that the ledger stores."""

    def present(self, stored: Mapping[str, Any]) -> Release:
        """What is handed out of stored data, with the guarantee of the quote: post-processing that cannot fail.

        The data may be those of an equal question that was asked before.
        """


@runtime_checkable
class Foreseen(Protocol):
    """A quote that can tell more than its price: what is public about the numbers before they are drawn."""

    def forecast(self) -> Forecast:
        """By public parameters alone."""


Quoted = TypeVar("Quoted", bound=Quote, covariant=True)


class Question(Protocol[Quoted]):
    """Something that an analyst asks: one file in ``questions/``."""

    def quote(self, data: DataSet) -> Quoted:
        """Read, check and plan, or refuse; no private row is touched."""
