"""Conditions on one row: what filters, marks and counts ask of each row on its own."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field, replace
from typing import final

import numpy as np
import numpy.typing as npt

from sfumato.core.domains import Atom, Bounds, Categories, Data, Floats, Integers, Texts, categories, float_bounds
from sfumato.core.plan import Described, Plan, constructor
from sfumato.errors import BadArgument, Unseen
from sfumato.exact import Number
from sfumato.release.claim import Claim, required
from sfumato.transforms.rows import Rows, atom_of, shown_of, values_of
from sfumato.transforms.rowwise import each_row, holds_whole

Truths = npt.NDArray[np.bool_]


@final
@dataclass(frozen=True)
class Condition(Described):
    """A yes/no question to one row; ``&``, ``|`` and ``~`` combine conditions.

    ``test`` answers for all rows of a member of a domain; ``check`` refuses a domain it does not fit, before any data
    is seen; ``narrowed`` gives the kind of value that is left in ``column`` once only matching rows are kept.
    """

    text: str
    test: Callable[[Data, Rows], Truths]
    check: Callable[[Rows], None]
    column: str | None = None
    narrowed: Callable[[Atom], Atom] | None = None
    claims: tuple[Claim, ...] = ()
    plan: Plan | None = field(default=None, init=False, repr=False, compare=False)

    @constructor
    def __and__(self, other: Condition) -> Condition:
        return self._with(other, "and", np.logical_and)

    @constructor
    def __or__(self, other: Condition) -> Condition:
        return self._with(other, "or", np.logical_or)

    @constructor
    def __invert__(self) -> Condition:
        return replace(
            self, text=f"not ({self.text})", test=lambda data, domain: ~self.test(data, domain), narrowed=None
        )

    def _with(self, other: Condition, word: str, join: Callable[[Truths, Truths], Truths]) -> Condition:
        def check(domain: Rows) -> None:
            self.check(domain)
            other.check(domain)

        return Condition(
            f"({self.text} {word} {other.text})",
            lambda data, domain: join(self.test(data, domain), other.test(data, domain)),
            check,
            claims=self.claims + other.claims,
        )


@constructor
def between(lower: Number, upper: Number, *, column: str | None = None) -> Condition:
    """Asks whether a number lies in [lower, upper]; NaN does not.

    >>> between(0, 10).text
    'in [0, 10]'
    """
    bounds = Bounds.read((lower, upper))

    def check(domain: Rows) -> None:
        element = atom_of(domain, column, "between")
        if not isinstance(element, Floats | Integers):
            raise BadArgument("what between() asks about", "a column of numbers", str(element))

    def test(data: Data, domain: Rows) -> Truths:
        element, values = atom_of(domain, column, "between"), values_of(data, domain, column)
        if isinstance(element, Integers):
            low, high = math.ceil(bounds.lower / element.step), math.floor(bounds.upper / element.step)
            return np.asarray((values >= low) & (values <= high), dtype=bool)
        floor, ceiling = float_bounds(bounds)
        return np.asarray((values >= floor) & (values <= ceiling))

    def narrowed(element: Atom) -> Atom:
        if not isinstance(element, Floats | Integers):
            return element
        inside = _overlap(bounds, element.between)
        if isinstance(element, Integers):
            return replace(element, between=inside) if holds_whole(inside, element) else element
        return Floats(inside)

    return Condition(_about_column(f"in {bounds}", column), test, check, column, narrowed)


@constructor
def is_in(values: Sequence[Hashable], *, column: str | None = None) -> Condition:
    """Asks whether a value is one of a public list.

    >>> is_in(["red", "blond"], column="hair").text
    'hair among 2 public values'
    """
    listed = categories(values)
    wanted = frozenset(listed.values)

    def check(domain: Rows) -> None:
        atom_of(domain, column, "is_in")

    def test(data: Data, domain: Rows) -> Truths:
        matches = [value in wanted for value in shown_of(data, domain, column).tolist()]
        return np.array(matches, dtype=bool)

    def narrowed(element: Atom) -> Atom:
        return listed if isinstance(element, Categories | Texts) else element

    return Condition(_about_column(f"among {len(wanted)} public values", column), test, check, column, narrowed)


@constructor
def is_nan(*, column: str | None = None) -> Condition:
    """Asks whether a float is NaN.

    >>> (~is_nan()).text
    'not (NaN)'
    """

    def check(domain: Rows) -> None:
        element = atom_of(domain, column, "is_nan")
        if not isinstance(element, Floats):
            raise BadArgument("what is_nan() asks about", "a column of floats", str(element))

    def test(data: Data, domain: Rows) -> Truths:
        return np.asarray(np.isnan(values_of(data, domain, column)))

    return Condition(_about_column("NaN", column), test, check, column)


@constructor
def satisfies(predicate: Callable[[Data], bool], *, claim: Claim | None = None) -> Condition:
    """Asks a question of your own of each row: a value of a column, or a mapping from names to values of a frame.

    A row for which the predicate fails counts as a no. The claim says that it depends on its row and nothing else.

    >>> from sfumato.release.claim import claim
    >>> satisfies(str.isupper, claim=claim("a pure function")).text
    'a condition of the caller'
    """
    vouched = required(claim, "that a condition of your own depends on one row at a time")
    if not callable(predicate):
        raise BadArgument("the predicate", "callable", predicate)

    def test(data: Data, domain: Rows) -> Truths:
        return np.array([_answer(predicate, row) for row in each_row(data, domain)], dtype=bool)

    return Condition("a condition of the caller", test, lambda domain: None, claims=(vouched,))


def _answer(predicate: Callable[[Data], bool], row: Data) -> bool:
    # Whether the predicate fails depends on a private row, so failing must look like an ordinary answer.
    try:
        return bool(predicate(row))
    except Exception:
        return False


def _overlap(bounds: Bounds, known: Bounds | None) -> Bounds:
    if known is None or known.upper < bounds.lower or bounds.upper < known.lower:
        return bounds
    return Bounds(max(bounds.lower, known.lower), min(bounds.upper, known.upper))


def _about_column(text: str, column: str | None) -> str:
    return text if column is None else f"{column} {text}"


def read_condition(condition: object) -> Condition:
    """Refuses anything that is no condition, with a hint."""
    if not isinstance(condition, Condition):
        raise BadArgument("the condition", "between(…), is_in(…), is_nan() or satisfies(function, claim=…)", Unseen())
    return condition
