"""Keys of a column: which are the most frequent of a public list."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from sfumato.accounting.losses.measures import Loss, Pure
from sfumato.core.measurement import Measurement
from sfumato.core.partial import Partial
from sfumato.core.plan import constructor
from sfumato.exact import Number
from sfumato.mechanisms.selection import candidate_of, top_k
from sfumato.transforms.scores import mode_scores


@constructor
def top_keys(
    count: int, *, keys: Sequence[Hashable], temperature: Number, measure: type[Loss] = Pure
) -> Partial[Measurement]:
    """Names the most frequent of some public keys, best first, without their counts.

    Noise is drawn once for all picks (`top_k`). For keys that nobody listed use `histogram` or `select_keys`.

    Takes:      a column of categories, texts or whole numbers; at least ``count`` public keys
    Gives:      a tuple of ``count`` different keys
    Guarantee:  epsilon = count · r / temperature, rho = count · (r / temperature)² / 8, with r = 1 for each row added
                or removed and 2 for each row exchanged  (proofs/top_k.md#pure, #zcdp; proofs/scores.md#mode)
    Cost:       one pass, and some 30 ns a key and pick

    >>> from sfumato.core.space import vector
    >>> (vector(str) >> top_keys(2, keys=["a", "b", "c"], temperature=4)).map(1)
    Pure(epsilon=0.5)
    """
    return mode_scores(keys) >> top_k(count, temperature=temperature, measure=measure) >> candidate_of(keys)
