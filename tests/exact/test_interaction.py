"""Compositors, filters and strategies: the law of everything an asker can see, for every strategy on a small menu."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.profiles import examples

import sfumato as sf
from sfumato.accounting.adaptive import approx_filter
from sfumato.accounting.adaptive.approx_filter import filter_for
from sfumato.accounting.adaptive.charge import Rule, charge_to
from sfumato.accounting.adaptive.costs import Cost
from sfumato.accounting.adaptive.filters import SumFilter
from sfumato.accounting.losses.divergence import hockey_stick, max_divergence, renyi
from sfumato.core.branches import Strategy
from sfumato.core.law import FiniteLaw
from sfumato.core.restating import cost_of
from sfumato.errors import NoProvenRoute
from sfumato.exact import BITS, ball, exp_up, log_up, precision
from sfumato.noise import flip

BIT = sf.scalar(bool)
TINY = Fraction(1, 10**15)
VOUCHED = sf.claim("for this test")


def told(p: str) -> Any:
    """Randomized response that tells the truth with probability p."""
    return sf.randomized_response(p=p)


def leaky(share: str) -> sf.Measurement:
    """Shows the bit with a small probability, and else nothing."""
    delta = Fraction(share)
    made = sf.measurement(
        BIT,
        sf.Approx,
        function=lambda bit, entropy: ("shown", bit) if flip(delta, entropy=entropy) else "nothing",
        map=lambda d: sf.Approx(0, delta if d else 0),
        claim=VOUCHED,
    )
    return replace(made, law=lambda bit: FiniteLaw({("shown", bit): ball(delta), "nothing": ball(1 - delta)}))


def losses(made: sf.Measurement) -> tuple[dict[Any, Any], dict[Any, Any]]:
    """The exact laws of an outcome on the two neighbours."""
    assert made.law is not None
    return dict(made.law(True).probabilities), dict(made.law(False).probabilities)  # type: ignore[attr-defined]


def true_epsilon(made: sf.Measurement) -> Fraction:
    one, other = losses(made)
    return Fraction(max(max_divergence(one, other)[1], max_divergence(other, one)[1]))


Tree = Callable[[tuple[Any, ...]], Any]


def tree(choices: dict[tuple[Any, ...], Any], otherwise: Any) -> Tree:
    return lambda history: choices.get(history, otherwise)


def trees(menu: list[Any], depth: int, answers: tuple[Any, ...] = (True, False)) -> Iterator[Tree]:
    """Every way to choose a query from a menu in the light of all answers so far."""
    histories = [h for length in range(depth) for h in itertools.product(answers, repeat=length)]
    for chosen in itertools.product(menu, repeat=len(histories)):
        yield tree(dict(zip(histories, chosen, strict=True)), menu[0])


def asks(choose: Tree, depth: int) -> Strategy:
    """A strategy that follows a tree and ends with the transcript; a refusal is part of it."""

    def strategy(ask: sf.Queryable, entropy: object) -> tuple[Any, ...]:
        history: tuple[Any, ...] = ()
        for _ in range(depth):
            try:
                history = (*history, ask(choose(tuple(bool(h) for h in history))))
            except (sf.errors.QueryRefused, sf.errors.Exhausted):
                return (*history, "refused")
        return history

    return strategy


MENU = [told("0.5"), told("0.6"), told("0.75")]


def test_every_strategy_on_slices_stays_within_them_and_one_reaches_them() -> None:
    compositor = BIT >> sf.adaptive_composition([told_loss("0.75"), told_loss("0.6")])
    found = [true_epsilon(sf.analysis(compositor, asks(choose, 3))) for choose in trees(MENU, 2)]
    claimed = compositor.map(1).epsilon  # type: ignore[attr-defined]
    assert max(found) <= claimed + TINY
    assert max(found) >= claimed - TINY


def told_loss(p: str) -> sf.Pure:
    loss = (BIT >> told(p)).map(1)
    assert isinstance(loss, sf.Pure)
    return loss


def test_every_strategy_under_a_filter_stays_within_it() -> None:
    """Prices are chosen as one goes; three rounds, every seventh of all 3^7 trees of choices."""
    limit = told_loss("0.75").then(told_loss("0.6"))
    made = BIT >> sf.privacy_filter(limit)
    chosen = itertools.islice(trees(MENU, 3), 0, None, 7)
    worst = max(true_epsilon(sf.analysis(made, asks(choose, 3))) for choose in chosen)
    assert limit.epsilon - TINY <= worst <= limit.epsilon + TINY


def test_a_rule_that_does_not_charge_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same enumeration finds a compositor that forgets to move its state."""
    monkeypatch.setattr(SumFilter, "after", lambda rule, loss: rule)
    made = BIT >> sf.privacy_filter(sf.Pure(1.5))
    assert true_epsilon(sf.analysis(made, asks(lambda history: told("0.75"), 3))) > 3


