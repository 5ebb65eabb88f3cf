"""How a join falls into parts that nothing ties together, once the table whose row may change is taken out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sordino.sql.analysis.closure import NormalForm, find_connected, is_column_equality
from sordino.sql.analysis.formula import ROW, is_present


@dataclass(frozen=True, slots=True)
class Cluster:
    """Components whose keys are contained in that of the first: one value of its key decides all of them."""

    components: tuple[tuple[int, ...], ...]

    @property
    def positions(self) -> tuple[int, ...]:
        """All positions, in the order of the components."""
        return tuple(j for component in self.components for j in component)


def find_components(
    form: NormalForm,
    positions: Sequence[int],
    neighbours: Sequence[frozenset[int]],
    *,
    most_joined: int | None = None,
) -> list[tuple[int, ...]]:
    """Sets of positions that the conditions join without the row.

    ``neighbours``: `find_equality_neighbours` of the whole question.

    An equality through a cell of the row does not join: for one row it is an equality with a constant. A condition
    that is no equality joins two positions only if no chain of equalities joins them in the whole question: then the
    question itself must compare all their pairs, otherwise it never does and neither shall we. What is not joined is
    counted as if everything met, which is an upper bound with the same growth.

    ``most_joined``: in a cyclic question the positions left over may be tied to the rest at both ends of a chain, and
    all pairs of ends may be many more than the question ever looks at (suppliers and orders of one nation). Chains of
    more positions than this are cut where the second end would be joined; None: never.
    """
    place = {form.occurrences[j].alias: j for j in positions}
    links: list[set[int]] = []
    for number, equals in enumerate(form.classes):
        if not equals.constants and not form.ties_the_row(number):
            links.append({place[cell.alias] for cell in equals.cells if cell.alias in place})
    for part in form.parts:
        aliases = {cell.alias for cell in part.cells}
        if ROW in aliases or len(aliases) != 2 or not aliases <= place.keys():
            continue
        both = {place[alias] for alias in aliases}
        if is_column_equality(part) or not any(both <= group for group in neighbours):
            links.append(both)
    groups = [{j} for j in positions]
    for link in links:
        touched = [group for group in groups if group & link]
        while len(touched) > 1:
            both = touched[0] | touched[1]
            if most_joined is None or len(both) <= most_joined or _tied_at_one_position(form, both, place):
                groups = [group for group in groups if group not in touched[:2]] + [both]
                touched[:2] = [both]
            else:
                del touched[1]
    return sorted((tuple(sorted(group)) for group in groups), key=min)


def _tied_at_one_position(form: NormalForm, group: set[int], place: dict[str, int]) -> bool:
    """Whether one position of the group holds cells of all classes that tie it to what is outside ``place``."""
    ties = []
    for equals in form.classes:
        inside = {place[cell.alias] for cell in equals.cells if cell.alias in place} & group
        if inside and not equals.constants and any(cell.alias not in place for cell in equals.cells):
            ties.append(inside)
    return not ties or bool(set.intersection(*ties))


def drop_long_cycles(form: NormalForm, longest: int) -> NormalForm:
    """The question without the equalities that close a cycle of more than ``longest`` positions: a weaker one.

    That their cells are not NULL is kept, so that rows are counted under the same conditions as in the whole question.
    """
    place = {occurrence.alias: j for j, occurrence in enumerate(form.occurrences)}
    kept, present = [], []
    steps = {j: {j} for j in place.values()}
    for equals in form.classes:
        positions = {place[cell.alias] for cell in equals.cells}
        if not equals.constants:
            if any(_walk(steps, a, b) > longest for a in positions for b in positions):
                present += [is_present(cell) for cell in equals.cells]
                continue
            for j in positions:
                steps[j] |= positions
        kept.append(equals)
    return replace(form, classes=tuple(kept), parts=(*form.parts, *present))


def _walk(steps: dict[int, set[int]], start: int, end: int) -> int:
    """The positions on a shortest way between two, 0 if there is none."""
    reached, length = {start}, 1
    while end not in reached:
        further = reached.union(*(steps[j] for j in reached))
        if further == reached:
            return 0
        reached, length = further, length + 1
    return length


def find_clusters(
    form: NormalForm, neighbours: Sequence[frozenset[int]], *, most_joined: int
) -> list[Cluster]:
    """Components by decreasing key; each joins the first whose key contains its own."""
    keys = {
        component: frozenset(form.keys(component))
        for component in find_components(form, form.others, neighbours, most_joined=most_joined)
    }
    found: list[list[tuple[int, ...]]] = []
    for component in sorted(keys, key=lambda c: (-len(keys[c]), -len(c), c)):
        home = next((c for c in found if keys[component] and keys[component] <= keys[c[0]]), None)
        if home is None:
            found.append([component])
        else:
            home.append(component)
    return [Cluster(tuple(members)) for members in found]


def separate_clusters(form: NormalForm, found: list[Cluster]) -> list[list[Cluster]]:
    """Groups of clusters such that no private table has occurrences in two of them."""
    owners: dict[str, set[int]] = {}
    for number, cluster in enumerate(found):
        for j in cluster.positions:
            if form.occurrences[j].private:
                owners.setdefault(form.occurrences[j].table, set()).add(number)
    groups = find_connected(range(len(found)), list(owners.values()))
    return [[found[number] for number in sorted(group)] for group in groups]
