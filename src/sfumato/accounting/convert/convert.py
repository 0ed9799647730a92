"""Converts a privacy loss into another kind, by the tightest proven way; never from a weaker promise to a stronger.

Compose first, inside one kind, and convert once, last: every lossy step costs something each time.
"""

from __future__ import annotations

from typing import TypeVar

from sfumato.accounting.convert import curves, numbers, pld
from sfumato.accounting.convert.routes import (
    Route,
    Step,
    StrengthGraph,
    converts,
    routes,
    strength_graph,
    tightest_route,
)
from sfumato.accounting.losses.measures import Approx, Loss
from sfumato.errors import BadArgument
from sfumato.exact import Number, probability

__all__ = ["Route", "Step", "StrengthGraph", "convert", "converts", "explain_route", "routes", "strength_graph"]

ROWS = (numbers, curves, pld)
"""The modules that fill the table; named here so that every row is on file before the first question."""

L = TypeVar("L", bound=Loss)


def convert(loss: Loss, kind: type[L], *, delta: Number | None = None) -> L:
    """What a loss means as another kind of loss, as tight as the theorems on file allow.

    A δ is needed where the loss has an ε for each δ and (ε, δ) is asked for.

    >>> from sfumato.accounting.losses.measures import Pure, ZCDP
    >>> convert(Pure(0.1), Approx)
    Approx(epsilon=0.1, delta=0.0)
    >>> round(float(convert(ZCDP(0.5), Approx, delta=1e-6).epsilon), 6)
    5.221534
    """
    converted = explain_route(loss, kind, delta=delta).loss
    if not isinstance(converted, kind):
        raise BadArgument("what a conversion gives", kind.__name__, type(converted).__name__)
    return converted


def explain_route(loss: Loss, kind: type[Loss], *, delta: Number | None = None) -> Route:
    """The steps of a conversion, each with its theorem, its proof and whether it loses something.

    >>> from sfumato.accounting.losses.measures import BoundedRange, Pure
    >>> print(explain_route(BoundedRange(1), Pure))
    η = 1 (bounded range)
    ⇒ ε = 1  [lossy; Durfee and Rogers 2019, Section 4.2; proofs/conversions.md#range-pure]
    """
    if not isinstance(loss, Loss):
        raise BadArgument("loss", "a privacy loss such as sf.Pure(0.5)", loss)
    if not (isinstance(kind, type) and issubclass(kind, Loss)):
        raise BadArgument("kind", "a kind of loss such as sf.ZCDP or sf.Approx", kind)
    if delta is not None and kind is not Approx:
        raise BadArgument("delta", "left out, for only sf.Approx is stated at one δ", delta)
    if type(loss) is kind and delta is None:
        return Route((), (loss,))
    return tightest_route(loss, kind, delta=None if delta is None else probability(delta, "delta"))
