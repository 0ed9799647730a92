"""Text: what somebody wrote, as one syntax tree; clauses that SQL does not have are cut out of its tokens.

Nothing here looks for words in text: a word inside a literal or a comment is no token, and so is never mistaken for a
clause. What cannot be read is refused with the place where reading stopped, and with nothing of the parser's own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias, final

from sqlglot import exp
from sqlglot.dialects.duckdb import DuckDB
from sqlglot.errors import ParseError, SqlglotError
from sqlglot.parsers.duckdb import DuckDBParser
from sqlglot.tokens import Token, TokenType  # type: ignore[attr-defined]

from sfumato.errors import BadArgument, QueryRefused
from sfumato.query.nodes.literals import halved
from sfumato.query.sql.options import plain_calls

LONGEST_QUESTION = 100_000
"""Texts with more characters are refused before they are read."""

LONGEST_KNOWN = 8_000
"""Trees of longer texts are not kept: a tree takes about a thousand times the room of its text."""


LANGUAGE = "duckdb"
"""sqlglot's name of the language that questions are written in, whichever engine answers. What works out over released
numbers speaks it."""


class Dialect(DuckDB):
    """DuckDB's, in which names may stand in the quotes of BigQuery, MySQL and Spark, too."""

    class Tokenizer(DuckDB.Tokenizer):
        """DuckDB's, with a further quote."""

        IDENTIFIERS = ['"', "`"]  # noqa: RUF012

    class Parser(DuckDBParser):
        """DuckDB's, which writes nothing of a text into the log of the process."""

        def _warn_unsupported(self) -> None:
            """Says nothing: what is not answered is refused afterwards."""


DIALECT = Dialect()
BEGINNINGS = (TokenType.SELECT, TokenType.WITH, TokenType.FROM, TokenType.L_PAREN)
LISTINGS = (TokenType.SHOW, TokenType.DESCRIBE, TokenType.DESC)
TOO_DEEP = "the text is nested too deeply to be read; write inner parts as WITH name AS (…)."

CLAUSES = ("DIFFERENTIAL_PRIVACY", "ANONYMIZATION")
"""What stands after SELECT WITH, before the options."""

Tokens: TypeAlias = Sequence[Token]


INSTEAD = {
    "SUMMARIZE": "write the statistics that matter, such as SELECT COUNT(x), AVG(x), MEDIAN(x), of which each costs",
    "PIVOT": "write SELECT … GROUP BY, and pivot the answer",
}
"""What to write in place of what other engines answer."""


@final
@dataclass(frozen=True)
class Parsed:
    """The tree of a query as it was written, whether only an explanation is asked for, and the options' tokens."""

    tree: exp.Expr
    explain: bool
    options: tuple[Token, ...]


def parse(text: str) -> Parsed:
    """Parses a text that holds one query; refuses what is too long, or not one query."""
    if not isinstance(text, str):
        raise BadArgument("the question", "a text", text)
    if len(text) > LONGEST_QUESTION:
        raise QueryRefused(f"the text has {len(text)} characters; at most {LONGEST_QUESTION} are read.")
    if halved(text):
        raise QueryRefused("the text holds half a character (a lone surrogate), which no table can hold.")
    return _known(text) if len(text) <= LONGEST_KNOWN else _parsed(text)


def _parsed(text: str) -> Parsed:
    """Parses a text."""
    tokens, explain = _explained(text)
    while tokens and tokens[-1].token_type is TokenType.SEMICOLON:
        tokens = tokens[:-1]
    if not tokens:
        raise QueryRefused("the text asks nothing. A question begins with SELECT.")
    if any(token.token_type is TokenType.SEMICOLON for token in tokens):
        raise QueryRefused("the text holds several statements; ask one question at a time.")
    if tokens[0].token_type not in (*BEGINNINGS, *LISTINGS):
        word = tokens[0].text.upper()[:40]
        instead = INSTEAD.get(word, "only SELECT is answered, and nothing is ever written")
        raise QueryRefused(f"{word!r} begins no question: {instead}.")
    rest, options = _without_clause(tokens)
    tree = _tree(_numbered(plain_calls(_limited(rest))), text)
    if _depth(rest):  # the parser lets some of them pass
        raise QueryRefused("the text cannot be read: a parenthesis is opened and never closed.")
    return Parsed(tree, explain, options)


_known = lru_cache(maxsize=128)(_parsed)
"""Parses a text once: who asks the same again, with other parameters, need not wait. Nobody changes trees."""


def _explained(text: str) -> tuple[list[Token], bool]:
    """Takes EXPLAIN PRIVACY off the tokens, and says whether it was there."""
    tokens = _tokens(text)
    if not tokens or tokens[0].token_type is not TokenType.COMMAND or tokens[0].text.upper() != "EXPLAIN":
        return tokens, False
    # After EXPLAIN the tokenizer takes the rest for one text; blanks in its place keep every position.
    first = tokens[0]
    rest = _tokens(text[: first.start] + " " * len(first.text) + text[first.end + 1 :])
    if not rest or not _is_word(rest[0], "PRIVACY"):
        raise QueryRefused(
            "EXPLAIN would show an engine's plan; write EXPLAIN PRIVACY SELECT … for what a query costs."
        )
    return rest[1:], True


