"""Tables on their way through a pipeline: public maps of their columns, worked out by the engine and never read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import final

from sfumato.errors import BadArgument
from sfumato.query.build.relation import selected
from sfumato.query.frame import Frame
from sfumato.query.nodes.expressions import Expression


@final
@dataclass(frozen=True)
class Prepared:
    """A table of a session of which some columns, in order, are what the next step of a pipeline learns from.

    The others, such as the id and the target, are there as they were. No row is looked at: what was changed is an
    expression that the engine works out when the last step asks, and pays.
    """

    frame: Frame
    features: tuple[str, ...]

    def __repr__(self) -> str:
        return f"Prepared({', '.join(self.features)} of {self.frame!r})"

    def changed(self, made: Mapping[str, Expression]) -> Prepared:
        """The table with new columns in the place of its features."""
        fields = self.frame.relation.fields
        kept = {one.name: one for one in fields if one.name not in self.features}
        if twice := [name for name in made if name in kept]:
            must = f"different from those of columns that stay; rename {twice[0]} first: table.rename(…)"
            raise BadArgument("the names of new columns", must, twice[0])
        relation = selected(self.frame.relation, [*kept.items(), *made.items()])
        return Prepared(replace(self.frame, relation=relation), tuple(made))


def prepared(table: Frame | Prepared, features: Sequence[str]) -> Prepared:
    """A table of which these columns are the features."""
    return Prepared(table.frame if isinstance(table, Prepared) else table, tuple(features))
