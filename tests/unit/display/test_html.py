"""Everything that goes into a page is escaped, and every page is well formed."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest

from sordino.display.html import (
    join_html,
    render_bar,
    render_facts,
    render_heading,
    render_note,
    render_table,
    render_text,
)

HOSTILE = '<script>alert("x")</script> & \''


class Page(HTMLParser):
    """Collects the elements and the text of a page, and finds elements that are not closed."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[str] = []
        self.open: list[str] = []
        self.text = ""
        self.feed(page)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.elements.append(tag)
        self.open.append(tag)
        assert all(name == "style" for name, _ in attrs)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


@pytest.mark.parametrize(
    "page",
    [
        render_text(HOSTILE),
        render_heading(HOSTILE),
        render_note(HOSTILE, warning=True),
        render_table([HOSTILE], [[1]]),
        render_table(["a"], [[HOSTILE]]),
        render_facts([(HOSTILE, 1)]),
        render_facts([("a", HOSTILE)]),
        render_bar(0.5, HOSTILE),
    ],
)
def test_whatever_is_given_is_text(page):
    shown = Page(join_html(page))
    assert HOSTILE in shown.text
    assert "script" not in shown.elements


def test_long_tables_are_cut_and_say_so():
    page = Page(render_table(["n"], [[place] for place in range(1000)]))
    assert "99" in page.text
    assert "… and 900 more rows" in page.text
    assert "more rows" not in Page(render_table(["n"], [[1]] * 100)).text


def test_facts_without_a_value_are_left_out():
    assert Page(render_facts([("left", None), ("kept", 0)])).text == "kept0"


@pytest.mark.parametrize(("share", "width"), [(-1.0, "0.0%"), (0.25, "25.0%"), (7.0, "100.0%")])
def test_bars_stay_within_their_frame(share, width):
    assert f"width:{width}" in render_bar(share, "")
