"""Workloads: which tables of columns a synthetic table should get right, and how much each of them matters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import TypeAlias

from sfumato.errors import BadArgument
from sfumato.exact import integer
from sfumato.synth.graph.domain import Domain

Clique: TypeAlias = tuple[str, ...]

Workload: TypeAlias = "int | Sequence[Sequence[str]] | Mapping[Sequence[str], float]"
"""All tables of so many columns; or a list of them; or weights by the columns of each."""


def read_workload(workload: Workload | None, domain: Domain, *, usual: int = 2) -> dict[Clique, float]:
    """The tables of a workload with their weights; left out: all pairs of columns, or what there is of them.

    >>> read_workload([("age", "sex"), ("sex",)], Domain(("sex", "age"), (2, 9)))
    {('sex', 'age'): 1.0, ('sex',): 1.0}
    """
    if workload is None or isinstance(workload, int):
        order = min(usual if workload is None else integer(workload, "workload", least=1), len(domain.names))
        return dict.fromkeys(combinations(domain.names, order), 1.0)
    weights = dict(workload) if isinstance(workload, Mapping) else {tuple(one): 1.0 for one in _tables(workload)}
    made: dict[Clique, float] = {}
    for columns, weight in weights.items():
        named = (columns,) if isinstance(columns, str) else tuple(columns)
        for name in named:
            if name not in domain.names:
                raise BadArgument("workload", f"about columns that there are: {', '.join(domain.names)}", name)
        clique = domain.sorted(named)
        if not clique or not 0 < float(weight) < float("inf"):
            raise BadArgument("workload", "sets of one or more columns, with weights above 0", (columns, weight))
        made[clique] = made.get(clique, 0.0) + float(weight)
    if not made:
        raise BadArgument("workload", "one or more sets of columns, such as [('age', 'sex')]", workload)
    return made


def subsets_of(workload: Mapping[Clique, float], domain: Domain) -> dict[Clique, float]:
    """All sets of columns within tables of a workload, each with how much the workload sees of it.

    The weight of a set is Σ over the tables, of their weight times how many columns the two have in common.
    """
    sets = {
        domain.sorted(chosen)
        for clique in workload
        for order in range(1, len(clique) + 1)
        for chosen in combinations(clique, order)
    }
    ordered = sorted(sets, key=lambda one: (len(one), domain.axes(one)))
    return {one: sum(weight * len(set(one) & set(clique)) for clique, weight in workload.items()) for one in ordered}


def _tables(workload: Sequence[Sequence[str]]) -> Sequence[Sequence[str]]:
    if isinstance(workload, str) or any(isinstance(one, str) for one in workload):
        raise BadArgument("workload", "a list of sets of columns: [('age', 'sex'), ('age',)]", workload)
    return workload
