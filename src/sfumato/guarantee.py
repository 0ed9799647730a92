"""Ties a claim, its proof and its code together.

A function whose value is a privacy statement (a stability map, a loss, a sampler's law) is decorated with `guarantee`.
The decorator names the page that proves the claim and the fingerprint of the code that was reviewed against that page.
A test recomputes every fingerprint, so that logic cannot change without the proof being read again.
"""

from __future__ import annotations

import ast
import hashlib
import inspect
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar, final

F = TypeVar("F", bound=Callable[..., object])


@final
@dataclass(frozen=True)
class Guarantee:
    """One reviewed claim: what is said, where it is proved, and which code was read."""

    name: str
    claim: str
    proof: str
    reviewed: str
    function: Callable[..., object]


GUARANTEES: dict[str, Guarantee] = {}
"""Every reviewed claim, by the qualified name of its function; filled at import and never changed afterwards."""


def guarantee(*, claim: str, proof: str, reviewed: str) -> Callable[[F], F]:
    """Registers a function as the code behind a proved claim."""

    def register(function: F) -> F:
        name = f"{function.__module__}.{function.__qualname__}"
        GUARANTEES[name] = Guarantee(name, claim, proof, reviewed, function)
        return function

    return register


def fingerprint(function: Callable[..., object]) -> str:
    """Hashes a function's logic: its syntax tree without docstring, comments, formatting and decorators."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    definition = tree.body[0]
    if not isinstance(definition, ast.FunctionDef):
        raise TypeError("only a plain function can carry a guarantee")
    definition.decorator_list = []
    if ast.get_docstring(definition) is not None:
        definition.body = definition.body[1:] or [ast.Pass()]
    return hashlib.sha256(ast.unparse(definition).encode()).hexdigest()[:12]
