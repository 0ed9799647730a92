"""Joint distributions of several attributes: whole tables, tables of some of them, or parities of binary ones."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from sfumato.accounting.losses.measures import Pure
from sfumato.entropy import Entropy
from sfumato.errors import BadArgument, Unseen
from sfumato.exact import Number, integer
from sfumato.local.attributes import asked_error, best_part, in_order, read_attributes
from sfumato.local.chances import read_epsilon
from sfumato.local.choosing import CANDIDATES, CLOSE
from sfumato.local.device import HEAD
from sfumato.local.frequency import Frequencies
from sfumato.local.joint_tables import (
    JointTables,
    Table,
    cell_variance,
    cells_of,
    component_variances,
    subsets,
)
from sfumato.local.one_of import OneOf
from sfumato.local.protocol import Drawn, LocalProtocol, Tally
from sfumato.local.published import listed_domain
from sfumato.local.reports import Layout
from sfumato.local.response import Response
from sfumato.local.unary import UnaryEncoding
from sfumato.local.values import Values

SMALL = 1 << 10
"""Joint lists of at most so many cells are asked for as a whole unless marginals are named."""

LARGEST = 1 << 18
"""No table has more cells."""

WAYS = ("product", "marginals", "parities")


@final
@dataclass(frozen=True)
class Joint(LocalProtocol[JointTables]):
    """Tables of several attributes: each person reports a cell of one table, drawn in public; `joint` makes one.

    Takes:      names, lists of values, tables (places of attributes), and a protocol for the cells of each
    Guarantee:  the largest loss of the tables (proofs/local.md#one-of): all answers together are protected by it
    Cost:       that of one report; of a table of parities only one bit is told: whether the sum of places is odd
    Best:       the whole product where it is small; parities for tables of a few of many binary attributes (Cormode,
                Kulkarni and Srivastava 2018, arXiv 1711.02952)
    """

    names: tuple[str, ...]
    values: tuple[Values, ...]
    tables: tuple[Table, ...]
    asked: OneOf
    parities: bool = False

    @property
    def loss(self) -> Pure:
        """The largest loss of the tables."""
        return self.asked.loss

    @property
    def layout(self) -> Layout:
        """The cells of all tables."""
        return self.asked.layout

    def randomizer(self) -> dict[str, Any]:
        """That of one of several questions."""
        return self.asked.recipe()

    def domain(self) -> dict[str, Any]:
        """The names and lists of values, and what a device makes of answers: a cell of each table."""
        tables = {
            "joint": [listed_domain(own) for own in self.values],
            "sizes": [len(own) for own in self.values],
            "tables": [list(table) for table in self.tables],
            "parities": self.parities,
        }
        return {"named": list(self.names), "of": tables}

    def input_of(self, value: Any) -> list[int]:
        """The cell of each table, of a person's answers: a mapping from names, or a list in their order."""
        answers = self._each(in_order(self.names, value))
        places = [own.place(answer) for own, answer in zip(self.values, answers, strict=True)]
        return [int(self._cell(table, places)) for table in self.tables]

    def inputs_of(self, values: Any) -> tuple[NDArray[np.int64], ...]:
        """The same for many people: a column of answers for each name."""
        columns = self._each(in_order(self.names, values))
        places = [own.places(column) for own, column in zip(self.values, columns, strict=True)]
        if len({len(column) for column in places}) > 1:
            raise BadArgument("the answers", "as many for each attribute: one of each person", Unseen())
        return tuple(self._cell(table, places) for table in self.tables)

    def _each(self, answers: Any) -> Any:
        if isinstance(answers, str | bytes) or not hasattr(answers, "__len__") or len(answers) != len(self.names):
            raise BadArgument("the answers", f"one to each of {', '.join(self.names)}", Unseen())
        return answers

    def _cell(self, table: Table, places: Sequence[Any]) -> Any:
        if self.parities:
            return sum(places[one] for one in table) % 2
        cell = 0 * places[table[0]]
        for one in table:
            cell = cell * len(self.values[one]) + places[one]
        return cell

    def draw(self, inputs: Any, entropy: Entropy) -> Drawn:
        """Draws the table of each person, and a report on its cell."""
        return self.asked.draw(inputs, entropy)

    def estimate(self, tally: Tally) -> JointTables:
        """Tables that agree with each other."""
        raw: tuple[Frequencies, ...] = self.asked.estimate(tally)
        variances = tuple(
            direction_variance(part, asked=max(own.users, 1), users=max(tally.users, 1))
            for part, own in zip(self.asked.parts, raw, strict=True)
        )
        return JointTables(
            self.names, self.values, tally.users, self.tables, self.parities, raw, variances, self.loss, tally.rejected
        )


@final
@dataclass(frozen=True)
class JointPlan:
    """One way to ask for tables: the mean error of a cell's share (root of the mean square), and its message."""

    how: str
    protocol: Joint
    error: float
    message_bytes: int


def joint_plans(
    values: Mapping[str, Sequence[Hashable]],
    *,
    loss: Pure | Number | None = None,
    epsilon: Number | None = None,
    users: int,
    marginals: int | Iterable[Sequence[str]] | None = None,
) -> list[JointPlan]:
    """All ways to ask for tables of attributes, best first.

    >>> [plan.how for plan in joint_plans({"a": range(3), "b": range(4)}, loss=1, users=1000)]
    ['product']
    """
    names, lists = read_attributes(values)
    epsilon, people = read_epsilon(loss, epsilon), integer(users, "users", least=1)
    wanted = _wanted(names, lists, marginals)
    sizes, every = [len(own) for own in lists], tuple(range(len(names)))
    tables: dict[str, tuple[Table, ...]] = {}
    if cells_of(every, sizes) <= LARGEST:
        tables["product"] = (every,)
    if wanted != (every,) and max(cells_of(table, sizes) for table in wanted) <= LARGEST:
        tables["marginals"] = wanted
    if set(sizes) == {2} and wanted != ((0,),):
        tables["parities"] = tuple(dict.fromkeys(kept for table in wanted for kept in subsets(table)))
    if not tables:
        raise BadArgument("marginals", f"tables of at most {LARGEST} cells", wanted)
    plans = [_plan(how, names, lists, own, epsilon, people, wanted) for how, own in tables.items()]
    least = min(plan.error for plan in plans) * float(CLOSE)
    return sorted(plans, key=lambda plan: (plan.error > least, plan.message_bytes * (plan.error <= least), plan.error))


def joint(
    values: Mapping[str, Sequence[Hashable]],
    *,
    loss: Pure | Number | None = None,
    epsilon: Number | None = None,
    users: int,
    marginals: int | Iterable[Sequence[str]] | None = None,
    how: str | None = None,
) -> Joint:
    """The protocol for tables of several attributes with the least error, or that of a given way.

    ``marginals`` are the tables that matter: names of attributes, or a number for all tables of so many. Without them
    it is the whole joint table where that has up to 1024 cells, else all pairs. Ways are ``"product"``,
    ``"marginals"`` and ``"parities"``.

    >>> joint({"sex": ["f", "m"], "works": [False, True]}, loss=Pure(1), users=10_000).tables
    ((0, 1),)
    """
    plans = joint_plans(values, loss=loss, epsilon=epsilon, users=users, marginals=marginals)
    if how is None:
        return plans[0].protocol
    fitting = [plan.protocol for plan in plans if plan.how == how]
    if not fitting:
        raise BadArgument("how", f"one of {', '.join(plan.how for plan in plans)}, which fit these attributes", how)
    return fitting[0]


def direction_variance(part: Any, *, asked: Fraction | int, users: int) -> float:
    """The mean variance of shares in each direction in which cells can err, those asked being drawn from all users.

    Bits err independently, in all directions alike. Where every report supports equally many cells the total is known,
    and all error is in the other directions: that is also the most that any protocol errs there. What the draw of
    people adds is largest where all cells are alike.

    >>> from sfumato.local.response import Response
    >>> round(direction_variance(Response(Values(range(4)), Pure(1)), asked=100, users=100), 4)
    0.0252
    """
    size, own = len(part.values), float(part.mean_squared_error(users=1) / asked)
    known = 1.0 if isinstance(part, UnaryEncoding) else size / (size - 1)
    return own * known + max(0.0, float(1 / Fraction(asked) - Fraction(1, users))) / size


def _wanted(
    names: tuple[str, ...], lists: tuple[Values, ...], marginals: int | Iterable[Sequence[str]] | None
) -> tuple[Table, ...]:
    """The tables that matter."""
    every = tuple(range(len(names)))
    if marginals is None:
        whole = len(names) <= 2 or cells_of(every, [len(own) for own in lists]) <= SMALL
        return (every,) if whole else tuple(combinations(every, 2))
    if isinstance(marginals, int):
        return tuple(combinations(every, integer(marginals, "marginals", least=1, most=len(names))))
    tables = []
    for named in marginals:
        if isinstance(named, str) or not named or len(set(named)) < len(named) or not set(named) <= set(names):
            raise BadArgument("marginals", f"groups of some of {', '.join(names)}", named)
        tables.append(tuple(sorted(names.index(name) for name in named)))
    if not tables:
        raise BadArgument("marginals", "at least one table", marginals)
    return tuple(dict.fromkeys(tables))


def _plan(
    how: str,
    names: tuple[str, ...],
    lists: tuple[Values, ...],
    tables: tuple[Table, ...],
    epsilon: Fraction,
    users: int,
    wanted: tuple[Table, ...],
) -> JointPlan:
    """A way with the best protocol for each table, and the error of the tables that matter."""
    sizes, share, parities = [len(own) for own in lists], Fraction(1, len(tables)), how == "parities"
    built: dict[int, tuple[Any, float]] = {}
    for table in tables:
        cells = 2 if parities else cells_of(table, sizes)
        if cells not in built:
            options = [Response] if parities else CANDIDATES.values()
            tried = [candidate(Values(range(cells)), Pure(epsilon)) for candidate in options]
            part = best_part(tried, lambda one: asked_error(one, users=users, share=share), compact=False)
            built[cells] = part, direction_variance(part, asked=max(Fraction(1), users * share), users=users)
    parts = [built[2 if parities else cells_of(table, sizes)] for table in tables]
    variances = component_variances(tables, sizes, [own for _, own in parts], parities=parities)
    error = sum(cell_variance(table, sizes, variances) for table in wanted) / len(wanted)
    protocol = Joint(names, lists, tables, OneOf(tuple(part for part, _ in parts)), parities)
    return JointPlan(how, protocol, error**0.5, HEAD + protocol.layout.size)