def test_approximate_losses_add_up_in_delta_for_every_strategy() -> None:
    def choose_first(ask: sf.Queryable, entropy: object) -> tuple[Any, ...]:
        first = ask(told_approx("0.6"))
        return first, ask(leaky("0.01") if first else told_approx("0.6")), ask(leaky("0.02"))

    slices = [sf.Approx(told_loss("0.6").epsilon, 0), sf.Approx(told_loss("0.6").epsilon, "0.01"), sf.Approx(0, "0.02")]
    made = sf.analysis(BIT >> sf.adaptive_composition(slices, claim=VOUCHED), choose_first)
    claimed = made.map(1)
    assert isinstance(claimed, sf.Approx)
    one, other = losses(made)
    for left, right in ((one, other), (other, one)):
        assert hockey_stick(left, right, claimed.epsilon)[1] <= claimed.delta + TINY
    assert hockey_stick(one, other, claimed.epsilon)[0] > Fraction("0.0199")  # the last slice is used in full


def told_approx(p: str) -> sf.Measurement:
    return sf.convert_measure(BIT >> told(p), sf.Approx)


LEAKS = ("0.1", "0.05")
SPENDING = {"5/9": BIT >> told("5/9")} | {name: leaky(name) for name in LEAKS}
"""What a spender may ask for: answers of odds 5/4, and leaks."""


def chances(name: str) -> dict[Any, tuple[Fraction, Fraction]]:
    """The answers of a query on the menu, each with its probability on True and on False."""
    p = Fraction(name)
    if name in LEAKS:
        return {("shown", True): (p, Fraction(0)), ("shown", False): (Fraction(0), p), "nothing": (1 - p, 1 - p)}
    return {True: (p, 1 - p), False: (1 - p, p)}


def worst_spender(limit: sf.Approx, rounds: int) -> Strategy:
    """The strategy that makes δ at the ε of the limit largest of all, found by recursion over what a filter admits."""
    costs = {name: cost_of(asked, 1, asked.map(1)) for name, asked in SPENDING.items()}
    following = cache(lambda rule, name: charge_to(rule, costs[name]) if admitted(rule, costs[name]) else None)

    @cache
    def best(rule: Rule, growth: Fraction, left: int) -> tuple[Fraction, str | None]:
        values: list[tuple[Fraction, str | None]] = [(max(Fraction(0), 1 - growth), None)]
        for name in SPENDING if left else ():
            if (after := following(rule, name)) is not None:
                pairs = [pair for pair in chances(name).values() if pair[0] > 0]
                values.append((sum(p * best(after, growth * q / p, left - 1)[0] for p, q in pairs), name))
        return max(values, key=lambda value: value[0])

    def strategy(ask: sf.Queryable, entropy: object) -> tuple[Any, ...]:
        rule, growth, history = filter_for(limit), exp_up(limit.epsilon), ()
        for left in range(rounds, 0, -1):
            name = best(rule, growth, left)[1]
            if name is None or growth == 0:
                break
            history = (*history, ask(SPENDING[name]))
            p, q = chances(name)[history[-1]]
            if p == 0:  # which cannot be where the bit is True
                break
            rule, growth = following(rule, name), growth * q / p
        return history

    return strategy


