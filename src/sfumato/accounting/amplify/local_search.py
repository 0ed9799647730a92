"""How much each report may lose so that, once shuffled, all of them together keep to a central (ε, δ)."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from sfumato.accounting.amplify.protocols import generic_delta, protocol_delta
from sfumato.accounting.amplify.tilted_sum import ROUGH
from sfumato.accounting.events.hiding import Hides
from sfumato.errors import BadArgument
from sfumato.exact import Number, down, integer, non_negative, rational
from sfumato.guarantee import guarantee

CLOSE = Fraction(1, 1 << 20)
"""An ε0 is sought until it is known this closely, relatively."""

MOST_STEPS, FARTHEST = 120, 512
"""A search takes no more steps than that, and goes no farther."""

Protocol = Callable[[Fraction], Hides]
"""The record of a protocol, for each ε0 that its reports may lose."""


@guarantee(
    claim="n shuffled reports of local randomizers pure at this epsilon0 (or of this protocol) keep (epsilon, delta)",
    proof="proofs/shuffling.md#calibration",
    reviewed="bd3dc87fcdb0",
)
def local_epsilon(
    epsilon: Number, *, delta: Number, reports: int, protocol: Protocol | None = None, most: Number = FARTHEST
) -> Fraction:
    """The largest ε0 that was found for reports which, shuffled, keep a central ε at a δ; never less than that ε.

    Each report may lose this much, whatever the local randomizer is; or, where ``protocol`` gives the record of one for
    each ε0, that one's reports. None above ``most`` is tried.

    >>> round(float(local_epsilon("1/4", delta=1e-6, reports=10_000)), 3)
    3.163
    """
    central, count, allowed = non_negative(epsilon, "epsilon"), integer(reports, "reports", least=1), _delta(delta)

    def delta_at(epsilon0: Fraction) -> Fraction:
        if protocol is None:
            return generic_delta(epsilon0, count, central, allowed, noise=ROUGH)
        return protocol_delta(_checked(protocol(epsilon0)), count, central, allowed, noise=ROUGH)

    farthest = non_negative(most, "most")
    low, high = min(central, farthest), min(max(2 * central, Fraction(1)), farthest)
    while low < high and delta_at(high) <= allowed:
        low, high = high, min(2 * high, farthest)
    for _ in range(MOST_STEPS):
        if high - low <= CLOSE * high:
            break
        middle = Fraction(down((low + high) / 2)) if low * 8 > high else high / 8
        low, high = (middle, high) if low < middle and delta_at(middle) <= allowed else (low, max(low, middle))
    return low  # always a point that was checked, or the central ε itself


def _checked(hiding: object) -> Hides:
    if not isinstance(hiding, Hides):
        raise BadArgument("protocol", "a function of ε0 that gives a record such as Hiding", hiding)
    return hiding


def _delta(value: Number) -> Fraction:
    read = rational(value, "delta")
    if not 0 < read < 1:
        raise BadArgument("delta", "greater than 0 and less than 1", value)
    return read
