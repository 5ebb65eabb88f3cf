"""Sordino: differential privacy calibrated to the data at hand.

    import sordino as sd

    sd.select(scores, profile=sd.Profile.from_table(...), epsilon=1.0)
    sd.quantile(incomes, 0.5, bounds=(0, 200_000), step=100, epsilon=0.5)

Names load when first used, so importing is fast. Start with `docs/architecture.md`.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_HOME = {
    "BudgetError": "core",
    "CalibrationError": "core",
    "Distance": "core",
    "EngineError": "core",
    "Guarantee": "core",
    "Loss": "core",
    "LedgerError": "core",
    "MissingExtraError": "core",
    "ParameterError": "core",
    "PrivateDataError": "core",
    "ProofError": "core",
    "Release": "core",
    "Secret": "core",
    "SordinoError": "core",
    "SuspendedError": "core",
    "UnsupportedError": "core",
    "add_remove_row": "core",
    "flip_edge": "core",
    "replace_row": "core",
    "Curator": "curator",
    "Session": "curator",
    "connect": "curator",
    "Policy": "sql.policy",
    "Remote": "server",
    "Norm": "sensitivity",
    "Profile": "sensitivity",
    "SmoothBound": "sensitivity",
    "compare": "mechanisms.selection",
    "error_quantile": "mechanisms.selection",
    "expected_error": "mechanisms.selection",
    "select": "mechanisms.selection",
    "selection_law": "mechanisms.selection",
    "top_k": "mechanisms.selection",
    "add_ladder_noise": "mechanisms.noise",
    "add_noise": "mechanisms.noise",
    "add_noise_by_levels": "mechanisms.noise",
    "advise": "mechanisms.noise",
    "ladder_law": "mechanisms.noise",
    "noise_law": "mechanisms.noise",
    "noise_radius": "mechanisms.noise",
    "percentile_question": "stats",
    "quantile": "stats",
    "quantile_law": "stats",
    "select_record_at_percentile": "stats",
}
_PACKAGES = (
    "audit",
    "core",
    "curator",
    "engines",
    "graphs",
    "learn",
    "ledger",
    "logs",
    "mechanisms",
    "risk",
    "sampling",
    "sensitivity",
    "series",
    "server",
    "sql",
    "stats",
    "testing",
    "workflow",
)

__all__ = [*_HOME, *_PACKAGES, "__version__"]

if TYPE_CHECKING:
    from sordino import audit as audit
    from sordino import curator as curator
    from sordino import engines as engines
    from sordino import graphs as graphs
    from sordino import learn as learn
    from sordino import ledger as ledger
    from sordino import logs as logs
    from sordino import series as series
    from sordino import sql as sql
    from sordino import stats as stats
    from sordino.core import BudgetError as BudgetError
    from sordino.core import CalibrationError as CalibrationError
    from sordino.core import Distance as Distance
    from sordino.core import EngineError as EngineError
    from sordino.core import Guarantee as Guarantee
    from sordino.core import LedgerError as LedgerError
    from sordino.core import Loss as Loss
    from sordino.core import MissingExtraError as MissingExtraError
    from sordino.core import ParameterError as ParameterError
    from sordino.core import PrivateDataError as PrivateDataError
    from sordino.core import ProofError as ProofError
    from sordino.core import Release as Release
    from sordino.core import Secret as Secret
    from sordino.core import SordinoError as SordinoError
    from sordino.core import SuspendedError as SuspendedError
    from sordino.core import UnsupportedError as UnsupportedError
    from sordino.core import add_remove_row as add_remove_row
    from sordino.core import flip_edge as flip_edge
    from sordino.core import replace_row as replace_row
    from sordino.curator import Curator as Curator
    from sordino.curator import Session as Session
    from sordino.curator import connect as connect
    from sordino.mechanisms.noise import add_ladder_noise as add_ladder_noise
    from sordino.mechanisms.noise import add_noise as add_noise
    from sordino.mechanisms.noise import add_noise_by_levels as add_noise_by_levels
    from sordino.mechanisms.noise import advise as advise
    from sordino.mechanisms.noise import ladder_law as ladder_law
    from sordino.mechanisms.noise import noise_law as noise_law
    from sordino.mechanisms.noise import noise_radius as noise_radius
    from sordino.mechanisms.selection import compare as compare
    from sordino.mechanisms.selection import error_quantile as error_quantile
    from sordino.mechanisms.selection import expected_error as expected_error
    from sordino.mechanisms.selection import select as select
    from sordino.mechanisms.selection import selection_law as selection_law
    from sordino.mechanisms.selection import top_k as top_k
    from sordino.sensitivity import Norm as Norm
    from sordino.sensitivity import Profile as Profile
    from sordino.sensitivity import SmoothBound as SmoothBound
    from sordino.sql.policy import Policy as Policy
    from sordino.stats import percentile_question as percentile_question
    from sordino.stats import quantile as quantile
    from sordino.stats import quantile_law as quantile_law
    from sordino.stats import select_record_at_percentile as select_record_at_percentile


def __getattr__(name: str) -> Any:
    if name in _PACKAGES:
        return importlib.import_module(f"sordino.{name}")
    if name not in _HOME:
        raise AttributeError(f"module 'sordino' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"sordino.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
