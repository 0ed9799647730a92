"""Options: what WITH DIFFERENTIAL_PRIVACY OPTIONS (…) says beside the question."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, final

from sqlglot.tokens import Token, TokenType  # type: ignore[attr-defined]

from sfumato.accounting.losses.measures import Approx, Pure
from sfumato.errors import BadArgument, QueryRefused
from sfumato.query.build.relation import scans
from sfumato.query.build.settings import Settings
from sfumato.query.nodes.relations import Relation
from sfumato.query.sql.constants import decimal


@final
@dataclass(frozen=True)
class Options:
    """What the clause said; None where it said nothing.

    ``max_groups`` is how many groups of a unit to keep, ``max_rows_per_group`` how many rows in each, ``max_rows`` how
    many in all. ``unit`` is the column that identifies units, which must be the codebook's.
    """

    epsilon: Fraction | None = None
    delta: Fraction | None = None
    unit: str | None = None
    max_groups: int | None = None
    max_rows: int | None = None
    max_rows_per_group: int | None = None

    @staticmethod
    def read(tokens: Sequence[Token]) -> Options:
        """Reads the tokens between the parentheses."""
        said: dict[str, str] = {}
        for name, value in _pairs(tokens):
            if name not in NAMES:
                raise QueryRefused(f"there is no option {name!r}; there are: {', '.join(NAMES)}.")
            if NAMES[name] in said:
                raise QueryRefused(f"the option {name!r} is given twice.")
            said[NAMES[name]] = value
        return Options(
            epsilon=_number(said, "epsilon"),
            delta=_number(said, "delta"),
            unit=said.get("unit"),
            max_groups=_whole(said, "max_groups"),
            max_rows=_whole(said, "max_rows"),
            max_rows_per_group=_whole(said, "max_rows_per_group"),
        )._checked()

    def _checked(self) -> Options:
        if self.epsilon is not None and self.epsilon <= 0:
            raise QueryRefused(f"epsilon must be above 0; got {self.epsilon}.")
        if self.delta is not None and not 0 <= self.delta < 1:
            raise QueryRefused(f"delta must be at least 0 and below 1; got {self.delta}.")
        return self

    def added_to(self, settings: Settings) -> Settings:
        """Adds what the query itself says to its settings; what is said twice must be said alike."""
        loss = None
        if self.epsilon is not None:
            loss = Approx(self.epsilon, self.delta) if self.delta else Pure(self.epsilon)
        said: dict[str, Any] = {
            "loss": loss,
            "max_groups": self.max_groups,
            "max_rows_per_group": self.max_rows_per_group,
            "max_rows": self.max_rows,
        }
        known = {name: value for name, value in said.items() if value is not None}
        for name, value in known.items():
            if getattr(settings, name) not in (None, value):
                raise BadArgument(name, "said once: in the query's OPTIONS, or beside it", getattr(settings, name))
        return replace(settings, **known) if known else settings

    def check_unit(self, source: Relation) -> None:
        """Checks that the column that is named as the unit is the one that the codebook names."""
        if self.unit is None:
            return
        ids = dict.fromkeys(scan.owner.id for scan in scans(source) if scan.owner is not None)
        if self.unit.casefold() not in {one.casefold() for one in ids}:
            said = " and ".join(repr(one) for one in ids if one)
            known = f"the codebook names {said}" if said else "each row is a unit by itself here; leave it out"
            raise QueryRefused(f"privacy_unit_column is {self.unit!r}, and {known}.")


NAMES = {
    "epsilon": "epsilon",
    "delta": "delta",
    "privacy_unit_column": "unit",
    "max_groups_contributed": "max_groups",
    "max_rows_contributed": "max_rows",
    "max_rows_per_group": "max_rows_per_group",
}
"""The options that are known, and what they are called here."""


def _pairs(tokens: Sequence[Token]) -> Iterator[tuple[str, str]]:
    """Splits the clause into names and values; of a column with its table, it keeps the column."""
    rest = list(tokens)
    while rest:
        end = next((place for place, token in enumerate(rest) if token.token_type is TokenType.COMMA), len(rest))
        part, rest = rest[:end], rest[end + 1 :]
        match [token.token_type for token in part]:
            case [_, TokenType.EQ, *signs, TokenType.NUMBER] if set(signs) <= SIGNS:
                yield part[0].text.lower(), "".join(token.text for token in part[2:])
            case [_, TokenType.EQ, *_, last] if last in WORDS and {token.token_type for token in part[2:-1]} <= PATH:
                yield part[0].text.lower(), part[-1].text
            case _:
                raise QueryRefused("options are written as in OPTIONS (epsilon = 1, delta = 1e-6), one name once.")


SIGNS = {TokenType.DASH, TokenType.DOT}
WORDS = {TokenType.VAR, TokenType.IDENTIFIER}
PATH = {TokenType.DOT, *WORDS}


def _number(said: dict[str, str], name: str) -> Fraction | None:
    return decimal(said[name]) if name in said else None


def _whole(said: dict[str, str], name: str) -> int | None:
    number = _number(said, name)
    if number is not None and (number.denominator != 1 or number < 1):
        raise QueryRefused(f"a number of {'groups' if name == 'max_groups' else 'rows'} must be whole, 1 or more.")
    return None if number is None else int(number)
