"""Measurements: randomized functions that may be released, at a known privacy loss."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, final

from sfumato.accounting.events import Event
from sfumato.accounting.events import Stated as StatedLoss
from sfumato.accounting.losses.measures import Loss
from sfumato.core.domains import Data
from sfumato.core.grouped_distance import AnyDistance, DistanceLike
from sfumato.core.law import FiniteLaw, Law
from sfumato.core.metrics import Unit
from sfumato.core.plan import Described, Plan, extended, followed_by, planned
from sfumato.core.queryable import Queryable
from sfumato.core.random_step import RandomStep
from sfumato.core.space import Space
from sfumato.core.steps import to_steps
from sfumato.entropy import Entropy, system
from sfumato.errors import BadArgument, NotInDomain, SfumatoError
from sfumato.exact import Number, probability
from sfumato.release.record import How, Noised, Release
from sfumato.release.render import rendered
from sfumato.release.render.document import Document, Table

if TYPE_CHECKING:
    from sfumato.core.transformation import Transformation


@final
@dataclass(frozen=True)
class Terms:
    """What a release states besides its value: public, and the same for every data set."""

    loss: Loss
    unit: str
    half_width: Data
    confidence: Fraction


@final
@dataclass(frozen=True, eq=False)
class Measurement(Described):
    """A randomized function on a space, with a map from distance to privacy loss.

    ``function`` draws one outcome. ``privacy_map`` takes a distance in the source to a loss of kind ``measure``, never
    rounded down. ``event`` describes what runs at a distance as the accountant knows it, so that it can be counted in
    every kind of loss; where there is none, its loss is all that is known. ``law`` is the exact distribution of the
    outcome, where that is known, so that the claim can be checked. ``error`` is the half-width that holds with a
    confidence, where that is known; ``noise`` is what is added, where the outcome is an exact value with noise on it.
    ``interactive`` says that an outcome is, or holds, queryables, which go on answering. ``plan`` is how it was built
    (see `core.plan`).
    """

    source: Space
    measure: type[Loss]
    function: Callable[[Data, Entropy], Data]
    privacy_map: Callable[[AnyDistance], Loss]
    how: How
    law: Callable[[Data], Law] | None = None
    error: Callable[[Fraction], Data] | None = None
    noise: Noised | None = None
    interactive: bool = False
    event: Callable[[AnyDistance], Event] | None = None
    plan: Plan | None = field(default=None, init=False, repr=False)
    _terms: dict[tuple[object, ...], Terms] = field(default_factory=dict, init=False, repr=False)

    def map(self, d_in: DistanceLike | Unit) -> Loss:
        """The privacy loss between any two members at most ``d_in`` apart."""
        loss = self.privacy_map(self.source.metric.read(d_in))
        if not isinstance(loss, self.measure):
            raise BadArgument("what a privacy map gives", f"a {self.measure.__name__} loss", loss)
        return loss

    def event_at(self, d_in: DistanceLike | Unit) -> Event:
        """What runs, between any two members at most ``d_in`` apart, for the accountant to count.

        What goes on answering is described by its loss alone, for which there are theorems on questions in turns.

        >>> from sfumato.core.space import scalar
        >>> from sfumato.mechanisms.additive import laplace
        >>> (scalar(int) >> laplace(scale=2)).event_at(1)
        Noise(noise=DiscreteLaplace(scale=Fraction(2, 1)), shift=Fraction(1, 1), coordinates=1)
        """
        distance = self.source.metric.read(d_in)
        return StatedLoss(self.map(d_in)) if self.event is None or self.interactive else self.event(distance)

    def check(self, d_in: DistanceLike | Unit, limit: Loss) -> bool:
        """Tells whether the loss at distance ``d_in`` is within a limit of the same kind."""
        return self.map(d_in).within(limit)

    def __call__(
        self,
        data: Data,
        *,
        d_in: DistanceLike | Unit | None = None,
        confidence: Number = 0.95,
        entropy: Entropy | None = None,
    ) -> Release:
        """Runs on a member of the source and gives the release.

        ``d_in`` is how far apart neighbours are, for the stated loss (as a rule 1, see `Space.closest`); it changes
        nothing about the noise. Calling a measurement directly is for a curator at work on their own data: it charges
        no ledger, and the release says so.
        """
        source = entropy or system()
        terms = self.terms(self.source.closest if d_in is None else d_in, confidence)
        held = to_steps(self.source.domain, data)
        if not self.source.domain.member(held):
            raise NotInDomain(self.source.domain)
        return Release(
            value=self.function(held, source),
            loss=terms.loss,
            unit=terms.unit,
            how=self.how,
            half_width=terms.half_width,
            confidence=terms.confidence,
            replayable=source.replayable,
            adjacency=str(self.source.metric),
            noise=self.noise,
        )

    def terms(self, d_in: DistanceLike | Unit, confidence: Number) -> Terms:
        """Works out what a release states besides its value; none of it depends on data, so it is worked out once."""
        metric, sure = self.source.metric, probability(confidence, "confidence")
        distance, protects = metric.read(d_in), d_in.protects if isinstance(d_in, Unit) else None
        known = self._terms.get(key := (distance, protects, sure))
        if known is None:  # not where it was missed: an error would carry the key with it
            known = self._terms[key] = Terms(
                loss=self.map(d_in),
                unit=metric.unit(distance) if protects is None else protects,
                half_width=None if self.error is None else self.error(sure),
                confidence=sure,
            )
        return known

    def after(self, first: Transformation) -> Measurement:
        """Puts a transformation in front; its target must be this measurement's source."""
        function, own_law, event = self.function, self.law, self.event
        law = None if own_law is None or first.randomized else _law_after(first, own_law)
        return replace(
            self,
            source=first.source,
            function=lambda data, entropy: function(first.function(data, entropy), entropy),
            privacy_map=lambda d_in: self.privacy_map(first.stability_map(d_in)),
            event=None if event is None else lambda d_in: event(first.stability_map(d_in)),
            how=self.how.after(first.steps, first.claims, first.proofs),
            law=law,
        )

    def then(self, function: Callable[[Data], Data], *, name: str | None = None) -> Measurement:
        """Adds a post-processing step: any function of the outcome alone costs nothing. It must not see the data."""
        before, law = self.function, self.law

        def run(data: Data, entropy: Entropy) -> Data:
            outcome = before(data, entropy)
            return outcome.then(function) if isinstance(outcome, Queryable) else function(outcome)

        def image(data: Data) -> Law:
            source_law = law(data) if law is not None else None
            if not isinstance(source_law, FiniteLaw):
                raise BadArgument("the law of a post-processed outcome", "asked for where outcomes are finite", "more")
            return source_law.through(function)

        label = name or str(getattr(function, "__name__", type(function).__name__))
        how = self.how.then(label)
        processed = replace(self, function=run, how=how, law=image if law else None, error=None, noise=None)
        return planned(processed, extended(self.plan, followed_by(function, name)))

    def recorded(self) -> Measurement:
        """Records each run as one random step: an audit sees what goes in, and what telling two such apart costs.

        Mechanisms are steps, and so is what costs less than all that it runs; what only joins others is none.
        """
        draw, how = self.function, (self.how, self.noise, self.source)

        def run(data: Data, entropy: Entropy) -> Data:
            step = RandomStep(how, data, self._apart, self.privacy_map, event=self.event)
            return entropy.perform(step, lambda: draw(data, entropy))

        return replace(self, function=run)

    def _apart(self, left: Data, right: Data) -> AnyDistance:
        if not (self.source.domain.member(left) and self.source.domain.member(right)):
            raise NotInDomain(self.source.domain)
        return self.source.distance(left, right)

    def __rshift__(self, following: Callable[[Data], Data]) -> Measurement:
        from sfumato.core.partial import finish

        return finish(self, following)

    def document(self) -> Document:
        """The steps, the space they begin in, and the loss at the least distances, for any form."""
        rows = [
            ("takes", str(self.source)),
            *(("step", step) for step in self.how.steps),
            ("releases", self.how.mechanism),
        ]
        rows += [("then", step) for step in self.how.postprocessing]
        tables = [Table(tuple(rows))]
        with suppress(SfumatoError):  # a distance may have several parts, and the whole loss may be unknown there
            losses = tuple((str(many), str(self.map(many))) for many in (1, 2))
            tables.append(Table(losses, ("distance of neighbours", "loss")))
        return Document("Measurement", str(self.how), tables=tuple(tables))

    def _repr_html_(self) -> str:
        return rendered(self.document(), "html")

    def __repr__(self) -> str:
        return f"Measurement({self.how}: {self.source} ⟶ {self.measure.__name__})"


def _law_after(first: Transformation, law: Callable[[Data], Law]) -> Callable[[Data], Law]:
    return lambda data: law(first.image(data))
