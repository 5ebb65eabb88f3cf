"""What a text asks for, by its tokens."""

import contextlib
import time

import pytest

from sordino.server.postgres.session_settings import SessionSettings
from sordino.server.postgres.sqlstate import StateError
from sordino.server.postgres.statements import (
    read_comment,
    sort_statement,
    split_statements,
)

TABLES = {"orders", "customers"}


@pytest.mark.parametrize(
    ("sql", "kind"),
    [
        ("", "empty"),
        ("-- nothing\n", "empty"),
        ("SELECT COUNT(*) FROM orders", "private"),
        ("/* x */ select count(*) from Orders", "private"),
        ("SELECT 1", "catalogue"),
        ("SELECT version()", "catalogue"),
        ("SELECT relname FROM pg_catalog.pg_class WHERE relname = 'orders'", "catalogue"),
        ("SELECT * FROM information_schema.tables", "catalogue"),
        ("SELECT COUNT(*) FROM pg_class, orders", "private"),
        ("SELECT COUNT(*) FROM nothing_of_this_name", "private"),
        ("SELECT 'a", "private"),
        ("begin", "transaction"),
        ("SET x = 1", "set"),
        ("SHOW TABLES", "describe"),
        ("SHOW search_path", "show"),
        ("DESCRIBE orders", "describe"),
        ("EXPLAIN SELECT COUNT(*) FROM orders", "explain"),
        ("DISCARD ALL", "ignored"),
        ("COPY (SELECT COUNT(*) FROM orders) TO STDOUT (FORMAT binary)", "copy"),
    ],
)
def test_kinds(sql, kind):
    assert sort_statement(sql, TABLES).kind == kind


@pytest.mark.parametrize(
    "sql",
    [
        "INSERT INTO orders VALUES (1)",
        "DROP TABLE orders",
        "COPY orders TO STDOUT",
        "COPY orders FROM '/etc/passwd'",
    ],
)
def test_what_writes_or_reads_files_is_refused(sql):
    with pytest.raises(StateError):
        sort_statement(sql, TABLES)


def test_texts_are_cut_at_semicolons_outside_of_quotes():
    assert split_statements("SELECT ';' ; SELECT 2 -- ;\n; ") == [
        (0, "SELECT ';' "),
        (12, " SELECT 2 -- ;\n"),
    ]
    assert split_statements(" ; ") == [(0, "")]


def test_settings_in_a_comment():
    assert read_comment("/* sordino: epsilon = 0.1, delta=1e-6 */ SELECT 1") == {
        "epsilon": "0.1",
        "delta": "1e-6",
    }
    assert read_comment("SELECT 1 /* epsilon = 3 */") == {}
    assert read_comment("SELECT '/* sordino: epsilon = 3 */', \"/* sordino: epsilon = 4 */\"") == {}
    assert read_comment("SELECT 1 -- /* sordino: epsilon = 3 */") == {}
    assert read_comment("-- sordino: epsilon = 0.1, reuse = on\nSELECT '-- sordino: epsilon = 3'") == {
        "epsilon": "0.1",
        "reuse": "on",
    }
    assert read_comment("-- about sordino\nSELECT 1 -- epsilon = 3") == {}
    with pytest.raises(StateError, match="holds settings"):
        read_comment("/* sordino: epsilon */")


def test_settings_of_a_connection():
    settings = SessionSettings()
    settings.execute("SET sordino.epsilon TO 0.1")
    settings.execute("set session sordino.reuse = on;")
    settings.execute("SET datestyle = 'ISO'")
    assert settings.price == {"epsilon": 0.1, "reuse": True}
    settings.execute("SET sordino.rho = 0.01")
    assert settings.price == {"rho": 0.01, "reuse": True}
    assert settings.show("SHOW sordino.rho") == ("sordino.rho", "0.01")
    assert settings.show("SHOW server_version")[1].startswith("15")
    settings.reset("RESET ALL")
    assert settings.price == {}


@pytest.mark.parametrize(
    "sql",
    [
        "SET sordino.epsilon = much",
        "SET sordino.speed = 1",
        "SET sordino.reuse = maybe",
        "SET",
        "SHOW nothing",
    ],
)
def test_settings_that_are_none_are_refused(sql):
    settings = SessionSettings()
    with pytest.raises(StateError):
        (settings.show if sql.startswith("SHOW") else settings.execute)(sql)


@pytest.mark.parametrize(
    "sql",
    [
        "COPY (SELECT 1) TO STDOUT x" + " " * 19_000 + "y",
        "SET a = x" + " " * 19_000 + "y",
        "/* sordino:" * 1_800,
        "/*" * 9_000,
        "'" * 19_999,
        '"' * 19_999,
        "(" * 19_999,
        "- " * 9_999,
        "$1" * 9_999,
    ],
)
def test_every_text_is_read_in_time_in_proportion_to_it(sql):
    """Each of these takes minutes by patterns that try again; ten seconds are no measurement but a bound."""
    begun = time.monotonic()
    split_statements(sql)
    with contextlib.suppress(StateError):
        read_comment(sql)
    with contextlib.suppress(StateError):
        SessionSettings().execute(sql)
    with contextlib.suppress(StateError):
        sort_statement(sql, TABLES)
    assert time.monotonic() - begun < 10


def test_statements_beyond_the_longest_question_are_refused_unread():
    with pytest.raises(StateError, match="20000 are read") as caught:
        sort_statement("SELECT " + "1" * 20_000, TABLES)
    assert caught.value.state == "54000"


def test_comments_may_hold_comments():
    assert sort_statement("/* a /* b */ ; c */ SELECT COUNT(*) FROM orders", TABLES).kind == "private"
    assert len(split_statements("SELECT 1 /* ; /* ; */ ; */")) == 1


def test_the_question_of_explain_and_copy_keeps_its_place():
    sql = "EXPLAIN\nSELECT COUNT(*) FROM orders"
    assert sort_statement(sql, TABLES).inner == "       \nSELECT COUNT(*) FROM orders"
    sql = "COPY (SELECT COUNT(*) FROM orders WHERE (a > 1)) TO STDOUT WITH (FORMAT binary)"
    found = sort_statement(sql, TABLES)
    assert found.inner == "      SELECT COUNT(*) FROM orders WHERE (a > 1)"
    assert found.binary


def test_settings_are_bounded():
    settings = SessionSettings()
    with pytest.raises(StateError, match="too long"):
        settings.set("application_name", "x" * 2000)
    for number in range(200):
        settings.set(f"a{number}", "1")
    with pytest.raises(StateError, match="too many"):
        settings.set("one.more", "1")
    settings.set("a1", "2")
    settings.set("sordino.epsilon", "0.5")
    assert settings.price == {"epsilon": 0.5}
