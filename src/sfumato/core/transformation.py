"""Transformations: deterministic, stable functions between spaces."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, final, overload

from sfumato.core.domains import Data
from sfumato.core.grouped_distance import AnyDistance, DistanceLike, GroupedDistance
from sfumato.core.metrics import Unit
from sfumato.core.plan import Described, Plan
from sfumato.core.space import Space
from sfumato.core.steps import to_steps, to_values
from sfumato.entropy import Entropy
from sfumato.errors import BadArgument, NotInDomain
from sfumato.exact import Root
from sfumato.release.claim import Claim

if TYPE_CHECKING:
    from sfumato.core.measurement import Measurement
    from sfumato.core.partial import Build, Partial
    from sfumato.core.unscaled import Unscaled


@final
@dataclass(frozen=True, eq=False)
class Transformation(Described):
    """A function between two spaces that moves neighbours apart by no more than its map says.

    ``function`` takes a member of the source and randomness (which only a few transformations, such as resizing, use)
    to a member of the target; ``randomized`` says that it does use it. ``stability_map`` takes a distance in the source
    to one in the target; it never rounds down. ``plan`` is how it was built (see `core.plan`).
    """

    source: Space
    target: Space
    function: Callable[[Data, Entropy], Data]
    stability_map: Callable[[AnyDistance], AnyDistance]
    steps: tuple[str, ...] = ()
    proofs: tuple[str, ...] = ()
    claims: tuple[Claim, ...] = ()
    randomized: bool = False
    plan: Plan | None = field(default=None, init=False, repr=False)

    def map(self, d_in: DistanceLike | Unit) -> AnyDistance:
        """The largest distance between the images of any two members at most ``d_in`` apart."""
        return checked_distance(self.stability_map(self.source.metric.read(d_in)))

    def check(self, d_in: DistanceLike | Unit, d_out: DistanceLike) -> bool:
        """Tells whether members at most ``d_in`` apart have images at most ``d_out`` apart."""
        return bool(self.map(d_in) <= self.target.metric.read(d_out))

    def __call__(self, data: Data, *, entropy: Entropy | None = None) -> Data:
        """Runs on a member of the source. The result is exact, hence private: it is not for release.

        Numbers come in the unit of the data, as floats or, where those are not exact, as fractions.
        """
        return to_values(self.target.domain, self.image(to_steps(self.source.domain, data), entropy=entropy))

    def image(self, data: Data, *, entropy: Entropy | None = None) -> Data:
        """Runs on a member as it is held, and gives one: numbers on a grid are whole numbers of its steps."""
        from sfumato.entropy import system

        if not self.source.domain.member(data):
            raise NotInDomain(self.source.domain)
        return self.function(data, entropy or system())

    @overload
    def __rshift__(self, following: Transformation) -> Transformation: ...
    @overload
    def __rshift__(self, following: Measurement) -> Measurement: ...
    @overload
    def __rshift__(self, following: Partial[Build]) -> Build: ...
    @overload
    def __rshift__(self, following: Unscaled) -> Unscaled: ...

    def __rshift__(self, following: object) -> object:
        from sfumato.core.partial import join

        return join(self, following)

    def __repr__(self) -> str:
        return f"Transformation({' → '.join(self.steps) or 'identity'}: {self.source} ⟶ {self.target})"


def checked_distance(value: AnyDistance) -> AnyDistance:
    """Reads a map's answer as an exact distance; refuses what is none: negative, NaN or not a number."""
    if isinstance(value, GroupedDistance):
        return value
    number = isinstance(value, int | float | Fraction | Root) and not isinstance(value, bool)
    if not number or value != value or not value >= 0:
        raise BadArgument("what a map gives", "a distance of at least 0", value)
    return value if isinstance(value, Fraction | Root) or value == math.inf else Fraction(value)
