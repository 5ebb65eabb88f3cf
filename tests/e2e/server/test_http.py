"""The HTTP API: every route, errors as documents with their place, and what a stranger is told."""

from __future__ import annotations

import base64
import contextlib
import hmac
import json
import re
import sqlite3

import httpx
import pytest
from jsonschema import Draft202012Validator

from sordino.server.settings import LARGEST_REQUEST
from tests.e2e.server.serving import ORDERS, serving

COUNT = "SELECT COUNT(*) FROM orders"
FREE = (("GET", "budget"), ("GET", "history"), ("GET", "tables"), ("GET", "tables/orders"))
DAILY = {"time": "day", "every": "1 day", "start": "2024-01-01", "horizon": 3, "epsilon": 1, "name": "daily"}
GRAPH = {"edges": "knows", "nodes": 9, "epsilon": 1}
PAID = {
    "query": {"sql": COUNT, "epsilon": 0.5},
    "quantile": {"column": "orders.amount", "q": 0.5, "epsilon": 0.5},
    "select": {"sql": "SELECT city, COUNT(*) FROM orders GROUP BY city", "epsilon": 0.5},
    "count": {**GRAPH, "what": "edges"},
    "top-k": {**GRAPH, "k": 2},
    "tree": {"table": "patients", "target": "ill", "epsilon": 1, "max_depth": 1},
    "forest": {"table": "patients", "target": "ill", "epsilon": 1, "n_estimators": 2},
    "series": {"sql": "SELECT COUNT(*) FROM orders", **DAILY},
}
OWNERS = (
    ("GET", "accounts", None),
    ("GET", "policy", None),
    ("POST", "explain", {"sql": COUNT, "epsilon": 1}),
    ("POST", "accounts/bob/grant", {"epsilon": 2}),
    ("POST", "accounts/bob/revoke", None),
    ("POST", "accounts/bob/resume", None),
)


@pytest.fixture
def ann(server):
    with server.client("ann") as client:
        yield client


@pytest.fixture
def boss(server):
    with server.client("boss") as client:
        yield client


def is_error(response, status, code):
    """An error is a document of one form, without a stack and without anything of the framework."""
    assert response.status_code == status, response.text
    content = response.json()
    assert set(content) == {"error"}
    assert set(content["error"]) >= {"code", "message", "place"}
    assert content["error"]["code"] == code
    assert not re.search(r"Traceback|File \"|\.py|site-packages|pydantic|starlette", response.text)
    return content["error"]


def test_what_is_free_costs_nothing(server, ann):
    before = server.spent("ann")
    for method, path in FREE:
        response = ann.request(method, f"/v1/{path}")
        assert response.status_code == 200, response.text
        assert response.headers["cache-control"] == "no-store"
    preview = ann.post("/v1/preview", json={"sql": COUNT, "epsilon": 0.5})
    assert preview.status_code == 200
    assert server.spent("ann") == before


@pytest.mark.parametrize("path", PAID)
def test_every_question_is_answered_and_paid_for(server, ann, path):
    before = server.spent("ann")
    response = ann.post(f"/v1/{path}", json=PAID[path])
    assert response.status_code == 200, response.text
    assert server.spent("ann") == pytest.approx(before + PAID[path]["epsilon"])
    told = response.json()
    assert "budget" in told
    if path != "series":
        assert set(told["release"]) >= {"value", "guarantee", "distance"}
        again = ann.post(f"/v1/{path}", json=PAID[path] | {"reuse": True}).json()
        assert again["release"]["value"] == told["release"]["value"]
        assert server.spent("ann") == pytest.approx(before + PAID[path]["epsilon"])


def test_a_series_goes_on_by_its_name(server, ann):
    ann.post("/v1/series", json=PAID["series"])
    before = server.spent("ann")
    first = ann.post("/v1/series/next", params={"name": "daily"})
    assert first.status_code == 200, first.text
    shown = ann.get("/v1/series", params={"name": "daily"}).json()
    assert shown["totals"][0]["value"] == first.json()["release"]["value"]
    assert server.spent("ann") == before
    with server.client("bob") as bob:  # a series belongs to who opened it
        is_error(bob.get("/v1/series", params={"name": "daily"}), 400, "parameter")


