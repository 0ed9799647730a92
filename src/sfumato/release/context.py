"""Context: between whom information flows, on what terms, and how a new flow differs from the one that people know.

After Nissenbaum's contextual integrity: a flow is appropriate if it follows the norms of its context.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import final

from sfumato.errors import BadArgument

NO_EXCUSE = (
    "Differential privacy lowers the harm of re-identification, reconstruction and membership attacks. It does not "
    "make an inappropriate flow appropriate: what changed needs its own justification."
)


@final
@dataclass(frozen=True)
class ContextRecord:
    """One flow of information, in five fields: whom it is about, who sends it to whom, of what kind, on which terms.

    ``challenges`` are what users will find hard about it, each with what is done about that.

    >>> care = ContextRecord("a user", "the app", "their doctor", "heart rate, hourly", "with consent, for care")
    >>> advert = ContextRecord("a user", "the app", "an advertiser", "heart rate, monthly means", "sold")
    >>> [field for field, _, _ in care.changes(advert)]
    ['recipient', 'information type', 'transmission principle']
    """

    data_subject: str
    sender: str
    recipient: str
    information_type: str
    transmission_principle: str
    challenges: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        for name in self._named:
            value = getattr(self, name)
            if not isinstance(value, str) or not value.strip():
                raise BadArgument(name.replace("_", " "), "said in words", value)
        object.__setattr__(self, "challenges", tuple((what, mitigation) for what, mitigation in self.challenges))

    @property
    def _named(self) -> list[str]:
        return [part.name for part in fields(self) if part.name != "challenges"]

    def changes(self, proposed: ContextRecord) -> tuple[tuple[str, str, str], ...]:
        """Lists what a proposed flow changes: the field, what it is now, what it would be."""
        pairs = ((name, getattr(self, name), getattr(proposed, name)) for name in self._named)
        return tuple((name.replace("_", " "), now, then) for name, now, then in pairs if now != then)

    def compare(self, proposed: ContextRecord) -> str:
        """Says what a proposed flow changes, and what differential privacy does and does not do about it."""
        changed = [f"· {name}: {now} → {then}" for name, now, then in self.changes(proposed)]
        head = "What the proposed flow changes:" if changed else "The proposed flow changes nothing."
        return "\n".join([head, *changed, *([NO_EXCUSE] if changed else [])])
