"""What a training asks of whoever pays for it: a session, which this layer does not know, has all of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from sfumato.accounting.events import Event
from sfumato.accounting.losses.measures import Loss
from sfumato.accounting.relation import Relation
from sfumato.release.claim import Claim
from sfumato.release.record import Release

ROW_BY_ROW = Claim(
    "the model, what it is trained by and what it is compared with look at each row by itself, and let nothing leave "
    "but the weights"
)
"""What has to hold of models and losses that others wrote, and is printed with what they are trained to."""

OWN_ROWS = Claim(
    "the rows that were trained on are those of the data set, each of the unit it is said to be and made of the rows "
    "of that unit alone"
)
"""What has to hold of rows that are given by hand, beside the data set that is charged for them."""


class Run(Protocol):
    """A run that was charged once, whose steps are counted before they look."""

    @property
    def taken(self) -> int:
        """How many steps have run, or may have."""

    @property
    def left(self) -> int:
        """How many steps can still run."""

    @property
    def ended(self) -> bool:
        """Tells whether the run has ended."""

    def step(self, function: Callable[[Any, Any], Any]) -> Any:
        """Counts the next step in the book, and then runs it."""

    def finish(self, value: Any) -> Release:
        """Ends the run with a release."""


class Payer(Protocol):
    """A session: it charges a plan, and knows which data sets are neighbours."""

    @property
    def relation(self) -> Relation:
        """Which data sets are neighbours."""

    @property
    def own_limit(self) -> Loss:
        """What may be spent: its kind is that in which charges are counted."""

    def start(
        self,
        event: Event,
        *,
        loss: Loss | None = None,
        key: str,
        claim: Claim | None = None,
        proofs: Sequence[str] = (),
        what: str = "a run",
        ahead: int = 1,
        steps: int | None = None,
    ) -> Run:
        """Charges a plan once, or goes on with the one that has this key."""
