"""Question and Quote: what can be asked of a data set, whatever the workload."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from sordino.core import Guarantee, Release
from sordino.engines import Snapshot

if TYPE_CHECKING:
    from sordino.curator.dataset import DataSet


class Quote(Protocol):
    """How a question will be answered and what that costs: settled by the question, the policy and public tables.

    Two questions are the same if their identity and their parameters are.
    """

    @property
    def text(self) -> str:
        """The question as it was asked, for the ledger's record."""

    @property
    def identity(self) -> str:
        """The question without spaces and brackets that do not matter."""

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

    def draw(self, measured: Any) -> Release:
        """The release, with the guarantee of the quote."""


Quoted = TypeVar("Quoted", bound=Quote, covariant=True)


class Question(Protocol[Quoted]):
    """Something that an analyst asks: one file in ``questions/``."""

    def quote(self, data: DataSet) -> Quoted:
        """Read, check and plan, or refuse; no private row is touched."""
