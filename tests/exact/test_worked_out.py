"""What is worked out from noisy numbers loses no more than they do: exactly, outcome by outcome, in the real engine."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Hashable
from fractions import Fraction
from functools import cache
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.reference.planning import Blind, catalog_of

import sfumato as sf
from sfumato.accounting.compose import total
from sfumato.accounting.losses.measures import Pure
from sfumato.noise.discrete_laplace import DiscreteLaplace
from sfumato.query.build.settings import Settings
from sfumato.query.engines.registry import worked_out
from sfumato.query.engines.scratch import Given
from sfumato.query.nodes.kinds import Kind
from sfumato.query.nodes.worked_out import Finished
from sfumato.query.plan.compile import compile_question
from sfumato.query.plan.open_tables import OpenTables
from sfumato.query.plan.together import measured_together, settings_of
from sfumato.query.sql import read_sql

NOISE = DiscreteLaplace(Fraction(2))
EXACT, NEIGHBOUR = (3, 1), (2, 1)
NEAR = range(4)
OUTER = [
    "SELECT site, RANK() OVER (ORDER BY n DESC) AS r FROM answer",
    "SELECT SUM(n) AS s FROM answer WHERE n > 0",
    "SELECT n / SUM(n) OVER () AS share FROM answer ORDER BY site",
    "SELECT MAX(n) AS m FROM answer",
]

Outcome = tuple[int, int]
Function = Callable[[Outcome, Outcome], Hashable]


def outer(text: str) -> Function:
    """Gives what a SELECT makes of two noisy counts."""

    @cache
    def made(noisy: Outcome) -> Hashable:
        table = [Given("site", Kind.TEXT, ["a", "b"]), Given("n", Kind.INT, list(noisy), wide=True)]
        return repr(worked_out(text, {"answer": table}))

    return lambda noisy, _: made(noisy)


def mass(noisy: Outcome, exact: Outcome) -> float:
    """Gives the probability of two noisy counts, up to a factor that all outcomes share."""
    distance = sum(abs(one - other) for one, other in zip(noisy, exact, strict=True))
    return math.exp(-distance / float(NOISE.scale))


def worst(function: Function) -> float:
    """Gives the greatest loss of any result, over noisy counts near the exact ones: a part of the law, so no more."""
    laws: list[dict[Hashable, float]] = [defaultdict(float), defaultdict(float)]
    for noisy in product(NEAR, NEAR):
        for law, exact in zip(laws, (EXACT, NEIGHBOUR), strict=True):
            law[function(noisy, exact)] += mass(noisy, exact)
    results = {result for law in laws for result in law}
    pairs = [(laws[0].get(result, 0.0), laws[1].get(result, 0.0)) for result in results]
    return max(math.inf if 0 in pair else abs(math.log(pair[0] / pair[1])) for pair in pairs)


@pytest.mark.parametrize("text", OUTER)
def test_no_result_loses_more_than_the_counts(text: str) -> None:
    assert worst(outer(text)) <= 1 / NOISE.scale + 1e-12


def test_the_counts_themselves_lose_all_that_is_claimed_and_a_look_at_the_data_loses_more() -> None:
    assert worst(lambda noisy, _: noisy) == pytest.approx(1 / float(NOISE.scale))
    assert worst(lambda noisy, exact: (max(noisy), exact[0] > 2)) == math.inf


# Several answers.

BOOK = {
    "codebook": 1,
    "title": "People",
    "unit": {"protects": "a person", "id": "id"},
    "tables": {
        "people": {
            "columns": {
                "id": {"type": "int"},
                "x": {"type": "int", "between": [0, 9], "nullable": False, "source": "a test"},
            }
        }
    },
}
QUESTIONS = (
    "SELECT COUNT(*) AS n FROM people",
    "SELECT SUM(x) AS s FROM people",
    "SELECT x, COUNT(*) AS n FROM people GROUP BY x",
)


@given(st.lists(st.integers(1, 9), min_size=1, max_size=3), st.fractions(Fraction(1, 100), 5, max_denominator=1000))
@settings(deadline=None)
def test_answers_cost_together_what_their_shares_make_up_and_that_is_all_of_the_loss(
    weights: list[int], epsilon: Fraction
) -> None:
    opened = OpenTables(Blind(), catalog_of(BOOK))
    questions = [read_sql(text, opened.catalog).question for text in QUESTIONS[: len(weights)]]
    answers = [Finished(f"a{place}", one) for place, one in enumerate(questions) if one is not None]
    names = [one.name for one in answers]
    said = dict(zip(names, weights, strict=True)) if len(weights) > 1 else None
    asked = Settings.read(loss=sf.Pure(epsilon), max_groups=2, max_rows_per_group=3, weights=said)
    compiled = [
        compile_question(one.question, own, opened, limit=Pure)
        for one, own in zip(answers, settings_of(answers, asked), strict=True)
    ]
    whole = measured_together(compiled, names, Fraction(95, 100))
    assert whole.map(1) == Pure(epsilon) == total(whole.event_at(1), Pure)
    assert [one.pricing.loss(1) for one in compiled] == [Pure(epsilon * w / sum(weights)) for w in weights]
