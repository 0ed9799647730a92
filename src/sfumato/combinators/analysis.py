"""Strategies: an analysis of many steps as one measurement. Who asks sees answers only, so asking costs no more."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from sfumato.core.branches import InteractiveLaw, Strategy
from sfumato.core.domains import Data
from sfumato.core.law import Law
from sfumato.core.measurement import Measurement
from sfumato.core.plan import constructor
from sfumato.core.queryable import Circle, Turn, current
from sfumato.entropy import Entropy
from sfumato.errors import BadArgument
from sfumato.guarantee import guarantee


@constructor
@guarantee(
    claim="what is made of the answers of an interaction keeps its map, whatever was asked",
    proof="proofs/interaction.md#strategies",
    reviewed="b65a0f7fe6ab",
)
def analysis(measurement: Measurement, strategy: Strategy, *, name: str | None = None) -> Measurement:
    """Lets a strategy ask an interactive measurement, and releases what it ends with.

    The strategy never sees the data: what it may ask is settled by the compositor or filter, which refuses the rest
    when it runs. That is how an algorithm of many steps is written: the price needs no proof of its own.

    Takes:      an interactive measurement, and a function of a queryable and of randomness (for coins of its own)
    Gives:      a measurement with the function's result as its outcome
    Guarantee:  the map of the interactive measurement  (proofs/interaction.md#strategies)
    Cost:       that of the queries

    >>> from sfumato.accounting.losses.measures import Pure
    >>> from sfumato.combinators.interaction import adaptive_composition
    >>> from sfumato.core.space import vector
    >>> from sfumato.mechanisms.additive import laplace
    >>> from sfumato.transforms.aggregate import count
    >>> def twice(ask, entropy):
    ...     return ask(count() >> laplace(scale=1)) + ask(count() >> laplace(scale=2))
    >>> analysis(vector(int) >> adaptive_composition([Pure(1), Pure("0.5")]), twice).map(1)
    Pure(epsilon=1.5)
    """
    if not isinstance(measurement, Measurement) or not measurement.interactive:
        raise BadArgument("measurement", "interactive, such as space >> sf.adaptive_composition(…)", measurement)
    if not callable(strategy):
        raise BadArgument("strategy", "a function of a queryable and of randomness", strategy)
    label = name or str(getattr(strategy, "__name__", type(strategy).__name__))

    def run(data: Data, entropy: Entropy) -> Data:
        turn = Turn()
        with Circle(turns=(*current().turns, turn)).entered() as circle:  # its threads need not wait for the outer one
            ask = measurement.function(data, entropy)
        try:
            return strategy(ask, entropy)
        finally:
            with circle.lock:
                turn.end()  # what the strategy may have kept of the interaction answers no more

    return replace(
        measurement,
        function=run,
        how=measurement.how.then(label),
        law=_law(measurement.law, strategy),
        error=None,
        interactive=False,
    )


def _law(law: Callable[[Data], Law] | None, strategy: Strategy) -> Callable[[Data], Law] | None:
    def law_under_strategy(data: Data) -> Law:
        opened = law(data) if law is not None else None
        if not isinstance(opened, InteractiveLaw):
            raise BadArgument("the interaction", "a compositor or filter, for the law to be listed", opened)
        return opened.under(strategy)

    return None if law is None else law_under_strategy
