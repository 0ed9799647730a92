"""Acts: the randomized steps of a run, as an audit sees them."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import NamedTuple, final

from sfumato.accounting.events import Event
from sfumato.accounting.measures import Loss
from sfumato.core.domains import Data
from sfumato.core.spread import Gap


@final
class Act(NamedTuple):
    """Is one randomized step: how it is randomized, the exact value that goes in, and what telling two apart costs.

    ``how`` is public: on any two data sets, a run that has seen the same outcomes so far takes the same next step. A
    mechanism hands its act to `Entropy.settle`, which draws the outcome; a source of entropy that is made for an audit
    writes the act down, or gives the outcome of an earlier run in place of a new one.

    ``event`` describes the act at a distance between what goes in, where the accountant knows more of it than its loss.
    ``declared`` says what the act costs at most between data sets at a distance, where whoever made it has settled
    that. An act ``of`` another is one of the answers that the other has paid for: what goes into it joins what goes
    into the other, which begins as an empty list. It is a tuple because every draw makes one, and tuples are made fast.
    """

    how: Hashable
    exact: Data
    distance: Callable[[Data, Data], Gap]
    loss: Callable[[Gap], Loss]
    declared: Callable[[Gap], Loss] | None = None
    of: Act | None = None
    event: Callable[[Gap], Event] | None = None

    def answer(self, exact: Data) -> Act:
        """Gives the act of one answer that this act has paid for."""
        return Act(self.how, exact, self.distance, self.loss, of=self)
