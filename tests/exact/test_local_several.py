"""Protocols made of protocols: exact means, variances and losses, by every way that chance can fall."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from tests.examples.local_laws import law_of, worst_ratio

from sfumato.accounting.losses.measures import Pure
from sfumato.exact import exp_down, exp_up
from sfumato.local.all_of import AllOf
from sfumato.local.one_true import OneTrue
from sfumato.local.pairs import key_values
from sfumato.local.protocol import LocalProtocol, Tally
from sfumato.local.range_estimates import answer_variance
from sfumato.local.ranges import Ranges, ranges
from sfumato.local.response import Response
from sfumato.local.signed import SignedResponse
from sfumato.local.unary import UnaryEncoding
from sfumato.local.values import Values

YES, THREE = Values(["yes", "no"]), Values(range(3))


def one_report(protocol: LocalProtocol[Any], report: tuple[int, int]) -> Tally:
    """The tally of a single report."""
    sums = np.zeros((protocol.layout.cells, 1 + protocol.layout.bits), dtype=np.int64)
    sums[report[0]] = [1, *(report[1] >> place & 1 for place in range(protocol.layout.bits))]
    return Tally(protocol.head, protocol.layout, sums)


def moments(protocol: LocalProtocol[Any], value: Any, read: Any) -> tuple[Any, Any]:
    """The mean and the mean square of what is read from a report on a value."""
    mean: Any = 0.0
    square: Any = 0.0
    for report, mass in law_of(protocol.recipe(), protocol.input_of(value)).items():
        told = np.asarray(read(protocol.estimate(one_report(protocol, report))), dtype=np.float64)
        mean, square = mean + float(mass) * told, square + float(mass) * told**2
    return mean, square


def hidden(epsilon: Fraction) -> OneTrue:
    return OneTrue((Response(YES, Pure(epsilon)), Response(THREE, Pure(epsilon)), Response(YES, Pure(epsilon))))


def test_hiding_the_question_protects_nothing_between_people_who_differ_in_all() -> None:
    """At ε′ = ln(d (e^ε − 1) + 1), which the paper spends for ε, the worst ratio is e^ε′."""
    spent = Fraction(math.log(3 * math.expm1(1) + 1)).limit_denominator(10**6)
    protocol, people = hidden(spent), list(product(("yes", "no"), range(3), ("yes", "no")))
    laws = {one: law_of(protocol.recipe(), protocol.input_of(one)) for one in people}
    worst = worst_ratio(list(laws.values()))
    assert Fraction(exp_down(spent * (1 - Fraction(1, 10**9)))) <= worst <= Fraction(exp_up(spent))
    assert worst > 2 * Fraction(exp_up(1))


def test_who_knows_all_other_answers_learns_less_of_one() -> None:
    for weights in ((1, 1, 1), (1, 4, 2)):
        protocol = OneTrue(hidden(Fraction(2)).parts, weights)
        people = list(product(("yes", "no"), range(3), ("yes", "no")))
        laws = {one: law_of(protocol.recipe(), protocol.input_of(one)) for one in people}
        near = [
            worst_ratio([laws[one], laws[other]])
            for one, other in product(people, people)
            if sum(a != b for a, b in zip(one, other, strict=True)) == 1
        ]
        claimed = Fraction(protocol.one_answer.epsilon)
        assert Fraction(exp_down(claimed * (1 - Fraction(1, 10**9)))) <= max(near) <= Fraction(exp_up(claimed))
        assert claimed < 2
    alike = OneTrue((Response(YES, Pure(2)),) * 3).one_answer
    assert float(alike.epsilon) == pytest.approx(math.log(1 + math.expm1(2) / 3))


@pytest.mark.parametrize("part", [Response, UnaryEncoding.optimized])
def test_counts_of_one_true_answer_are_unbiased_with_their_variance(part: Any) -> None:
    protocol = OneTrue((part(YES, Pure(1)), part(THREE, Pure(1))), (1, 2))
    for value in product(("yes", "no"), range(3)):
        for number, own in enumerate(value):
            place = protocol.parts[number].values.place(own)
            mean, square = moments(protocol, value, lambda told, number=number: told[number].counts)
            truth = np.arange(len(mean)) == place
            assert mean == pytest.approx(truth.astype(float), abs=1e-9)
            p, q = protocol.chances(number)
            expected = [float((c * (1 - c)) / (p - q) ** 2) for c in (p if one else q for one in truth)]
            assert square - mean**2 == pytest.approx(expected)


def test_all_answers_are_told_by_independent_reports() -> None:
    parts = (Response(YES, Pure(1)), UnaryEncoding.optimized(THREE, Pure(2)))
    law = law_of(AllOf(parts).recipe(), [1, 2])
    single = [law_of(part.recipe(), own) for part, own in zip(parts, (1, 2), strict=True)]
    for ((cell, _), one), ((_, bits), other) in product(single[0].items(), single[1].items()):
        assert law[0, 1 << cell | bits << 2] == one * other
    assert len(law) == 16


@pytest.mark.parametrize("size", [2, 3, 5, 8])
def test_differences_of_pairs_are_unbiased_with_their_variance(size: int) -> None:
    protocol = SignedResponse(Values(range(size)), Pure(1))
    for value in range(size):
        mean, square = moments(protocol, value, lambda told: told)
        truth = np.zeros(protocol.pairs)
        truth[value // 2] = 1 - 2 * (value % 2)
        assert mean == pytest.approx(truth, abs=1e-12)
        assert square == pytest.approx(np.full(protocol.pairs, float(1 / protocol.truth**2)))


def level_moments(protocol: Ranges, first: int, after: int) -> list[list[tuple[float, float]]]:
    """For each value, and each level, the mean and the variance of what a report adds to the share of a range."""
    inside = np.zeros(len(protocol.values))
    inside[first:after] = 1
    weights = protocol.tree([7.0] * len(protocol.widths)).measured_weights(inside)
    told = []
    for place in range(len(protocol.values)):
        own = []
        for part, width, level in zip(protocol.asked.parts, protocol.widths, weights, strict=True):
            mean, square = moments(
                part,
                place // width,
                lambda seen, level=level: level @ (seen if isinstance(seen, np.ndarray) else seen.shares),
            )
            own.append((float(mean), float(square - mean**2)))
        told.append(own)
    return told


@pytest.mark.parametrize(("size", "how"), [(5, 5), (5, 2), (7, 3), (6, "haar"), (5, "haar")])
def test_ranges_are_unbiased_with_their_variance(size: int, how: int | str) -> None:
    """What all levels say of a person adds up to whether the person is in the range; noise is as it is computed."""
    protocol = ranges(range(size), loss=2, users=100, how=how)
    tree = protocol.tree([7.0] * len(protocol.widths))
    zeros = [np.zeros(len(one)) for one in tree.measured_weights(np.ones(size))]
    for first, after in ((0, 1), (1, 4), (2, size), (0, size)):
        constant = tree.fitted(zeros)[first:after].sum()
        told = level_moments(protocol, first, after)
        sums = [constant + sum(mean for mean, _ in own) for own in told]
        assert sums == pytest.approx([float(first <= place < after) for place in range(size)], abs=1e-9)
        inside = np.zeros(size)
        inside[first:after] = 1
        shares = np.arange(1, size + 1) / (size * (size + 1) / 2)
        for number, (part, width, weights) in enumerate(
            zip(protocol.asked.parts, protocol.widths, tree.measured_weights(inside), strict=True)
        ):
            noise, _ = answer_variance(part, weights, np.add.reduceat(shares, np.arange(0, size, width)))  # type: ignore[arg-type]
            assert noise == pytest.approx(sum(shares[place] * told[place][number][1] for place in range(size)))


@pytest.mark.parametrize("way", ["response", "bits"])
def test_counts_and_sums_of_keys_are_unbiased_with_their_variance(way: str) -> None:
    protocol = key_values(["x", "y", "z"], between=(-1, 1), most=2, loss=2, way=way)
    for pairs in ({}, {"x": 1}, {"x": -1, "z": 0.5}, {"y": 0.25, "z": -0.5}):
        mean, square = moments(protocol, pairs, lambda told: told.counts)
        having = np.array([key in pairs for key in "xyz"])
        assert mean == pytest.approx(having.astype(float), abs=1e-9)
        expected = [float(protocol.law.variance(users=1, count=int(one))) for one in having]
        assert square - mean**2 == pytest.approx(expected)
        totals, squares = moments(protocol, pairs, lambda told: told.totals)
        assert totals == pytest.approx([pairs.get(key, 0.0) for key in "xyz"], abs=1e-9)
        for of, seen in zip(having, squares, strict=True):
            assert seen == pytest.approx(float(protocol.law.difference_squares[int(of)] / protocol.law.gain**2))


def test_the_variance_of_a_mean_is_that_of_people_with_one_number() -> None:
    """G = Σ (high − low) − μ Σ (high + low − 2q), for a person with number μ and one without the key."""
    for way, mean in product(("response", "bits"), (0.5, -1.0)):
        protocol = key_values(["x", "y"], between=(-1, 1), most=2, loss=2, way=way)
        gain = float(protocol.law.gain)
        for pairs, having in (({"x": mean}, 1), ({"y": 1.0}, 0)):
            center, square = moments(
                protocol, pairs, lambda told, mean=mean, gain=gain: (told.totals[0] - mean * told.counts[0]) * gain
            )
            level, rise = protocol.law.mean_variance(np.zeros(1), 1, np.array([float(having)]))
            assert center == pytest.approx(0, abs=1e-9)
            assert square == pytest.approx((level + rise * mean**2)[0])


def test_a_sampled_pair_told_more_often_is_noticed() -> None:
    """With all of 1 / most, as if the person's pairs could all be one, the chance of the truth would be too small."""
    protocol = key_values(["x", "y"], between=(0, 1), most=3, loss=1, way="response")
    people = [{}, {"x": 1}, {"x": 0}, {"y": 1, "x": 1}]
    for more in (0, 1 << 20):
        recipe = protocol.recipe()
        recipe["part"] = {**recipe["part"], "truth": recipe["part"]["truth"] + more}
        worst = worst_ratio([law_of(recipe, protocol.input_of(one)) for one in people])
        assert (worst <= Fraction(exp_down(1))) == (more == 0)