def test_the_owner_sees_what_an_analyst_does_not(server, ann, boss):
    for method, path, body in OWNERS:
        is_error(ann.request(method, f"/v1/{path}", json=body), 403, "forbidden")
        response = boss.request(method, f"/v1/{path}", json=body)
        assert response.status_code in (200, 400), (path, response.text)
    exact = boss.post("/v1/explain", json={"sql": COUNT, "epsilon": 1}).text
    assert str(ORDERS) in exact


@pytest.mark.parametrize(
    ("body", "status", "code", "column"),
    [
        ({"sql": "SELECT COUNT(*) FROM nothing", "epsilon": 1}, 400, "parameter", 22),
        ({"sql": "SELECT card FROM orders", "epsilon": 1}, 400, "parameter", 8),
        ({"sql": "SELECT SUM(amount FROM orders", "epsilon": 1}, 400, "parameter", None),
        ({"sql": COUNT, "epsilon": -1}, 400, "parameter", None),
        ({"sql": COUNT, "epsilon": 1e9}, 403, "budget", None),
        ({"sql": COUNT}, 400, "parameter", None),
        ({"sql": COUNT, "epsilon": "much"}, 400, "parameter", None),
        ({"sql": COUNT, "epsilon": 1, "speed": 3}, 400, "parameter", None),
        ({"sql": "", "epsilon": 1}, 400, "parameter", None),
        ({"sql": 7, "epsilon": 1}, 400, "parameter", None),
        ({"sql": COUNT, "epsilon": 1, "reuse": "yes"}, 400, "parameter", None),
        ({"sql": "SELECT COUNT(*) FROM orders\0", "epsilon": 1}, 400, "parameter", None),
        ([], 400, "parameter", None),
        (None, 400, "parameter", None),
    ],
)
def test_what_is_wrong_is_said_with_its_place_and_costs_nothing(server, ann, body, status, code, column):
    before = server.spent("ann")
    response = ann.post("/v1/query", json=body)
    if response.status_code == 422:
        code, status = "unsupported", 422
    error = is_error(response, status, code)
    if column is not None:
        assert error["place"]["column"] == column
    assert server.spent("ann") == before


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999", "1" * 5000, "true"])
def test_numbers_that_are_none_are_refused(server, ann, number):
    body = f'{{"sql": "{COUNT}", "epsilon": {number}}}'
    is_error(
        ann.post("/v1/query", content=body, headers={"Content-Type": "application/json"}), 400, "parameter"
    )


def test_bodies_that_are_no_document_are_refused(ann):
    for content in (b"", b"{", b"\xff\xfe", b"[" * 100_000, b'{"sql": "\\ud800", "epsilon": 1}'):
        response = ann.post("/v1/query", content=content, headers={"Content-Type": "application/json"})
        is_error(response, 400, "parameter")


@pytest.mark.parametrize(
    "header",
    [
        {},
        {"Authorization": "Bearer"},
        {"Authorization": "Bearer sdt_aaaaaaaa_" + "A" * 43},
        {"Authorization": "Basic eDp5"},
        {"Authorization": "Bearer \xff\xfe"},
        {"Cookie": "sordino=x.y"},
        {
            "Cookie": "sordino="
            + base64.b64encode(b'{"name":"ann","owner":true,"token":"x","until":9e9}').decode()
            + ".0"
        },
    ],
)
def test_strangers_are_told_one_thing(server, header):
    with server.client() as client:
        texts = set()
        for path in ("/v1/budget", "/v1/tables", "/v1/accounts", "/v1/policy"):
            coded = {name: value.encode("latin-1") for name, value in header.items()}
            response = client.get(path, headers=coded)
            is_error(response, 401, "unauthenticated")
            texts.add(response.text)
        assert len(texts) == 1


def test_addresses_and_methods_that_are_none(ann):
    is_error(ann.get("/v1/nothing"), 404, "missing")
    is_error(ann.get("/v1/query"), 405, "usage")
    is_error(ann.delete("/v1/budget"), 405, "usage")
    is_error(ann.get("/v1/history", params={"limit": "0"}), 400, "parameter")
    is_error(ann.get("/v1/history", params={"limit": "many"}), 400, "parameter")
    is_error(ann.get("/v1/tables/nothing"), 400, "parameter")
    is_error(ann.get("/v1/series", params={"name": "nothing"}), 400, "parameter")


