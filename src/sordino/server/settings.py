"""Settings: where a server listens and how much it takes on; all of it public."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from pathlib import Path

from sordino.core import ParameterError

LARGEST_REQUEST = 1 << 20  # bytes of one request or one frame; SQL is far shorter
LONGEST_STATEMENT = 20_000  # characters; no reader of questions reads longer ones


@dataclass(frozen=True, slots=True)
class Settings:
    """Ports of None are not opened; 0 takes a free one.

    ``workers``: questions that are answered at once; ``waiting``: how many more may wait. ``rate``: questions per
    second and token, after a burst of ten times as many. ``proxy``: how many reverse proxies stand before the server
    and say the client's address. ``patience``: seconds that a client has to log in, to send a request and to take an
    answer, over HTTP and PostgreSQL. ``epsilon``: what a question over PostgreSQL or Flight costs unless it says so
    itself.
    """

    host: str = "127.0.0.1"
    http_port: int | None = 8765
    postgres_port: int | None = 5433
    flight_port: int | None = 8815
    certificate: Path | None = None
    key: Path | None = None
    workers: int = 4
    waiting: int = 200
    rate: float = 20.0
    connections: int = 500
    proxies: int = 0
    patience: float = 30.0
    epsilon: str | None = None
    insecure: bool = False

    def __post_init__(self) -> None:
        for name in ("http_port", "postgres_port", "flight_port"):
            port = getattr(self, name)
            if port is not None and not 0 <= port < 65536:
                raise ParameterError(f"{name.replace('_', ' ')} must lie between 0 and 65535, got {port!r}")
        for name in ("workers", "waiting", "rate", "connections", "patience"):
            if not getattr(self, name) > 0:
                raise ParameterError(f"{name} must be > 0, got {getattr(self, name)!r}")
        if (self.certificate is None) != (self.key is None):
            raise ParameterError("give both --certificate and --key, or neither")
        for file in (self.certificate, self.key):
            if file is not None and not file.is_file():
                raise ParameterError(f"{file}: no such file")
        if not self.local and not self.encrypted and not self.insecure:
            raise ParameterError(
                f"{self.host} is not of this machine alone, and without TLS tokens and answers could be read on the "
                "way: give --certificate and --key, or listen on 127.0.0.1 behind a proxy that encrypts; "
                "--insecure --yes-without-encryption listens all the same"
            )

    @property
    def encrypted(self) -> bool:
        """Whether connections are over TLS."""
        return self.certificate is not None

    @property
    def local(self) -> bool:
        """Whether only this machine can connect."""
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False
