"""What a text says in PostgreSQL's own commands: parted into statements, each of a kind. Questions are only marked.

The words of a text are told apart by sqlglot's tokenizer, so that nothing in a literal or a comment is a command.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from typing import ClassVar, final

from sqlglot.dialects.postgres import Postgres
from sqlglot.errors import SqlglotError
from sqlglot.tokens import Token, TokenType  # type: ignore[attr-defined]

from sfumato.server.postgres.faults import Fault, unsupported

MOST_STATEMENTS = 100
LONGEST_TEXT = 100_000


@final
class Dialect(Postgres):
    """PostgreSQL's, in which commands are made of words like everything else."""

    @final
    class Tokenizer(Postgres.Tokenizer):
        """PostgreSQL's, without words that take the rest for one text."""

        COMMANDS: ClassVar[set[TokenType]] = set()


DIALECT = Dialect()


@final
class Kind(Enum):
    """What a statement is."""

    QUESTION = "question"
    EXPLAIN = "explain"
    SET = "set"
    RESET = "reset"
    SHOW = "show"
    BEGIN = "begin"
    COMMIT = "commit"
    ROLLBACK = "rollback"
    SAVEPOINT = "savepoint"
    DISCARD = "discard"
    DEALLOCATE = "deallocate"
    DECLARE = "declare"
    FETCH = "fetch"
    CLOSE = "close"
    COPY = "copy"
    NOTHING = "nothing"


@final
@dataclass(frozen=True)
class Statement:
    """A statement of a kind: its text, the tag that ends it, words that it is about, and the question inside of it.

    ``offset`` is where in the text that was sent the inner question begins.
    """

    kind: Kind
    text: str
    tag: str = ""
    words: tuple[str, ...] = ()
    offset: int = 0


QUESTIONS = frozenset({"SELECT", "WITH", "FROM", "(", "VALUES", "TABLE", "DESCRIBE", "DESC"})
WRITES = frozenset(
    [
        "INSERT",
        "UPDATE",
        "DELETE",
        "MERGE",
        "CREATE",
        "DROP",
        "ALTER",
        "TRUNCATE",
        "GRANT",
        "REVOKE",
        "COMMENT",
        "REINDEX",
        "CLUSTER",
        "VACUUM",
        "ANALYZE",
        "REFRESH",
        "IMPORT",
        "SECURITY",
        "REASSIGN",
        "LOCK",
    ]
)
OTHERS = frozenset(["CALL", "DO", "LOAD", "NOTIFY", "LISTEN", "PREPARE", "EXECUTE", "CHECKPOINT", "MOVE"])
LISTINGS = frozenset({"TABLES", "COLUMNS"})


def parted(text: str) -> list[Statement]:
    """Parts a text into its statements; refuses what cannot be read at all.

    >>> [one.kind.name for one in parted("BEGIN; SELECT ';' AS a; COMMIT")]
    ['BEGIN', 'QUESTION', 'COMMIT']
    """
    if len(text) > LONGEST_TEXT:
        raise Fault("54000", f"a text has at most {LONGEST_TEXT:,} letters here")
    return list(_parted(text))


@lru_cache(maxsize=256)
def _parted(text: str) -> tuple[Statement, ...]:
    parts: list[list[Token]] = [[]]
    for token in tokens_of(text):
        if token.token_type is TokenType.SEMICOLON:
            parts.append([])
        else:
            parts[-1].append(token)
    filled = [part for part in parts if part]
    if len(filled) > MOST_STATEMENTS:
        raise Fault("54000", f"a text has at most {MOST_STATEMENTS} statements here")
    return tuple(_statement(text, part) for part in filled)


def tokens_of(text: str) -> list[Token]:
    """The words of a text."""
    try:
        return list(DIALECT.tokenize(text))
    except (SqlglotError, ValueError, IndexError):
        pass
    raise Fault("42601", "the text cannot be read: a quote or a comment is opened and never closed")


