"""Remote: the methods of a Session, asked of a server."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sordino.core import Guarantee, Loss, MissingExtraError, Release, errors
from sordino.core.closing import Closing
from sordino.core.errors import BusyError, OwnerOnlyError, UnknownTokenError
from sordino.core.place import Place
from sordino.core.sordino_error import SordinoError
from sordino.ledger.event import read_distance

if TYPE_CHECKING:
    from sordino.learn import DecisionTreeClassifier, RandomForestClassifier

_KINDS: dict[str, type[SordinoError]] = {
    kind.code: kind
    for kind in vars(errors).values()
    if isinstance(kind, type) and issubclass(kind, SordinoError)
} | {kind.code: kind for kind in (BusyError, UnknownTokenError, OwnerOnlyError)}


class Remote(Closing):
    """A server, by its address and a token.

    ``certificate``: a file of certificates to trust, where the server's own is not signed by a known authority.

    >>> import sordino as sd
    >>> remote = sd.Remote("http://127.0.0.1:8765", token="sdt_the_one_that_was_shown")
    >>> remote.session()  # its methods are those of a Session
    RemoteSession('http://127.0.0.1:8765')
    >>> remote.close()
    """

    def __init__(
        self, url: str, token: str, *, certificate: str | None = None, timeout: float = 600.0
    ) -> None:
        try:
            import httpx
        except ImportError:
            raise MissingExtraError("asking a server needs httpx: pip install 'sordino[remote]'") from None
        if not isinstance(url, str) or not url.startswith(("http://", "https://")):
            raise errors.ParameterError(f"url must begin with https:// or http://, got {url!r}")
        self.url = url.rstrip("/")
        self._client = httpx.Client(
            base_url=self.url,
            headers={"Authorization": f"Bearer {token}"},
            verify=True if certificate is None else _trust(certificate),
            timeout=timeout,
        )
        self._broken = httpx.HTTPError

    def session(self) -> RemoteSession:
        """Questions that are paid from the account of the token."""
        return RemoteSession(self)

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def __repr__(self) -> str:
        return f"Remote({self.url!r})"

    def get(self, path: str, **parameters: Any) -> Any:
        """The document at an address under ``/v1``."""
        return self._call("GET", path, params=parameters)

    def post(self, path: str, body: Mapping[str, Any] | None = None, **parameters: Any) -> Any:
        """What is answered to a document."""
        return self._call("POST", path, json=None if body is None else dict(body), params=parameters)

    def _call(self, method: str, path: str, **given: Any) -> Any:
        try:
            response = self._client.request(method, f"/v1/{path}", **given)
            content = response.json()
        except self._broken as error:
            raise errors.EngineError(
                f"{self.url} does not answer ({type(error).__name__}); a question that was sent may have been paid "
                "for: ask it again with reuse=True"
            ) from None
        except ValueError:
            raise errors.EngineError(f"{self.url} answers, but not as a Sordino server does") from None
        if response.status_code >= 400:
            raise _read_error(content)
        return content


class RemoteSession:
    """What one analyst may do, on a server: the methods of `sordino.Session`, with the same arguments.

    Tables, budget and preview are plain data. The owner's part is in `explain`, `accounts`, `grant`, `revoke` and
    `resume`, and needs the owner's token.
    """

    def __init__(self, remote: Remote) -> None:
        self._remote = remote

    def __repr__(self) -> str:
        return f"RemoteSession({self._remote.url!r})"

    def query(self, sql: str, epsilon: Any = None, delta: Any = 0.0, **options: Any) -> Release:
        """`Session.query`."""
        return self._paid("query", {"sql": sql, "epsilon": epsilon, "delta": delta, **options})

    def preview(self, sql: str, epsilon: Any = None, delta: Any = 0.0, **options: Any) -> dict[str, Any]:
        """`Session.preview`, as data."""
        return self._data("preview", {"sql": sql, "epsilon": epsilon, "delta": delta, **options})

    def quantile(self, column: str, q: float, **options: Any) -> Release:
        """`Session.quantile`."""
        return self._paid("quantile", {"column": column, "q": q, **options})

    def select(self, sql: str, **options: Any) -> Release:
        """`Session.select`."""
        return self._paid("select", {"sql": sql, **options})

    def count(self, edges: str, what: str, **options: Any) -> Release:
        """`Session.count`."""
        return self._paid("count", {"edges": edges, "what": what, **options})

    def top_k(self, edges: str, k: int, **options: Any) -> Release:
        """`Session.top_k`."""
        return self._paid("top-k", {"edges": edges, "k": k, **options})

    def tree(self, table: str, target: str, **options: Any) -> DecisionTreeClassifier:
        """`Session.tree`."""
        from sordino.curator.questions.tree import TreeQuestion

        release = self._paid("tree", {"table": table, "target": target, **options})
        options.pop("reuse", None)
        return TreeQuestion(table, target, **options).fitted(release)

    def forest(self, table: str, target: str, **options: Any) -> RandomForestClassifier:
        """`Session.forest`."""
        from sordino.curator.questions.forest import ForestQuestion

        release = self._paid("forest", {"table": table, "target": target, **options})
        options.pop("reuse", None)
        return ForestQuestion(table, target, **options).fitted(release)

    def budget(self) -> dict[str, Any]:
        """`Session.budget`, as data."""
        return dict(self._remote.get("budget"))

    def history(self, limit: int = 100) -> list[dict[str, Any]]:
        """The latest questions that were paid for, with their answers, newest first."""
        return list(self._remote.get("history", limit=limit)["questions"])

    def tables(self) -> dict[str, Any]:
        """`Session.tables`, as data."""
        return dict(self._remote.get("tables"))

    def describe(self, table: str) -> dict[str, Any]:
        """`Session.describe`, as data."""
        from urllib.parse import quote

        return dict(self._remote.get(f"tables/{quote(table, safe='')}"))

    def series(self, sql: str, **options: Any) -> RemoteSeries:
        """`Session.series`."""
        opened = self._remote.post("series", _plain({"sql": sql, **options}))
        return RemoteSeries(self._remote, opened["series"]["name"])

    def find_series(self, name: str) -> RemoteSeries:
        """`Session.find_series`."""
        series = RemoteSeries(self._remote, name)
        series.describe()
        return series

    # -- the owner -------------------------------------------------------------------------------------------------

    def explain(self, sql: str, epsilon: Any = None, delta: Any = 0.0, **options: Any) -> dict[str, Any]:
        """`Curator.explain`, opened. NOT PRIVATE."""
        return self._data("explain", {"sql": sql, "epsilon": epsilon, "delta": delta, **options})

    def accounts(self) -> list[dict[str, Any]]:
        """All accounts of the data set, the cap first."""
        return list(self._remote.get("accounts")["accounts"])

    def grant(self, analyst: str, **limit: Any) -> dict[str, Any]:
        """Set what an analyst may spend in all."""
        return self._account(analyst, "grant", limit)

    def revoke(self, analyst: str) -> dict[str, Any]:
        """Take an analyst's budget back."""
        return self._account(analyst, "revoke")

    def resume(self, analyst: str) -> dict[str, Any]:
        """Open a suspended account again."""
        return self._account(analyst, "resume")

    def policy(self) -> dict[str, Any]:
        """What is public and what is not."""
        return dict(self._remote.get("policy"))

    def _account(self, analyst: str, act: str, body: Mapping[str, Any] | None = None) -> dict[str, Any]:
        from urllib.parse import quote

        given = None if body is None else _plain(body)
        return dict(self._remote.post(f"accounts/{quote(analyst, safe='')}/{act}", given))

    def _paid(self, path: str, given: Mapping[str, Any]) -> Release:
        return _read_release(self._remote.post(path, _plain(given))["release"])

    def _data(self, path: str, given: Mapping[str, Any]) -> dict[str, Any]:
        return dict(self._remote.post(path, _plain(given)))


