"""Choosing columns of a frame."""

from __future__ import annotations

from dataclasses import replace

from sfumato.core.domains import Data, Frame, Vector
from sfumato.core.partial import Partial
from sfumato.core.plan import constructor
from sfumato.core.space import Space
from sfumato.core.transformation import Transformation
from sfumato.errors import BadArgument
from sfumato.transforms.rows import row_space, values_of
from sfumato.transforms.rowwise import rowwise


@constructor
def select(name: str) -> Partial[Transformation]:
    """Takes one column of a frame.

    Takes:      a frame under any distance that counts rows
    Gives:      the column of that name, as many rows
    Guarantee:  d_out = d_in  (proofs/rowwise.md#map)
    Cost:       none

    >>> from sfumato.core.space import frame
    >>> (frame({"age": int, "name": str}) >> select("age")).map(1)
    Fraction(1, 1)
    """

    def build(space: Space) -> Transformation:
        domain = _frame(space, "select")
        target = Vector(domain[name], domain.size, domain.least)
        return rowwise(space, target, lambda data: values_of(data, domain, name), f"column {name}")

    return Partial(f"select({name!r})", build)


@constructor
def project(*names: str) -> Partial[Transformation]:
    """Keeps some columns of a frame and drops the others.

    Takes:      a frame under any distance that counts rows
    Gives:      a frame of these columns, in that order
    Guarantee:  d_out = d_in  (proofs/rowwise.md#map)
    Cost:       none

    >>> from sfumato.core.space import frame
    >>> (frame({"age": int, "name": str}) >> project("age")).map(1)
    Fraction(1, 1)
    """

    def build(space: Space) -> Transformation:
        domain = _frame(space, "project")
        target = replace(domain, columns=tuple((name, domain[name]) for name in names))

        def run(data: Data) -> Data:
            return {name: values_of(data, domain, name) for name in names}

        return rowwise(space, target, run, f"columns {', '.join(names)}")

    return Partial(f"project({', '.join(map(repr, names))})", build)


def _frame(space: Space, verb: str) -> Frame:
    domain, _ = row_space(space, verb)
    if not isinstance(domain, Frame):
        raise BadArgument(f"what {verb}() works on", "a frame with named columns", str(space))
    return domain
