"""Above threshold: the first element of a stream that is high (or low) enough."""

from __future__ import annotations

from sfumato.core.measurement import Measurement
from sfumato.core.partial import Partial
from sfumato.core.plan import constructor
from sfumato.exact import Number, rational
from sfumato.mechanisms.sparse_vector import sparse_vector
from sfumato.transforms.streams import negated


@constructor
def above_threshold(
    threshold: Number, *, scale: Number, query_scale: Number | None = None, gap: bool = False
) -> Partial[Measurement]:
    """Tells for each element of a stream whether it is, about, at or above a threshold; it ends with the first hit.

    The noise on the threshold is drawn once, with ``scale``; every element gets fresh noise of ``query_scale``,
    which is 2 · scale unless given. After the hit, `Exhausted` is raised. With ``gap`` the hit is answered by how far
    the noisy value is above the noisy threshold, at no further loss, and a miss by None.

    Takes:      a stream of numbers under the L∞ distance, monotonic or not
    Gives:      a queryable with answers true or false; with ``gap``, numbers of at least 0 or None
    Guarantee:  Pure(d_in / scale + 2 · d_in / query_scale); without the 2 where monotonic
                (proofs/sparse_vector.md#above-threshold)
    Cost:       one draw of noise an answer; misses are free

    >>> from sfumato.transforms.query_stream import query_stream
    >>> from sfumato.transforms.streams import batches, sum_stream
    >>> from sfumato.core.space import vector
    >>> (vector(int) >> query_stream() >> above_threshold(4, scale=1)).map(1)
    Pure(epsilon=2.0)
    >>> (batches(float) >> sum_stream(0, 10) >> above_threshold(100, scale=15)).map(1)
    Pure(epsilon=1.0)
    """
    return sparse_vector(threshold, count=1, scale=scale, query_scale=query_scale, gap=gap)


@constructor
def below_threshold(
    threshold: Number, *, scale: Number, query_scale: Number | None = None, gap: bool = False
) -> Partial[Measurement]:
    """Tells for each element of a stream whether it is, about, at or below a threshold; it ends with the first hit.

    With ``gap`` the hit is answered by how far the noisy value is below the noisy threshold, and a miss by None.

    Takes:      a stream of numbers under the L∞ distance, monotonic or not
    Gives:      a queryable with answers true or false; with ``gap``, numbers of at least 0 or None
    Guarantee:  that of `above_threshold` on the negated stream  (proofs/sparse_vector.md, proofs/streams.md#negation)
    Cost:       one draw of noise an answer; misses are free

    >>> from sfumato.transforms.streams import batches, sum_stream
    >>> (batches(float) >> sum_stream(0, 10) >> below_threshold(5, scale=15)).map(1)
    Pure(epsilon=1.0)
    """
    level = -rational(threshold, "threshold")
    return negated() >> above_threshold(level, scale=scale, query_scale=query_scale, gap=gap)
