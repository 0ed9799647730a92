"""Ties proofs to code on the pages: below each proof the code that was read against it, and a table of all claims."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
import textwrap
from collections import defaultdict

import sfumato
from sfumato.guarantee import GUARANTEES, Guarantee

HEADING = re.compile(r"^(#{1,6}) .*\{#([\w-]+)\}[ \t]*$", re.MULTILINE)

BRACKETS = re.compile(r"\](?=\[)|\](?=\((?!#|[\w./-]+\.md))")


def claims() -> dict[str, list[Guarantee]]:
    """All reviewed claims by page and heading of their proof."""
    for module in pkgutil.walk_packages(sfumato.__path__, "sfumato."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    found: dict[str, list[Guarantee]] = defaultdict(list)
    for name in sorted(GUARANTEES):
        found[GUARANTEES[name].proof].append(GUARANTEES[name])
    return found


def code_of(guarantee: Guarantee) -> str:
    """The code of a claim, folded, with its place in the package."""
    source = textwrap.dedent(inspect.getsource(guarantee.function))
    name = guarantee.name.removeprefix("sfumato.")
    body = textwrap.indent(f"Claim: {guarantee.claim}\n\n```python\n{source}```\n", "    ")
    return f'<a id="code-{guarantee.name}"></a>\n\n??? code "`{name}`"\n\n{body}\n'


def with_code(page: str, text: str, found: dict[str, list[Guarantee]]) -> str:
    """A page of proofs with the code of each of its claims at the end of the proof."""
    headings = list(HEADING.finditer(text))
    for place in reversed(range(len(headings))):
        anchor = headings[place].group(2)
        end = headings[place + 1].start() if place + 1 < len(headings) else len(text)
        if listed := found.get(f"proofs/{page}#{anchor}"):
            below = "\n\n" + "\n".join(map(code_of, listed)) + "\n"
            text = text[:end].rstrip() + below + text[end:]
    return text


def as_mathematics(text: str) -> str:
    """Keeps brackets of formulas, such as [x = a](1 − p), from being read as links."""
    return BRACKETS.sub(r"\\]", text)


def index(found: dict[str, list[Guarantee]]) -> str:
    """The page that lists every claim with its proof and its code."""
    count = sum(map(len, found.values()))
    lines = [
        "# Proofs",
        "",
        f"{count} functions carry a guarantee. Each names the proof that its code was read against; a test notices "
        "when the code changes afterwards. The code stands, folded, below its proof.",
        "",
        "| function | claim | proof |",
        "|---|---|---|",
    ]
    for proof in sorted(found):
        page, _, anchor = proof.removeprefix("proofs/").partition("#")
        for one in found[proof]:
            name, claim = one.name.removeprefix("sfumato."), " ".join(one.claim.replace("|", "∣").split())
            lines.append(f"| [`{name}`]({page}#code-{one.name}) | {claim} | [{page[:-3]}]({page}#{anchor}) |")
    return "\n".join(lines) + "\n"
