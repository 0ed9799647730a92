"""Choosing columns of a frame."""

from __future__ import annotations

from dataclasses import replace

from sfumato.core.domains import Data, Frame, Vector
from sfumato.core.identifiers import Identifiers
from sfumato.core.partial import Partial
from sfumato.core.plan import constructor
from sfumato.core.space import Space
from sfumato.core.transformation import Transformation
from sfumato.errors import BadArgument
from sfumato.transforms.owners import aligned_map, owned_space
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

    Takes:      a frame under any distance that counts rows, or in identifiers where their column stays
    Gives:      a frame of these columns, in that order, under the same distance
    Guarantee:  d_out = d_in  (proofs/rowwise.md#map, proofs/identifiers.md#aligned)
    Cost:       none

    >>> from sfumato.core.space import frame
    >>> (frame({"age": int, "name": str}) >> project("age")).map(1)
    Fraction(1, 1)
    """

    def build(space: Space) -> Transformation:
        owned = isinstance(space.metric, Identifiers)
        domain = owned_space(space, "project")[0] if owned else _frame(space, "project")
        target, text = replace(domain, columns=tuple((name, domain[name]) for name in names)), ", ".join(names)

        def run(data: Data) -> Data:
            return {name: values_of(data, domain, name) for name in names}

        if isinstance(space.metric, Identifiers):
            if space.metric.column not in names:
                must = f"such that {space.metric.column!r}, which says whose a row is, stays; or truncate(…) first"
                raise BadArgument("the columns of project()", must, list(names))
            steps, proofs = (f"columns {text}",), ("proofs/identifiers.md#aligned",)
            return Transformation(
                space, Space(target, space.metric), lambda data, _: run(data), aligned_map, steps, proofs
            )
        return rowwise(space, target, run, f"columns {text}")

    return Partial(f"project({', '.join(map(repr, names))})", build)


def _frame(space: Space, verb: str) -> Frame:
    domain, _ = row_space(space, verb)
    if not isinstance(domain, Frame):
        raise BadArgument(f"what {verb}() works on", "a frame with named columns", str(space))
    return domain
