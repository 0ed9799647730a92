"""Two tables: from a noise to its loss at a shift, and back, from a loss to the noise that it pays for."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Hashable, Mapping
from fractions import Fraction
from functools import cache
from typing import TypeAlias, TypeVar

from sfumato.accounting.losses.measures import ZCDP, Additive, Loss, Pure
from sfumato.errors import BadArgument, NoProvenRoute
from sfumato.exact import Distance, rational_up, root
from sfumato.noise.discrete_gaussian import DiscreteGaussian
from sfumato.noise.discrete_laplace import DiscreteLaplace
from sfumato.plain import load

Fact = Callable[..., Loss]
"""Takes the noise and the largest shift between neighbours, in the noise's own unit; gives the loss."""

F = TypeVar("F", bound=Fact)
Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")

FACTS: dict[tuple[type, type[Loss]], Fact] = {}
"""Every fact that was registered; `load_facts` imports those of this folder."""

IN_VECTORS: set[tuple[type, type[Loss]]] = set()
"""The facts that hold for independent noise on several coordinates, the shift taken in the norm of the noise."""

IntegerNoise: TypeAlias = DiscreteLaplace | DiscreteGaussian
"""The noises that are bought for a loss, on whole numbers."""

Purchase = Callable[..., IntegerNoise]
"""Takes a loss and a shift above 0; gives the least noise of its kind that costs no more."""

B = TypeVar("B", bound=Purchase)

PURCHASES: dict[type[Loss], Purchase] = {}
"""What each kind of loss buys; filled as `FACTS` is."""

POWERS: dict[type[Loss], int] = {Pure: 1, ZCDP: 2}
"""The power of a scale, or of a temperature, in proportion to which losses fall."""


def fact(noise: type, measure: type[Loss], *, in_vectors: bool = False) -> Callable[[F], F]:
    """Registers a theorem under the kinds of noise and loss it relates."""

    def register(function: F) -> F:
        FACTS[noise, measure] = function
        if in_vectors:
            IN_VECTORS.add((noise, measure))
        return function

    return register


@cache
def load_facts() -> None:
    """Imports every file of this folder, so that all facts there are registered."""
    load(sys.modules[__package__])


def registered(table: Mapping[Key, Value], key: Key) -> Value | None:
    """Looks something up that a file of this folder may register."""
    if key not in table:
        load_facts()
    return table.get(key)


def has_fact(noise: object, measure: type[Loss]) -> bool:
    """Tells whether there is a theorem on a kind of loss of a noise."""
    return registered(FACTS, (type(noise), measure)) is not None


def loss_of(noise: object, measure: type[Loss], shift: Distance) -> Loss:
    """The loss of adding a noise when neighbours differ by at most a shift."""
    theorem = registered(FACTS, (type(noise), measure))
    if theorem is None:
        raise NoProvenRoute(
            f"there is no theorem on file that gives the {measure.__name__} loss of {type(noise).__name__} noise."
        )
    if shift == 0:
        return measure.nothing()
    if shift == math.inf:
        raise NoProvenRoute(
            "neighbours may differ without limit here, so no noise protects them. Bound the values first."
        )
    return theorem(noise, shift)


def buys(measure: type[Loss]) -> Callable[[B], B]:
    """Registers the noise that a kind of loss pays for."""

    def register(function: B) -> B:
        PURCHASES[measure] = function
        return function

    return register


def noise_within(loss: Loss, shift: Distance) -> IntegerNoise:
    """The noise that a loss pays for when neighbours differ by at most a shift: the inverse of `loss_of`.

    Where neighbours cannot differ any noise does; it is then that of a shift of 1.
    """
    purchase = registered(PURCHASES, type(loss))
    if purchase is None or not isinstance(loss, Additive):
        known = " or ".join(kind.__name__ for kind in PURCHASES)
        raise BadArgument("loss", f"{known}, of which it is known what noise they pay for", loss)
    if not 0 < loss.amounts[0] < math.inf:
        raise BadArgument("loss", "greater than 0 and finite", loss)
    if shift == math.inf:
        raise NoProvenRoute("neighbours may differ without limit here, so no loss pays for noise. Bound values first.")
    return purchase(loss, shift if shift > 0 else Fraction(1))


def parameter_within(at_one: Additive, loss: Additive) -> Fraction:
    """The scale or temperature at which something costs a loss, given what it costs at 1; rounded up.

    None of this is a privacy claim: what is built with it is charged for what it costs.
    """
    if type(at_one) is not type(loss) or type(loss) not in POWERS:
        raise BadArgument("what is built", f"priced in {type(loss).__name__}", at_one)
    ratio = Fraction(at_one.amounts[0]) / Fraction(loss.amounts[0])
    return ratio if POWERS[type(loss)] == 1 else Fraction(rational_up(root(ratio)))
