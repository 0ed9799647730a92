"""Non-adaptive composition: several measurements of the same data, all fixed beforehand, released together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

from sfumato.accounting import events
from sfumato.accounting.adaptive.filters import may_interleave
from sfumato.accounting.compose import sequence_loss
from sfumato.combinators.requirements import Component, components
from sfumato.core.domains import Data
from sfumato.core.law import Law, ProductLaw
from sfumato.core.measurement import Measurement
from sfumato.core.partial import Partial, start
from sfumato.core.plan import constructor
from sfumato.core.space import Space
from sfumato.errors import BadArgument, NoProvenRoute
from sfumato.release.claim import Claim
from sfumato.release.record import Failure, How

PROOF = "proofs/interaction.md#together"


@constructor
def composition(measurements: Sequence[Component]) -> Partial[Measurement]:
    """Releases several measurements of the same data together; all are fixed before the first one runs.

    One vector of answers with its joint sensitivity (`count_by`, `linear`) is often cheaper than as many measurements.

    Takes:      measurements of one space and one kind of loss (`convert_measure` restates a loss in another kind)
    Gives:      the tuple of their outcomes
    Guarantee:  the losses composed: Pure, ZCDP and Rényi add up, of Approx both parts  (proofs/interaction.md#together)
    Cost:       that of the measurements

    >>> from sfumato.core.space import vector
    >>> from sfumato.transforms.aggregate import count, sum
    >>> from sfumato.mechanisms.additive import laplace
    >>> both = composition([count() >> laplace(scale=10), sum() >> laplace(scale=5)])
    >>> (vector(int, between=(0, 1)) >> both).map(1)
    Pure(epsilon=0.3)
    """
    listed = components(measurements)

    def build(space: Space) -> Measurement:
        parts = compatible([start(space, component) for component in listed], "composition")
        kind = parts[0].measure
        return Measurement(
            source=space,
            measure=kind,
            function=lambda data, entropy: tuple(part.function(data, entropy) for part in parts),
            privacy_map=lambda d_in: sequence_loss([(part.map(d_in), 1) for part in parts], kind),
            how=joint_how("composition", parts, PROOF),
            law=product_law(parts),
            error=joint_error(parts),
            interactive=any(part.interactive for part in parts),
            event=lambda d_in: events.Sequence(*(part.event_at(d_in) for part in parts)),
        )

    return Partial(f"composition({len(listed)} measurements)", build)


def compatible(built: Sequence[object], what: str) -> tuple[Measurement, ...]:
    """Checks that measurements may stand side by side: one space, one kind of loss, and at most one interactive unless
    there is a theorem for asking several in turns.
    """
    parts = tuple(part for part in built if isinstance(part, Measurement))
    if len(parts) < len(built):
        raise BadArgument(f"what {what}() takes", "measurements: end each chain with a mechanism", "a transformation")
    kinds = dict.fromkeys(part.measure for part in parts)
    if len(kinds) > 1:
        names = ", ".join(kind.__name__ for kind in kinds)
        raise NoProvenRoute(
            f"{what}() takes measurements with one kind of loss, and these are {names}. Restate them in one that all "
            "can have, such as sf.convert_measure(measurement, sf.ZCDP)."
        )
    kind = parts[0].measure
    if sum(part.interactive for part in parts) > 1 and not may_interleave(kind):
        raise NoProvenRoute(
            f"{what}() would leave several interactive answers open at once, and there is no theorem for asking them "
            f"in turns under {kind.__name__}. Ask them one after the other with sf.adaptive_composition(…)."
        )
    return parts


def joint_how(name: str, parts: Sequence[Measurement], proof: str) -> How:
    """Describes several measurements that are released together."""
    claims: dict[Claim, None] = {}
    proofs = {proof: None}
    for part in parts:
        claims |= dict.fromkeys(part.how.claims)
        proofs |= dict.fromkeys(part.how.proofs)
    failures = [part.how.failure for part in parts]
    worst = max(failures, key=list(Failure).index)
    shown = tuple((str(place), str(part.how)) for place, part in enumerate(parts, start=1))
    return How(name, shown, claims=tuple(claims), proofs=tuple(proofs), failure=worst)


def product_law(parts: Sequence[Measurement]) -> Callable[[Data], Law] | None:
    """The joint law of independent outcomes, where each has one."""
    laws = [part.law for part in parts if part.law is not None and not part.interactive]
    return (lambda data: ProductLaw(tuple(law(data) for law in laws))) if len(laws) == len(parts) else None


def joint_error(parts: Sequence[Measurement]) -> Callable[[Fraction], Data] | None:
    """Half-widths that all outcomes keep together (by a union bound), where each has one."""
    errors = [part.error for part in parts if part.error is not None]
    if len(errors) < len(parts):
        return None
    return lambda confidence: tuple(error(1 - (1 - confidence) / len(parts)) for error in errors)