def _statement(text: str, tokens: Sequence[Token]) -> Statement:
    words = [token.text.upper() for token in tokens]
    whole = _cut(text, tokens)
    first = words[0]
    match first:
        case "SET":
            return _set(whole, tokens, words)
        case "RESET" if len(words) > 1:
            return Statement(Kind.RESET, whole, "RESET", (_name(tokens[1:]),))
        case "SHOW" if len(words) > 1 and words[1] not in LISTINGS:
            return Statement(Kind.SHOW, whole, "SHOW", (_shown(tokens[1:], words[1:]),))
        case "BEGIN" | "START":
            return Statement(Kind.BEGIN, whole, "START TRANSACTION" if first == "START" else "BEGIN")
        case "COMMIT" | "END":
            return Statement(Kind.COMMIT, whole, "COMMIT")
        case "ABORT":
            return Statement(Kind.ROLLBACK, whole, "ROLLBACK")
        case "ROLLBACK":
            to = "TO" in words[1:]
            return Statement(Kind.SAVEPOINT if to else Kind.ROLLBACK, whole, "ROLLBACK", ("TO",) if to else ())
        case "SAVEPOINT" | "RELEASE":
            return Statement(Kind.SAVEPOINT, whole, first, (first,))
        case "DISCARD":
            return Statement(Kind.DISCARD, whole, f"DISCARD {words[1] if len(words) > 1 else 'ALL'}", tuple(words[1:]))
        case "DEALLOCATE":
            rest = tokens[2:] if words[1:2] == ["PREPARE"] else tokens[1:]
            return Statement(Kind.DEALLOCATE, whole, "DEALLOCATE", (_name(rest),))
        case "UNLISTEN":
            return Statement(Kind.NOTHING, whole, "UNLISTEN")
    if first in QUESTIONS or first == "SHOW":
        return Statement(Kind.QUESTION, whole, "SELECT", offset=tokens[0].start)
    return _with_question(text, whole, tokens, words)


def _with_question(text: str, whole: str, tokens: Sequence[Token], words: list[str]) -> Statement:
    """Statements with a question inside, and those that are refused."""
    first = words[0]
    match first:
        case "EXPLAIN":
            return _explain(text, tokens, words)
        case "DECLARE" if "FOR" in words:
            at = words.index("FOR")
            held = ("HOLD",) if "HOLD" in words[:at] and "WITHOUT" not in words[:at] else ()
            return Statement(
                Kind.DECLARE,
                _cut(text, tokens[at + 1 :]),
                "DECLARE CURSOR",
                (tokens[1].text, *held),
                _start(tokens, at + 1),
            )
        case "FETCH":
            return _fetch(whole, tokens, words)
        case "CLOSE" if len(words) == 2:
            return Statement(Kind.CLOSE, whole, "CLOSE CURSOR", (tokens[1].text,))
        case "COPY":
            return _copy(text, tokens, words)
    if first in WRITES:
        raise Fault("25006", f"{first} is not done here: nothing is ever written, only questions are answered")
    if first in OTHERS:
        raise unsupported(first)
    raise Fault(
        "42601", f"the text cannot be read: did not expect {tokens[0].text[:40]!r}", position=tokens[0].start + 1
    )


def _cut(text: str, tokens: Sequence[Token]) -> str:
    return text[tokens[0].start : tokens[-1].end + 1] if tokens else ""


def _start(tokens: Sequence[Token], at: int) -> int:
    return tokens[at].start if at < len(tokens) else tokens[-1].end


def _name(tokens: Sequence[Token]) -> str:
    """A name that may have dots in it, as settings have."""
    return "".join(token.text for token in tokens)[:200]


def _shown(tokens: Sequence[Token], words: Sequence[str]) -> str:
    joined = " ".join(words)
    known = {"TRANSACTION ISOLATION LEVEL": "transaction_isolation", "TIME ZONE": "timezone"}
    return known.get(joined) or {"SESSION AUTHORIZATION": "session_authorization"}.get(joined) or _name(tokens)


def _set(whole: str, tokens: Sequence[Token], words: list[str]) -> Statement:
    rest, said, local = list(tokens[1:]), words[1:], ""
    if said[:1] in (["SESSION"], ["LOCAL"]) and said[1:2] != ["CHARACTERISTICS"]:
        local, rest, said = "LOCAL" if said[0] == "LOCAL" else "", rest[1:], said[1:]
    match said:
        case ["TIME", "ZONE", *_] if len(said) > 2:
            return Statement(Kind.SET, whole, "SET", ("timezone", _value(rest[2:]), local))
        case ["NAMES", *_] if len(said) > 1:
            return Statement(Kind.SET, whole, "SET", ("client_encoding", _value(rest[1:]), local))
        case ["TRANSACTION", *_] | ["SESSION", "CHARACTERISTICS", *_] | ["CONSTRAINTS", *_]:
            return Statement(Kind.NOTHING, whole, "SET")
        case ["ROLE" | "AUTHORIZATION", *_]:
            raise Fault("42501", "nobody becomes somebody else here")
    for at, word in enumerate(said):
        if word in ("=", "TO") and 0 < at < len(said) - 1:
            return Statement(Kind.SET, whole, "SET", (_name(rest[:at]), _value(rest[at + 1 :]), local))
    raise Fault("42601", "the text cannot be read: SET is written as SET name = value", position=tokens[0].start + 1)


