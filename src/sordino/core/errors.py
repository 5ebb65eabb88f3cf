"""The one tree of errors.

    SordinoError
    ├── ParameterError       an argument is outside what is accepted (no data involved); also a ValueError
    │   └── CalibrationError     the budget cannot pay for this noise or bound at all
    ├── PrivateDataError     the owner's data breaks what was declared; the message shows no values; also a ValueError
    ├── UnsupportedError     a sound answer to this exists only for something else, which the message names
    ├── EngineError          a database cannot be reached or cannot answer; its own words are a Secret in `details`
    ├── BudgetError          a budget does not allow what was asked, or none was granted
    │   └── SuspendedError       a question failed after it was paid for: the account is closed until its owner acts
    ├── LedgerError          the ledger's file cannot be read or written, or does not fit what was asked of it
    ├── ProofError           a proof was asked that would prove nothing (no pairs, mass ≠ 1, …)
    └── MissingExtraError    an optional package is not installed; also an ImportError

A message says what was given, what is wrong and what would be accepted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sordino.core.secret import Secret


class SordinoError(Exception):
    """Base of every error that Sordino raises on purpose."""


class ParameterError(SordinoError, ValueError):
    """An argument is outside what is accepted."""


class CalibrationError(ParameterError):
    """The budget cannot pay for this noise with this bound."""


class PrivateDataError(SordinoError, ValueError):
    """The data breaks what the caller declared about it; never shows values."""


class UnsupportedError(SordinoError):
    """What was asked has no sound implementation here."""


class EngineError(SordinoError):
    """A database could not be reached, read or asked; the engine's own text may hold rows, so it is a Secret."""

    details: Secret[str]

    def __init__(self, message: str, details: str = "") -> None:
        from sordino.core.secret import Secret  # Secret itself needs the tree above

        super().__init__(message)
        self.details = Secret(details)


class BudgetError(SordinoError):
    """A budget does not allow it; tells only what is left of the asker's own account."""


class SuspendedError(BudgetError):
    """The account is suspended: one fixed sentence, whatever the cause, since a cause may depend on rows."""


class LedgerError(SordinoError):
    """The ledger cannot record what must be recorded before a release; nothing was released."""


class ProofError(SordinoError):
    """A proof was asked for that would not prove anything."""


class MissingExtraError(SordinoError, ImportError):
    """An optional dependency is needed and not installed."""
