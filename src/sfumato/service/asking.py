"""Questions as they come from outside, as plain data: read, checked, and handed to a session."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, final

from sfumato.accounting.losses.concentrated import GDP
from sfumato.accounting.losses.measures import ZCDP, Approx, Loss, Pure
from sfumato.errors import BadArgument, Unseen
from sfumato.query.nodes.keysets import KeySet

LONGEST_TEXT = 100_000
"""Letters that the text of a question may have."""

LONGEST_KEPT = 1 << 20

BOUNDS = ("max_groups", "max_rows_per_group", "max_rows", "max_matches")
LOSSES = ("epsilon", "delta", "rho", "mu")
NAMES = frozenset({*LOSSES, "accuracy", "keys", "weights", "noise", "confidence", "parameters", *BOUNDS})


@final
@dataclass(frozen=True)
class Asked:
    """A question in SQL with its parameters, and what is said besides it, as `Session.sql` takes it."""

    text: str
    parameters: Sequence[object] | Mapping[str, object] = ()
    said: Mapping[str, Any] = field(default_factory=dict)
    given: Mapping[str, Any] = field(default_factory=dict, compare=False)

    @property
    def plain(self) -> dict[str, Any]:
        """The question as it came, to be kept and read again; refuses what JSON could not hold."""
        try:
            kept: dict[str, Any] = json.loads(json.dumps({"text": self.text, "said": self.given}, allow_nan=False))
        except (TypeError, ValueError, RecursionError):
            kept = {}
        if not kept or len(json.dumps(kept)) > LONGEST_KEPT:
            raise BadArgument("a question that is kept", f"plain, in at most {LONGEST_KEPT:,} letters", Unseen())
        return kept

    @staticmethod
    def from_plain(plain: Mapping[str, Any]) -> Asked:
        """Reads what `plain` gave."""
        return Asked.read(plain["text"], plain["said"])

    @property
    def priced(self) -> bool:
        """Tells whether it says what to pay, or how near to come."""
        return "loss" in self.said or "accuracy" in self.said

    @staticmethod
    def read(text: object, said: Mapping[str, object]) -> Asked:
        """Reads a question and what is said besides it; numbers may be texts, which are read as they are written.

        >>> Asked.read("SELECT COUNT(*) FROM visits", {"epsilon": "0.1", "max_rows": 3}).said
        {'max_rows': 3, 'loss': Pure(epsilon=0.1)}
        """
        if not isinstance(text, str) or not 0 < len(text) <= LONGEST_TEXT:
            raise BadArgument("the question", f"a text of at most {LONGEST_TEXT:,} letters", type(text).__name__)
        unknown = sorted(set(said) - NAMES)
        if unknown:
            raise BadArgument("what is said besides a question", f"among {', '.join(sorted(NAMES))}", unknown[0])
        given = {name: value for name, value in said.items() if value is not None}
        made: dict[str, Any] = {name: given[name] for name in (*BOUNDS, "noise", "confidence") if name in given}
        loss = loss_from(given)
        if loss is not None:
            made["loss"] = loss
        if "accuracy" in given:
            made["accuracy"] = _accuracy(given["accuracy"])
        if "keys" in given:
            made["keys"] = keys_from(given["keys"])
        if "weights" in given:
            made["weights"] = _mapping(given["weights"], "weights", "{column: 3, …}")
        return Asked(text, _parameters(given.get("parameters", ())), made, given)


def loss_from(said: Mapping[str, object]) -> Loss | None:
    """Reads a loss from its numbers by their names: epsilon (and delta), rho, or mu; None where none is there."""
    given = {name: _number(said[name], name) for name in LOSSES if said.get(name) is not None}
    match sorted(given):
        case []:
            return None
        case ["epsilon"]:
            return Pure(given["epsilon"])
        case ["delta", "epsilon"]:
            return Approx(given["epsilon"], given["delta"]) if given["delta"] != 0 else Pure(given["epsilon"])
        case ["rho"]:
            return ZCDP(given["rho"])
        case ["mu"]:
            return GDP(given["mu"])
    raise BadArgument("the loss", "one of them: epsilon, epsilon and delta, rho, or mu", " and ".join(sorted(given)))


def keys_from(said: object) -> KeySet:
    """Reads public keys: lists by column, of which every combination is meant, or columns and rows."""
    match said:
        case {"columns": [*names], "rows": [*rows], **others} if not others:
            return KeySet.rows([str(name) for name in names], [tuple(_row(row)) for row in rows])
        case Mapping() if said and all(isinstance(values, list) for values in said.values()):
            return KeySet.of(**{str(name): list(values) for name, values in said.items()})
    must = '{"site": ["north", "south"], …}, or {"columns": ["site", "year"], "rows": [["north", 2026], …]}'
    raise BadArgument("keys", must, type(said).__name__)


def _row(row: object) -> list[Any]:
    if isinstance(row, list):
        return row
    raise BadArgument("a row of keys", "a list of values", type(row).__name__)


def _number(value: object, name: str) -> Any:
    if isinstance(value, int | float | str) and not isinstance(value, bool):
        return value
    raise BadArgument(name, "a number, or a text that is one", type(value).__name__)


def _accuracy(said: object) -> Any:
    match said:
        case [width, sure]:
            return _number(width, "accuracy"), _number(sure, "accuracy")
        case Mapping():
            return {str(name): _accuracy(one) for name, one in said.items()}
    raise BadArgument("accuracy", "a half-width and a confidence, [50, 0.95], or these by column", type(said).__name__)


def _mapping(said: object, name: str, must: str) -> dict[str, Any]:
    if isinstance(said, Mapping):
        return {str(key): value for key, value in said.items()}
    raise BadArgument(name, must, type(said).__name__)


def _parameters(said: object) -> Any:
    if isinstance(said, Mapping):
        return {str(name): value for name, value in said.items()}
    if isinstance(said, list | tuple):
        return list(said)
    raise BadArgument("parameters", "a list, or values by name", type(said).__name__)
