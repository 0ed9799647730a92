"""Which statistics a limit pays for: targets first, by priority and price; the rest share what is left."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, TypeAlias, final

from sfumato.accounting.adaptive.approx_filter import ADDED, ApproxFilter
from sfumato.accounting.adaptive.charge import Rule
from sfumato.accounting.losses.measures import ZCDP, Approx, Loss
from sfumato.errors import BadArgument
from sfumato.ledger.rules import left_of, rule_for
from sfumato.planning.desk import Candidate, Offer
from sfumato.planning.sharing import (
    best_shares,
    charged_to,
    error_of,
    errors_at,
    few_digits_down,
    few_digits_up,
    least_share,
    stretched,
)
from sfumato.query.plan.pricing import most_mu

Share: TypeAlias = Literal["best", "even", "ranked"]
"""How what is left is shared out: for the least errors, equally, or by rank."""

SHARES = ("best", "even", "ranked")

Coin: TypeAlias = Callable[[Candidate, Loss], Loss]
"""In which kind of loss a statistic is bought from a limit: how much of it the limit comes to."""

NOTHING_LEFT = "nothing is left for it: statistics with targets come first"


@final
@dataclass(frozen=True, eq=False)
class Bought:
    """A statistic with its offer; ``share`` is the multiple of the limit that was stated for it."""

    candidate: Candidate
    offer: Offer
    share: Fraction

    @property
    def rank(self) -> tuple[int, Fraction]:
        """The place in the order of spending: by priority, then cheap ones first."""
        return self.candidate.wanted.priority, self.share


@final
@dataclass(frozen=True, eq=False)
class Chosen:
    """What a limit pays for, in the order of spending; what it does not, what that would cost, and why.

    ``factor`` is by how much all error bars would have to grow so that nothing with a target is dropped.
    """

    bought: tuple[Bought, ...]
    dropped: tuple[tuple[Candidate, Offer | None, str], ...]
    rule: Rule
    factor: Fraction | None = None

    @property
    def error(self) -> float:
        """The errors of all statistics, weighed and added up."""
        return sum(float(one.candidate.wanted.weight) * error_of(one.offer, one.candidate) for one in self.bought)

    @property
    def worth(self) -> tuple[float, float, float]:
        """What tells two ways apart: how much was dropped, the errors of what shares the rest, how little is left."""
        lost = sum(float(one.wanted.weight) for one, _, _ in self.dropped)
        free = (one for one in self.bought if not one.candidate.wanted.within)
        error = sum(float(one.candidate.wanted.weight) * error_of(one.offer, one.candidate) for one in free)
        return lost, error, -float(getattr(left_of(self.rule), "amounts", (0,))[0])


def own_kind(candidate: Candidate, whole: Loss) -> Loss:
    """Buys in the kind of the limit."""
    return whole


def added_up(candidate: Candidate, whole: Loss) -> Loss:
    """Buys with the part of δ that a ledger keeps for losses which it adds up: beside it all of ε can be spent."""
    return Approx(whole.epsilon, whole.delta * ADDED) if isinstance(whole, Approx) else whole


def concentrated(candidate: Candidate, whole: Loss) -> Loss:
    """Buys with ρ from a limit in (ε, δ), where keys are public: many such losses together cost less than their sum."""
    stated = candidate.wanted.settings.noise
    if candidate.chooses_keys or stated not in (None, "gaussian") or not isinstance(whole, Approx):
        return added_up(candidate, whole)
    return ZCDP(few_digits_down(most_mu(Fraction(whole.epsilon), whole.delta) ** 2 / 2))


def choose(candidates: Sequence[Candidate], limit: Loss, *, share: Share) -> Chosen:
    """Finds what a limit pays for, in the kind of loss in which it buys most."""
    if share not in SHARES:
        raise BadArgument("share", "'best', 'even' or 'ranked'", share)
    coins = [own_kind, added_up, concentrated] if isinstance(limit, Approx) and limit.delta else [own_kind]
    ways = [_chosen(candidates, limit, share, coin) for coin in coins]
    return min(ways, key=lambda way: way.worth)


def _chosen(candidates: Sequence[Candidate], limit: Loss, share: Share, coin: Coin) -> Chosen:
    aimed = sorted((_aimed(one, limit, coin) for one in candidates if one.wanted.within), key=lambda one: one.rank)
    rule, kept = rule_for(limit), list[Bought]()
    dropped: list[tuple[Candidate, Offer | None, str]] = []
    for one in aimed:
        after = charged_to(rule, [one.offer.cost])
        if after is None:
            dropped.append((one.candidate, one.offer, f"it costs {one.offer.cost.loss}, and {_left(rule)} is left"))
        else:
            rule = after
            kept.append(one)
    factor = _common_factor([one.candidate for one in aimed], limit, coin) if dropped else None
    free = [one for one in candidates if not one.wanted.within]
    sharing = _shared(free, kept, rule, limit, share, coin) if free else []
    if sharing is None:
        dropped += [(one, None, NOTHING_LEFT) for one in free]
    bought = sorted([*kept, *(sharing or [])], key=lambda one: one.rank)
    final_rule = charged_to(rule_for(limit), [one.offer.cost for one in bought]) or rule
    return Chosen(tuple(bought), tuple(dropped), final_rule, factor)


def _left(rule: Rule) -> str:
    return left_of(rule).str_down()


def _aimed(candidate: Candidate, limit: Loss, coin: Coin) -> Bought:
    """The cheapest offer that meets the targets of a statistic."""
    _check_targets(candidate, candidate.at(coin(candidate, limit)))
    whole = coin(candidate, limit)
    share = least_share(candidate, whole)
    if share is None:
        must = "an error bar that some loss reaches: no noise is little enough for it"
        raise BadArgument(f"within, of {candidate.wanted.name}", must, _targets_of(candidate))
    return Bought(candidate, candidate.at(whole.scaled(share).rounded(few_digits_up), rehearsed=True), share)


def _targets_of(candidate: Candidate) -> str:
    return ", ".join(f"{name}: {target}" if name else str(target) for name, target in candidate.wanted.within)


def _check_targets(candidate: Candidate, offer: Offer) -> None:
    """Refuses targets of columns that are not there, and of numbers with errors that nobody can foretell."""
    known = {number.column: number for number in offer.numbers}
    name = candidate.wanted.name
    if unknown := [one for one, _ in candidate.wanted.within if one and one not in known]:
        raise BadArgument(f"within, of {name}", f"for numbers of the answer: {', '.join(known)}", unknown[0])
    for column, number in known.items():
        target = candidate.wanted.target(column)
        if target is None:
            continue
        if number.half_width is None:
            must = f"left out for {column}, whose error hangs on the data: give within={{…}} for the other numbers"
            raise BadArgument(f"within, of {name}", must, str(target))
        if not target.width(number.value):
            must = f"a half-width for {column}, which may well be 0: a share of it says nothing"
            raise BadArgument(f"within, of {name}", must, str(target))


def _shared(
    free: Sequence[Candidate], kept: Sequence[Bought], rule: Rule, limit: Loss, share: Share, coin: Coin
) -> list[Bought] | None:
    """Shares what is left among statistics without targets; None where nothing is left."""
    left = left_of(rule)
    if left == left.nothing() or not getattr(left, "amounts", (1,))[0]:
        return None
    wholes = [coin(one, left) for one in free]
    parts = _parts(free, wholes, share)

    def offers(times: Fraction) -> list[Bought]:
        return [
            Bought(one, one.at(whole.scaled(times * part).rounded(few_digits_down)), times * part)
            for one, whole, part in zip(free, wholes, parts, strict=True)
        ]

    def fits(times: Fraction) -> bool:
        every = sorted([*kept, *offers(times)], key=lambda one: one.rank)
        return charged_to(rule_for(limit), [one.offer.cost for one in every]) is not None

    whole_share = Fraction(1) if not kept else _amount(left) / _amount(limit)
    many = isinstance(rule_for(limit), ApproxFilter)
    times = stretched(fits) if many or not fits(Fraction(1)) else Fraction(1)
    if times is None:
        return None
    return [
        Bought(one.candidate, one.candidate.at(one.offer.loss, rehearsed=True), one.share * whole_share)
        for one in offers(times)
    ]


def _amount(loss: Loss) -> Fraction:
    return Fraction(getattr(loss, "amounts", (1,))[0]) or Fraction(1)


def _parts(free: Sequence[Candidate], wholes: Sequence[Loss], share: Share) -> list[Fraction]:
    """How what is left is divided."""
    if share == "even":
        return [Fraction(1, len(free))] * len(free)
    if share == "ranked":
        last = max(one.wanted.priority for one in free)
        ranks = [Fraction(last + 1 - one.wanted.priority) for one in free]
        return [rank / sum(ranks) for rank in ranks]
    errors = [errors_at(one, whole) for one, whole in zip(free, wholes, strict=True)]
    return best_shares(errors, [float(one.wanted.weight) for one in free])


def _common_factor(aimed: Sequence[Candidate], limit: Loss, coin: Coin) -> Fraction | None:
    """About by how much all error bars must grow for everything with a target to fit; None where nothing helps."""

    def fits(factor: Fraction) -> bool:
        costs = []
        for one in aimed:
            whole = coin(one, limit)
            share = least_share(one, whole, float(factor))
            if share is None:
                return False
            costs.append((one.wanted.priority, share, one.at(whole.scaled(share).rounded(few_digits_up)).cost))
        ordered = [cost for _, _, cost in sorted(costs, key=lambda one: one[:2])]
        return charged_to(rule_for(limit), ordered) is not None

    low, high = Fraction(1), Fraction(2)
    while not fits(high):
        low, high = high, 2 * high
        if high > 1 << 12:
            return None
    for _ in range(6):
        middle = (low + high) / 2
        low, high = (low, middle) if fits(middle) else (middle, high)
    return high
