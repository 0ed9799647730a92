"""One line for one number: a column in, a release out, its noise from the chain that the line stands for.

Each entry is one person: where somebody has several, use a `Dataset` with an id, or the loss is that many times as
large. Neighbours have one entry more or less, so how many there are is private too. What is missing is left out.
Nothing is charged: whoever asks twice has spent twice, and only a session counts that.
"""

from __future__ import annotations

from collections.abc import Sequence

from sfumato.accounting.losses.measures import Pure
from sfumato.core.space import vector
from sfumato.dp.chains import SURE, Between, bounded, least_noise, released
from sfumato.dp.extremes import at_end
from sfumato.dp.reading import numbers, present
from sfumato.dp.shared import Shared
from sfumato.entropy import Entropy
from sfumato.errors import BadArgument
from sfumato.exact import Number, integer, positive, probability
from sfumato.mechanisms.additive import laplace
from sfumato.mechanisms.quantile import quantile as chosen_quantile
from sfumato.release.record import Release
from sfumato.stats.quantiles import quantiles as many_quantiles
from sfumato.transforms.aggregate import count as counted
from sfumato.transforms.aggregate import sum as summed
from sfumato.transforms.conditions import is_in


def count(values: object, *, epsilon: Number, confidence: Number = SURE, entropy: Entropy | None = None) -> Release:
    """Counts the entries that are not missing, with Laplace noise of scale 1/ε.

    >>> count([3, None, 5], epsilon=1).loss
    Pure(epsilon=1.0)
    """
    measurement = least_noise(lambda scale: vector(bool) >> counted(is_in([True])) >> laplace(scale), epsilon)
    return released(measurement, present(values), confidence, entropy)


def sum(
    values: object,
    *,
    between: Between = None,
    epsilon: Number,
    confidence: Number = SURE,
    entropy: Entropy | None = None,
) -> Release:
    """Adds up a column, each entry moved into public bounds, with noise of scale max(|lower|, |upper|)/ε.

    >>> sum([3, None, 5], between=(0, 10), epsilon=1).loss
    Pure(epsilon=1.0)
    """
    rows = bounded(between, "sum")
    measurement = least_noise(lambda scale: rows >> summed() >> laplace(scale), epsilon)
    return released(measurement, numbers(values), confidence, entropy)


def mean(
    values: object,
    *,
    between: Between = None,
    epsilon: Number,
    confidence: Number = SURE,
    entropy: Entropy | None = None,
) -> Release:
    """Averages a column, each entry moved into public bounds; how many entries there are is private too, and free.

    Rows are shared between two bins, one for each bound (`transforms.bernstein_counts`): of the noisy counts the share
    of the upper one is the mean. That halves the variance of a noisy sum over a noisy count at the same ε.

    >>> mean([71.5, 64.0, None, 93.5], between=(0, 100), epsilon=1).loss
    Pure(epsilon=1.0)
    """
    return Shared.of(values, 1, between, epsilon, confidence, entropy, verb="mean").mean()


def variance(
    values: object,
    *,
    between: Between = None,
    epsilon: Number,
    ddof: int = 1,
    confidence: Number = SURE,
    entropy: Entropy | None = None,
) -> Release:
    """The variance of a column, each entry moved into public bounds: over the number of entries less ``ddof``, 0 or 1.

    >>> variance([71.5, 64.0, None, 93.5], between=(0, 100), epsilon=1).loss
    Pure(epsilon=1.0)
    """
    less = _read_ddof(ddof)
    return Shared.of(values, 2, between, epsilon, confidence, entropy, verb="variance").variance(less)


def std(
    values: object,
    *,
    between: Between = None,
    epsilon: Number,
    ddof: int = 1,
    confidence: Number = SURE,
    entropy: Entropy | None = None,
) -> Release:
    """The standard deviation of a column: the root of `variance`.

    >>> std([71.5, 64.0, None, 93.5], between=(0, 100), epsilon=1).loss
    Pure(epsilon=1.0)
    """
    less = _read_ddof(ddof)
    return Shared.of(values, 2, between, epsilon, confidence, entropy, verb="standard deviation").deviation(less)


def quantile(
    values: object, at: Number, *, between: Between = None, epsilon: Number, entropy: Entropy | None = None
) -> Release:
    """Chooses a point between public bounds with about a share ``at`` of the entries below it.

    The exponential mechanism: points that split the entries badly are unlikely, by e for about 2/ε entries too many on
    one side. How far off the point itself is depends on the data, so there is no error bar.

    >>> quantile([71.5, 64.0, None, 93.5], 0.9, between=(0, 100), epsilon=1).loss
    Pure(epsilon=1.0)
    """
    rows, share = bounded(between, "quantile"), probability(at, "at")
    measurement = least_noise(lambda heat: rows >> chosen_quantile(share, temperature=heat), epsilon)
    return released(measurement, numbers(values), SURE, entropy)


def quantiles(
    values: object, at: Sequence[Number], *, between: Between = None, epsilon: Number, entropy: Entropy | None = None
) -> Release:
    """Chooses several quantiles for one ε, in rising order: far better than as many single ones.

    >>> quantiles([71.5, 64.0, None, 93.5], [0.25, 0.5, 0.75], between=(0, 100), epsilon=1).loss
    Pure(epsilon=1.0)
    """
    measurement = bounded(between, "quantiles") >> many_quantiles(at, loss=Pure(positive(epsilon, "epsilon")))
    return released(measurement, numbers(values), SURE, entropy)


def median(values: object, *, between: Between = None, epsilon: Number, entropy: Entropy | None = None) -> Release:
    """Chooses a point between public bounds with about as many entries below as above: see `quantile`.

    >>> median([71.5, 64.0, None, 93.5], between=(0, 100), epsilon=1).loss
    Pure(epsilon=1.0)
    """
    return quantile(values, "0.5", between=between, epsilon=epsilon, entropy=entropy)


def min(values: object, *, between: Between = None, epsilon: Number, entropy: Entropy | None = None) -> Release:
    """Chooses a point near the least entries, with some 40/ε of them below it.

    The least entry itself is one person's, and nothing that is private can show it: a tenth of ε finds out about how
    many entries there are, the rest the quantile that just enough of them lie below.

    >>> min([71.5, 64.0, None, 93.5], between=(0, 100), epsilon=1).loss
    Pure(epsilon=1.0)
    """
    return released(at_end(between, epsilon, upper=False), numbers(values), SURE, entropy)


def max(values: object, *, between: Between = None, epsilon: Number, entropy: Entropy | None = None) -> Release:
    """Chooses a point near the greatest entries, with some 40/ε of them above it: see `min`.

    >>> max([71.5, 64.0, None, 93.5], between=(0, 100), epsilon=1).loss
    Pure(epsilon=1.0)
    """
    return released(at_end(between, epsilon, upper=True), numbers(values), SURE, entropy)


def _read_ddof(ddof: int) -> int:
    read = integer(ddof, "ddof", least=0)
    if read > 1:
        raise BadArgument("ddof", "0 or 1", ddof)
    return read