def _value(tokens: Sequence[Token]) -> str:
    """A value of a setting: one word or text, a number with its sign, or a list."""
    if [token.text.upper() for token in tokens] == ["DEFAULT"] and tokens[0].token_type is not TokenType.STRING:
        return "\0"
    made = ""
    for token in tokens:
        if token.token_type is TokenType.COMMA:
            made += ", "
        else:
            made += token.text
    return made


DEFAULT = "\0"
"""What stands for DEFAULT as the value of a setting; no text of a statement can hold it."""


def _explain(text: str, tokens: Sequence[Token], words: list[str]) -> Statement:
    at, form = 1, "text"
    if words[1:2] == ["("]:
        end = words.index(")") if ")" in words else len(words)
        options, at = words[2:end], end + 1
    else:
        while words[at : at + 1] and words[at] in ("ANALYZE", "ANALYSE", "VERBOSE", "PRIVACY"):
            at += 1
        options = words[1:at]
    if {"ANALYZE", "ANALYSE"} & set(options) and not {"FALSE", "OFF", "0"} & set(options):
        raise unsupported(
            "EXPLAIN ANALYZE", "EXPLAIN alone says the price and the errors to expect, and costs nothing."
        )
    if "JSON" in options or "XML" in options or "YAML" in options:
        form = "other"
    if form != "text":
        raise unsupported("EXPLAIN in another form than text")
    inner = tokens[at:]
    if not inner or inner[0].text.upper() not in QUESTIONS:
        raise Fault("42601", "the text cannot be read: after EXPLAIN comes a SELECT", position=tokens[0].start + 1)
    return Statement(Kind.EXPLAIN, _cut(text, inner), "EXPLAIN", offset=inner[0].start)


def _fetch(whole: str, tokens: Sequence[Token], words: list[str]) -> Statement:
    """FETCH [FORWARD] [count | ALL | NEXT] [FROM | IN] cursor; only forward."""
    middle = [word for word in words[1:-1] if word not in ("FORWARD", "FROM", "IN")]
    if len(words) < 2 or len(middle) > 1 or not (middle[:1] in ([], ["ALL"], ["NEXT"]) or middle[0].isdigit()):
        raise unsupported("FETCH in another way than FETCH FORWARD n FROM a cursor")
    many = {"ALL": "0", "NEXT": "1"}.get(middle[0], middle[0]) if middle else "1"
    return Statement(Kind.FETCH, whole, "FETCH", (tokens[-1].text, many[:9]))


def _copy(text: str, tokens: Sequence[Token], words: list[str]) -> Statement:
    """COPY (SELECT …) TO STDOUT [WITH (FORMAT csv, HEADER)]."""
    depth, end = 0, 0
    for at, word in enumerate(words):
        depth += (word == "(") - (word == ")")
        if word == ")" and depth == 0:
            end = at
            break
    rest = words[end + 1 :]
    if words[1:2] != ["("] or rest[:2] != ["TO", "STDOUT"]:
        if "FROM" in rest or words[1:2] != ["("]:
            raise Fault("25006", "COPY takes a question here, as in COPY (SELECT …) TO STDOUT")
        raise unsupported("COPY to anywhere but STDOUT")
    options = set(rest[2:]) - {"WITH", "(", ")", ",", "FORMAT", "TRUE", "ON"}
    if not options <= {"CSV", "TEXT", "HEADER"}:
        raise unsupported("a further option of COPY", "There are FORMAT csv, FORMAT text and HEADER.")
    inner = tokens[2:end]
    if not inner:
        raise Fault("42601", "the text cannot be read: COPY has no question", position=1)
    return Statement(Kind.COPY, _cut(text, inner), "COPY", tuple(sorted(options)), inner[0].start)
