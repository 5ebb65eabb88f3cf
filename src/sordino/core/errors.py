"""The one tree of errors.

    SordinoError
    ├── ParameterError       an argument is outside what is accepted (no data involved); also a ValueError
    │   └── CalibrationError     the budget cannot pay for this noise or bound at all
    ├── PrivateDataError     the owner's data breaks what was declared; the message shows no values; also a ValueError
    ├── UnsupportedError     a sound answer to this exists only for something else, which the message names
    ├── ProofError           a proof was asked that would prove nothing (no pairs, mass ≠ 1, …)
    └── MissingExtraError    an optional package is not installed; also an ImportError

A message says what was given, what is wrong and what would be accepted.
"""


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


class ProofError(SordinoError):
    """A proof was asked for that would not prove anything."""


class MissingExtraError(SordinoError, ImportError):
    """An optional dependency is needed and not installed."""
