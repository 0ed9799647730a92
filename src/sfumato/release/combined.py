"""Several noisy numbers for one exact number: the average with the least variance."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from sfumato.errors import BadArgument, Several, elements
from sfumato.exact import Number, positive, rational
from sfumato.release.estimate import Estimate
from sfumato.release.record import Release


def inverse_variance(values: Sequence[Number], variances: Sequence[Number]) -> tuple[Fraction, Fraction]:
    """Averages independent unbiased estimates of one number, each by the inverse of its variance; with the variance.

    ȳ = Σ(yᵢ/vᵢ) / Σ(1/vᵢ), of variance 1 / Σ(1/vᵢ): no other weighted mean varies less. Exact. The variances must be
    public: those of noise are.

    >>> inverse_variance([12, 9], [1, 2])
    (Fraction(11, 1), Fraction(2, 3))
    """
    with elements():
        read = [rational(value, "a value") for value in values]
        inverses = [1 / positive(variance, "a variance") for variance in variances]
    if not read or len(read) != len(inverses):
        raise BadArgument(
            "values and variances", "as many of each, and at least one", Several(len(read), len(inverses))
        )
    total = sum(inverses, Fraction(0))
    return sum((value * weight for value, weight in zip(read, inverses, strict=True)), Fraction(0)) / total, 1 / total


def combine(*estimates: Estimate | Release) -> Estimate:
    """Averages releases of one exact number, or sums of releases, by the inverse variance of their noise.

    What comes out is an `Estimate` and knows its interval. Each must carry noise of its own: a parent and the sum of
    its children, or one statistic asked twice.

    >>> from sfumato.core.space import scalar
    >>> from sfumato.entropy import ReplayEntropy
    >>> from sfumato.mechanisms.additive import laplace
    >>> near, far = (scalar(int) >> laplace(scale=s) for s in (1, 10))
    >>> both = combine(near(100, entropy=ReplayEntropy(1)), far(100, entropy=ReplayEntropy(2)))
    >>> both.variance < near(100).estimate().variance
    True
    """
    read = [_one_number(given) for given in estimates]
    variances = [estimate.variance for estimate in read]
    if not read or any(variance is None or variance == 0 for variance in variances):
        raise BadArgument("the estimates", "at least one, each a sum of releases with known noise", len(read))
    sources = [source for estimate in read for source in estimate.sources]
    if len(set(sources)) < len(sources):
        raise BadArgument("the estimates", "independent: two of them hold the same noise", len(read))
    inverses = [1 / variance for variance in variances if variance]
    total = sum(inverses, Fraction(0))
    parts = [estimate * (weight / total) for estimate, weight in zip(read, inverses, strict=True)]
    return sum(parts[1:], parts[0])


def _one_number(given: Estimate | Release) -> Estimate:
    estimate = given.estimate() if isinstance(given, Release) else given
    if not isinstance(estimate, Estimate):
        raise BadArgument("an estimate", "of one number: combine a vector's entries one by one", type(given).__name__)
    return estimate
