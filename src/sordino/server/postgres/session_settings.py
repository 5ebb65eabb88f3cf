"""What ``SET`` says: the price of questions by ``sordino.…`` settings, and what drivers like to set."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from sordino.server.postgres.sqlstate import state_error
from sordino.server.postgres.statements import Piece, cut_pieces

_MOST_SETTINGS = 200  # of one connection, for what is only kept to be shown again
_LONGEST_VALUE = 1000
_LONGEST_NAME = 100
NUMBERS = ("epsilon", "delta", "rho", "error_share")
FLAGS = ("reuse", "non_negative")
NAMES = ("mechanism", "noise", "filters")
DEFAULTS = {
    "server_version": "15.0",
    "server_version_num": "150000",
    "server_encoding": "UTF8",
    "client_encoding": "UTF8",
    "datestyle": "ISO, MDY",
    "timezone": "UTC",
    "integer_datetimes": "on",
    "standard_conforming_strings": "on",
    "intervalstyle": "iso_8601",
    "is_superuser": "off",
    "transaction isolation level": "repeatable read",
    "transaction_isolation": "repeatable read",
    "default_transaction_isolation": "repeatable read",
    "transaction_read_only": "on",
    "default_transaction_read_only": "on",
    "search_path": "public",
    "application_name": "",
    "extra_float_digits": "1",
    "max_identifier_length": "63",
    "max_index_keys": "32",
    "bytea_output": "hex",
    "statement_timeout": "0",
    "lc_collate": "C",
}


@dataclass(slots=True)
class SessionSettings:
    """The settings of one connection; what is not set of the price is the server's default."""

    price: dict[str, Any] = field(default_factory=dict)
    others: dict[str, str] = field(default_factory=dict)

    def set(self, name: str, value: str) -> None:
        """One setting, by its name."""
        known = name.lower().strip('"')
        value = _unquoted(value)
        if len(known) > _LONGEST_NAME:
            raise state_error("42704", "there is no setting with so long a name")
        if known.startswith("sordino."):
            self.price[known.removeprefix("sordino.")] = read_price(known.removeprefix("sordino."), value)
            self._settle(known)
        elif known == "client_encoding" and value.upper().replace("-", "").replace("_", "") not in (
            "UTF8",
            "UNICODE",
        ):
            raise state_error("22023", f"client_encoding must be UTF8, got {value[:40]}")
        elif len(value) > _LONGEST_VALUE or (known not in self.others and len(self.others) >= _MOST_SETTINGS):
            raise state_error("54000", f"{known[:40]} is too long, or there are too many settings")
        else:
            self.others[known] = value

    def _settle(self, known: str) -> None:
        """A loss is ε or ρ: who sets one has not set the other."""
        other = {"sordino.epsilon": "rho", "sordino.rho": "epsilon"}.get(known)
        if other is not None:
            self.price.pop(other, None)

    def execute(self, sql: str) -> None:
        """``SET name = value``, also with TO, or with neither."""
        pieces = _words(sql)[1:]
        if pieces and pieces[0].text.upper() in ("SESSION", "LOCAL"):
            pieces = pieces[1:]
        if pieces and pieces[0].text.upper() in ("TRANSACTION", "CHARACTERISTICS"):
            return
        name, rest = _take_name(pieces)
        if rest and (rest[0].text == "=" or rest[0].text.upper() == "TO"):
            rest = rest[1:]
        if not name or not rest:
            raise state_error("42601", "SET is written SET name = value")
        self.set(name, sql[rest[0].start : rest[-1].end])

    def reset(self, sql: str) -> None:
        """``RESET name``, ``RESET ALL``."""
        name = _named(sql)
        if name == "all":
            self.price.clear()
            self.others.clear()
        self.price.pop(name.removeprefix("sordino."), None)
        self.others.pop(name, None)

    def show(self, sql: str) -> tuple[str, str]:
        """``SHOW name``: its name and its value."""
        name = _named(sql)
        if name.startswith("sordino."):
            return name, str(self.price.get(check_name(name.removeprefix("sordino.")), ""))
        known = "timezone" if name == "time zone" else name
        value = self.others.get(known, DEFAULTS.get(known))
        if value is None:
            raise state_error("42704", f"unrecognized configuration parameter {name!r}")
        return known.replace(" ", "_"), value


def check_name(name: str) -> str:
    """A setting that questions have."""
    if name not in (*NUMBERS, *FLAGS, *NAMES):
        raise state_error(
            "42704", f"there is no setting sordino.{name}: {', '.join((*NUMBERS, *FLAGS, *NAMES))}"
        )
    return name


def read_price(name: str, value: str) -> Any:
    """The value of a setting of questions."""
    check_name(name)
    text = value.strip().strip("'\"")
    if name in NUMBERS:
        try:
            return float(text)
        except ValueError:
            raise state_error("22023", f"sordino.{name} must be a number, got {value[:40]!r}") from None
    if name in FLAGS:
        if text.lower() not in ("on", "off", "true", "false"):
            raise state_error("22023", f"sordino.{name} must be on or off, got {value[:40]!r}")
        return text.lower() in ("on", "true")
    return text


def _words(sql: str) -> list[Piece]:
    return [piece for piece in cut_pieces(sql) if piece.kind not in ("line", "comment") and piece.text != ";"]


def _take_name(pieces: list[Piece]) -> tuple[str, list[Piece]]:
    """A name, which may have parts, and what follows it; TIME ZONE and the like are names of several words."""
    parts: list[str] = []
    while pieces and pieces[0].kind in ("word", "name"):
        parts.append(pieces[0].text.strip('"').lower())
        pieces = pieces[1:]
        if not pieces or pieces[0].text != ".":
            break
        pieces = pieces[1:]
    if parts == ["time"] and pieces and pieces[0].text.upper() == "ZONE":
        return "timezone", pieces[1:]
    return ".".join(parts), pieces


def _named(sql: str) -> str:
    words = [piece.text.strip('"').lower() for piece in _words(sql)[1:]]
    if not words:
        raise state_error("42601", "SHOW and RESET are written with one name")
    return "".join(words) if "." in words else " ".join(words)


def _unquoted(value: str) -> str:
    return value[1:-1].replace("''", "'") if len(value) > 1 and value[0] == value[-1] == "'" else value
