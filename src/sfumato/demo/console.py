"""How stories are told on a terminal: titles, paragraphs, and what is set in from them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.syntax import Syntax
from rich.text import Text


def headline(console: Console, number: str, words: str) -> None:
    """Prints the title of one part."""
    console.rule(f"[b]{number} · {words}[/b]", align="left", style="dim")
    console.print()


def say(console: Console, words: str) -> None:
    """Prints a paragraph."""
    console.print(Text.from_markup(words))
    console.print()


def show(console: Console, what: RenderableType) -> None:
    """Prints something set in from the text."""
    console.print(Padding(what, (0, 4), expand=False))
    console.print()


def print_paths(console: Console, paths: Iterable[Path]) -> None:
    """Prints paths, a line each."""
    for path in paths:
        console.print(f"    {path}", soft_wrap=True, markup=False, highlight=False)
    console.print()


def code(text: str, language: str = "python") -> Syntax:
    """Colours a text as source code."""
    return Syntax(text, language, theme="ansi_light", background_color="default", word_wrap=True)
