"""Every distribution of the package, once: what laws, exact sums, samplers and the codec are tried on.

A new noise is one more `Family` here; a test asks for it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, TypeAlias, final

from hypothesis import strategies as st

from sfumato.noise import (
    Bernoulli,
    BernoulliExp,
    Binomial,
    Categorical,
    Censored,
    DiscreteGaussian,
    DiscreteLaplace,
    Geometric,
    Noise,
    Poisson,
    Staircase,
    Truncated,
    TruncatedNegativeBinomial,
    Uniform,
)

Triple: TypeAlias = tuple[Noise, Noise, Noise]
"""A noise, and two that are a little off, which a test of its sampler must tell from it."""


@final
@dataclass(frozen=True)
class Family:
    """One kind of noise: ``random`` members for the laws, ``drawn`` ones for samplers, ``summed`` ones for exact sums.

    The range beside a summed one holds all of it but 2⁻⁹⁰. ``unbounded`` says that no draw is 60 deviations out.
    """

    kind: type
    random: st.SearchStrategy[Any]
    drawn: Mapping[str, Triple]
    summed: Mapping[str, tuple[Noise, range]]
    unbounded: bool = field(default=False, kw_only=True)


def scaled(make: Callable[[Fraction], Noise], parameter: str | Fraction) -> Triple:
    """Gives a noise, and the same with a parameter that is 5 % off either way."""
    exact = Fraction(parameter)
    return make(exact), make(exact * Fraction(95, 100)), make(exact * Fraction(105, 100))


def each(name: str, make: Callable[[Fraction], Noise], *parameters: str) -> dict[str, Triple]:
    return {f"{name} {parameter}": scaled(make, parameter) for parameter in parameters}


scales = st.one_of(
    st.fractions(min_value=Fraction(1, 10**6), max_value=10**3, max_denominator=10**7),
    st.integers(1, 10**15).map(Fraction),
    st.floats(min_value=1e-6, max_value=1e15, allow_nan=False).map(Fraction),
)
small = st.fractions(min_value=Fraction(1, 50), max_value=40, max_denominator=1000)
chances = st.fractions(min_value=0, max_value=1, max_denominator=10**9)

FAMILIES: tuple[Family, ...] = (
    Family(
        DiscreteLaplace,
        scales.map(DiscreteLaplace),
        each(
            *("laplace", DiscreteLaplace, "2/5", "1", "10", "17", "10000", "123456789/1000"),
            *("1099511627776", "1000000000000000"),
        ),
        {
            "laplace 1": (DiscreteLaplace(Fraction(1)), range(-70, 71)),
            "laplace 1/7": (DiscreteLaplace(Fraction(1, 7)), range(-12, 13)),
            "laplace 10/3": (DiscreteLaplace(Fraction(10, 3)), range(-240, 241)),
        },
        unbounded=True,
    ),
    Family(
        Geometric,
        scales.map(Geometric),
        each("geometric", Geometric, "1/2", "3", "1000", "10000000000"),
        {"geometric 2": (Geometric(Fraction(2)), range(-2, 140))},
        unbounded=True,
    ),
    Family(
        DiscreteGaussian,
        scales.map(DiscreteGaussian) | scales.map(DiscreteGaussian.from_square),
        {
            **each("gaussian", DiscreteGaussian, "1/2", "1", "10", "63", "64", "100", "10000", "10000000"),
            **each("gaussian", DiscreteGaussian, "1099511627776", "1000000000000000"),
            "gaussian root": scaled(lambda square: DiscreteGaussian.from_square(square), "12345/7"),
        },
        {
            "gaussian 1": (DiscreteGaussian(Fraction(1)), range(-15, 16)),
            "gaussian 1/3": (DiscreteGaussian(Fraction(1, 3)), range(-6, 7)),
            "gaussian root 7": (DiscreteGaussian.from_square(7), range(-40, 41)),
        },
        unbounded=True,
    ),
    Family(
        Staircase,
        st.builds(
            lambda decay, width, step: Staircase(decay, width, 1 + step % width),
            st.fractions(min_value=Fraction(1, 10**6), max_value=20, max_denominator=10**6),
            st.integers(1, 10**6),
            st.integers(0, 10**6),
        ),
        {
            "staircase": scaled(lambda decay: Staircase(decay, 7, 3), "3/2"),
            "staircase, one step": scaled(lambda decay: Staircase(decay, 4, 4), "1/2"),
            "staircase, wide": scaled(lambda decay: Staircase(decay, 10**6, 10**5), "1"),
        },
        {"staircase": (Staircase(Fraction(3, 4), 5, 2), range(-450, 451))},
        unbounded=True,
    ),
    Family(
        TruncatedNegativeBinomial,
        st.builds(
            TruncatedNegativeBinomial,
            st.fractions(min_value=Fraction(-9, 10), max_value=9, max_denominator=100),
            st.fractions(min_value=Fraction(1, 1000), max_value=Fraction(99, 100), max_denominator=10**6),
        ),
        {
            "runs, geometric": scaled(lambda stop: TruncatedNegativeBinomial(Fraction(1), stop), "1/10"),
            "runs, logarithmic": scaled(lambda stop: TruncatedNegativeBinomial(Fraction(0), stop), "1/50"),
            "runs, shape -1/2": scaled(lambda shape: TruncatedNegativeBinomial(shape, Fraction(1, 20)), "-1/2"),
            "runs, shape 5/2": scaled(lambda stop: TruncatedNegativeBinomial(Fraction(5, 2), stop), "3/100"),
        },
        {
            "runs, geometric": (TruncatedNegativeBinomial(Fraction(1), Fraction(1, 4)), range(-2, 240)),
            "runs, logarithmic": (TruncatedNegativeBinomial(Fraction(0), Fraction(1, 5)), range(-2, 310)),
            "runs, shape -1/2": (TruncatedNegativeBinomial(Fraction(-1, 2), Fraction(1, 4)), range(-2, 240)),
            "runs, shape 7/3": (TruncatedNegativeBinomial(Fraction(7, 3), Fraction(1, 3)), range(-2, 240)),
        },
    ),
    Family(
        Poisson,
        st.fractions(min_value=Fraction(1, 100), max_value=10**4, max_denominator=100).map(Poisson),
        each("poisson", Poisson, "1/4", "10", "1000"),
        {
            "poisson 9/2": (Poisson(Fraction(9, 2)), range(-2, 70)),
            "poisson 1/3": (Poisson(Fraction(1, 3)), range(-2, 25)),
        },
    ),
    Family(
        Binomial,
        st.integers(0, 200).map(lambda half: Binomial(2 * half))
        | st.integers(0, 300).map(lambda trials: Binomial(trials, centred=False)),
        {
            "binomial": (Binomial(1000), Binomial(900), Binomial(1100)),
            "binomial, odd": (Binomial(401, centred=False), Binomial(391, centred=False), Binomial(411, centred=False)),
            "binomial, in parts": (Binomial(70_000), Binomial(64_000), Binomial(76_000)),
        },
        {
            "binomial 20": (Binomial(20), range(-12, 13)),
            "binomial 7": (Binomial(7, centred=False), range(-1, 9)),
            "binomial 0": (Binomial(0), range(-1, 2)),
        },
    ),
    Family(
        Bernoulli,
        chances.map(Bernoulli),
        {"bernoulli": scaled(Bernoulli, "2/5")},
        {"bernoulli": (Bernoulli(Fraction(2, 7)), range(-1, 3))},
    ),
    Family(
        BernoulliExp,
        small.map(BernoulliExp),
        {"bernoulli exp": scaled(BernoulliExp, "1")},
        {"bernoulli exp": (BernoulliExp(Fraction(2, 7)), range(-1, 3))},
    ),
    Family(
        Uniform,
        st.integers(1, 10**18).map(Uniform),
        {
            "uniform": (Uniform(1000), Uniform(950), Uniform(1050)),
            "uniform, wide": (Uniform(10**12), Uniform(95 * 10**10), Uniform(105 * 10**10)),
        },
        {"uniform": (Uniform(6), range(-1, 7))},
    ),
    Family(
        Categorical,
        st.lists(chances, min_size=1, max_size=6).filter(any).map(lambda weights: Categorical(tuple(weights))),
        {"categorical": scaled(lambda weight: Categorical((Fraction(1), weight, Fraction(0), Fraction(3))), "2")},
        {"categorical": (Categorical((Fraction(1), Fraction(0), Fraction(2, 3))), range(-1, 4))},
    ),
    Family(
        Truncated,
        st.builds(
            lambda scale, radius: Truncated.within(DiscreteLaplace(scale), radius=radius), small, st.integers(0, 90)
        ),
        {
            "truncated": scaled(lambda scale: Truncated.within(DiscreteLaplace(scale), radius=40), "10"),
            "truncated far": scaled(lambda scale: Truncated(DiscreteLaplace(scale), 50, 90), "10"),
            "truncated gaussian": scaled(lambda scale: Truncated(DiscreteGaussian(scale), 20, 60), "10"),
        },
        {
            "truncated laplace": (Truncated.within(DiscreteLaplace(Fraction(4)), radius=6), range(-8, 9)),
            "truncated far": (Truncated(DiscreteLaplace(Fraction(4)), 50, 60), range(48, 63)),
            "truncated low": (Truncated(DiscreteGaussian(Fraction(2)), -20, -10), range(-22, -8)),
        },
    ),
    Family(
        Censored,
        st.builds(
            lambda scale, low, size: Censored(DiscreteGaussian(scale), low, low + size),
            small,
            st.integers(-50, 50),
            st.integers(0, 50),
        ),
        {"censored": scaled(lambda scale: Censored(DiscreteGaussian(scale), -30, 25), "20")},
        {"censored": (Censored(DiscreteLaplace(Fraction(4)), -3, 7), range(-5, 9))},
    ),
)

DRAWN: dict[str, Triple] = {name: triple for family in FAMILIES for name, triple in family.drawn.items()}
SUMMED: dict[str, tuple[Noise, range]] = {name: law for family in FAMILIES for name, law in family.summed.items()}
NOISES = st.one_of(*(family.random for family in FAMILIES))
UNBOUNDED = st.one_of(*(family.random for family in FAMILIES if family.unbounded))
