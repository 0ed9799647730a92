"""Components that a user writes, behind an explicit claim."""

from __future__ import annotations

from collections.abc import Callable

from sfumato.accounting.losses.measures import Loss
from sfumato.core.domains import Data
from sfumato.core.measurement import Measurement
from sfumato.core.queryable import Queryable
from sfumato.core.space import Space
from sfumato.core.steps import to_steps, to_values
from sfumato.core.transformation import Transformation, checked_distance
from sfumato.entropy import Entropy
from sfumato.errors import BadArgument
from sfumato.exact import Distance
from sfumato.release.claim import Claim, required
from sfumato.release.record import How


def transformation(
    source: Space,
    target: Space,
    *,
    function: Callable[[Data], Data],
    map: Callable[[Distance], Distance],
    claim: Claim | None = None,
    name: str = "user-defined transformation",
) -> Transformation:
    """Makes a transformation from a function and a map that the caller vouches for.

    Takes:      a source and a target space, a deterministic function and its stability map
    Gives:      a transformation that joins everything else
    Guarantee:  the caller's claim, and no more (proofs/framework.md#custom)
    """
    vouched = required(claim, "the stability of a user-defined transformation")
    _check_callables(function, map)
    return Transformation(
        source,
        target,
        lambda data, _: to_steps(target.domain, function(to_values(source.domain, data))),
        lambda d_in: checked_distance(map(d_in)),
        (name,),
        ("proofs/framework.md#custom",),
        (vouched,),
    )


def measurement(
    source: Space,
    measure: type[Loss],
    *,
    function: Callable[[Data, Entropy], Data],
    map: Callable[[Distance], Loss],
    claim: Claim | None = None,
    name: str = "user-defined measurement",
    interactive: bool = False,
) -> Measurement:
    """Makes a measurement from a randomized function and a privacy map that the caller vouches for.

    Takes:      a source space, a kind of loss, a function of data and entropy, and its privacy map, nothing at distance
                0; ``interactive`` where the outcome is or holds a `Queryable`, which must be made before it is given
    Gives:      a measurement that joins everything else
    Guarantee:  the caller's claim, and no more (proofs/framework.md#custom)
    """
    vouched = required(claim, "the privacy of a user-defined measurement")
    _check_callables(function, map)
    nearest = map(source.metric.read(0))
    if isinstance(nearest, measure) and not nearest.within(measure.nothing()):
        must = "nothing at distance 0: what the metric cannot tell apart looks alike (in order: sf.metrics.Hamming())"
        raise BadArgument("the privacy map", must, nearest)
    how = How(name, claims=(vouched,), proofs=("proofs/framework.md#custom",))

    def run(data: Data, entropy: Entropy) -> Data:
        outcome = function(to_values(source.domain, data), entropy)
        if isinstance(outcome, Queryable) and not interactive:
            raise BadArgument("interactive", "True for a measurement that gives a queryable", interactive)
        return outcome

    return Measurement(source, measure, run, map, how, interactive=interactive)


def _check_callables(function: object, map: object) -> None:
    for part, what in ((function, "the function"), (map, "the map")):
        if not callable(part):
            raise BadArgument(what, "callable", part)
