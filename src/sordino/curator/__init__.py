"""Where data, policy, ledger and questions meet."""

from sordino.curator.curator import OWNER, Curator, connect
from sordino.curator.session import Session

__all__ = ["OWNER", "Curator", "Session", "connect"]
