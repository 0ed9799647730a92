"""Honest tuning: trying settings on private data costs what all the tries cost, or is drawn and selected in secret."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction

from sfumato.accounting.compose import total
from sfumato.accounting.events import Event, Mixture, Runs, Stated, TruncatedNegativeBinomial
from sfumato.combinators.best_of import as_candidate, never_failing
from sfumato.combinators.composition import compatible, composition, joint_how
from sfumato.combinators.requirements import Component, components, one_shot
from sfumato.core.domains import Data
from sfumato.core.law import Law, MixtureLaw, finite_law
from sfumato.core.measurement import Measurement
from sfumato.core.partial import Partial, start
from sfumato.core.plan import constructor
from sfumato.core.space import Space
from sfumato.entropy import Entropy
from sfumato.errors import BadArgument, elements
from sfumato.exact import Number, non_negative
from sfumato.guarantee import guarantee
from sfumato.noise.categorical import Categorical

ALL_PROOF = "proofs/repeat_and_select.md#all"
DRAWN_PROOF = "proofs/repeat_and_select.md#drawn"

RUNS, FEWEST_RUNS = 3, 20
"""How many runs there are in the mean for each candidate, where they are drawn, and in all at least: one candidate in
four is then never drawn, or fewer. More of them cost hardly more loss, but time."""

FEW = 3
"""So many candidates always all run: what drawing them costs is about as much, and none is left out by chance."""


def law_of_runs(candidates: int, runs: int | None = None) -> Runs:
    """The geometric law by which candidates are drawn: of a mean number of runs, or of one that fits their number.

    >>> law_of_runs(10).stop
    Fraction(1, 30)
    """
    return TruncatedNegativeBinomial(1, Fraction(1, runs or max(RUNS * candidates, FEWEST_RUNS)))


@constructor
def best_of_all(measurements: Sequence[Component]) -> Partial[Measurement]:
    """Runs every one of some measurements and releases the outcome with the highest score; all of them are paid for.

    Charging for the winner alone would be wrong: which one wins depends on all. With many candidates it is cheaper to
    draw them at random: ``best_of(random_candidate(…), stop=…)``.

    Takes:      measurements of one space and one kind of loss, each with an outcome (score, payload)
    Gives:      (score, (place, payload)) of the best; of equal scores the first in the list
    Guarantee:  the composition of all the losses  (proofs/repeat_and_select.md#all)
    Cost:       that of all the measurements

    >>> from sfumato.core.space import scalar
    >>> from sfumato.mechanisms.additive import laplace
    >>> one = scalar(int) >> laplace(scale=10) >> (lambda answer: (answer, "payload"))
    >>> (one.source >> best_of_all([one] * 5)).map(1)
    Pure(epsilon=0.5)
    """
    tries = components(measurements)

    def build(space: Space) -> Measurement:
        runs = [never_failing(one_shot(start(space, component), "best_of_all")) for component in tries]
        together = space >> composition(runs)
        function, law = together.function, together.law
        return replace(
            together,
            function=lambda data, entropy: best_among(function(data, entropy)),
            how=joint_how("best of all", runs, ALL_PROOF),
            law=None if law is None else lambda data: finite_law(law(data)).through(best_among),
            error=None,
        )

    return Partial(f"best_of_all({len(tries)} measurements)", build)


@constructor
def random_candidate(
    measurements: Sequence[Component], *, weights: Sequence[Number] | None = None
) -> Partial[Measurement]:
    """Draws one of some measurements without looking at the data and runs it: one try in a search for a setting.

    Takes:      measurements of one space and one kind of loss, each with an outcome (score, payload); weights, equal
                unless said otherwise
    Gives:      (score, (place, payload)), the place in the list that was drawn: to be wrapped in `best_of`
    Guarantee:  that of the dearest of them that can be drawn  (proofs/repeat_and_select.md#drawn)
    Cost:       that of the one drawn

    >>> from sfumato.core.space import scalar
    >>> from sfumato.mechanisms.additive import laplace
    >>> tries = [laplace(scale=scale) >> (lambda answer: (answer, "payload")) for scale in (5, 10)]
    >>> (scalar(int) >> random_candidate(tries)).map(1)
    Pure(epsilon=0.2)
    """
    tries = components(measurements)
    draw = Categorical(_weights(weights, len(tries)))

    def build(space: Space) -> Measurement:
        parts = compatible([one_shot(start(space, each), "random_candidate") for each in tries], "random_candidate")
        kind, chances = parts[0].measure, draw.probabilities

        def run(data: Data, entropy: Entropy) -> Data:
            place = draw.sample(entropy)
            return with_place(place, as_candidate(parts[place].function(data, entropy)))

        return Measurement(
            source=space,
            measure=kind,
            function=run,
            privacy_map=lambda d_in: total(Mixture(*(Stated(part.map(d_in)) for part in parts), weights=chances), kind),
            how=joint_how("one drawn at random", parts, DRAWN_PROOF),
            event=lambda d_in: drawn_event([part.event_at(d_in) for part in parts], chances),
            law=_drawn_law(parts, chances),
        ).recorded()

    return Partial(f"random_candidate({len(tries)} measurements)", build)


@guarantee(
    claim="the highest score, the first of equal ones; a function of the outcomes",
    proof=ALL_PROOF,
    reviewed="edb1f6d69519",
)
def best_among(candidates: Sequence[Data]) -> Data:
    """Picks the best of some candidates, with its place."""
    place = max(range(len(candidates)), key=lambda index: (candidates[index][0], -index))
    return with_place(place, candidates[place])


@guarantee(claim="a function of the draw and the outcome", proof=DRAWN_PROOF, reviewed="f8ef4854e6c8")
def with_place(place: int, candidate: Data) -> Data:
    """Adds to a candidate the place it has among the measurements."""
    return candidate[0], (place, candidate[1])


@guarantee(
    claim="one of several events, drawn; those that are alike count as one with all their weight",
    proof=DRAWN_PROOF,
    reviewed="5a2426c57099",
)
def drawn_event(events: Sequence[Event], chances: Sequence[Fraction]) -> Event:
    """What runs where one of some events is drawn."""
    together: dict[Event, Fraction] = {}
    for event, chance in zip(events, chances, strict=True):
        together[event] = together.get(event, Fraction(0)) + chance
    return next(iter(together)) if len(together) == 1 else Mixture(*together, weights=tuple(together.values()))


def _drawn_law(parts: Sequence[Measurement], chances: Sequence[Fraction]) -> Callable[[Data], Law] | None:
    laws = [part.law for part in parts if part.law is not None]
    if len(laws) < len(parts):
        return None

    def tagged(place: int, data: Data) -> Law:
        return finite_law(laws[place](data)).through(lambda outcome: with_place(place, as_candidate(outcome)))

    return lambda data: finite_law(
        MixtureLaw(tuple((chance, tagged(place, data)) for place, chance in enumerate(chances)))
    )


def _weights(weights: Sequence[Number] | None, count: int) -> tuple[Fraction, ...]:
    if weights is None:
        return (Fraction(1),) * count
    if not isinstance(weights, Sequence) or len(weights) != count:
        raise BadArgument("weights", f"one for each of the {count} measurements", weights)
    with elements():
        return tuple(non_negative(weight, "each weight") for weight in weights)
