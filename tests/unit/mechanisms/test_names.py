"""Names are listed once: Literals, registries, help texts, pages, `advise` and `compare` agree."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import pytest
import typer
from typer.testing import CliRunner

import sordino as sd
from sordino.cli.app import app
from sordino.graphs.counts.count import COUNTS
from sordino.graphs.counts.subgraph_count import MECHANISMS as SUBGRAPH_MECHANISMS
from sordino.graphs.metrics import METRICS
from sordino.graphs.top_k import MECHANISMS as TOP_K_MECHANISMS
from sordino.learn.criteria import CRITERIA
from sordino.learn.decision_tree import LEAVES
from sordino.learn.forest import VOTING
from sordino.mechanisms import names
from sordino.mechanisms.noise import NOISES
from sordino.mechanisms.noise.beta_grid import grid_noises
from sordino.mechanisms.noise.ladder import LADDERS, LadderName
from sordino.mechanisms.noise.registry import noise_names
from sordino.mechanisms.selection import MECHANISMS
from sordino.mechanisms.selection.registry import mechanism_names
from sordino.mechanisms.selection.samplers import SAMPLERS
from sordino.stats.quantile import MECHANISMS as QUANTILE_MECHANISMS

ROOT = Path(__file__).parents[3]
SOURCE = ROOT / "src" / "sordino" / "mechanisms"

# every Literal of names, and what the registries and their traits say
LITERALS = {
    names.NoiseName: lambda: NOISES,
    names.SmoothNoiseName: lambda: noise_names(constant=False),
    names.GridNoiseName: grid_noises,
    names.ConstantNoiseName: lambda: set(NOISES) - set(noise_names(constant=False)),
    LadderName: lambda: LADDERS,
    names.MechanismName: lambda: MECHANISMS,
    names.BoundMechanismName: lambda: mechanism_names(lambda traits: not traits.follows_profile),
    names.ChangesMechanismName: lambda: mechanism_names(lambda traits: traits.counts_changes),
    names.RankingMechanismName: lambda: mechanism_names(lambda traits: traits.ranks),
    names.SamplerName: lambda: SAMPLERS,
    names.DirectionName: lambda: options("direction"),
    names.MaxNoiseName: lambda: options("noise"),
    names.QuantileMechanismName: lambda: QUANTILE_MECHANISMS,
    names.TopKMechanismName: lambda: TOP_K_MECHANISMS,
    names.SubgraphMechanismName: lambda: SUBGRAPH_MECHANISMS,
    names.CountMechanismName: lambda: {name for kind in COUNTS.values() for name in kind.mechanisms},
    names.MetricName: lambda: METRICS,
    names.CountName: lambda: COUNTS,
    names.LeafName: lambda: LEAVES,
    names.VotingName: lambda: VOTING,
    names.CriterionName: lambda: ("auto", *CRITERIA),
}
# what a command's help must name
HELPS = {
    "select": lambda: (*MECHANISMS, *SAMPLERS, *options("noise"), *options("direction")),
    "topk": lambda: (*TOP_K_MECHANISMS, *METRICS),
    "quantile": lambda: QUANTILE_MECHANISMS,
    "count": lambda: (
        *SUBGRAPH_MECHANISMS,
        *(name for kind in COUNTS.values() for name in kind.mechanisms),
        *COUNTS,
    ),
    "query": grid_noises,
    "explain": grid_noises,
    "tree": lambda: (*CRITERIA, *MECHANISMS),
}
PAGES = {
    "docs/how-to/noise.md": lambda: ("auto", *NOISES),
    "docs/how-to/selections.md": lambda: ("auto", *MECHANISMS),
    "docs/how-to/quantiles.md": lambda: QUANTILE_MECHANISMS,
}


def options(name: str) -> set[str]:
    return {choice for entry in MECHANISMS.values() for choice in entry.traits.options.get(name, ())}


def unnamed(wanted: tuple[str, ...], text: str) -> set[str]:
    """The names that a text does not hold as words."""
    words = set(re.findall(r"[a-z_0-9]+", text))
    return set(wanted) - words


def help_of(command: str) -> str:
    """The help as running text: boxes and line breaks are the terminal's."""
    shown = CliRunner().invoke(app, [command, "--help"], env={"COLUMNS": "400", "TERMINAL_WIDTH": "400"})
    assert shown.exit_code == 0
    return shown.output


def in_table(page: str) -> str:
    """The first columns of a page's tables."""
    rows = [line for line in (ROOT / page).read_text().splitlines() if line.startswith("| `")]
    return " ".join(row.split("|")[1] for row in rows)


@pytest.mark.parametrize("literal", LITERALS, ids=lambda literal: str(get_args(literal)[0]))
def test_a_literal_is_what_the_registry_holds(literal):
    listed = get_args(literal)
    assert sorted(listed) == sorted(LITERALS[literal]())
    assert len(set(listed)) == len(listed)


def test_an_entry_is_called_what_its_file_is_called():
    for registry, package in ((NOISES, "noise"), (MECHANISMS, "selection")):
        for name, entry in registry.items():
            assert entry.traits.name == name
            assert (SOURCE / package / f"{name}.py").exists()


@pytest.mark.parametrize(
    ("package", "held", "registry"), [("noise", "NOISE", NOISES), ("selection", "MECHANISM", MECHANISMS)]
)
def test_no_entry_is_left_out_of_its_list(package, held, registry):
    pattern = re.compile(rf"^{held}\b.* = ", re.MULTILINE)
    files = {path.stem for path in (SOURCE / package).glob("*.py") if pattern.search(path.read_text())}
    assert files == set(registry)


@pytest.mark.parametrize("command", HELPS)
def test_the_help_of_a_command_names_all_that_it_takes(command):
    assert not unnamed(HELPS[command](), help_of(command))


@pytest.mark.parametrize("page", PAGES)
def test_the_table_of_a_page_names_all_entries(page):
    assert not unnamed(PAGES[page](), in_table(page))


def test_advice_and_comparison_name_all_entries():
    assert {row.noise for row in sd.advise(1.0, 1e-6)} == set(NOISES)
    assert {row.mechanism for row in sd.compare([1, 2], profile=1, epsilon=1)} == set(MECHANISMS)


@pytest.mark.parametrize(("registry", "check"), [
    (NOISES, lambda: [unnamed(PAGES["docs/how-to/noise.md"](), in_table("docs/how-to/noise.md"))]),
    (MECHANISMS, lambda: [
        unnamed(HELPS["select"](), help_of("select")),
        unnamed(HELPS["tree"](), help_of("tree")),
        unnamed(PAGES["docs/how-to/selections.md"](), in_table("docs/how-to/selections.md")),
    ]),
])  # fmt: skip
def test_an_entry_that_is_named_nowhere_is_found(registry, check, monkeypatch):
    monkeypatch.setitem(registry, "forgotten", next(iter(registry.values())))
    assert all(missing == {"forgotten"} for missing in check())


def test_names_cost_no_heavy_import():
    source = (SOURCE / "names.py").read_text()
    assert re.findall(r"^(?:import|from) (\S+)", source, re.MULTILINE) == ["__future__", "typing"]
    assert typer  # the command line reads them before anything heavy is loaded
