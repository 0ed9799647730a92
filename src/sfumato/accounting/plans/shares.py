"""Shares of a limit: what each of several parts may cost, and the largest loss of another kind that a limit allows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TypeVar, overload

from sfumato.accounting.convert.convert import convert
from sfumato.accounting.losses.measures import Additive, Approx, Loss, Pure
from sfumato.accounting.plans.search import greatest
from sfumato.errors import BadArgument, CannotCalibrate, NoProvenRoute
from sfumato.exact import Number, integer, positive

L = TypeVar("L", bound=Loss)


@overload
def split(limit: L, among: int) -> list[L]: ...
@overload
def split(limit: L, among: Mapping[str, Number] | Sequence[str], *, ranked: bool = ...) -> dict[str, L]: ...


def split(
    limit: L, among: int | Mapping[str, Number] | Sequence[str], *, ranked: bool = False
) -> dict[str, L] | list[L]:
    """Divides a limit among named parts: equally, by weights, or by rank; composed, they come to the limit.

    A mapping gives each name its weight; a list of names shares equally, and so does a number of parts without names.
    With ``ranked`` the list is in order of importance: the last of n names has the weight 1, the one before it 2, the
    first n. Weights divide what adds up: ε and δ, ρ, the square of μ, the divergence of every order. A part may be
    split again.

    >>> split(Pure(1), {"quantiles": 1, "mean": 9})
    {'quantiles': Pure(epsilon=0.1), 'mean': Pure(epsilon=0.9)}
    >>> split(Pure(1), 4)
    [Pure(epsilon=0.25), Pure(epsilon=0.25), Pure(epsilon=0.25), Pure(epsilon=0.25)]
    >>> split(Pure("0.6"), ["shares of men and women", "head count"], ranked=True)
    {'shares of men and women': Pure(epsilon=0.4), 'head count': Pure(epsilon=0.2)}
    """
    if not isinstance(limit, Loss):
        raise BadArgument("the limit", "a privacy loss such as sf.Pure(1)", limit)
    if isinstance(among, int):
        parts = integer(among, "the number of parts", least=1)
        return [limit.scaled(Fraction(1, parts))] * parts
    weights = _weights(among, ranked=ranked)
    whole = sum(weights.values(), Fraction(0))
    return {name: limit.scaled(weight / whole) for name, weight in weights.items()}


def _weights(among: Mapping[str, Number] | Sequence[str], *, ranked: bool) -> dict[str, Fraction]:
    if isinstance(among, str) or not isinstance(among, Mapping | Sequence) or not among:
        raise BadArgument(
            "the parts", 'a number, names with weights, {"mean": 9, "bounds": 1}, or a list of names', among
        )
    names = list(among)
    if not all(isinstance(name, str) and name.strip() for name in names) or len(set(names)) < len(names):
        raise BadArgument("the parts", "distinct names", names)
    if isinstance(among, Mapping):
        if ranked:
            raise BadArgument("the parts", "a list in order of importance: ranks are weights already", among)
        return {name: positive(weight, f"the weight of {name}") for name, weight in among.items()}
    return {name: Fraction(len(names) - place if ranked else 1) for place, name in enumerate(names)}


def largest_within(kind: type[L], limit: Loss) -> L:
    """The largest loss of a kind that theorems take into a limit of another kind, to the last digit of a float.

    >>> largest_within(Pure, Approx(1, 1e-6))
    Pure(epsilon=1.0)
    """
    if isinstance(limit, kind):
        return limit
    if not issubclass(kind, Additive):
        raise NoProvenRoute(f"what is left is not searched for in {kind.__name__}.")
    rest = kind.nothing().amounts[1:]
    if isinstance(limit, Pure | Approx) and kind in (Pure, Approx):
        return kind.of_amounts(limit.epsilon, *rest)

    def fits(amount: Fraction) -> bool:
        return convert(kind.of_amounts(amount, *rest), type(limit)).within(limit)

    fits(Fraction(1))  # refuses where no theorem takes this kind there
    try:
        return kind.of_amounts(greatest(fits, what="loss"), *rest)
    except CannotCalibrate:
        return kind.nothing()
