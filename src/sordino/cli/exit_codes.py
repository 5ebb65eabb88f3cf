"""Exit codes: what a script can tell apart without reading a message."""

from __future__ import annotations

DONE = 0
FAILED_CLAIM = 1
MISUSED = 2
BROKEN_DECLARATION = 3
UNSUPPORTED = 4
NO_BUDGET = 5
SUSPENDED = 6
NO_ENGINE = 7
NO_LEDGER = 8
OTHER = 9
DEFECT = 70
INTERRUPTED = 130

MEANINGS = {
    DONE: "done",
    FAILED_CLAIM: "an audit found a claim that fails",
    MISUSED: "a slip: an option, a parameter, a name, a file, SQL with an error",
    BROKEN_DECLARATION: "the data breaks what was declared about them",
    UNSUPPORTED: "refused: there is no sound answer to this question",
    NO_BUDGET: "the budget does not allow it",
    SUSPENDED: "the account is suspended until the owner resumes it",
    NO_ENGINE: "a database or computing party cannot be reached or answer",
    NO_LEDGER: "the ledger cannot be read or written",
    OTHER: "something else, such as a package that is not installed",
    DEFECT: "a defect in Sordino",
    INTERRUPTED: "interrupted",
}

# By the code of an error (`core/errors.py`); what is not here is OTHER.
_BY_CODE = {
    "usage": MISUSED,
    "parameter": MISUSED,
    "calibration": MISUSED,
    "private_data": BROKEN_DECLARATION,
    "unsupported": UNSUPPORTED,
    "budget": NO_BUDGET,
    "suspended": SUSPENDED,
    "engine": NO_ENGINE,
    "ledger": NO_LEDGER,
    "defect": DEFECT,
    "interrupted": INTERRUPTED,
}


def exit_code_of(error_code: str) -> int:
    """The exit code of an error."""
    return _BY_CODE.get(error_code, OTHER)


def exit_code_lines() -> str:
    """The table that the help shows."""
    return "\n".join(f"  {code:<4} {meaning}" for code, meaning in MEANINGS.items())
