"""Options: what WITH DIFFERENTIAL_PRIVACY OPTIONS (…) says beside the question, and bounds inside its aggregates.

``AVG(x, contribution_bounds_per_group => (0, 9))`` and ``ANON_AVG(x CLAMPED BETWEEN 0 AND 9)`` become
``contribution_bounds_per_group(AVG(x), 0, 9)``, which is a function call like any other to what reads it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, final

from sqlglot import exp
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
    many in all, ``max_matches`` how many rows of a key on each side of a join of different units. ``unit`` is the
    column that identifies units, which must be the codebook's. With ``by_row``, bounds of single rows were given, and
    where nobody says how many rows of a unit count it is `ROWS_EACH`.
    """

    epsilon: Fraction | None = None
    delta: Fraction | None = None
    unit: str | None = None
    max_groups: int | None = None
    max_rows: int | None = None
    max_matches: int | None = None
    max_rows_per_group: int | None = None
    by_row: bool = False

    @staticmethod
    def read(tokens: Sequence[Token]) -> Options:
        """Reads the tokens between the parentheses."""
        said: dict[str, str] = {}
        for name, value in _pairs(tokens):
            if (name, value.lower()) == ("group_selection_strategy", "laplace_threshold"):
                continue  # as keys are chosen here anyway
            if name in REFUSED:
                raise QueryRefused(f"the option {name!r} is refused: {REFUSED[name]}.")
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
            max_matches=_whole(said, "max_matches"),
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
            "max_matches": self.max_matches,
        }
        known = {name: value for name, value in said.items() if value is not None}
        bounded = (self.max_rows, self.max_rows_per_group, settings.max_rows, settings.max_rows_per_group)
        if self.by_row and bounded == (None, None, None, None):
            known["max_rows_per_group"] = ROWS_EACH
        for name, value in known.items():
            if getattr(settings, name) not in (None, value):
                raise BadArgument(name, "said once: in the query's OPTIONS, or beside it", getattr(settings, name))
        return replace(settings, **known) if known else settings

    def by_group(self, tree: exp.Expr) -> Options:
        """Adds that a unit has one row in a group, where the query sums up what it has there first."""
        called = {node.name.lower() for node in tree.find_all(exp.Anonymous)}
        by_row = replace(self, by_row=PER_ROW in called)
        return replace(by_row, max_rows_per_group=1) if PER_GROUP in called else by_row

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
    "kappa": "max_groups",
    "max_rows_contributed": "max_rows",
    "max_rows_per_group": "max_rows_per_group",
    "max_matches": "max_matches",
}
"""The options that are known, and what they are called here."""


THRESHOLD = "which keys are shown follows from ε and δ. Leave it out, or drop small groups with HAVING COUNT(*) >= 50"
REFUSED = {
    **dict.fromkeys(("k_threshold", "min_privacy_units_per_group"), THRESHOLD),
    "group_selection_strategy": "keys that the codebook lists are public, others are chosen at a δ. Leave it out",
}
"""Options of others that are refused, and why."""

PER_GROUP, PER_ROW = "contribution_bounds_per_group", "contribution_bounds_per_row"
"""What bounds are of: of all that a unit has in a group, or of each of its rows."""

ROWS_EACH = 5
"""How many rows of a unit in a group count where the bounds are those of rows: GoogleSQL draws as many."""

ANONYMOUS = "ANON_"
CALLED = {"QUANTILES": "APPROX_QUANTILES"}
"""What functions after ``ANON_`` are called here, where it is not the rest of their names."""

BY_UNIT = {"COUNT", "SUM", "AVG"}
"""The functions whose CLAMPED BETWEEN is of all that a unit has in a group."""


def plain_calls(tokens: Sequence[Token]) -> list[Token]:
    """Writes bounds that stand inside aggregates as calls around them, and ANON_ functions as what they are."""
    rest = list(tokens)
    while (place := next((at for at in range(len(rest)) if _bounds(rest, at)), None)) is not None:
        rest = _around(rest, place)
    return [_renamed(token, after) for token, after in zip(rest, [*rest[1:], None], strict=True)]


def _renamed(token: Token, after: Token | None) -> Token:
    name = token.text.upper()
    if token.token_type is not TokenType.VAR or not name.startswith(ANONYMOUS) or not _is(after, TokenType.L_PAREN):
        return token
    inner = name.removeprefix(ANONYMOUS)
    return _token(token, TokenType.VAR, CALLED.get(inner, inner))


def _bounds(tokens: Sequence[Token], at: int) -> bool:
    """Tells whether bounds begin at a place: a comma and a name, or CLAMPED BETWEEN."""
    after = tokens[at + 1] if at + 1 < len(tokens) else None
    if _is(tokens[at], TokenType.COMMA):
        return _is(tokens[at + 2] if at + 2 < len(tokens) else None, TokenType.FARROW)
    return tokens[at].text.upper() == "CLAMPED" and _is(after, TokenType.BETWEEN)


def _around(tokens: list[Token], at: int) -> list[Token]:
    """Moves the bounds that begin at a place out of their call, and makes them a call around it."""
    start, end = _unmatched(tokens[:at][::-1], TokenType.L_PAREN), _unmatched(tokens[at:], TokenType.R_PAREN)
    if start is None or end is None or start + 2 > at:
        raise QueryRefused("bounds of contributions stand inside an aggregate, which ends with a parenthesis.")
    start, end = at - 1 - start, at + end
    name = tokens[start - 1].text.upper().removeprefix(ANONYMOUS)
    if _is(tokens[at], TokenType.COMMA):
        word, given, between = tokens[at + 1].text.lower(), tokens[at + 3 : end], TokenType.COMMA
        given = given[1:-1]
    else:
        word, given, between = PER_GROUP if name in BY_UNIT else PER_ROW, tokens[at + 2 : end], TokenType.AND
    cut = [place for place, token in enumerate(given) if _is(token, between)]
    if word not in (PER_GROUP, PER_ROW) or len(cut) != 1:
        raise QueryRefused(
            f"{word[:40]} is refused: beside the operands of an aggregate stands {PER_GROUP} => (low, high), or "
            f"{PER_ROW} => (low, high)."
        )
    comma, close = (_token(tokens[at], kind, sign) for kind, sign in ((TokenType.COMMA, ","), (TokenType.R_PAREN, ")")))
    before = [_token(tokens[start], TokenType.VAR, word), tokens[start]]
    bounds = [comma, *given[: cut[0]], comma, *given[cut[0] + 1 :], close]
    return [*tokens[: start - 1], *before, *tokens[start - 1 : at], close, *bounds, *tokens[end + 1 :]]


def _unmatched(tokens: Sequence[Token], kind: TokenType) -> int | None:
    """The place of the first parenthesis of a kind that has no partner before it."""
    depth = 0
    for place, token in enumerate(tokens):
        if token.token_type in (TokenType.L_PAREN, TokenType.R_PAREN):
            if token.token_type is kind and not depth:
                return place
            depth += -1 if token.token_type is kind else 1
    return None


def _is(token: Token | None, kind: TokenType) -> bool:
    return token is not None and token.token_type is kind


def _token(like: Token, kind: TokenType, text: str) -> Token:
    return Token(kind, text, like.line, like.col, like.start, like.end)


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
