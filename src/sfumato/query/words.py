"""Words for what a query does: expressions, tallies and noise, as people read them. Public facts only."""

from __future__ import annotations

from fractions import Fraction

from sfumato.exact import up
from sfumato.noise.discrete_gaussian import DiscreteGaussian
from sfumato.noise.discrete_laplace import DiscreteLaplace
from sfumato.noise.distribution import Noise
from sfumato.query.cells import Distinct, Rows, Tally, Total, Units
from sfumato.query.expressions import Call, Column, Expression, Literal
from sfumato.query.recipes import step_of

INFIX = {
    "add": "+",
    "sub": "−",
    "mul": "×",
    "div": "÷",
    "mod": "mod",
    "eq": "=",
    "ne": "≠",
    "lt": "<",
    "le": "≤",
    "gt": ">",
    "ge": "≥",
    "and": "and",
    "or": "or",
}
LONGEST = 60
"""Letters of an expression that are shown."""


def expression_words(made: Expression) -> str:
    """Writes an expression, shortened where it is long."""
    text = _written(made)
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def _written(made: Expression) -> str:
    match made:
        case Column(name=name):
            return name
        case Literal(value=value):
            return "null" if value is None else repr(value) if isinstance(value, str) else str(value)
        case Call(operator=operator, parts=(left, right)) if operator in INFIX:
            return f"({_written(left)} {INFIX[operator]} {_written(right)})"
        case Call(operator=operator, parts=parts):
            return f"{operator}({', '.join(map(_written, parts))})"
    return type(made).__name__.lower()


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