def _tokens(text: str) -> list[Token]:
    try:
        return list(DIALECT.tokenize(text))
    except (SqlglotError, ValueError, IndexError):
        raise QueryRefused("the text cannot be read: a quote or a comment is opened and never closed.") from None


def _is_word(token: Token, word: str) -> bool:
    return token.token_type is TokenType.VAR and token.text.upper() == word


def _without_clause(tokens: Tokens) -> tuple[list[Token], tuple[Token, ...]]:
    """Takes WITH DIFFERENTIAL_PRIVACY OPTIONS (…) out of the tokens, and returns those inside its parentheses too."""
    places = [
        place
        for place in range(len(tokens) - 2)
        if tokens[place].token_type is TokenType.SELECT
        and tokens[place + 1].token_type is TokenType.WITH
        and tokens[place + 2].token_type is TokenType.VAR
        and tokens[place + 2].text.upper() in CLAUSES
    ]
    if not places:
        return list(tokens), ()
    start = places[0]
    if len(places) > 1 or _depth(tokens[:start]):
        raise QueryRefused("WITH DIFFERENTIAL_PRIVACY stands once, after the SELECT of the whole question.")
    end = start + 3
    if end + 1 >= len(tokens) or not _is_word(tokens[end], "OPTIONS"):
        return [*tokens[: start + 1], *tokens[end:]], ()
    close = next((place for place in range(end + 1, len(tokens)) if not _depth(tokens[end + 1 : place + 1])), None)
    if close is None or tokens[end + 1].token_type is not TokenType.L_PAREN:
        raise QueryRefused("after OPTIONS comes a list in parentheses, as in OPTIONS (epsilon = 1, delta = 1e-6).")
    return [*tokens[: start + 1], *tokens[close + 1 :]], tuple(tokens[end + 2 : close])


def _limited(tokens: list[Token]) -> list[Token]:
    """Writes SELECT TOP 5 … of the whole question as … LIMIT 5."""
    selects = [
        place
        for place, token in enumerate(tokens)
        if token.token_type is TokenType.SELECT and not _depth(tokens[:place])
    ]
    if len(selects) != 1 or not tokens[selects[0] + 1 :] or tokens[selects[0] + 1].text.upper() != "TOP":
        return tokens
    start = selects[0] + 1
    kinds = [token.token_type for token in tokens[start + 1 : start + 4]]
    bare = kinds[:1] == [TokenType.NUMBER]
    if not bare and kinds != [TokenType.L_PAREN, TokenType.NUMBER, TokenType.R_PAREN]:
        return tokens
    number, rest = tokens[start + (1 if bare else 2)], tokens[start + (2 if bare else 4) :]
    if any(token.token_type is TokenType.LIMIT and not _depth(rest[:place]) for place, token in enumerate(rest)):
        raise QueryRefused("the text has both TOP and LIMIT; write one of the two.")
    place = (number.line, number.col, number.start, number.end)
    return [*tokens[:start], *rest, Token(TokenType.LIMIT, "LIMIT", *place), number]


def _depth(tokens: Tokens) -> int:
    kinds = [token.token_type for token in tokens]
    return kinds.count(TokenType.L_PAREN) - kinds.count(TokenType.R_PAREN)


def _numbered(tokens: Tokens) -> list[Token]:
    """Replaces each ? by $1, $2, …, so that values go where they stand in the text."""
    numbered: list[Token] = []
    number = 0
    for token in tokens:
        if token.token_type is not TokenType.PLACEHOLDER:
            numbered.append(token)
            continue
        number += 1
        place = (token.line, token.col, token.start, token.end)
        numbered += (Token(TokenType.PARAMETER, "$", *place), Token(TokenType.NUMBER, str(number), *place))
    if number and any(token.token_type is TokenType.PARAMETER for token in tokens):
        raise QueryRefused("the text has both ? and $ parameters; use one of the two.")
    return numbered


def _tree(tokens: list[Token], text: str) -> exp.Expr:
    try:
        trees = DIALECT.parser(error_message_context=LONGEST_QUESTION).parse(tokens, text)
    except ParseError as error:
        raise QueryRefused(_complaint(error)) from None
    except RecursionError:
        raise QueryRefused(TOO_DEEP) from None
    except Exception:  # whatever else a parser does with a strange text, its own words are not passed on
        raise QueryRefused("the text cannot be read as SQL.") from None
    if len(trees) != 1 or trees[0] is None:
        raise QueryRefused("the text cannot be read as one SELECT.")
    return trees[0]


def _complaint(error: ParseError) -> str:
    """Says where reading stopped and, where that is known, what was missing there."""
    said = error.errors[0] if error.errors else {}
    before, highlighted = str(said.get("start_context") or ""), str(said.get("highlight") or "")
    line, column = before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1
    why = str(said.get("description") or "")
    start, _, missing = why.partition(" ")
    if start in ("Expecting", "Expected") and "<" not in missing:
        what = f"expected {missing} near"
    elif said.get("end_context") or "Unexpected" in why:
        what = "did not expect"
    else:
        what = "the text ends too early after"
    quotes = " A name with such a sign in it stands in double quotes." if highlighted == "-" else ""
    return f"the text cannot be read: line {line}, column {column}: {what} {highlighted[:40]!r}.{quotes}"