def admitted(rule: Rule, cost: Cost) -> bool:
    try:
        charge_to(rule, cost)
    except (sf.errors.QueryRefused, NoProvenRoute):
        return False
    return True


def delta_of(limit: sf.Approx, rounds: int) -> tuple[Fraction, Fraction]:
    """Bounds on what the worst spender makes of a filter with a limit, by the law of all that leaves."""
    filtered = BIT >> sf.privacy_filter(limit, claim=VOUCHED)
    one, other = losses(sf.analysis(filtered, worst_spender(limit, rounds)))
    return hockey_stick(one, other, limit.epsilon)


def test_the_worst_spender_keeps_an_approximate_limit_that_is_counted_in_any_way(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It leaks where the first answers were unlikely and goes on asking where they were not: shares of δ stop it."""
    limit, rounds = sf.Approx(log_up(2), "1/10"), 5
    assert Fraction(1, 20) < delta_of(limit, rounds)[1] <= limit.delta + TINY
    for share in ("ADDED", "ASIDE", "RENYI", "GAUSSIAN"):
        monkeypatch.setattr(approx_filter, share, Fraction(1))
    approx_filter.rooms.cache_clear()
    try:
        assert delta_of(limit, rounds)[0] > limit.delta + TINY
    finally:
        approx_filter.rooms.cache_clear()


def test_an_approximate_limit_answers_more_than_adding_up_and_in_every_kind() -> None:
    """Answers of one bit that are stated as pure, concentrated or (ε, δ): each is counted by what it runs."""
    limit = sf.Approx(1, "1e-6")
    dear = sf.convert_measure(BIT >> told("0.51"), sf.ZCDP)
    counts = []
    for rule, query in ((limit, dear), (limit, told("0.51")), (SumFilter(limit), told_approx("0.51"))):
        ask = (BIT >> sf.privacy_filter(rule))(True).value
        answers: list[bool] = []
        with pytest.raises(sf.errors.QueryRefused):
            answers.extend(ask(query) for _ in range(1000))
        assert ask(sf.Spent()).within(limit)
        counts.append(len(answers))
    assert counts[2] == 24 and min(counts[:2]) > 1.2 * counts[2]


def test_what_stays_open_under_an_approximate_limit_is_counted_by_its_epsilon_and_delta() -> None:
    ask = (BIT >> sf.privacy_filter(sf.Approx(1, "1e-6"), concurrent=True))(True).value
    with pytest.raises(sf.errors.QueryRefused, match="added up here as Approx"):
        ask(sf.privacy_filter(sf.Pure("0.1")))
    inner = ask(sf.privacy_filter(sf.Approx("0.1", "1e-8")))
    assert ask(sf.Spent()) == sf.Approx("0.1", "1e-8") and isinstance(inner(told("0.51")), bool)


def test_concentrated_losses_add_up_for_every_strategy() -> None:
    kind = sf.ZCDP
    menu = [sf.convert_measure(BIT >> told(p), kind) for p in ("0.5", "0.6", "0.7")]
    dear = menu[2].map(1)
    made = BIT >> sf.adaptive_composition([dear, dear])
    rho = made.map(1).rho  # type: ignore[attr-defined]
    for choose in trees(menu, 2):
        one, other = losses(sf.analysis(made, asks(choose, 2)))
        for order in (Fraction(3, 2), Fraction(2), Fraction(6)):
            assert renyi(one, other, order)[1] <= order * rho + TINY


def two_in_turns(order: tuple[int, ...], choose: Tree) -> Strategy:
    """Opens two filters under a concurrent compositor and asks them in the given order."""

    def strategy(ask: sf.Queryable, entropy: object) -> tuple[Any, ...]:
        open_ones = [ask(sf.privacy_filter(sf.Pure(1.1))), ask(sf.privacy_filter(sf.Pure(1.1)))]
        history: tuple[Any, ...] = ()
        for which in order:
            try:
                history = (*history, open_ones[which](choose(tuple(bool(h) for h in history))))
            except sf.errors.QueryRefused:
                return (*history, "refused")
        return history

    return strategy


@pytest.mark.parametrize("order", [(0, 1, 0), (0, 1, 1), (1, 0, 1)])
def test_interactive_answers_asked_in_turns_stay_within_their_slices(order: tuple[int, ...]) -> None:
    compositor = BIT >> sf.combinators.concurrent_composition([sf.Pure(1.1), sf.Pure(1.1)])
    worst = max(
        true_epsilon(sf.analysis(compositor, two_in_turns(order, choose)))
        for choose in itertools.islice(trees([told("0.6"), told("0.75")], 3), 0, None, 3)
    )
    assert Fraction(2) < worst <= Fraction("2.2") + TINY


@settings(max_examples=examples(60), deadline=None)
@given(
    st.lists(st.sampled_from(["0.3", "0.5", "0.55", "0.6", "0.75", "0.9"]), min_size=15, max_size=15),
    st.fractions(0, 3),
    st.booleans(),
)
def test_random_strategies_under_random_limits(menu: list[str], limit: Fraction, nested: bool) -> None:
    """A tree of depth 4 over random prices, asked directly or of a filter inside a slice."""
    histories = [h for length in range(4) for h in itertools.product((True, False), repeat=length)]
    choose = dict(zip(histories, map(told, menu), strict=True)).__getitem__
    walk = asks(choose, 4)
    if nested:
        made = BIT >> sf.adaptive_composition([sf.Pure(limit)])
        strategy: Strategy = lambda ask, entropy: walk(ask(sf.privacy_filter(sf.Pure(limit))), entropy)  # noqa: E731
    else:
        made, strategy = BIT >> sf.privacy_filter(sf.Pure(limit)), walk
    assert true_epsilon(sf.analysis(made, strategy)) <= limit + TINY


def test_the_law_of_a_strategy_is_what_is_drawn() -> None:
    """The replayed law against draws: chi-square with a fixed source, and a wrong law is rejected."""

    def adaptive(ask: sf.Queryable, entropy: object) -> tuple[bool, bool]:
        first = ask(told("0.75"))
        return first, ask(told("0.9") if first else told("0.6"))

    made = sf.analysis(BIT >> sf.privacy_filter(sf.Pure(4)), adaptive)
    source = sf.entropy.ReplayEntropy(11)
    drawn = [made.function(True, source) for _ in range(10_000)]
    law = losses(made)[0]
    assert chi_square(drawn, {k: float(v) for k, v in law.items()}) < 20  # 3 degrees of freedom: 1 in 6000
    wrong = {k: float(v) * (1.05 if k[0] else 0.85) for k, v in law.items()}
    assert chi_square(drawn, wrong) > 25


def chi_square(drawn: list[Any], law: dict[Any, float]) -> float:
    return sum((drawn.count(key) - len(drawn) * p) ** 2 / (len(drawn) * p) for key, p in law.items())


def test_A1_117_composition_has_the_product_law_and_its_sum_is_reached() -> None:
    both = BIT >> sf.composition([told("0.6"), told("0.75")])
    assert both.law is not None
    outcomes = list(itertools.product((True, False), repeat=2))
    with precision(BITS):
        one = {o: both.law(True).probability(o) for o in outcomes}
        other = {o: both.law(False).probability(o) for o in outcomes}
    claimed = both.map(1).epsilon  # type: ignore[attr-defined]
    assert abs(max_divergence(one, other)[1] - claimed) < TINY
    assert max_divergence(one, other)[1] > told_loss("0.75").epsilon + Fraction("0.4")  # more than the dearer one alone
