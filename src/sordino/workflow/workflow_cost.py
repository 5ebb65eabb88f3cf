"""Workflow: steps from inputs to releases, and what a change of each input costs."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from sordino.core import Loss, ParameterError, UnsupportedError
from sordino.core.parameters import did_you_mean
from sordino.workflow.source import check_fields, read_amount, read_names, read_source
from sordino.workflow.spread import Distances, Spread, price, spread_input, spread_step

# Queries by the name of the step that they make, in order → per step and table, how many rows one row changes.
SqlSensitivity = Callable[[Mapping[str, str]], Mapping[str, Mapping[str, int | None]]]
POST_PROCESSING = "post-processing"
_FIELDS = ("from", "sensitivity", "sql", "epsilon", "delta", "rho", "loss")
_MOST_INPUTS = 20


@dataclass(frozen=True, slots=True)
class WorkflowStep:
    """One step: what it reads, how far it moves per unit of each, and its loss per unit where it adds noise."""

    name: str
    reads: tuple[str, ...]
    sensitivity: Mapping[str, Fraction] | str | None = None
    sql: str | None = None
    loss: Loss | None = None


@dataclass(frozen=True, slots=True)
class WorkflowCost:
    """What everything released costs per unit of each input, and for one change of any input.

    ``together``: the inputs that the dearest single change touches.
    """

    per_input: dict[str, Loss]
    units: dict[str, str]
    either: Loss
    together: tuple[str, ...]
    distances: dict[str, Distances]

    def __str__(self) -> str:
        lines = [f"{name}: {loss} per {self.units[name]}" for name, loss in self.per_input.items()]
        return "\n".join([*lines, f"either: {self.either} (a change of {' and '.join(self.together)})"])

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {
            "inputs": {
                name: {"unit": self.units[name], **loss.to_dict()} for name, loss in self.per_input.items()
            },
            "either": self.either.to_dict() | {"change_of": list(self.together)},
            "distances": {
                step: {name: "inf" if value is None else float(value) for name, value in distances.items()}
                for step, distances in self.distances.items()
            },
        }


@dataclass(frozen=True, slots=True)
class Workflow:
    """Inputs with their units of distance, steps, which inputs no single change touches together, and releases.

    >>> import sordino as sd
    >>> workflow = sd.workflow.Workflow.load('''
    ... inputs: {orders: row, customers: row}
    ... steps:
    ...   join:   {from: [orders, customers], sensitivity: {orders: 1, customers: 12}}
    ...   count:  {from: [join], sensitivity: {join: 1}}
    ...   noisy:  {from: [count], epsilon: 0.1}
    ...   report: {from: [noisy], sensitivity: post-processing}
    ... independent: [[orders, customers]]
    ... release: [report]
    ... ''')
    >>> print(workflow.cost())
    orders: ε = 0.1 per row
    customers: ε = 1.2 per row
    either: ε = 1.2 (a change of customers)
    """

    inputs: dict[str, str]
    steps: dict[str, WorkflowStep]
    release: tuple[str, ...]
    independent: tuple[frozenset[str], ...] = ()

    @classmethod
    def load(cls, source: Mapping[str, Any] | str | Path) -> Workflow:
        """A workflow from a YAML or JSON file, its text or a dict; unknown fields are errors."""
        content = check_fields(
            "the workflow", read_source(source, "the workflow"), ("inputs", "steps", "independent", "release")
        )
        inputs = content.get("inputs")
        if isinstance(inputs, list | tuple):
            inputs = dict.fromkeys(read_names("inputs", inputs), "unit")
        if not isinstance(inputs, Mapping) or not inputs:
            raise ParameterError("inputs must name each input and its unit of distance, as in {orders: row}")
        given = content.get("steps")
        if not isinstance(given, Mapping) or not given:
            raise ParameterError("steps must be a mapping of names to steps, at least one")
        steps = {str(name): _read_step(str(name), step) for name, step in given.items()}
        groups = content.get("independent") or []
        if not isinstance(groups, list | tuple):
            raise ParameterError(f"independent must be a list of lists of inputs, got {groups!r}")
        if groups and all(isinstance(name, str) for name in groups):
            groups = [groups]
        found = cls(
            inputs={str(name): str(unit) for name, unit in inputs.items()},
            steps=steps,
            release=read_names("release", content.get("release", [])),
            independent=tuple(frozenset(read_names("independent", group)) for group in groups),
        )
        found._check()
        return found

    def cost(self, *, sql_sensitivity: SqlSensitivity | None = None) -> WorkflowCost:
        """ε (or ε and δ, or ρ) per unit of every input, and for one change of any.

        ``sql_sensitivity``: finds what a row of each table changes in the steps that are given as SQL;
        `sordino.sql.workflow_sensitivity` with a schema.

        **Guarantee**: per unit of an input, what `spread.price` says. A single change touches at most inputs of which
        no two are declared independent, by one unit of each; `either` is the dearest such change. Where a loss has a δ,
        ε and δ of `either` are the largest of each.
        """
        spreads, mechanisms = self._spread(sql_sensitivity)
        released = [spreads[name] for name in self.release]
        prices = {name: price(released, mechanisms, (name,)) for name in self.inputs}
        at_once = {group: price(released, mechanisms, group) for group in self._touched_together()}
        dearest = max(at_once, key=lambda group: (_amount(at_once[group]), at_once[group].delta))
        either = at_once[dearest]
        if either.rho is None:
            largest = max(loss.delta for loss in at_once.values())
            either = replace(either, delta=largest)
        return WorkflowCost(
            per_input=prices,
            units=dict(self.inputs),
            either=either,
            together=tuple(name for name in dearest if _amount(prices[name]) or len(dearest) == 1) or dearest,
            distances={name: spreads[name].distances for name in self.steps},
        )

    def _spread(
        self, sql_sensitivity: SqlSensitivity | None
    ) -> tuple[dict[str, Spread], dict[str, tuple[Loss, Distances]]]:
        order = self._order()
        factors = self._sql_factors(order, sql_sensitivity)
        spreads = {name: spread_input(name) for name in self.inputs}
        mechanisms: dict[str, tuple[Loss, Distances]] = {}
        for name in order:
            step = self.steps[name]
            read = factors[name] if name in factors else _factors(step, spreads)
            sources = read if name in factors else step.reads
            late = [source for source in sources if source not in spreads]
            if late:
                raise ParameterError(f"step {name!r} reads the table {late[0]!r}: name it under 'from'")
            parts = {source: spreads[source] for source in sources}
            moved = spread_step(parts, read)
            if step.loss is not None:
                mechanisms[name] = (step.loss, moved.distances)
                moved = Spread({}, moved.releases | {name})
            spreads[name] = moved
        return spreads, mechanisms

    def _sql_factors(
        self, order: list[str], sql_sensitivity: SqlSensitivity | None
    ) -> dict[str, dict[str, Fraction | None]]:
        queries = {name: sql for name in order if (sql := self.steps[name].sql) is not None}
        if not queries:
            return {}
        if sql_sensitivity is None:
            raise ParameterError(
                f"step {next(iter(queries))!r} is given as SQL: give the schema of its tables, "
                "or its sensitivity in numbers"
            )
        found: dict[str, dict[str, Fraction | None]] = {}
        for name, tables in sql_sensitivity(queries).items():
            for table in tables:
                if table not in self.inputs and (table not in self.steps or table in queries):
                    raise ParameterError(
                        f"step {name!r} reads the table {table!r}, which is no input and no step"
                    )
            found[name] = {table: None if rows is None else Fraction(rows) for table, rows in tables.items()}
        return found

    def _order(self) -> list[str]:
        done, waiting, order = set(self.inputs), dict(self.steps), list[str]()
        while waiting:
            ready = [name for name, step in waiting.items() if set(step.reads) <= done]
            if not ready:
                raise ParameterError(f"a cycle: steps {', '.join(map(repr, waiting))} wait for one another")
            for name in ready:
                del waiting[name]
                done.add(name)
                order.append(name)
        return order

    def _touched_together(self) -> list[tuple[str, ...]]:
        """The largest sets of inputs of which no two are independent."""
        names = tuple(self.inputs)

        def apart(one: str, other: str) -> bool:
            return any(one in group and other in group for group in self.independent)

        if len(names) > _MOST_INPUTS and self.independent:
            raise UnsupportedError(f"independence of more than {_MOST_INPUTS} inputs is not worked out")
        if not self.independent:
            return [names]
        found: list[tuple[str, ...]] = []
        for size in range(len(names), 0, -1):
            for group in itertools.combinations(names, size):
                if any(apart(one, other) for one, other in itertools.combinations(group, 2)):
                    continue
                if not any(set(group) <= set(larger) for larger in found):
                    found.append(group)
        return found

    def _check(self) -> None:
        known = (*self.inputs, *self.steps)
        for name, step in self.steps.items():
            if name in self.inputs:
                raise ParameterError(f"step {name!r} has the name of an input")
            for source in step.reads:
                if source not in known:
                    raise ParameterError(
                        f"step {name!r} reads {source!r}, which is missing{_hint(source, known)}"
                    )
            if isinstance(step.sensitivity, Mapping):
                for source in step.sensitivity:
                    if source not in step.reads:
                        raise ParameterError(
                            f"step {name!r} has a sensitivity to {source!r}, which it does not read"
                        )
        if not self.release:
            raise ParameterError("release must name a step: what nobody sees costs nothing")
        for name in self.release:
            if name not in known:
                raise ParameterError(f"release: {name!r} is missing{_hint(name, known)}")
        for group in self.independent:
            for name in sorted(group):
                if name not in self.inputs:
                    raise ParameterError(
                        f"independent: {name!r} is no input{_hint(name, tuple(self.inputs))}"
                    )
        self._order()


def _factors(step: WorkflowStep, spreads: Mapping[str, Spread]) -> Mapping[str, Fraction | None]:
    private = [source for source in step.reads if not spreads[source].public]
    given = step.sensitivity
    if given == POST_PROCESSING or (given is None and step.loss is None):
        if private:
            why = (
                "is not released yet"
                if given == POST_PROCESSING
                else "is not released, and no sensitivity is given"
            )
            raise ParameterError(
                f"step {step.name!r} reads {private[0]!r}, which {why}: give sensitivity: {{{private[0]}: …}}"
            )
        return {}
    if given is None:  # the loss is per unit of what is read
        return dict.fromkeys(private, Fraction(1))
    if isinstance(given, Mapping):
        missing = [source for source in private if source not in given]
        if missing:
            raise ParameterError(f"step {step.name!r} reads {missing[0]!r} and states no sensitivity to it")
        return {source: given[source] for source in private}
    raise ParameterError(
        f"step {step.name!r}: sensitivity must be numbers or {POST_PROCESSING}, got {given!r}"
    )


def _read_step(name: str, given: Any) -> WorkflowStep:
    where = f"step {name!r}"
    fields = check_fields(where, given, _FIELDS)
    reads = read_names(f"{where}: from", fields.get("from", []))
    if not reads:
        raise ParameterError(f"{where} reads nothing: name inputs or steps under 'from'")
    loss = _read_loss(where, fields)
    sensitivity: Mapping[str, Fraction] | str | None = None
    stated = fields.get("sensitivity")
    if stated == POST_PROCESSING:
        sensitivity = POST_PROCESSING
        if loss is not None:
            raise ParameterError(f"{where} is post-processing and costs nothing itself: leave epsilon out")
    elif isinstance(stated, Mapping):
        sensitivity = {
            str(source): read_amount(f"{where}: sensitivity to {source}", value)
            for source, value in stated.items()
        }
    elif stated is not None:
        sensitivity = dict.fromkeys(reads, read_amount(f"{where}: sensitivity", stated))
    if "sql" in fields and stated is not None:
        raise ParameterError(f"{where} has both sql and sensitivity: the query tells its sensitivity")
    sql = fields.get("sql")
    if sql is not None and not isinstance(sql, str):
        raise ParameterError(f"{where}: sql must be a query, got {sql!r}")
    return WorkflowStep(name, reads, sensitivity, sql, loss)


def _read_loss(where: str, fields: Mapping[str, Any]) -> Loss | None:
    loss = fields.get("loss")
    amounts = {
        part: float(read_amount(f"{where}: {part}", fields[part]))
        for part in ("epsilon", "delta", "rho")
        if part in fields
    }
    if loss is None and not amounts:
        return None
    if loss is not None:
        if amounts or not isinstance(loss, Loss):
            raise ParameterError(f"{where}: loss must be a Loss, and the only statement of it, got {loss!r}")
        return loss
    try:
        return Loss(epsilon=amounts.get("epsilon"), delta=amounts.get("delta", 0.0), rho=amounts.get("rho"))
    except ParameterError as error:
        raise ParameterError(f"{where}: {error}") from None


def _amount(loss: Loss) -> float:
    stated = loss.epsilon if loss.rho is None else loss.rho
    return stated or 0.0


def _hint(name: str, known: tuple[str, ...]) -> str:
    return did_you_mean(name, known, before="; ")
