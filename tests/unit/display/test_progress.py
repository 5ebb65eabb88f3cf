"""Bars show where somebody watches, once work is long, and leave nothing behind."""

from __future__ import annotations

import io
import sys
import types

import pytest

from sordino.display.progress import in_notebook, show_progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


class Notebook:
    """Stands for IPython in a kernel: remembers what every output was updated to."""

    def __init__(self, kernel=True):
        self.shown: list[str] = []
        shell = types.SimpleNamespace(kernel=object()) if kernel else types.SimpleNamespace()
        display = types.ModuleType("IPython.display")
        display.HTML = lambda page: page
        display.display = self.display
        package = types.ModuleType("IPython")
        package.get_ipython = lambda: shell
        package.display = display
        self.modules = {"IPython": package, "IPython.display": display}

    def display(self, page, display_id):
        assert display_id is True
        self.shown.append(page)
        return types.SimpleNamespace(update=self.shown.append)


@pytest.fixture
def notebook(monkeypatch):
    kernel = Notebook()
    for name, module in kernel.modules.items():
        monkeypatch.setitem(sys.modules, name, module)
    return kernel


def work(title="trees", steps=3, **options):
    with show_progress(title, **options) as step:
        for done in range(steps):
            step(done, steps, "<i>now</i>")


def test_pipes_see_nothing(capsys):
    work(quiet=0.0)
    assert capsys.readouterr() == ("", "")


def test_a_terminal_sees_a_bar(monkeypatch):
    monkeypatch.setattr("sys.stderr", Terminal())
    work(quiet=0.0)
    assert "trees" in sys.stderr.getvalue()


def test_short_work_shows_nothing(monkeypatch):
    monkeypatch.setattr("sys.stderr", Terminal())
    work()
    assert sys.stderr.getvalue() == ""


def test_nobody_sees_what_is_not_wanted(monkeypatch, notebook):
    monkeypatch.setattr("sys.stderr", Terminal())
    work(quiet=0.0, wanted=False)
    assert sys.stderr.getvalue() == ""
    assert notebook.shown == []


def test_a_notebook_sees_a_bar_that_goes_away(notebook, capsys):
    assert in_notebook()
    work(quiet=0.0)
    assert capsys.readouterr() == ("", "")
    assert "trees" in notebook.shown[1]
    assert "&lt;i&gt;now&lt;/i&gt;" in notebook.shown[1]
    assert notebook.shown[-1] == ""


def test_an_ipython_in_a_terminal_is_no_notebook(monkeypatch):
    for name, module in Notebook(kernel=False).modules.items():
        monkeypatch.setitem(sys.modules, name, module)
    assert not in_notebook()


def test_work_within_work_has_no_bar_of_its_own(notebook):
    with show_progress("outer", quiet=0.0) as step:
        step(0, 1)
        before = len(notebook.shown)
        work("inner", quiet=0.0)
        assert len(notebook.shown) == before
    work("next", quiet=0.0)
    assert any("next" in page for page in notebook.shown)


def test_a_bar_goes_away_when_work_fails(notebook):
    def fail():
        with show_progress("outer", quiet=0.0) as step:
            step(0, 1)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert "outer" in notebook.shown[1]
    assert notebook.shown[-1] == ""
