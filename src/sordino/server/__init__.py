"""Ask without holding the data: a server over HTTP, PostgreSQL's wire protocol and Arrow Flight SQL, and its client."""

from sordino.server.remote import Remote

__all__ = ["Remote"]
