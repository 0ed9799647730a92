"""Reading what somebody wrote in PostgreSQL's SQL, as one tree in which every call is as it was written.

sqlglot knows many functions by names of its own and turns calls of them round; here a call stays a name and what it is
called with, and a type a name, since it is PostgreSQL's catalog that they are looked up in.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise
from typing import Any

from sqlglot import exp
from sqlglot.dialects.postgres import Postgres
from sqlglot.errors import SqlglotError
from sqlglot.parsers.postgres import PostgresParser
from sqlglot.tokens import Token, TokenType  # type: ignore[attr-defined]

from sfumato.server.postgres.catalog.refusals import NO_TYPE, SYNTAX, UNSUPPORTED, refused
from sfumato.server.postgres.catalog.types import NAMES_OF_TYPES, array_of, canonical

LONGEST_TEXT = 100_000
"""Texts with more characters are refused before they are read."""

LONGEST_REMEMBERED = 8_000
"""Trees of longer texts are not kept: each letter of a text may cost a kilobyte."""

SPECIAL = ("CAST", "EXTRACT", "OVERLAY", "POSITION", "SUBSTRING", "TRIM")
"""Calls with words of their own inside of the parentheses."""

ZONED = ("time", "timestamp")
STATEMENTS = frozenset(["delete", "from", "group", "insert", "order", "select", "table", "update", "user", "where"])


class Dialect(Postgres):
    """PostgreSQL's, whose lists begin at 1 as they are written, and whose calls are calls."""

    INDEX_OFFSET = 0

    class Parser(PostgresParser):
        """Reads calls and types as they are written."""

        FUNCTIONS = dict[str, Any]()  # noqa: RUF012
        FUNCTION_PARSERS = {name: PostgresParser.FUNCTION_PARSERS[name] for name in SPECIAL}  # noqa: RUF012

        def _parse_types(  # the parser's own shape
            self,
            check_func: bool = False,  # noqa: FBT001, FBT002
            schema: bool = False,  # noqa: FBT001, FBT002
            allow_identifiers: bool = True,  # noqa: FBT001, FBT002
            with_collation: bool = False,  # noqa: FBT001, FBT002
        ) -> Any:
            if check_func or not allow_identifiers:
                return super()._parse_types(check_func, schema, allow_identifiers, with_collation)
            name = self._type_name()
            if name is None:
                return None
            open_ = self._curr and self._curr.token_type is TokenType.L_PAREN
            modifiers = self._parse_wrapped_csv(self._parse_primary) if open_ else []
            if name in ZONED and (self._match_text_seq("WITH", "TIME", "ZONE")):
                name += "tz"
            else:
                self._match_text_seq("WITHOUT", "TIME", "ZONE")
            lists = 0
            while self._curr and self._curr.token_type is TokenType.L_BRACKET:
                self._advance()
                self._match(TokenType.NUMBER)
                if not self._match(TokenType.R_BRACKET):
                    self.raise_error("Expected ]")
                lists = 1
            kind = exp.Identifier(this="_" * lists + name, quoted=True)
            return exp.DataType(this=exp.DType.USERDEFINED, kind=kind, expressions=modifiers)

        def _type_name(self) -> str | None:
            """Reads the name of a type, without its schema, as `pg_type` has it."""
            while True:
                token = self._curr
                if token is None:
                    return None
                in_quotes = token.token_type is TokenType.IDENTIFIER
                if not in_quotes and not re.match(r"[A-Za-z_]", token.text):
                    return None
                self._advance()
                if not self._match(TokenType.DOT):
                    break
            if in_quotes:
                return str(token.text)
            words = " ".join(token.text.lower().split())
            for first, second in IN_TWO_WORDS:
                if words == first and self._match_text_seq(second.upper()):
                    words = f"{first} {second}".replace("char ", "character ")
            return NAMES_OF_TYPES.get(words, words)


IN_TWO_WORDS = (("double", "precision"), ("character", "varying"), ("char", "varying"), ("bit", "varying"))

DIALECT = Dialect()


def read(text: str) -> exp.Expr:
    """The tree of one statement; refuses what is too long, is no statement, or is several."""
    return _remembered(text) if len(text) <= LONGEST_REMEMBERED else _read(text)


@lru_cache(maxsize=32)
def _remembered(text: str) -> exp.Expr:
    """Reads what tools ask again and again once. Nobody changes trees."""
    return _read(text)


def _read(text: str) -> exp.Expr:
    if len(text) > LONGEST_TEXT:
        raise refused(UNSUPPORTED, f"the text has {len(text)} characters; at most {LONGEST_TEXT} are read")
    if "\0" in text or any("\ud800" <= sign <= "\udfff" for sign in text):
        raise refused(SYNTAX, "the text holds a character that PostgreSQL does not take")
    try:
        tokens = _named(list(DIALECT.tokenize(text)))
        trees = [tree for tree in DIALECT.parser(error_message_context=0).parse(tokens, text) if tree]
    except RecursionError:
        raise refused(UNSUPPORTED, "the text is nested too deeply to be read") from None
    except (SqlglotError, ValueError, IndexError, KeyError, AttributeError, TypeError):
        raise refused(SYNTAX, "the text cannot be read as a question to the catalog") from None
    if len(trees) != 1:
        raise refused(SYNTAX, "the text cannot be read as one statement")
    return trees[0]


def _named(tokens: list[Token]) -> list[Token]:
    """After AS a word is a name, whatever it means elsewhere, as in ``… AS select``."""
    for before, token in pairwise(tokens):
        plain = token.token_type not in (TokenType.IDENTIFIER, TokenType.STRING)
        if plain and before.token_type is TokenType.ALIAS and token.text.lower() in STATEMENTS:
            token.token_type = TokenType.VAR
    return tokens


def type_name(tree: exp.DataType) -> str:
    """The name of a type, as `pg_type` has it."""
    kind = tree.args.get("kind")
    words = str(kind.this) if isinstance(kind, exp.Identifier) else str(getattr(tree.this, "value", tree.this)).lower()
    lists = words.startswith("_")
    name = canonical(words[1:] if lists and canonical(words) is None else words)
    if name is None:
        raise refused(NO_TYPE, f'type "{words[:63]}" does not exist')
    return array_of(name) if lists and not name.startswith("_") else name
