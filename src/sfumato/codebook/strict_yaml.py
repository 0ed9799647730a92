"""Reads and writes YAML and JSON of which every reader makes the same thing: no surprises, no code, no aliases.

Of YAML 1.1 only plain values are kept: whole numbers, decimals, true, false, null and texts. So ``no`` is a text and
not false, ``12:30`` and ``010`` are texts and not 750 and 8, a date is a text until something asks for a date, and a
key that stands twice is an error. Decimals arrive as `Decimal`, with all their digits.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, final

from sfumato.errors import BadArgument, BadCodebook

if TYPE_CHECKING:
    import yaml

LARGEST = 1 << 20
"""Longer texts, in characters, are refused before they are looked at."""

LONGEST = 400
"""How many digits a number may have, on either side of its point."""

WHOLE = re.compile(r"[-+]?(?:0|[1-9][0-9]*)$")
DECIMAL = re.compile(r"[-+]?[0-9]+\.[0-9]*(?:[eE][-+][0-9]+)?$")
PLAIN: tuple[tuple[str, re.Pattern[str], str], ...] = (
    ("bool", re.compile(r"(?:true|false)$"), "tf"),
    ("null", re.compile(r"(?:null|~|)$"), "n~"),
    ("int", WHOLE, "-+0123456789"),
    ("float", DECIMAL, "-+0123456789"),
)
"""What is read without quotes as more than a text: its tag, its shape and how it may begin."""

YAML_ENTRY = re.compile(r"""^["']?codebook["']?[ \t]*:""", re.MULTILINE)
JSON_ENTRY = re.compile(r'"codebook"\s*:')
"""The entry that a codebook begins with."""

QUOTED = re.compile(r"'(?!<)[^']{3,}'")
"""What PyYAML says with something of the text in it: more than a sign or two, and not the kind of a token."""

NEXT_LINE = "\x85"
"""A line break to YAML, which is lost as it is and kept where it is escaped, in double quotes."""


def read_text(text: str) -> object:
    """Reads YAML, and so JSON (which is told by its first brace, and then read as such)."""
    if len(text) > LARGEST:
        _refuse(f"the text is longer than {LARGEST} characters; a codebook is for people to read")
    try:
        return _json(text) if text.lstrip().startswith("{") else _yaml(text)
    except RecursionError:
        _refuse("it is nested too deep")


def text_of(given: str | Path) -> str:
    """Reads a file by its path; a text of several lines, or of JSON, is returned as it is."""
    if not isinstance(given, str | Path):
        raise BadArgument("a codebook", "a path, a text or a mapping", type(given).__name__)
    if isinstance(given, str) and ("\n" in given or given.lstrip().startswith("{")):
        return given
    try:
        return Path(given).read_text(encoding="utf-8")
    except (OSError, ValueError):
        failed = BadArgument("a codebook", "a file that can be read as UTF-8 (or a text of several lines)", str(given))
    raise failed  # here, and not above: the error of a text that is no UTF-8 carries the bytes of the file


def begins_codebook(text: str) -> bool:
    """Tells whether a text has the entry that every codebook begins with; other files may be data.

    >>> begins_codebook("codebook: 1\\ntitle: Visits\\n"), begins_codebook("ssn,hiv\\n123-45-6789,1\\n")
    (True, False)
    """
    return (JSON_ENTRY if text.lstrip().startswith("{") else YAML_ENTRY).search(text) is not None


def write_text(tree: object) -> str:
    """Writes plain data as YAML, in the order given; `read_text` gives it back."""
    import yaml

    text: str = yaml.dump(tree, Dumper=_dumper(), sort_keys=False, allow_unicode=True, width=110)
    return text


def _json(text: str) -> object:
    try:
        return json.loads(
            text, parse_float=_decimal, parse_int=_whole, parse_constant=Decimal, object_pairs_hook=_no_twins
        )
    except json.JSONDecodeError as fault:
        why = f"{fault.msg}, line {fault.lineno}, column {fault.colno}"
    return _refuse(f"it is no JSON ({why})")


def _yaml(text: str) -> object:
    import yaml

    try:
        return yaml.load(text, Loader=_loader())
    except BadCodebook:
        raise
    except (yaml.YAMLError, ValueError) as fault:
        why = _where(fault)
    return _refuse(f"it is no YAML ({why})")


def _where(fault: Any) -> str:
    """Says what PyYAML found and in which line, and repeats nothing of the text: it may be data."""
    problem, mark = getattr(fault, "problem", None) or "it cannot be read", getattr(fault, "problem_mark", None)
    words = "it cannot be read" if QUOTED.search(problem) else problem
    return words if mark is None else f"{words}, line {mark.line + 1}, column {mark.column + 1}"


@cache
def _loader() -> type[yaml.SafeLoader]:
    """Makes the loader, when YAML is first asked for: loading its package takes longer than most codebooks."""
    import yaml

    @final
    class Strict(yaml.SafeLoader):
        yaml_implicit_resolvers: dict[str, Any] = {}  # noqa: RUF012 (a table that the parent class reads)

        def compose_node(self, parent: Any, index: Any) -> Any:
            if self.check_event(yaml.AliasEvent):
                _refuse(f"line {self.line + 1} uses an alias (*): write the thing out")
            return super().compose_node(parent, index)

    for tag, shape, starts in PLAIN:
        Strict.add_implicit_resolver(f"tag:yaml.org,2002:{tag}", shape, [*starts, ""] if tag == "null" else [*starts])
    Strict.yaml_constructors = {
        **{f"tag:yaml.org,2002:{kind}": _scalar(convert) for kind, convert in SCALARS.items()},
        "tag:yaml.org,2002:seq": lambda loader, node: _sequence(loader, node),
        "tag:yaml.org,2002:map": lambda loader, node: _mapping(loader, node),
        None: lambda loader, node: _refuse(f"line {_line(node)} has a tag (!…), which is not plain data"),
    }
    return Strict


@cache
def _dumper() -> type[yaml.SafeDumper]:
    import yaml

    @final
    class Plain(yaml.SafeDumper):
        def ignore_aliases(self, data: Any) -> bool:
            return True

    Plain.add_representer(
        Decimal, lambda dumper, value: dumper.represent_scalar("tag:yaml.org,2002:float", f"{value:f}")
    )
    Plain.add_representer(
        str,
        lambda dumper, text: dumper.represent_scalar(
            "tag:yaml.org,2002:str",
            text,
            style='"' if NEXT_LINE in text else None,
        ),
    )
    return Plain


def _scalar(convert: Callable[[str], object]) -> Callable[[Any, Any], object]:
    return lambda loader, node: convert(loader.construct_scalar(node))


def _sequence(loader: Any, node: Any) -> list[object]:
    return [loader.construct_object(child, deep=True) for child in node.value]


def _mapping(loader: Any, node: Any) -> dict[object, object]:
    pairs: dict[object, object] = {}
    for key_node, value_node in node.value:
        key = loader.construct_object(key_node, deep=True)
        if isinstance(key, list | dict):
            _refuse(f"line {_line(key_node)} has a list or a mapping as a key; keys are words")
        if key in pairs:
            _refuse(f"line {_line(key_node)} has a key that stands there already; one of the two would be lost")
        pairs[key] = loader.construct_object(value_node, deep=True)
    return pairs


def _no_twins(pairs: list[tuple[str, object]]) -> Mapping[str, object]:
    mapping = dict(pairs)
    if len(mapping) != len(pairs):
        _refuse("it has a key that stands twice; one of the two would be lost")
    return mapping


def _whole(digits: str) -> int:
    if len(digits) > LONGEST:
        _refuse(f"it holds a number of more than {LONGEST} digits")
    return int(digits)


def _decimal(digits: str) -> Decimal:
    number = Decimal(digits) if len(digits) <= LONGEST else Decimal("inf")
    if not number.is_finite() or abs(number.adjusted()) > LONGEST:
        _refuse(f"it holds a number of more than {LONGEST} digits")
    return number


SCALARS: dict[str, Callable[[str], object]] = {
    "bool": lambda text: text == "true",
    "null": lambda _: None,
    "int": _whole,
    "float": _decimal,
    "str": str,
}
"""How each kind of plain value is read."""


def _line(place: Any) -> int:
    return int(place.start_mark.line) + 1


def _refuse(why: str) -> NoReturn:
    raise BadCodebook("the file", why)
