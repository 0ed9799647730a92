"""Words for what a query does: tallies and noise, as people read them. Public facts only."""

from __future__ import annotations

from fractions import Fraction

from sfumato.exact import up
from sfumato.noise.discrete_gaussian import DiscreteGaussian
from sfumato.noise.discrete_laplace import DiscreteLaplace
from sfumato.noise.distribution import Noise
from sfumato.query.cells import Distinct, Rows, Tally, Total, Units
from sfumato.query.expressions import Expression
from sfumato.query.recipes import step_of
from sfumato.query.spelled import spelled

LONGEST = 60
"""Letters of an expression that are shown."""


def expression_words(made: Expression) -> str:
    """Writes an expression as SQL, shortened where it is long."""
    text = spelled(made).text
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def tally_words(tally: Tally) -> str:
    """Says what is added up."""
    match tally:
        case Rows(of=None):
            said = "rows"
        case Rows(of=of) if of is not None:
            said = f"rows with {expression_words(of)}"
        case Units():
            said = "units"
        case Distinct(of=of):
            said = f"different {expression_words(of)}"
        case Total(terms=terms):
            said = "sum of " + " × ".join(_term_words(term.of, term.grid.centre) for term in terms)
        case _:
            raise TypeError(type(tally))
    return said if tally.where is None else f"{said} where {expression_words(tally.where)}"


def _term_words(of: Expression, centre: float) -> str:
    return expression_words(of) if not centre else f"({expression_words(of)} − {centre:g})"


def mechanism_words(noise: Noise) -> str:
    """Names the mechanism that adds a noise."""
    match noise:
        case DiscreteLaplace():
            return "Laplace noise"
        case DiscreteGaussian():
            return "Gaussian noise"
    return f"{type(noise).__name__} noise"


def noise_words(noise: Noise, tally: Tally) -> str:
    """Says which noise a number gets, in its own unit."""
    step = step_of(tally)
    match noise:
        case DiscreteLaplace(scale=scale):
            return f"Laplace, scale {up(scale * step):.6g}"
        case DiscreteGaussian():
            return f"Gaussian, scale {up(_root(noise.square * step**2)):.6g}"
    return type(noise).__name__


def _root(square: Fraction) -> Fraction:
    from sfumato.exact import rational_up, root

    return Fraction(rational_up(root(square)))