class RemoteSeries:
    """A series on a server: `next` answers the interval that has closed."""

    def __init__(self, remote: Remote, name: str) -> None:
        self._remote, self.name = remote, name

    def describe(self) -> dict[str, Any]:
        """What it is."""
        return dict(self._remote.get("series", name=self.name)["series"])

    @property
    def answered(self) -> int:
        """How many intervals have an answer."""
        return int(self.describe()["answered"])

    def next(self) -> Release:
        """The total up to the next interval, which must be over."""
        return _read_release(self._remote.post("series/next", name=self.name)["release"])

    def totals(self) -> list[Release]:
        """All totals so far; costs nothing."""
        return [_read_release(total) for total in self._remote.get("series", name=self.name)["totals"]]


def _plain(given: Mapping[str, Any]) -> dict[str, Any]:
    """What can be sent: amounts as the numbers that they are written as, the rest as it is."""
    return {name: _sent(value) for name, value in given.items() if value is not None}


def _sent(value: Any) -> Any:
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, Sequence):
        return [_sent(item) for item in value]
    return value.isoformat() if hasattr(value, "isoformat") else float(value)


def _read_release(content: Mapping[str, Any]) -> Release:
    told = content["guarantee"]
    loss = Loss(
        epsilon=told.get("epsilon"),
        delta=told.get("delta", 0.0),
        rho=told.get("rho"),
        bounded_range=told.get("bounded_range", False),
    )
    distance = read_distance(json.dumps(content["distance"]))
    return Release.from_dict(content, Guarantee(loss, distance, told["theorem"]))


def _read_error(content: Any) -> SordinoError:
    try:
        told = content["error"]
        code, message, place = told["code"], told["message"], told["place"]
    except (KeyError, TypeError):
        return errors.EngineError("the server answers, but not as a Sordino server does")
    kind = _KINDS.get(code, SordinoError)
    return kind(message, place=None if place is None else Place(**place))


def _trust(certificate: str) -> Any:
    import ssl

    return ssl.create_default_context(cafile=certificate)
