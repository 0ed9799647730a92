"""How much each report may lose so that, once shuffled, all of them together keep to a central (ε, δ)."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from sfumato.accounting.amplify.protocols import generic_delta, protocol_delta
from sfumato.accounting.events.hiding import Hiding
from sfumato.errors import BadArgument
from sfumato.exact import Number, down, integer, non_negative, rational
from sfumato.guarantee import guarantee

CLOSE = Fraction(1, 1 << 20)
"""An ε0 is sought until it is known this closely, relatively."""

MOST_STEPS, FARTHEST = 120, 512
"""A search takes no more steps than that, and goes no farther."""

Protocol = Callable[[Fraction], Hiding]
"""The record of a protocol, for each ε0 that its reports may lose."""


@guarantee(
    claim="n shuffled reports, each of a local randomizer pure at this epsilon0 (or of this protocol), keep (eps, delta)",
    proof="proofs/shuffling.md#calibration",
    reviewed="f54fe20e418a",
)
def local_epsilon(epsilon: Number, *, delta: Number, reports: int, protocol: Protocol | None = None) -> Fraction:
    """The largest ε0 that was found for reports which, shuffled, keep a central ε at a δ; never less than that ε.

    Each report may lose this much, whatever the local randomizer is; or, where ``protocol`` gives the record of one for
    each ε0, that one's reports.

    >>> round(float(local_epsilon("1/4", delta=1e-6, reports=10_000)), 3)
    2.808
    """
    central, count, allowed = non_negative(epsilon, "epsilon"), integer(reports, "reports", least=1), _delta(delta)

    def delta_at(epsilon0: Fraction) -> Fraction:
        if protocol is None:
            return generic_delta(epsilon0, count, central, allowed)
        return protocol_delta(_checked(protocol(epsilon0)), count, central, allowed)

    low, high = central, max(2 * central, Fraction(1))
    while high < FARTHEST and delta_at(high) <= allowed:
        low, high = high, 2 * high
    for _ in range(MOST_STEPS):
        if high - low <= CLOSE * high:
            break
        middle = Fraction(down((low + high) / 2)) if low * 8 > high else high / 8
        low, high = (middle, high) if low < middle and delta_at(middle) <= allowed else (low, max(low, middle))
    return low  # always a point that was checked, or the central ε itself


def _checked(hiding: object) -> Hiding:
    if not isinstance(hiding, Hiding):
        raise BadArgument("protocol", "a function of ε0 that gives a Hiding", hiding)
    return hiding


def _delta(value: Number) -> Fraction:
    read = rational(value, "delta")
    if not 0 < read < 1:
        raise BadArgument("delta", "greater than 0 and less than 1", value)
    return read
