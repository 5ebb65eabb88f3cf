"""The one tree of errors.

    SordinoError             error
    ├── ParameterError       parameter      an argument is outside what is accepted, no data involved; a ValueError
    │   └── CalibrationError     calibration    the budget cannot pay for this noise or bound at all
    ├── PrivateDataError     private_data   the owner's data breaks what was declared; no values shown; a ValueError
    ├── UnsupportedError     unsupported    a sound answer exists only to something else, which the message names
    ├── EngineError          engine         a database or computing party cannot answer; its own words are a Secret
    ├── BudgetError          budget         a budget does not allow what was asked, or none was granted
    │   └── SuspendedError       suspended      a question failed after it was paid for: closed until the owner acts
    ├── LedgerError          ledger         the ledger's file cannot be read or written, or does not fit what was asked
    ├── UnknownTokenError    unauthenticated  a server was shown no valid token; one fixed sentence
    ├── OwnerOnlyError       forbidden      an analyst asked a server for what is its owner's
    ├── BusyError            busy           a server was asked too much at once; nothing was paid
    ├── ProofError           proof          a proof was asked that would prove nothing (no pairs, mass ≠ 1, …)
    └── MissingExtraError    missing_extra  an optional package is not installed; an ImportError

Beside each stands its code, which programs read: it stays when a message is worded better. An error about a query or a
policy also has a `Place`. `json_form.error_form` writes all three for every front door.

A message says what was given, what is wrong and what would be accepted.
"""

from __future__ import annotations

from sordino.core.place import Place
from sordino.core.secret import Secret
from sordino.core.sordino_error import SordinoError

_NO_TOKEN = "a valid token is needed; the owner makes one with 'sordino token add NAME'"
_NOT_OWNER = "this is the owner's: it needs a token made with 'sordino token add NAME --owner'"


class ParameterError(SordinoError, ValueError):
    """An argument is outside what is accepted."""

    code = "parameter"


class CalibrationError(ParameterError):
    """The budget cannot pay for this noise with this bound."""

    code = "calibration"


class PrivateDataError(SordinoError, ValueError):
    """The data breaks what the caller declared about it; never shows values."""

    code = "private_data"


class UnsupportedError(SordinoError):
    """What was asked has no sound implementation here."""

    code = "unsupported"


class EngineError(SordinoError):
    """A database or a computing party could not be reached or asked; its own text may hold rows, so it is a Secret."""

    code = "engine"
    details: Secret[str]

    def __init__(self, message: str = "", details: str = "", *, place: Place | None = None) -> None:
        super().__init__(message, place=place)
        self.details = Secret(details)


class BudgetError(SordinoError):
    """A budget does not allow it; tells only what is left of the asker's own account."""

    code = "budget"


class SuspendedError(BudgetError):
    """The account is suspended: one fixed sentence, whatever the cause, since a cause may depend on rows."""

    code = "suspended"


class LedgerError(SordinoError):
    """The ledger cannot record what must be recorded before a release; nothing was released."""

    code = "ledger"


class UnknownTokenError(SordinoError):
    """No valid token was shown: one fixed sentence, whatever is wrong with it."""

    code = "unauthenticated"

    def __init__(self, message: str = _NO_TOKEN, *, place: Place | None = None) -> None:
        super().__init__(message, place=place)


class OwnerOnlyError(SordinoError):
    """An analyst asked for what is the owner's."""

    code = "forbidden"

    def __init__(self, message: str = _NOT_OWNER, *, place: Place | None = None) -> None:
        super().__init__(message, place=place)


class BusyError(SordinoError):
    """Too many requests at once or too fast; nothing was paid."""

    code = "busy"


class ProofError(SordinoError):
    """A proof was asked for that would not prove anything."""

    code = "proof"


class MissingExtraError(SordinoError, ImportError):
    """An optional dependency is needed and not installed."""

    code = "missing_extra"


def missing_package(error: ModuleNotFoundError) -> MissingExtraError:
    """The error of a package that is asked for by what it is needed for alone."""
    name = (error.name or "").split(".")[0]
    return MissingExtraError(f"this needs {name}, which is not installed: pip install {name}")
