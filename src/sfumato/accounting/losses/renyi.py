"""Rényi differential privacy as a loss: a sum of curves, kept symbolic so that orders are chosen last."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import reduce
from heapq import nlargest
from itertools import pairwise
from typing import TypeAlias, final, overload

from sfumato.accounting.losses.amounts import less, multiple, sum_of_largest, total
from sfumato.accounting.losses.measures import Loss
from sfumato.accounting.renyi.curves import Curve, Orders
from sfumato.accounting.renyi.mechanism_curves import Affine, Linear, PureCurve, Tabulated
from sfumato.errors import BadArgument, NoProvenRoute
from sfumato.exact import Extended, Number, ball, digits_up, integer, upper
from sfumato.guarantee import guarantee
from sfumato.plain import record

BLOCKS = 128
"""A chain of more neighbours than this is bounded in so many blocks."""

Terms: TypeAlias = tuple[tuple[Curve, int], ...]
"""Distinct curves, in a fixed order, and how often each is used."""


SHOWN, LONGEST = 3, 80
"""How many parts of a loss, and letters of a curve, are printed."""


@final
@record("Renyi")
class Renyi(Loss):
    """Rényi differential privacy: for each order, a bound on the Rényi divergence between neighbours, both ways.

    It holds curves and how often each is used, or a table of orders and bounds. See `renyi_epsilon` for (ε, δ).

    >>> Renyi.of(Linear(2)).at(3)
    Fraction(6, 1)
    >>> Renyi({2: 0.5, 8: 1}).times(2).at(8)
    Fraction(2, 1)
    >>> Renyi.of(Linear(2)).at([2, 3])
    (Fraction(4, 1), Fraction(6, 1))
    """

    terms: Terms

    def __init__(self, terms: Mapping[Number, Number] | Sequence[tuple[Curve, int]]) -> None:
        parts = ((Tabulated(terms), 1),) if isinstance(terms, Mapping) else terms
        read: Terms = ()
        try:
            for curve, count in parts:
                read = _added(read, curve, integer(count, "count", least=0))
        except (TypeError, AttributeError):
            raise BadArgument(
                "terms", "a table such as {2: 0.5, 8: 1.0}, or pairs of a curve and a count", terms
            ) from None
        object.__setattr__(self, "terms", read)

    @classmethod
    def of(cls, curve: Curve, *, times: int = 1) -> Renyi:
        """Makes the loss of a number of uses of one curve."""
        return cls(((curve, times),))

    @classmethod
    def concentrated(cls, offset: Number, rho: Number) -> Renyi:
        """(ξ, ρ)-zCDP: divergences of at most ξ + ρα at every order α. Without an offset it is `ZCDP`.

        >>> Renyi.concentrated("0.1", "0.5").at(2)
        Fraction(11, 10)
        """
        curve = Affine(offset, rho)
        return cls.of(curve if curve.offset else Linear(curve.rho))

    @overload
    def at(self, order: Number) -> Extended: ...

    @overload
    def at(self, order: Sequence[int] | Sequence[float] | Sequence[Fraction]) -> tuple[Extended, ...]: ...

    def at(
        self, order: Number | Sequence[int] | Sequence[float] | Sequence[Fraction]
    ) -> Extended | tuple[Extended, ...]:
        """A certified upper bound on the Rényi divergence of an order above 1; of a list of orders, one for each."""
        if isinstance(order, Sequence) and not isinstance(order, str):
            return tuple([self.at(each) for each in order])
        Linear(0).at(order)  # refuses an order of 1 or less also where there are no curves
        return total(multiple(count, curve.at(order)) for curve, count in self.terms)

    def near(self, order: float) -> float:
        """A float near the bound at one of `orders`; it may steer a search and promises nothing."""
        return math.fsum(count * _near(curve, order) for curve, count in self.terms)

    def orders(self) -> Orders:
        """The orders that are worth asking at: all, the whole ones, those up to a highest, or a list."""
        return reduce(Orders.both, (curve.orders() for curve, _ in self.terms)) if self.terms else Orders()

    def ceiling(self) -> Extended:
        """An ε for which the loss is pure; infinity where none is known."""
        return total(multiple(count, curve.ceiling()) for curve, count in self.terms)

    @guarantee(
        claim="at every order the divergences add up", proof="proofs/renyi.md#composition", reviewed="cccfbeb9f9ac"
    )
    def then(self, other: Renyi) -> Renyi:
        self._same(other)
        longer, shorter = sorted((self.terms, other.terms), key=len, reverse=True)
        return _of(reduce(lambda terms, part: _added(terms, *part), shorter, longer))

    def within(self, limit: Renyi) -> bool:
        self._same(limit)
        if not limit.terms:
            return not self.terms or (self._tabulated and 0 in self.table().values())  # D = 0 at one order: P = Q
        if limit._tabulated:
            return all(self.at(order) <= bound for order, bound in limit.table().items())
        allowed, most = dict(limit.terms), _slope(limit.terms)
        rest = [(curve, count) for curve, count in self.terms if not isinstance(curve, Linear)]
        if most == math.inf or (
            _slope(self.terms) <= most and all(count <= allowed.get(curve, 0) for curve, count in rest)
        ):
            return True
        if not rest and all(isinstance(curve, Linear) for curve in allowed):
            return False
        raise NoProvenRoute(
            "these Rényi curves cannot be compared at all of infinitely many orders. State the limit at chosen orders, "
            "such as sf.Renyi({2: 0.5, 8: 1.0}), or compare what they come to: "
            "sf.accounting.renyi_epsilon(loss, delta=1e-6)."
        )

    @classmethod
    def nothing(cls) -> Renyi:
        return _of(())

    @classmethod
    @guarantee(
        claim="at every order the sum of the count largest divergences",
        proof="proofs/renyi.md#widest",
        reviewed="862f376eed86",
    )
    def widest(cls, losses: Sequence[Renyi], *, count: int = 1) -> Renyi:
        read, meeting = cls._read(losses, count)
        parts = [loss for loss in read if loss.terms]
        if len(parts) <= meeting:
            return reduce(cls.then, parts, cls.nothing())
        if all(isinstance(curve, Linear) for loss in parts for curve, _ in loss.terms):
            return cls.of(Linear(sum_of_largest((_slope(loss.terms) for loss in parts), meeting)))
        return parts[0].times(meeting) if len(set(parts)) == 1 else cls.of(Largest(meeting, tuple(parts)))

    @guarantee(
        claim="for linear curves size² · rho, for one pure curve size · epsilon, else the chain of Grouped",
        proof="proofs/group_privacy.md#renyi",
        reviewed="c8900ecbb848",
    )
    def group(self, size: int) -> Renyi:
        members = integer(size, "size", least=1)
        match self.terms:
            case ():
                return self
            case ((Linear(rho=rho), _),):
                return Renyi.of(Linear(multiple(members**2, rho)))
            case ((PureCurve(epsilon=epsilon), 1),):
                return Renyi.of(PureCurve(multiple(members, epsilon)))
            case ((Grouped(inner=inner, size=before), 1),):
                return Renyi.of(Grouped(inner, before * members))
        return self if members == 1 else Renyi.of(Grouped(self, members))

    def table(self) -> dict[Number, Extended]:
        """Its bounds at the orders at which it is stated; nothing where it is stated at all of an interval."""
        return {order: self.at(order) for order in self.orders().listed or ()}

    @guarantee(
        claim="at each order of the limit, what was spent there and the remainder add up to the limit",
        proof="proofs/privacy_filters.md#left",
        reviewed="4183fc2b2011",
    )
    def minus(self, spent: Renyi) -> Renyi:
        self._same(spent)
        left: dict[Number, Number] = {order: less(bound, spent.at(order)) for order, bound in self.table().items()}
        return Renyi(left) if left else self if self == spent == Renyi.nothing() else super().minus(spent)

    def meet(self, other: Renyi) -> Renyi:
        self._same(other)
        if not self.terms or not other.terms:
            return Renyi.nothing()
        mine, theirs = self.table(), other.table()
        both: dict[Number, Number] = {
            order: min(table[order] for table in (mine, theirs) if order in table) for order in mine | theirs
        }
        return Renyi(both) if both else super().meet(other)

    @guarantee(
        claim="parts with shares s ≥ 0 of one limit, the s adding up to at most 1, compose to at most the limit",
        proof="proofs/shares.md#parts",
        reviewed="2a24d23ed1bb",
    )
    def scaled(self, share: Fraction) -> Renyi:
        if all(isinstance(curve, Linear) for curve, _ in self.terms):
            return Renyi.of(Linear(multiple(share, _slope(self.terms))))
        if not self._tabulated:
            return super().scaled(share)
        return Renyi({order: multiple(share, bound) for order, bound in self.table().items()})

    def rounded(self, rounding: Callable[[Extended], Extended]) -> Renyi:
        table = self.table() if self._tabulated else {}
        rounded: dict[Number, Number] = {order: rounding(bound) for order, bound in table.items()}
        return self if rounded == table else Renyi(rounded)

    @property
    def _tabulated(self) -> bool:
        return all(isinstance(curve, Tabulated) for curve, _ in self.terms)

    def __str__(self) -> str:
        parts = [_words(curve) if count == 1 else f"{count} × {_words(curve)}" for curve, count in self.terms]
        shown = [*parts[:SHOWN], f"{len(parts) - SHOWN} more"] if len(parts) > SHOWN else parts
        return f"Rényi curve {' + '.join(shown) or '0'}"


def _words(curve: Curve) -> str:
    """Writes a curve in a few words: a table by its first points, any other by its kind and numbers."""
    if not isinstance(curve, Tabulated):
        text = repr(curve)
        return text if len(text) <= LONGEST else text[:LONGEST] + "…"
    points = [f"{digits_up(value)} at order {digits_up(order)}" for order, value in curve.points]
    return ", ".join(points if len(points) <= SHOWN else [*points[:SHOWN], "…"])


def _of(terms: Terms) -> Renyi:
    """Makes a loss of terms that are in order already."""
    made = object.__new__(Renyi)
    object.__setattr__(made, "terms", terms)
    return made


def _key(curve: Curve) -> tuple[str, str]:
    """What terms are put in order by; linear curves all share one place, where they add up."""
    return type(curve).__name__, "" if isinstance(curve, Linear) else repr(curve)


def _added(terms: Terms, curve: Curve, count: int) -> Terms:
    """Adds uses of a curve to terms that are in order."""
    if count == 0 or curve.ceiling() == 0:
        return terms
    if isinstance(curve, Linear):
        curve, count = Linear(multiple(count, curve.rho)), 1
    place = bisect_left(terms, _key(curve), key=lambda term: _key(term[0]))
    if place == len(terms) or _key(terms[place][0]) != _key(curve):
        return (*terms[:place], (curve, count), *terms[place:])
    there, before = terms[place]
    merged: tuple[Curve, int] = curve, before + count
    if isinstance(curve, Linear) and isinstance(there, Linear):
        merged = Linear(total((there.rho, curve.rho))), 1
    return (*terms[:place], merged, *terms[place + 1 :])


def _slope(terms: Terms) -> Extended:
    return total(curve.rho for curve, _ in terms if isinstance(curve, Linear))


def _near(curve: Curve, order: float) -> float:
    """Asks a curve at the float of one of its own orders."""
    stated = curve.orders()
    if stated.listed is None:
        order = max(order, float(stated.low))
        order = float(math.ceil(order)) if stated.whole else order
        return curve.near(min(order, float(stated.high)) if stated.steps else order)
    return curve.near(order)


@final
@record("Largest")
class Largest(Curve):
    """What ``count`` of several losses come to, at each order the largest of them."""

    count: int
    parts: tuple[Renyi, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "count", integer(self.count, "count", least=1))
        object.__setattr__(self, "parts", tuple(sorted(self.parts, key=repr)))
        if not self.parts or not all(isinstance(part, Renyi) for part in self.parts):
            raise BadArgument("parts", "one or more Rényi losses", self.parts)

    @guarantee(claim="the sum of the count largest", proof="proofs/renyi.md#widest", reviewed="86e4f09aa11b")
    def bound(self, order: Fraction) -> Extended:
        return sum_of_largest((part.at(order) for part in self.parts), self.count)

    def orders(self) -> Orders:
        return reduce(Orders.both, (part.orders().between() for part in self.parts))

    def ceiling(self) -> Extended:
        return sum_of_largest((part.ceiling() for part in self.parts), self.count)

    def near(self, order: float) -> float:
        return math.fsum(nlargest(self.count, (part.near(order) for part in self.parts)))


@final
@record("Grouped")
class Grouped(Curve):
    """What a loss comes to for groups of up to ``size`` units that change together."""

    inner: Renyi
    size: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", integer(self.size, "size", least=1))
        if not isinstance(self.inner, Renyi):
            raise BadArgument("inner", "a Rényi loss", self.inner)

    @guarantee(
        claim="at least the sum over i < k of k·order / (k·order - i) times the bound at order k·order - i, or of a "
        "higher one; at most the curve of pure k·epsilon where the loss is pure",
        proof="proofs/group_privacy.md#renyi",
        reviewed="3f50aac988f1",
    )
    def bound(self, order: Fraction) -> Extended:
        top = self.size * order
        parts = ((chain_weight(top, first, end), top - first) for first, end in _blocks(self.size))
        chain = total(weight * self.inner.at(highest) for weight, highest in parts)
        return min(chain, PureCurve(self.ceiling()).bound(order))

    def orders(self) -> Orders:
        stated = self.inner.orders().between()
        return Orders(high=stated.high / self.size, steps=tuple(step / self.size for step in stated.steps))

    def ceiling(self) -> Extended:
        return multiple(self.size, self.inner.ceiling())

    def near(self, order: float) -> float:
        top = self.size * order
        chain = math.fsum(_near_weight(top, *block) * self.inner.near(top - block[0]) for block in _blocks(self.size))
        return min(chain, PureCurve(self.ceiling()).near(order))


def _near_weight(top: float, first: int, end: int) -> float:
    """A float near `chain_weight`."""
    return top / (top - first) if end - first == 1 else top * math.log1p((end - first) / (top - end + 0.5))


def _blocks(size: int) -> list[tuple[int, int]]:
    """Cuts a chain into at most `BLOCKS` blocks, given by their first place and the one after their last."""
    if size <= BLOCKS:
        return list(pairwise(range(size + 1)))
    # Finer towards the end, where the orders are low and the weights large.
    return list(pairwise(sorted({size - size * left**2 // BLOCKS**2 for left in range(BLOCKS + 1)})))


@guarantee(
    claim="at least the sum of top / (top - i) over first <= i < end; equal where that is one term",
    proof="proofs/group_privacy.md#blocks",
    reviewed="403a9a51f68e",
)
def chain_weight(top: Fraction, first: int, end: int) -> Fraction:
    """How much a block of a chain weighs, rounded up."""
    if end - first == 1:
        return top / (top - first)
    ratio = (2 * (top - first) + 1) / (2 * (top - end) + 1)
    return Fraction(upper(lambda: ball(top) * ball(ratio).log()))
