"""Two ways in which one unit can matter to a sample, by being in it and by being exchanged; samples of samples."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Protocol, TypeVar

from sfumato.accounting.events import (
    Event,
    Gaussian,
    Laplace,
    Noise,
    Poisson,
    Repeat,
    Response,
    Sampled,
    Sampling,
    Selection,
    Sequence,
    WithoutReplacement,
)
from sfumato.accounting.losses.measures import Loss
from sfumato.accounting.relation import Relation
from sfumato.guarantee import guarantee

L = TypeVar("L", bound=Loss)


class Side(Protocol):
    """One of the two ways, as a function from the sampled event to its loss."""

    def __call__(self, inner: Event, total: Callable[[Event], L], /) -> L:
        """The loss of the event, of the kind that ``total`` gives."""


def presence(inner: Event, total: Callable[[Event], L]) -> L:
    """The loss for one unit more or fewer among the sampled: what shifts inside `Sampled` speak of."""
    return total(inner)


@guarantee(
    claim="a unit exchanged moves answers by at most twice what its presence does, and costs a response no more than "
    "any two inputs do; else a group of two",
    proof="proofs/amplification.md#exchange",
    reviewed="8edf6a9cf1c9",
)
def exchange(inner: Event, total: Callable[[Event], L]) -> L:
    """The loss for one sampled unit exchanged for another."""
    doubled = twice_as_far(inner)
    return total(inner).group(2) if doubled is None else total(doubled)


def twice_as_far(event: Event) -> Event | None:
    """An event with every shift doubled; None where it has parts that are not described by shifts.

    A response stays what it is: it is stated for any two inputs.

    >>> twice_as_far(Repeat(Laplace(scale=3), 2))
    Repeat(event=Laplace(scale=Fraction(3, 1), shift=Fraction(2, 1)), times=2)
    """
    match event:
        case Gaussian() | Laplace() | Noise() | Selection():
            return replace(event, shift=event.shift * 2)
        case Response():
            return event
        case Repeat(event=inner, times=times):
            doubled = twice_as_far(inner)
            return None if doubled is None else Repeat(doubled, times)
        case Sequence(parts=parts):
            twice = [twice_as_far(part) for part in parts]
            return None if None in twice else Sequence(*(part for part in twice if part is not None))
    return None


def counts_alike(event: Event) -> bool:
    """Tells whether an exchange is no larger a change than presence: nothing but responses, for any two inputs.

    >>> counts_alike(Repeat(Response(1), 2)), counts_alike(Laplace(1))
    (True, False)
    """
    return twice_as_far(event) == event


@guarantee(
    claim="a blank record in a Poisson sample is none at all; elsewhere to be blanked is to be exchanged",
    proof="proofs/amplification.md#zero-out",
    reviewed="adbd1f33155c",
)
def drawn_under(sampling: Sampling, relation: Relation) -> Relation:
    """The relation under which a sample is looked up; only of subsets of fixed size more is known for blank records."""
    if relation is not Relation.ZERO_OUT or isinstance(sampling, WithoutReplacement):
        return relation
    return Relation.ADD_REMOVE if isinstance(sampling, Poisson) else Relation.CHANGE_ONE


@guarantee(
    claim="a Poisson sample of one is one at the product of the rates, n of m of N units are n of N: the same law",
    proof="proofs/amplification.md#nested",
    reviewed="11ad3216e846",
)
def one_sample(event: Sampled) -> Sampled:
    """An event on a sample of a sample as one on a single sample, where the two have the same law.

    >>> one_sample(Sampled(Sampled(Laplace(1), Poisson("0.5")), Poisson("0.1"))).sampling
    Poisson(rate=Fraction(1, 20))
    """
    match event.sampling, event.event:
        case Poisson(rate=rate), Sampled(event=inner, sampling=Poisson(rate=again)):
            return one_sample(Sampled(inner, Poisson(rate * again)))
        case WithoutReplacement(sample=first, population=population), Sampled(
            event=inner, sampling=WithoutReplacement(sample=sample, population=within)
        ) if within == first:
            return one_sample(Sampled(inner, WithoutReplacement(sample, population)))
    return event
