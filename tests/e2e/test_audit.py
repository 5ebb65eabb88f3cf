"""The audit passes on what is shipped, and fails when something broken is shipped."""

import json

from sordino.audit import zoo


def test_audit_proves_what_is_shipped_and_refutes_the_zoo(sordino):
    result = sordino("audit", "--quick", "--json")
    content = json.loads(result.out)
    assert (result.code, result.err) == (0, "")
    assert content["passed"] is True
    families = [check["family"] for check in content["checks"]]
    assert families.count("shipped") >= 30
    assert families.count("broken") == families.count("repaired") == len(zoo.specimens())
    for check in content["checks"]:
        assert check["passed"]
        if check["family"] == "shipped" and check["worst_epsilon"] is not None:
            assert check["worst_epsilon"] <= check["claimed_epsilon"] + 1e-9
            assert check["pairs"] > 10


def _few(specimens):
    return lambda: tuple(
        s for s in specimens if s.name in ("monotone rate under replace", "grid derived from the scale")
    )


def test_the_zoo_alone_as_a_table(sordino, monkeypatch):
    monkeypatch.setattr(zoo, "specimens", _few(zoo.specimens()))
    result = sordino("audit", "--zoo")
    assert result.code == 0
    assert "Shipped" not in result.out
    assert "refuted" in result.out
    assert "4 checks" in result.out
    assert "all as they should be" in result.out


def test_a_broken_mechanism_that_is_taken_for_repaired_fails_the_audit(sordino, monkeypatch):
    from dataclasses import replace

    swapped = tuple(replace(s, repaired=s.refute) for s in _few(zoo.specimens())())
    monkeypatch.setattr(zoo, "specimens", lambda: swapped)
    result = sordino("audit", "--zoo")
    assert result.code == 1
    assert "2 not as they should be" in result.out
    assert json.loads(sordino("audit", "--zoo", "--json").out)["passed"] is False
