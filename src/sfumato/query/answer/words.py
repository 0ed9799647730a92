"""Words for what a query does: tallies and noise, as people read them. Public facts only."""

from __future__ import annotations

from typing import assert_never

from sfumato.noise.distribution import Noise
from sfumato.query.answer.spelled import spelled
from sfumato.query.nodes.expressions import Expression
from sfumato.query.plan.decomposition import step_of
from sfumato.query.plan.engine_plan import Distinct, ExactAggregate, Rows, Total, Units
from sfumato.query.plan.grids import Grid

LONGEST = 60
"""Letters of an expression that are shown."""


def expression_words(made: Expression) -> str:
    """Writes an expression as SQL, shortened where it is long."""
    text = spelled(made).text
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def tally_words(tally: ExactAggregate) -> str:
    """Says what is added up."""
    match tally:
        case Rows(of=of):
            said = "rows" if of is None else f"rows with {expression_words(of)}"
        case Units():
            said = "units"
        case Distinct(of=of, grid=Grid(centre=centre), summed=True):
            said = f"sum of different {_term_words(of, centre)}"
        case Distinct(operands=operands):
            said = f"different {', '.join(map(expression_words, operands))}"
        case Total(terms=terms):
            said = "sum of " + " × ".join(_term_words(term.of, term.grid.centre) for term in terms)
        case _:
            assert_never(tally)
    return said if tally.where is None else f"{said} where {expression_words(tally.where)}"


def _term_words(of: Expression, centre: float) -> str:
    return expression_words(of) if not centre else f"({expression_words(of)} − {centre:g})"


def mechanism_words(noise: Noise) -> str:
    """Names the mechanism that adds a noise."""
    return f"{noise.family} noise"


def noise_words(noise: Noise, tally: ExactAggregate) -> str:
    """Says which noise a number gets, in its own unit."""
    return noise.words(step_of(tally))