@pytest.mark.parametrize(
    "path",
    [
        "/console/../service.py",
        "/console/..%2f..%2fservice.py",
        "/console/%2e%2e/%2e%2e/settings.py",
        "/console/....//settings.py",
        "/console//etc/passwd",
        "/console/%2fetc%2fpasswd",
        "/console/index.html%00.css",
        "/console/..\\service.py",
        "/../../../etc/passwd",
    ],
)
def test_no_other_file_is_served(server, path):
    import http.client

    host, _, port = server.http.removeprefix("http://").partition(":")
    connection = http.client.HTTPConnection(host, int(port), timeout=20)
    connection.putrequest("GET", path, skip_host=False)  # as it is: clients would mend the path
    connection.endheaders()
    response = connection.getresponse()
    text = response.read().decode()
    assert response.status in (400, 404)
    assert "root:" not in text
    assert "import" not in text
    connection.close()


def test_large_requests_are_refused(server, ann):
    large = json.dumps({"sql": "x" * LARGEST_REQUEST, "epsilon": 1})
    is_error(ann.post("/v1/query", content=large), 413, "usage")

    def parts():
        for _ in range(30):
            yield b"x" * 65536

    with contextlib.suppress(httpx.TransportError):  # of unknown length: refused, or closed, while it is sent
        assert ann.post("/v1/query", content=parts()).status_code == 413
    assert ann.get("/v1/budget").status_code == 200


def test_who_asks_too_fast_is_told_to_wait_and_pays_nothing(tmp_path):
    with serving(tmp_path, rate=0.1, names=("ann", "bob")) as slow, slow.client("ann") as ann:
        answers = [ann.get("/v1/budget") for _ in range(3)]
        assert [response.status_code for response in answers] == [200, 429, 429]
        is_error(answers[1], 429, "busy")
        is_error(ann.post("/v1/query", json=PAID["query"]), 429, "busy")
        assert slow.spent("ann") == 0
        with slow.client("bob") as bob:  # a rate is of one token
            assert bob.get("/v1/budget").status_code == 200


def test_the_document_of_the_api_is_valid_and_lists_every_route(server):
    with server.client() as client:
        document = client.get("/v1/openapi.json").json()
    assert document["openapi"].startswith("3.1")
    expected = {f"/v1/{path}" for path in PAID} | {"/health", "/ready", "/v1/series/next", "/v1/preview"}
    expected |= {
        "/v1/budget",
        "/v1/history",
        "/v1/tables",
        "/v1/tables/{table}",
        "/v1/explain",
        "/v1/accounts",
    }
    expected |= {f"/v1/accounts/{{analyst}}/{act}" for act in ("grant", "revoke", "resume")} | {"/v1/policy"}
    assert set(document["paths"]) == expected
    for schema in document["components"]["schemas"].values():
        Draft202012Validator.check_schema(schema)
    for path, body in PAID.items():
        name = document["paths"][f"/v1/{path}"]["post"]["requestBody"]["content"]["application/json"][
            "schema"
        ]["$ref"]
        resolved = {"$ref": name, "components": document["components"]}
        Draft202012Validator(resolved).validate(body)
        with pytest.raises(Exception, match="Additional properties"):
            Draft202012Validator(resolved).validate(body | {"speed": 3})


def test_health_and_readiness_need_no_token(server):
    with server.client() as client:
        assert client.get("/health").json() == {"status": "up"}
        assert client.get("/ready").json() == {"status": "ready"}


def test_a_cookie_is_worth_nothing_without_its_proof(server):
    with server.client() as browser:
        entered = browser.post("/login", json={"token": server.tokens["ann"]})
        assert entered.status_code == 200
        cookie = entered.headers["set-cookie"].lower()
        assert "httponly" in cookie
        assert "samesite=strict" in cookie
        proof = entered.json()["proof"]
        is_error(browser.post("/v1/query", json=PAID["query"]), 401, "unauthenticated")
        is_error(browser.get("/v1/budget"), 401, "unauthenticated")
        is_error(browser.get("/v1/budget", headers={"X-Sordino-Proof": "0" * 64}), 401, "unauthenticated")
        assert browser.get("/v1/budget", headers={"X-Sordino-Proof": proof}).status_code == 200
        assert browser.get("/me").json()["proof"] == proof
        with server.client() as other:  # the proof of one cookie is none of another
            other.post("/login", json={"token": server.tokens["bob"]})
            is_error(other.get("/v1/budget", headers={"X-Sordino-Proof": proof}), 401, "unauthenticated")
        kept = {"Cookie": f"sordino={browser.cookies['sordino']}"}
        assert httpx.get(f"{server.http}/me", headers=kept).status_code == 200
        browser.post("/logout")
        is_error(browser.get("/me"), 401, "unauthenticated")
        is_error(
            httpx.get(f"{server.http}/me", headers=kept), 401, "unauthenticated"
        )  # who kept a copy is out too


