"""The randomized steps of a run, as an audit sees them."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import NamedTuple, final

from sfumato.accounting.events import Event
from sfumato.accounting.losses.measures import Loss
from sfumato.core.domains import Data
from sfumato.core.grouped_distance import AnyDistance


@final
class RandomStep(NamedTuple):
    """One randomized step: how it is randomized, the exact value that goes in, and what telling two apart costs.

    ``how`` is public: on any two data sets, a run that has seen the same outcomes so far takes the same next step. A
    mechanism hands its step to `Entropy.perform`, which draws the outcome; a source of entropy that is made for an
    audit writes the step down, or returns the outcome of an earlier run in place of a new one.

    ``event`` describes the step at a distance between what goes in, where the accountant knows more of it than its
    loss. ``declared`` says what the step costs at most between data sets at a distance, where whoever made it has
    settled that. A step ``of`` another is one of the answers that the other has paid for: what goes into it joins what
    goes into the other, which begins as an empty list. It is a tuple because every draw makes one, and tuples are made
    fast.
    """

    how: Hashable
    exact: Data
    distance: Callable[[Data, Data], AnyDistance]
    loss: Callable[[AnyDistance], Loss]
    declared: Callable[[AnyDistance], Loss] | None = None
    of: RandomStep | None = None
    event: Callable[[AnyDistance], Event] | None = None

    def answer(self, exact: Data) -> RandomStep:
        """The step of one answer that this step has paid for."""
        return RandomStep(self.how, exact, self.distance, self.loss, of=self)
