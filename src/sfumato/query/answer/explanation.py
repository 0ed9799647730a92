"""What can be said of a question before it is asked: how it is answered, errors to expect, price, whether it fits."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, final

from sfumato.accounting.convert.convert import convert
from sfumato.accounting.losses.concentrated import COMMON_KINDS
from sfumato.accounting.losses.measures import Approx, Loss
from sfumato.core.domains import Data
from sfumato.errors import SfumatoError
from sfumato.release.record import Cutting, How
from sfumato.release.render.displayed import Displayed
from sfumato.release.render.document import Document, Table
from sfumato.release.render.words import percent, width

SIZES = (100, 10_000)
"""Made-up sizes of a group for which errors that depend on the size are shown."""

LAST, NUMBERS = frozenset({3}), frozenset(range(1, 1000))
"""Columns of numbers, which stand flush right."""

DELTA = Fraction(1, 10**6)
"""The δ at which a price is shown as (ε, δ), where its own kind of loss has none."""

Rows = tuple[tuple[str, ...], ...]


@final
class Later(Sequence[tuple[str, ...]]):
    """Rows that are worked out when somebody looks at them, once."""

    def __init__(self, make: Callable[[], Rows]) -> None:
        self._make = make

    @cached_property
    def rows(self) -> Rows:
        """The rows, as they are now."""
        return self._make()

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, place: Any) -> Any:
        return self.rows[place]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Later | tuple) and self.rows == tuple(other)

    def __hash__(self) -> int:
        return hash(self.rows)

    def __repr__(self) -> str:
        return repr(self.rows)


@final
@dataclass(frozen=True)
class Explanation(Displayed):
    """What a question would cost and how it would be answered; nothing is spent. Printing shows text, notebooks HTML.

    ``half_width`` is the error bar of a measurement, where it is known. A query has a plan besides: the ``tree`` of
    what is computed, ``bounds`` on each unit, ``noise`` by number, ``errors`` to expect by column, and errors at
    ``others``, other prices, which are worked out when they are looked at. ``left`` is what the account that would pay
    has left, None where there is no account yet; ``known`` says that the answer is in the book, and then it ``costs``
    only where this account has not counted it; ``refusal`` is what speaks against it now. ``beside`` has units of other
    kinds that are protected too: who that is, the price for one of them, and what is left of their limit.
    """

    how: How
    price: Loss
    unit: str
    confidence: Fraction
    half_width: Data = None
    tree: Rows = ()
    bounds: tuple[str, ...] = ()
    noise: Rows = ()
    errors: Rows = ()
    others: Sequence[tuple[str, ...]] = ()
    left: Loss | None = None
    known: bool = False
    costs: bool = True
    refusal: str | None = None
    beside: tuple[tuple[str, Loss, Loss], ...] = ()

    @property
    def fits(self) -> bool:
        """Tells whether the question can be asked now."""
        return self.refusal is None

    def document(self) -> Document:
        """The question, how it would be answered, and at what price."""
        sizes = tuple(f"± in a group of {size:,}" for size in SIZES)
        cuts = tuple((cut.source, cut.what) for cut in self.how.cuts if cut.cutting is not Cutting.UNITS)
        claims = tuple((str(claim),) for claim in self.how.claims)
        columns = ("noisy number", "one unit moves it (L1, L2)", "noise", "±")
        tables = [
            Table(self.tree or (("", self.how.made),), title="What is computed"),
            Table(tuple((why,) for why in self.bounds), title="How each unit is bounded"),
            Table(cuts, title="What else is cut, and who says so"),
            Table(self.noise, columns, title="Noise", right=LAST),
            Table(self._error_bar, title="Error to expect"),
            Table(self.errors, ("column", *sizes), title="Errors to expect", right=NUMBERS),
            Table(tuple(self._prices()), title="Price"),
            Table(
                tuple(self.others),
                (sizes[-1], *(row[0] for row in self.errors)),
                title="What else it could cost",
                right=NUMBERS,
            ),
            Table(tuple(self._standing()), title="Where it would be paid"),
            Table(claims, title="What is claimed"),
        ]
        shown = tuple(one for one in tables if one.rows)
        return Document("Explanation", self.how.asked or self.how.made, "(explained: nothing was spent)", tables=shown)

    @property
    def _error_bar(self) -> Rows:
        return () if self.half_width is None else (("", f"± {width(self.half_width)} ({percent(self.confidence)})"),)

    def _prices(self) -> Iterator[tuple[str, str]]:
        yield "price", f"{self.price} for {self.unit}"
        for who, price, _ in self.beside:
            yield "price", f"{price} for {who}"
        for kind in COMMON_KINDS:
            if type(self.price) is kind:
                continue
            try:
                shown = convert(self.price, kind, delta=DELTA) if kind is Approx else convert(self.price, kind)
            except SfumatoError:
                continue
            yield f"as {kind.__name__}", str(shown)

    def _standing(self) -> Iterator[tuple[str, str]]:
        if self.left is not None:
            yield "left", self.left.str_down() + (f" for {self.unit}" if self.beside else "")
        for who, _, left in self.beside:
            yield "left", f"{left.str_down()} for {who}"
        if self.known:
            paid = "and counts for this account" if self.costs else "and costs nothing"
            yield "known", f"this was asked before: the answer is in the book, {paid}"
        if self.refusal is not None:
            yield "no", self.refusal

    __repr__ = Displayed.__str__