def test_nothing_that_is_kept_opens_anything(tmp_path):
    """Who reads the file of tokens, a backup of it say, is nobody all the same."""
    with serving(tmp_path) as running, running.client() as browser:
        proof = browser.post("/login", json={"token": running.tokens["boss"]}).json()["proof"]
        assert browser.get("/v1/accounts", headers={"X-Sordino-Proof": proof}).status_code == 200
        with contextlib.closing(sqlite3.connect(running.service.tokens.path)) as book:
            tables = [name for (name,) in book.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
            cells = {
                cell for table in tables for row in book.execute(f"SELECT * FROM {table}") for cell in row
            }
        raw = [cell if isinstance(cell, bytes) else str(cell).encode() for cell in cells]
        keys = [hmac.digest(cell, b"console cookies", "sha256") for cell in raw]
        boss = {
            "name": "boss",
            "owner": True,
            "token": running.tokens["boss"].split("_")[1],
            "until": 1 << 40,
        }
        said = base64.urlsafe_b64encode(json.dumps(boss).encode()).decode()
        tried = [
            f"{said}.{hmac.new(key, f'cookie {said}'.encode(), 'sha256').hexdigest()}" for key in keys + raw
        ]
        for cell in raw:
            tried += [cell.hex(), base64.urlsafe_b64encode(cell).decode(), cell.decode(errors="ignore")]
        assert len(tried) > 40
        for text in map(str.strip, tried):  # a header never ends in a space, whatever its cell does
            if not (text.isascii() and text.isprintable()):
                continue
            with running.client() as thief:
                is_error(thief.get("/me", headers={"Cookie": f"sordino={text}"}), 401, "unauthenticated")


def test_no_form_of_another_site_can_log_in(server):
    """A form sends text/plain or url-encoded bodies, whose cookies a browser would keep."""
    text = json.dumps({"token": server.tokens["ann"]})
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"):
        response = httpx.post(f"{server.http}/login", content=text, headers={"Content-Type": kind})
        assert response.status_code == 400
        assert "set-cookie" not in response.headers


def test_headers_keep_pages_small(server):
    with server.client() as client:
        for path in ("/", "/console/console.js", "/v1/openapi.json", "/nothing"):
            headers = client.get(path).headers
            assert "default-src 'none'" in headers["content-security-policy"]
            assert "unsafe" not in headers["content-security-policy"]
            assert headers["x-content-type-options"] == "nosniff"
            assert "server" not in headers


def test_a_revoked_token_ends_at_the_next_request(tmp_path):
    with serving(tmp_path) as running, running.client("eve") as eve, running.client() as browser:
        proof = browser.post("/login", json={"token": running.tokens["eve"]}).json()["proof"]
        assert eve.get("/v1/budget").status_code == 200
        running.service.tokens.revoke(running.tokens["eve"].split("_")[1])
        is_error(eve.get("/v1/budget"), 401, "unauthenticated")
        is_error(browser.get("/v1/budget", headers={"X-Sordino-Proof": proof}), 401, "unauthenticated")


def test_history_is_ones_own(server, ann):
    ann.post("/v1/query", json=PAID["query"])
    assert ann.get("/v1/history").json()["questions"]
    with server.client("eve") as eve:
        assert eve.get("/v1/history").json()["questions"] == []
        # The same question with reuse is eve's own to pay for: a release is never another's.
        before = server.spent("eve")
        eve.post("/v1/query", json=PAID["query"] | {"reuse": True})
        assert server.spent("eve") == before + 0.5


def test_what_is_hidden_is_nowhere(server, ann):
    for path in ("tables", "tables/orders", "openapi.json", "budget"):
        assert "card" not in ann.get(f"/v1/{path}").text
    unknown = ann.post("/v1/query", json={"sql": "SELECT SUM(carx) FROM orders", "epsilon": 1}).text
    assert "'card'" not in unknown
