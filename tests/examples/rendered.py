"""How rendered releases are read again: HTML by its tags, TeX by what would stop it."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

from sfumato.release.render import latex

GOLDEN = Path(__file__).parents[1] / "unit" / "golden"
SUFFIXES = {"text": "txt", "html": "html", "markdown": "md", "latex": "tex", "json": "json"}


class Tags(HTMLParser):
    """Collects tags and attributes, and checks that every tag is closed."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def read_html(text: str) -> Tags:
    tags = Tags()
    tags.feed(text)
    tags.close()
    assert tags.open == []
    return tags


def tex_faults(text: str) -> list[str]:
    """Says what would stop TeX: letters with a meaning outside commands, open braces, rows of other lengths."""
    bare = re.sub(r"^%.*$", "", text, flags=re.MULTILINE)
    bare = re.sub(r"\\ifdefined\\Umathcode .*?\\else (.*?)\\fi", r"\1", bare)
    faults = [f"letter {letter!r}" for letter in set(bare) if ord(letter) > 0xFF]
    bare = re.sub(r"\\[&%$#_{}]", "", bare)
    depth = 0
    for letter in bare:
        depth += (letter == "{") - (letter == "}")
        faults += ["a brace is closed too early"] * (depth < 0)
    faults += ["a brace stays open"] * (depth != 0)
    faults += ["optional argument after a row"] * bool(re.search(r"\\\\\s*(\[|\*)", bare))
    faults += ["a special letter"] * bool(re.search(r"[%$#^~]|_(?!\{)", re.sub(r"\\ensuremath\{[_^]\{.\}\}", "", bare)))
    known = "begin end textbf noindent par medskip toprule midrule bottomrule linewidth ensuremath textbackslash char"
    known += " textasciitilde textasciicircum ldots " + " ".join([*latex.GREEK.values(), *latex.SIGNS.values()])
    faults += [f"command {name}" for name in re.findall(r"\\([A-Za-z]+)", bare) if name not in known.split()]
    for shape, body in re.findall(r"\\begin\{tabular\}\{@\{\}(.*?)@\{\}\}\n(.*?)\\end", bare, flags=re.DOTALL):
        width = len(re.sub(r"p\{.*?\}", "p", shape))
        rows = [line for line in body.splitlines() if line.endswith(r"\\")]
        faults += ["a row of another length" for row in rows if row.count("&") != width - 1]
    return faults
