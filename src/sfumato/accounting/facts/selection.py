"""What choosing one or several of a public list of candidates costs.

The shift of every fact here is the *range* distance between the score vectors of neighbours: how much further one score
moves than another, max(aᵢ − bᵢ) − min(aᵢ − bᵢ). A constant added to all scores changes no choice.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import fields
from fractions import Fraction
from typing import Any, final

from sfumato.accounting.facts.table import fact
from sfumato.accounting.losses.measures import ZCDP, BoundedRange, Pure
from sfumato.accounting.losses.pld import PLD
from sfumato.accounting.losses.renyi import Renyi
from sfumato.accounting.pld.pairs.either import RangePair
from sfumato.accounting.pld.pairs.laplace import LaplacePair
from sfumato.accounting.renyi.mechanism_curves import LaplaceCurve, RangeCurve
from sfumato.exact import Distance, integer, positive, rational_up, squared
from sfumato.guarantee import guarantee
from sfumato.plain import record


@final
@record("ExponentialSelection")
class ExponentialSelection:
    """One choice with probabilities proportional to exp(score / temperature)."""

    temperature: Fraction


@final
@record("TopSelection")
class TopSelection:
    """A ranked choice of several candidates, each as in `ExponentialSelection` among those that are left."""

    count: int
    temperature: Fraction


@final
@record("PermuteAndFlip")
class PermuteAndFlip:
    """The first candidate in random order whose coin of probability exp((score − best) / scale) shows heads."""

    scale: Fraction


@final
@record("NoisyMaximum")
class NoisyMaximum:
    """The place of the largest score after discrete Laplace noise of a scale on each, and how far it leads."""

    scale: Fraction


def read_exactly(selection: Any) -> Hashable:
    """A way to choose with its numbers read exactly; every one that has a fact is a dataclass of numbers."""
    read = {
        field.name: integer(getattr(selection, field.name), f"the {field.name} of the selection", least=1)
        if field.type == "int"
        else positive(getattr(selection, field.name), f"the {field.name} of the selection")
        for field in fields(selection)
    }
    exact: Hashable = type(selection)(**read)
    return exact


@fact(ExponentialSelection, BoundedRange)
@guarantee(claim="eta = range / temperature", proof="proofs/exponential.md#bounded-range", reviewed="d6ab286023da")
def exponential_bounded_range(selection: ExponentialSelection, shift: Distance) -> BoundedRange:
    """The bounded-range loss of one exponential selection."""
    return BoundedRange(rational_up(shift) / selection.temperature)


@fact(ExponentialSelection, Pure)
@guarantee(claim="epsilon = range / temperature", proof="proofs/exponential.md#pure", reviewed="74257e5fca78")
def exponential_pure(selection: ExponentialSelection, shift: Distance) -> Pure:
    """The pure loss of one exponential selection."""
    return Pure(rational_up(shift) / selection.temperature)


@fact(ExponentialSelection, ZCDP)
@guarantee(claim="rho = (range / temperature)² / 8", proof="proofs/exponential.md#zcdp", reviewed="bf6f1745a796")
def exponential_zcdp(selection: ExponentialSelection, shift: Distance) -> ZCDP:
    """The zCDP loss of one exponential selection."""
    return ZCDP(squared(shift) / selection.temperature**2 / 8)


@fact(ExponentialSelection, Renyi)
@guarantee(
    claim="all that a bounded range of range / temperature allows",
    proof="proofs/renyi.md#range",
    reviewed="5eaa510c3cdb",
)
def exponential_renyi(selection: ExponentialSelection, shift: Distance) -> Renyi:
    """The Rényi loss of one exponential selection."""
    return Renyi.of(RangeCurve(rational_up(shift) / selection.temperature))


@fact(TopSelection, Pure)
@guarantee(claim="epsilon = k range / temperature", proof="proofs/top_k.md#pure", reviewed="890ca83224b4")
def top_pure(selection: TopSelection, shift: Distance) -> Pure:
    """The pure loss of a ranked choice of k candidates."""
    return Pure(selection.count * rational_up(shift) / selection.temperature)


@fact(TopSelection, ZCDP)
@guarantee(claim="rho = k (range / temperature)² / 8", proof="proofs/top_k.md#zcdp", reviewed="4ff2367a944e")
def top_zcdp(selection: TopSelection, shift: Distance) -> ZCDP:
    """The zCDP loss of a ranked choice of k candidates."""
    return ZCDP(selection.count * squared(shift) / selection.temperature**2 / 8)


@fact(TopSelection, Renyi)
@guarantee(
    claim="k times all that a bounded range of range / temperature allows",
    proof="proofs/renyi.md#range",
    reviewed="08a82dbcbdf8",
)
def top_renyi(selection: TopSelection, shift: Distance) -> Renyi:
    """The Rényi loss of a ranked choice of k candidates."""
    return Renyi.of(RangeCurve(rational_up(shift) / selection.temperature), times=selection.count)


@fact(TopSelection, PLD)
@guarantee(
    claim="k uses of the pair of a bounded range of range / temperature",
    proof="proofs/top_k.md#pair",
    reviewed="7029dc20c598",
)
def top_pld(selection: TopSelection, shift: Distance) -> PLD:
    """The dominating pairs of a ranked choice of k candidates."""
    return PLD.of(RangePair(rational_up(shift) / selection.temperature), selection.count)


@fact(PermuteAndFlip, Pure)
@guarantee(claim="epsilon = range / scale", proof="proofs/permute_and_flip.md#loss", reviewed="a7db16e675f4")
def permute_and_flip_pure(selection: PermuteAndFlip, shift: Distance) -> Pure:
    """The pure loss of permute-and-flip."""
    return Pure(rational_up(shift) / selection.scale)


@fact(PermuteAndFlip, Renyi)
@guarantee(
    claim="the curve of Laplace noise that moves by range / scale",
    proof="proofs/permute_and_flip.md#pair",
    reviewed="5f2519671175",
)
def permute_and_flip_renyi(selection: PermuteAndFlip, shift: Distance) -> Renyi:
    """The Rényi loss of permute-and-flip."""
    return Renyi.of(LaplaceCurve(rational_up(shift) / selection.scale))


@fact(PermuteAndFlip, PLD)
@guarantee(
    claim="the pair of Laplace noise that moves by range / scale dominates, and is reached by two candidates",
    proof="proofs/permute_and_flip.md#pair",
    reviewed="f3f569d0ef50",
)
def permute_and_flip_pld(selection: PermuteAndFlip, shift: Distance) -> PLD:
    """The dominating pair of permute-and-flip."""
    return PLD.of(LaplacePair(rational_up(shift) / selection.scale))


@fact(NoisyMaximum, Pure)
@guarantee(claim="epsilon = range / scale", proof="proofs/noisy_max.md#loss", reviewed="3353dca09e2a")
def noisy_maximum_pure(selection: NoisyMaximum, shift: Distance) -> Pure:
    """The pure loss of a noisy maximum, with or without its lead."""
    return Pure(rational_up(shift) / selection.scale)
