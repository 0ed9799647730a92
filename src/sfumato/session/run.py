"""A long run on private data: charged once, kept in the book step by step, resumed by its key, ended with a release."""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Self, final

from sfumato.accounting.events import Event
from sfumato.core.domains import Data
from sfumato.errors import ClaimRequired
from sfumato.ledger.progress import RunPermit, Step
from sfumato.release.claim import Claim
from sfumato.release.record import How, Release

if TYPE_CHECKING:
    from sfumato.session.session import Session


@final
class Run:
    """Steps of one plan on private data. Get one from `Session.start`; leave the ``with`` and start it again to go on.

    What a step gives has left, and so has each checkpoint: both must be what the plan pays for, and nothing else.
    """

    def __init__(self, session: Session, permit: RunPermit, how: How) -> None:
        self._session, self._permit, self._how = session, permit, how

    @property
    def steps(self) -> int:
        """How many steps were charged for."""
        return self._permit.steps

    @property
    def taken(self) -> int:
        """How many steps have run, or may have: what runs next is the part of the plan with this number, from 0."""
        return self._permit.taken

    @property
    def left(self) -> int:
        """How many steps can still run: those that the book does not count yet."""
        return self.steps - self.taken

    @property
    def state(self) -> str | None:
        """The last checkpoint, from which the run goes on; None before the first."""
        return self._permit.checkpointed[1]

    @property
    def states(self) -> tuple[str, ...]:
        """All checkpoints, in their order."""
        return self._permit.checkpoints

    @property
    def state_step(self) -> int:
        """After how many steps the last checkpoint was taken."""
        return self._permit.checkpointed[0]

    @property
    def ended(self) -> bool:
        """Tells whether the run has ended, with a release or as one that failed."""
        return self._permit.ended

    @property
    def release(self) -> Release | None:
        """The release that the run ended with, as the book keeps it."""
        return self._permit.release

    def step(self, function: Step) -> Data:
        """Hands the data, and what draws noise, to a function, once; gives what the function gives."""
        return self._session.dataset.step(self._permit, function)

    def checkpoint(self, state: str) -> None:
        """Writes a public text into the book from which the run can go on after a crash."""
        self._permit.checkpoint(state)

    def finish(self, value: Data) -> Release:
        """Ends the run with a release of what came of it."""
        permit, data = self._permit, self._session.dataset
        return permit.keep(
            Release(
                value=value,
                loss=permit.loss,
                unit=permit.account.terms.unit or data.unit.protects,
                how=self._how,
                adjacency=str(data.unit.metric),
                data=data.name,
                facts=data.facts,
                receipt=permit.receipt,
            )
        )

    def fail(self) -> None:
        """Ends the run without a release; what was charged stays charged."""
        self._permit.fail()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Leaves the run as the book has it: it ends by `finish` or `fail` only."""

    def __repr__(self) -> str:
        return f"Run({self.taken} of {self.steps} steps, {self._permit.receipt})"


def how_of(event: Event, what: str, claim: Claim | None, proofs: Sequence[str]) -> How:
    """Describes a run; refuses one of which nothing says why its steps cost what the event does."""
    if claim is None and not proofs:
        raise ClaimRequired("each step of the run costs no more than its part of the event")
    claims = () if claim is None else (claim,)
    return How(what, (("event", str(event)),), claims=claims, proofs=tuple(proofs))
