"""Truncation: a public number of rows of each identifier, so that people with any number of rows become bounded."""

from __future__ import annotations

from typing import Literal, get_args

from sfumato.core.domains import Data
from sfumato.core.partial import Partial
from sfumato.core.plan import constructor
from sfumato.core.space import Space
from sfumato.core.transformation import Transformation
from sfumato.entropy import Entropy
from sfumato.errors import BadArgument
from sfumato.exact import Distance, integer
from sfumato.guarantee import guarantee
from sfumato.noise.uniform import permutation
from sfumato.transforms.distances import times
from sfumato.transforms.owners import Marks, Places, by_values, first_in, holders, owned_space
from sfumato.transforms.rows import select_rows, unsized, values_of

Keep = Literal["sample", "first", "last"]

PROOF = "proofs/identifiers.md#truncate"


@guarantee(
    claim="at most k rows of each identifier, by that identifier's rows alone: d_out = k d_in",
    proof=PROOF,
    reviewed="4b5e5da18064",
)
def truncate_map(d_in: Distance, *, rows: int) -> Distance:
    """The add/remove distance after keeping at most ``rows`` rows of each identifier."""
    return times(d_in, rows)


@constructor
def truncate(rows: int, *, keep: Keep = "sample", by: str | None = None) -> Partial[Transformation]:
    """Keeps at most ``rows`` rows of each identifier, chosen by looking at the rows of that identifier alone.

    Takes:      a frame under the distance in identifiers. ``keep`` is "sample", a random subset; or "first" or "last"
                in the order of the column ``by`` (categories as they are listed, NaN after all others), and where that
                is equal in the order of the other columns. First or last rows may be unlike the rest: they bias
    Gives:      these rows as they stood, in any number, under the add/remove distance
    Guarantee:  d_out = rows d_in  (proofs/identifiers.md#truncate)
    Cost:       two sorts of the rows; with ``by``, one more for each column

    The number of rows is public: read off the data, it would be one more release (see Session.contributions).

    >>> from sfumato.core.identifiers import Identifiers
    >>> from sfumato.core.space import frame
    >>> log = frame({"id": int, "site": str}, metric=Identifiers("id"))
    >>> (log >> truncate(40)).map(1), (log >> truncate(40)).map(3)
    (Fraction(40, 1), Fraction(120, 1))
    """
    most = integer(rows, "rows", least=1)
    if keep not in get_args(Keep):
        raise BadArgument("keep", "'sample', 'first' or 'last'", keep)
    if (by is None) != (keep == "sample"):
        raise BadArgument("by", "a column with keep='first' or 'last', and left out otherwise", by)

    def build(space: Space) -> Transformation:
        domain, metric = owned_space(space, "truncate")
        if by is not None:
            domain[by]  # which refuses a column that is not there

        def run(data: Data, entropy: Entropy) -> Data:
            owner, _ = holders(values_of(data, domain, metric.column))
            if by is None:
                return select_rows(data, domain, sampled_rows(owner, most, entropy))
            order = by_values(data, domain, by, latest=keep == "last")
            return select_rows(data, domain, first_in(order, owner, most))

        which = "random" if by is None else f"{keep} by {by}"
        return Transformation(
            space,
            unsized(domain),
            run,
            lambda d_in: truncate_map(d_in, rows=most),
            (f"at most {most} rows of each {metric.column}: {which}",),
            (PROOF,),
            randomized=by is None,
        )

    return Partial(f"truncate({rows})", build)


@guarantee(
    claim="of the n rows of an identifier every set of min(n, k) is equally likely, independently of other identifiers",
    proof="proofs/identifiers.md#sample",
    reviewed="255edacee21b",
)
def sampled_rows(owner: Places, rows: int, entropy: Entropy) -> Marks:
    """Draws at most ``rows`` rows of each identifier, without replacement."""
    return first_in(permutation(len(owner), entropy=entropy), owner, rows)
