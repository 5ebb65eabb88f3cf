"""The demo answers its questions with and without optional packages, and its report stands alone."""

import json
import re
import sys

import pytest


def test_demo_prints_answers_and_writes_a_report_that_needs_nothing_else(sordino, files):
    result = sordino("demo", "--output", "report.html")
    assert (result.code, result.err) == (0, "")
    assert "because the demo's data are public" in result.out
    assert "report.html" in result.out
    assert "SELECT COUNT(*) FROM customers" in result.out
    page = (files / "report.html").read_text(encoding="utf-8")
    assert "http://" not in page
    assert "https://" not in page
    assert "<script" not in page
    sources = re.findall(r'(?:src|srcset|href)="([^"]{0,22})', page)
    assert len(sources) == 12
    assert set(sources) == {"data:image/png;base64,"}
    assert "FROM customers c JOIN orders o ON o.customer = c.id" in page
    assert "compared with: flared Laplace noise, elastic sensitivity" in page
    assert "global sensitivity</th>" not in page


def test_demo_as_json_has_both_errors_and_a_guarantee_for_every_question(sordino, files):
    result = sordino("demo", "--epsilon", 0.5, "--json", "--no-report")
    content = json.loads(result.out)
    assert content["report"] is None
    assert not (files / "sordino-report.html").exists()
    assert len(content["answers"]) == 7
    kinds = [type(answer["answer"]) for answer in content["answers"]]
    assert kinds == [int, float, float, str, str, str, int]
    for answer in content["answers"]:
        assert answer["error"] > 0
        assert answer["ratio"] == pytest.approx(answer["baseline_error"] / answer["error"])
        assert answer["guarantee"]["epsilon"] == 0.5
        if " noise," in answer["mechanism"]:  # the noise that is named is the one that was drawn
            assert answer["mechanism"].split(" noise,")[0].lower() in answer["guarantee"]["theorem"].lower()


def test_demo_works_without_optional_packages(sordino, files, monkeypatch):
    for package in ("networkx", "sklearn", "polars", "pandas"):
        monkeypatch.setitem(sys.modules, package, None)
    content = json.loads(sordino("demo", "--json", "--no-report").out)
    for place in (4, 6):
        assert content["answers"][place]["data"] == "a graph of 60 nodes with hubs, made by a fixed recipe"
    assert content["answers"][0]["sql"].startswith("SELECT COUNT(*)")


def test_the_winner_of_the_demo_vote_survives_as_many_changes_as_it_says():
    import numpy as np

    from sordino.demo.questions import _safe_changes

    def by_search(votes):
        """The fewest replaced votes that bring another winner, by breadth-first search; minus one."""
        seen, front, steps = {tuple(votes)}, [tuple(votes)], 0
        winner = int(np.argmax(votes))
        while True:
            steps += 1
            front = [
                moved
                for x in front
                for i in range(len(x))
                for j in range(len(x))
                if i != j and x[i] > 0
                for moved in [tuple(c - (p == i) + (p == j) for p, c in enumerate(x))]
                if moved not in seen and not seen.add(moved)
            ]
            if any(int(np.argmax(x)) != winner for x in front):
                return steps - 1

    for votes in ([5, 1, 0], [1, 5, 0], [0, 1, 5], [3, 3, 1], [2, 6, 5], [7, 0, 0], [1, 1, 4]):
        assert _safe_changes(np.array(votes)) == by_search(votes), votes
