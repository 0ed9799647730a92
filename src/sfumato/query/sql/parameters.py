"""Parameters: values bound to places in a text. They become literals of the tree; no text is ever put together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias, final

from sqlglot import exp

from sfumato.accounting.losses.measures import Loss
from sfumato.errors import BadArgument, QueryRefused
from sfumato.query.nodes.expressions import Literal
from sfumato.query.nodes.literals import literal, value_of

Given: TypeAlias = Sequence[object] | Mapping[str, object]
"""Values in the order of ? or $1, $2, …; or by the names of $name or :name."""


@final
@dataclass(frozen=True)
class Parameters:
    """The values of parameters, by the names that the text has for them: 1, 2, … or words."""

    values: Mapping[str, Literal]

    @staticmethod
    def read(given: Given, tree: exp.Expr) -> Parameters:
        """Checks values against the places in the text: each place has a value and each value a place."""
        values = _named(given)
        asked = list(dict.fromkeys(str(place.this) for place in tree.find_all(exp.Placeholder)))
        missing = [name for name in asked if name not in values]
        if missing:
            raise QueryRefused(f"the text has the parameter ${missing[0]}, and there is no value for it.")
        unused = [name for name in values if name not in asked]
        if unused:
            raise QueryRefused(f"there is a value for the parameter ${unused[0]}, which is not in the text.")
        return Parameters({name: literal(value_of(value, f"parameter ${name}")) for name, value in values.items()})

    def literal(self, node: exp.Placeholder) -> Literal:
        """The value bound to a placeholder."""
        return self.values[str(node.this)]


def _named(given: Given) -> Mapping[str, object]:
    if isinstance(given, Mapping):
        if not all(isinstance(name, str) for name in given):
            raise BadArgument("the names of parameters", "texts", list(given))
        return given
    if isinstance(given, Loss | int | float) and not isinstance(given, bool):
        must = "a list of values, or a mapping from names to values; what to pay is named: epsilon=…, or loss=…"
        raise BadArgument("parameters", must, given)
    if isinstance(given, str | bytes) or not isinstance(given, Sequence):
        raise BadArgument("parameters", "a list of values, or a mapping from names to values", given)
    return {str(place): value for place, value in enumerate(given, 1)}
