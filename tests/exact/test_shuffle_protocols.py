"""Shuffled reports of protocols written out for a few units, against the certified bound by their numbers."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Hashable
from fractions import Fraction

import pytest

from sfumato.accounting.amplify.blanket import hidden_delta
from sfumato.accounting.amplify.local_search import local_epsilon
from sfumato.accounting.amplify.protocols import generic_delta, protocol_delta
from sfumato.accounting.amplify.shuffle import shuffled_delta, shuffled_epsilon
from sfumato.accounting.amplify.tilted_sum import sum_delta
from sfumato.accounting.events import Hiding
from sfumato.exact import exp_up

F = Fraction
EPSILONS = [F(0), F(1, 20), F(1, 5), F(1, 2), F(1)]
Rows = list[dict[Hashable, Fraction]]


def response(options: int, truth: Fraction) -> Rows:
    lie = (1 - truth) / (options - 1)
    return [{y: truth if x == y else lie for y in range(options)} for x in range(options)]


def bits(values: int, own: Fraction, other: Fraction) -> Rows:
    def chance(x: int, report: tuple[int, ...]) -> Fraction:
        sets = [own if place == x else other for place in range(values)]
        return math.prod((one if bit else 1 - one for one, bit in zip(sets, report, strict=True)), start=F(1))

    return [{y: chance(x, y) for y in itertools.product((0, 1), repeat=values)} for x in range(values)]


def hashed(hashes: list[tuple[int, ...]], buckets: int, truth: Fraction) -> Rows:
    rows = response(buckets, truth)
    return [
        {(seed, y): rows[cells[x]][y] / len(hashes) for seed, cells in enumerate(hashes) for y in range(buckets)}
        for x in range(len(hashes[0]))
    ]


def subsets(options: int, size: int, inside: Fraction) -> Rows:
    sets = list(itertools.combinations(range(options), size))
    own, rest = math.comb(options - 1, size - 1), math.comb(options - 1, size)
    return [{y: inside / own if x in y else (1 - inside) / rest for y in sets} for x in range(options)]


CASES: dict[str, tuple[Rows, Hiding, int]] = {
    "binary": (response(2, F(3, 4)), Hiding.of_response(2, F(3, 4)), 5),
    "ternary": (response(3, F(3, 5)), Hiding.of_response(3, F(3, 5)), 4),
    "quaternary": (response(4, F(1, 2)), Hiding.of_response(4, F(1, 2)), 4),
    "two bits": (bits(2, F(1, 2), F(1, 4)), Hiding.of_bits(F(1, 2), F(1, 4)), 3),
    "three bits": (bits(3, F(3, 4), F(1, 4)), Hiding.of_bits(F(3, 4), F(1, 4)), 2),
    "hash 2": (
        hashed([(0, 1, 1), (1, 0, 1), (0, 0, 1)], 2, F(2, 3)),
        Hiding.of_hashing(2, F(2, 3), collisions=F(1, 3)),
        3,
    ),
    "hash 3": (hashed([(0, 1, 2), (0, 0, 1)], 3, F(1, 2)), Hiding.of_hashing(3, F(1, 2)), 3),
    "subset": (subsets(4, 2, F(3, 4)), Hiding.of_subsets(4, 2, F(3, 4)), 3),
}


def shuffled(rows: Rows, inputs: tuple[int, ...]) -> dict[tuple[Hashable, ...], Fraction]:
    """The law of reports without order, one unit after the other."""
    law: Counter[tuple[Hashable, ...]] = Counter({(): F(1)})
    for x in inputs:
        more: Counter[tuple[Hashable, ...]] = Counter()
        for seen, mass in law.items():
            for y, chance in rows[x].items():
                more[tuple(sorted((*seen, y)))] += mass * chance  # type: ignore[type-var]
        law = more
    return dict(law)


def worst(rows: Rows, reports: int) -> dict[Fraction, Fraction]:
    """The greatest divergence over all neighbours and all others, at each ε, from below."""
    found = dict.fromkeys(EPSILONS, F(0))
    for rest in itertools.combinations_with_replacement(range(len(rows)), reports - 1):
        laws = [shuffled(rows, (x, *rest)) for x in range(len(rows))]
        for left, right in itertools.permutations(laws, 2):
            for epsilon in EPSILONS:
                factor = F(exp_up(epsilon))
                found[epsilon] = max(
                    found[epsilon], sum((max(F(0), m - factor * right[y]) for y, m in left.items()), F(0))
                )
    return found


@pytest.mark.parametrize("name", CASES)
def test_protocols_stay_below_their_bound(name: str) -> None:
    rows, hiding, most = CASES[name]
    for reports in range(1, most + 1):
        for epsilon, true in worst(rows, reports).items():
            bound = protocol_delta(hiding, reports, epsilon)
            assert true <= bound <= generic_delta(F(hiding.epsilon0), reports, epsilon)
            assert true <= sum_delta(hiding.atoms, reports, epsilon) or epsilon >= hiding.epsilon0
            assert reports > 1 or bound <= true + F(1, 10**20) or name == "hash 2"


@pytest.mark.parametrize("name", ["ternary", "quaternary"])
def test_the_bound_of_responses_is_nearly_reached(name: str) -> None:
    rows, hiding, most = CASES[name]
    assert protocol_delta(hiding, most, F(1, 20)) < worst(rows, most)[F(1, 20)] * F(11, 10)


def merged(hiding: Hiding) -> list[tuple[Fraction, Fraction, Fraction]]:
    """The pair of counts in which a report that is neither is just missing: not a bound."""
    first, second, *_ = hiding.atoms
    return [first, second, (1 - first[0] - second[0], 1 - first[1] - second[1], 1 - first[1] - second[1])]


def too_many(hiding: Hiding) -> list[tuple[Fraction, Fraction, Fraction]]:
    """Twice as many hiding reports as there are."""
    return [(2 * hide, first, second) for hide, first, second in hiding.atoms]


def apart(hiding: Hiding) -> list[tuple[Fraction, Fraction, Fraction]]:
    """Own sets that have more in common than they do."""
    return list(Hiding(hiding.inside, share=hiding.share, overlap=hiding.share / 2).atoms)


@pytest.mark.parametrize("wrong", [merged, too_many, apart])
def test_wrong_numbers_are_found_out(wrong: object) -> None:
    rows, hiding, most = CASES["quaternary"]
    true = worst(rows, most)
    assert any(sum_delta(wrong(hiding), most, epsilon) < true[epsilon] for epsilon in EPSILONS[1:4])  # type: ignore[operator]


@pytest.mark.parametrize(("reports", "epsilon"), [(100, F(1, 4)), (10_000, F(1, 40)), (10**6, F(1, 450))])
def test_the_tilted_sum_is_the_sum_one_by_one(reports: int, epsilon: Fraction) -> None:
    exact = hidden_delta(F(1), reports, epsilon)
    assert exact <= sum_delta(Hiding.of_epsilon(1).atoms, reports, epsilon) <= exact * (1 + F(1, 10**5))


def test_more_reports_hide_more_and_the_end_is_checked() -> None:
    hiding = Hiding.of_response(10, F(1, 4))
    found = [shuffled_epsilon(hiding, reports=10**power, delta=1e-8) for power in (3, 6, 9, 13)]
    assert found == sorted(found, reverse=True)
    assert shuffled_delta(hiding, reports=10**6, epsilon=found[1]) <= F(1, 10**8)
    assert found[1] < shuffled_epsilon(F(hiding.epsilon0), reports=10**6, delta=1e-8)


def test_local_losses_are_calibrated() -> None:
    plain = local_epsilon("1/4", delta=1e-6, reports=10_000)
    assert shuffled_delta(plain, reports=10_000, epsilon="1/4") <= F(1, 10**6)
    assert shuffled_delta(plain * F(1001, 1000), reports=10_000, epsilon="1/4") > F(1, 10**6)

    def protocol(epsilon0: Fraction) -> Hiding:
        return Hiding.of_response(10, F(math.exp(epsilon0) / (math.exp(epsilon0) + 9)))

    better = local_epsilon("1/4", delta=1e-6, reports=10_000, protocol=protocol)
    assert better > plain
    assert shuffled_delta(protocol(better), reports=10_000, epsilon="1/4") <= F(1, 10**6)
