"""Noise that waits for its scale: what is to be paid, or how near to come, decides it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NoReturn, final

from sfumato.accounting.facts import parameter_within
from sfumato.accounting.losses.measures import ZCDP, Loss, Pure
from sfumato.accounting.losses.stated import needed_loss
from sfumato.core.domains import Data
from sfumato.core.grouped_distance import DistanceLike
from sfumato.core.measurement import Measurement
from sfumato.core.metrics import Unit
from sfumato.core.plan import Described, Plan
from sfumato.core.space import Space
from sfumato.core.transformation import Transformation
from sfumato.errors import NoProvenRoute, NotChainable
from sfumato.exact import Number

if TYPE_CHECKING:
    from sfumato.core.partial import Partial


@final
@dataclass(frozen=True, eq=False)
class Unscaled(Described):
    """A chain that ends in noise without a scale, such as ``space >> clamp(0, 100) >> mean() >> laplace()``.

    ``with_loss`` solves it for what is to be paid, ``with_accuracy`` for how near to come; a session solves it for the
    loss that it is asked with. ``noise`` makes the noise of a scale; ``before`` and ``after`` is what stands around it.
    """

    name: str
    noise: Callable[[Fraction], Partial[Measurement]]
    before: Space | Transformation | Partial[Transformation] | None = None
    after: tuple[Callable[[Data], Data], ...] = ()
    plan: Plan | None = field(default=None, init=False, repr=False)

    def begun(self, first: Any) -> Unscaled:
        """Puts a space, a transformation or one that waits in front; refuses what this noise cannot follow."""
        chain = replace(self, before=first if self.before is None else first >> self.before)
        if chain._begins is not None:
            chain.at(Fraction(1))
        return chain

    @property
    def _begins(self) -> Space | Transformation | None:
        return self.before if isinstance(self.before, Space | Transformation) else None

    def at(self, scale: Fraction) -> Measurement:
        """The measurement with noise of a scale."""
        if (first := self._begins) is None:
            raise NotChainable(
                f"{self.name}() does not know yet what it works on. Put a space on its left: space >> … >> "
                f"{self.name}()."
            )
        measurement: Measurement = first >> self.noise(scale)
        for function in self.after:
            measurement = measurement >> function
        return measurement

    def with_loss(
        self,
        loss: Loss | None = None,
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
        d_in: DistanceLike | Unit | None = None,
    ) -> Measurement:
        """Builds the measurement with the least noise that keeps a loss, for neighbours (or a unit) at ``d_in``.

        >>> from sfumato.core.space import vector
        >>> from sfumato.mechanisms.additive import gaussian, laplace
        >>> from sfumato.transforms.aggregate import count
        >>> (vector(str) >> count() >> laplace()).with_loss(epsilon="0.5").map(1)
        Pure(epsilon=0.5)
        >>> (vector(str) >> count() >> gaussian()).with_loss(epsilon=1, delta="1e-6").map(1).delta
        Fraction(1, 1000000)
        """
        from sfumato.core.calibrate import calibrate

        stated, one = needed_loss(loss, epsilon, delta), self.at(Fraction(1))
        distance = one.source.closest if d_in is None else d_in
        if isinstance(stated, Pure) and one.measure is ZCDP:
            raise NoProvenRoute(
                f"{self.name}() noise keeps no pure ε, however large it is: its tails are too thin. Allow a δ, "
                f"with_loss(epsilon=1, delta=1e-6), or add noise that does: laplace()."
            )
        if isinstance(stated, Pure | ZCDP) and one.measure is type(stated) and stated != type(stated).nothing():
            price = one.map(distance)
            least = parameter_within(price, stated) if isinstance(price, Pure | ZCDP) else None
            if least and self.at(least).check(distance, stated):
                return self.at(least)
        return calibrate(self.at, d_in=distance, loss=stated)

    def with_accuracy(self, half_width: Number, *, confidence: Number = 0.95) -> Measurement:
        """Builds the measurement with the most noise that keeps its error bar within a half-width."""
        from sfumato.core.calibrate import calibrate_to_accuracy

        return calibrate_to_accuracy(self.at, half_width=half_width, confidence=confidence)

    def __rshift__(self, following: Callable[[Data], Data]) -> Unscaled:
        """Adds a function of the outcome."""
        from sfumato.core.partial import finish

        if self._begins is not None:
            finish(self.at(Fraction(1)), following)  # refuses what is none
        return replace(self, after=(*self.after, following))

    def map(self, *_: object, **__: object) -> NoReturn:
        raise self.unsolved()

    def __call__(self, *_: object, **__: object) -> NoReturn:
        raise self.unsolved()

    def unsolved(self) -> NotChainable:
        """The refusal of what needs a scale."""
        return NotChainable(
            f"{self.name}() has no scale yet. Say what may be spent, chain.with_loss(sf.Pure(1)), or how near to come, "
            f"chain.with_accuracy(5); or write {self.name}(scale=…)."
        )

    def __repr__(self) -> str:
        return f"{self.name}() (waiting for a loss: .with_loss(sf.Pure(1)))"
