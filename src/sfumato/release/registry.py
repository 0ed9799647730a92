"""Entries of a registry of deployments: what was released, by whom, at what loss; in one shape for all of them.

The columns are those of the public registry of deployments (`datasets.deployments`), so that new releases stand
beside others; the further facts are those that Dwork, Kohli and Mulligan (2019) ask of an epsilon registry.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from typing import final

from sfumato.accounting.losses.measures import Approx, Loss, Pure
from sfumato.errors import BadArgument
from sfumato.exact import digits_up
from sfumato.release.context import ContextRecord
from sfumato.release.record import Release
from sfumato.release.render import rendered
from sfumato.release.render.csv import lines
from sfumato.release.render.document import Document, Table
from sfumato.release.render.sheet import loss_numbers
from sfumato.release.render.words import clean
from sfumato.release.table import composed, one_unit

VARIANTS = {
    "Pure": "Pure DP",
    "Approx": "Approximate DP",
    "ZCDP": "Zero-concentrated DP",
    "ApproxZCDP": "Zero-concentrated DP",
    "GDP": "Gaussian DP",
    "BoundedRange": "Bounded range",
}
"""What the registry calls the kinds of loss."""

_PARAMETER = re.compile(r"(\w+)=([0-9.]+(?:e-?[0-9]+)?)(?:;|$)")


@final
@dataclass(frozen=True)
class RegistryEntry:
    """One deployment: facts as texts, empty where unknown. The first fourteen are the columns of the registry.

    The last five say between whom information flows, as in a `ContextRecord`.
    """

    name: str
    curator: str = ""
    published: str = ""
    region: str = ""
    sector: str = ""
    product: str = ""
    variant: str = ""
    unit: str = ""
    parameters: str = ""
    model: str = ""
    releases: str = ""
    mechanisms: str = ""
    source: str = ""
    status: str = ""
    use_cases: str = ""
    loss_each: str = ""
    rate: str = ""
    limit: str = ""
    justification: str = ""
    data_subject: str = ""
    sender: str = ""
    recipient: str = ""
    information_type: str = ""
    transmission_principle: str = ""

    @classmethod
    def of(
        cls,
        releases: Sequence[Release],
        *,
        name: str,
        total: Loss | None = None,
        limit: Loss | None = None,
        period: str = "",
        **stated: str,
    ) -> RegistryEntry:
        """Makes the entry of some releases about the same data: numbers come from losses, other facts are stated.

        ``total`` is what the releases cost together, as a ledger knows it; left out, their losses are composed.
        ``period`` is the time in which that was spent.
        """
        if total is None:
            one_unit(releases, stated=None, total=None)
        loss = composed([release.loss for release in releases]) if total is None else total
        derived = {
            "name": name,
            "variant": VARIANTS.get(type(loss).__name__, type(loss).__name__),
            "unit": _each(release.unit for release in releases),
            "parameters": _parameters(loss),
            "model": "Central",
            "releases": "One release" if len(releases) == 1 else "Many releases",
            "mechanisms": _each(part for release in releases for part in release.how.mechanism.split("; ")),
            "status": "Draft",
            "loss_each": _each(str(release.loss) for release in releases),
            "rate": f"{loss} in {period}" if period else "",
            "limit": "" if limit is None else str(limit),
        }
        return cls(**(derived | stated))

    def with_flow(self, flow: ContextRecord) -> RegistryEntry:
        """The same entry, which also says between whom information flows and on what terms."""
        return replace(self, **{name: getattr(flow, name) for name in FLOW})

    def number(self, parameter: str) -> Fraction | None:
        """One of the parameters, such as "epsilon", as a number; None where it is not stated as one.

        >>> RegistryEntry("reports", parameters="epsilon=4.8; delta=4e-10").number("epsilon")
        Fraction(24, 5)
        """
        digits = dict(_PARAMETER.findall(self.parameters)).get(parameter)
        return None if digits is None else Fraction(digits)

    @property
    def cells(self) -> tuple[str, ...]:
        """All facts, in the order of `COLUMNS` and then of `FURTHER`."""
        return tuple(clean(getattr(self, column)) for column in (*COLUMNS, *FURTHER))

    def to_json(self) -> str:
        return rendered(self.document(), "json")

    def to_csv(self) -> str:
        """Writes two lines of comma-separated values: the names of the columns, and the entry."""
        return to_csv([self])

    def document(self) -> Document:
        facts = dict(zip((*COLUMNS, *FURTHER), self.cells, strict=True))
        rows = tuple((name.replace("_", " "), said) for name, said in facts.items() if said)
        return Document(self.name, tables=(Table(rows),), record=lambda: facts)


_NAMES = tuple(part.name for part in fields(RegistryEntry))
COLUMNS, FURTHER = _NAMES[:14], _NAMES[14:]
"""The columns of the registry, and what an epsilon registry asks further."""

FLOW = tuple(part.name for part in fields(ContextRecord) if part.name != "challenges")
"""The five facts that say between whom information flows."""


def find_entries(entries: Iterable[RegistryEntry], **words: str) -> list[RegistryEntry]:
    """Lists the entries that state each of the named facts in these words, in capitals or not.

    What an entry does not state is not found.

    >>> reports = RegistryEntry("reports", curator="LinkedIn", recipient="the public")
    >>> find_entries([reports, RegistryEntry("a census")], recipient="Public") == [reports]
    True
    """
    for name, word in words.items():
        if name not in _NAMES:
            raise BadArgument("a fact of an entry", f"one of {', '.join(_NAMES)}", name)
        if not isinstance(word, str) or not word.strip():
            raise BadArgument(name, "said in words", word)
    asked = {name: word.casefold() for name, word in words.items()}
    return [one for one in entries if all(word in getattr(one, name).casefold() for name, word in asked.items())]


def to_csv(entries: Iterable[RegistryEntry]) -> str:
    """Writes entries as comma-separated values, in the columns of the registry and those after them."""
    return lines([(*COLUMNS, *FURTHER), *(entry.cells for entry in entries)])


def _parameters(loss: Loss) -> str:
    parts = {name: value for name, value in vars(loss).items() if name in loss_numbers(loss)}
    shown = {name: digits_up(value) for name, value in parts.items() if value or isinstance(loss, Pure | Approx)}
    return "; ".join(f"{name}={value}" for name, value in shown.items()) or clean(loss)


def _each(parts: Iterable[str]) -> str:
    return "; ".join(dict.fromkeys(part for part in parts if part))
