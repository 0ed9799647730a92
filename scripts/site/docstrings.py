"""Renders a name's docstring for the reference: its signature, its parts, its examples, and links to its proofs."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from functools import cached_property
from types import ModuleType

PART = re.compile(r"^(Takes|Gives|Guarantee|Cost|Raises|Example|Reference)s?: +", re.MULTILINE)
PROOF = re.compile(r"(?<![\w/])proofs/(\w+\.md(?:#[\w-]+)?)")
PROMPT = re.compile(
    r"(?:^>>> .*\n?(?:^(?!>>>|\s*$).*\n?)*)+(?:\n?(?:^>>> .*\n?(?:^(?!>>>|\s*$).*\n?)*)+)*", re.MULTILINE
)
QUOTED, ADDRESS = re.compile(r": '([^']*)'"), re.compile(r"<[^\n]*? at 0x[0-9a-f]+>")
LITERAL = re.compile(r"``([^`]+)``")


def signature(name: str, thing: object) -> str:
    """How it is called, one argument a line where they are many; empty for what cannot be called."""
    try:
        found = inspect.signature(thing)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return ""
    short = name.rpartition(".")[2]
    arguments = [_argument(one) for one in found.parameters.values() if one.name != "self"]
    gives = (
        "" if found.return_annotation in (inspect.Signature.empty, None) else f" -> {_plain(found.return_annotation)}"
    )
    gives = "" if inspect.isclass(thing) else gives
    line = f"{short}({', '.join(_starred(found, arguments))}){gives}"
    if len(line) > 96:
        line = f"{short}(\n" + "".join(f"    {one},\n" for one in _starred(found, arguments)) + f"){gives}"
    return f"```python\n{line}\n```\n"


def _argument(one: inspect.Parameter) -> str:
    return ADDRESS.sub("…", QUOTED.sub(r": \1", str(one)))


def _plain(annotation: object) -> str:
    return annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)


def _starred(found: inspect.Signature, arguments: list[str]) -> list[str]:
    """Arguments with the star after which they are given by name."""
    kinds = [one.kind for one in found.parameters.values() if one.name != "self"]
    named = inspect.Parameter.KEYWORD_ONLY
    if named in kinds and inspect.Parameter.VAR_POSITIONAL not in kinds:
        place = kinds.index(named)
        return [*arguments[:place], "*", *arguments[place:]]
    return arguments


def rendered(text: str, up: str = "..") -> str:
    """A docstring as Markdown: examples as prompts, parts as a list, proofs as links."""
    pieces, last = [], 0
    for found in PROMPT.finditer(text):
        pieces += [_prose(text[last : found.start()], up), f"\n```pycon\n{found.group().rstrip()}\n```\n"]
        last = found.end()
    return "".join([*pieces, _prose(text[last:], up)]).strip() + "\n"


def _prose(text: str, up: str) -> str:
    text = LITERAL.sub(r"`\1`", text)
    text = PROOF.sub(rf"[proof]({up}/proofs/\1)", text)
    first = PART.search(text)
    if first is None:
        return text
    listed = PART.sub(lambda found: f"- **{found.group(1)}**: ", text[first.start() :])
    return f"{text[: first.start()].rstrip()}\n\n{listed}"


def members(thing: type) -> Iterator[tuple[str, object]]:
    """The public methods and properties that a class itself defines and says something of."""
    for name, value in vars(thing).items():
        inner = value.__func__ if isinstance(value, classmethod | staticmethod) else value
        told = isinstance(inner, property | cached_property) or inspect.isfunction(inner)
        if not name.startswith("_") and told and inspect.getdoc(inner):
            yield name, inner


def entry(name: str, thing: object) -> str:
    """All that is said of one name."""
    said = rendered(inspect.getdoc(thing) or "")
    if isinstance(thing, ModuleType):
        return said
    parts = [signature(name, thing), said]
    if inspect.isclass(thing):
        for member, value in members(thing):
            called = signature(member, value) if inspect.isfunction(value) else f"`.{member}`\n"
            body = f"{called}\n{rendered(inspect.getdoc(value) or '')}"
            parts.append('<div class="member" markdown="1">\n\n' + body + "\n</div>\n")
    return "\n".join(parts)
