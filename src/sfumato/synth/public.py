"""Public rows as a prior: a table like the private one that anyone may see, whose rows are given other weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from sfumato.accounting.losses.measures import Loss
from sfumato.errors import BadArgument
from sfumato.exact import Number, integer
from sfumato.release.claim import Claim, required
from sfumato.release.progress import Progress
from sfumato.synth.asking import Clique, Questions
from sfumato.synth.graph.measured import Measured
from sfumato.synth.graph.mixing import fit_mixture
from sfumato.synth.graph.model import Codes
from sfumato.synth.graph.reweighted import WeightedRows, reweighted, rows_of
from sfumato.synth.graph.sampling import flattened
from sfumato.synth.rounds import ROUNDS, Rounds, check_tables
from sfumato.synth.schema import Schema
from sfumato.synth.synthesizer import Made, Synthesizer
from sfumato.synth.workloads import Workload, read_workload

USUAL_SMOOTHING = 0.05
"""So large a share of rows has independent columns, so that rows that the public table lacks can come."""


@final
@dataclass(frozen=True, kw_only=True)
class PMWPub(Synthesizer):
    """The rows of a public table, with weights that fit tables of the private one that are chosen as the worst.

    The public table must really be public: its rows are handed out as they are, and nothing protects them. That is the
    ``claim``, without which there is no fit, and which the release shows.

    Takes:      ``public``, a frame with the same columns; the ``claim`` that it is public; ``loss``, or ``epsilon`` and
                perhaps ``delta``; ``workload``, the tables that matter; ``rounds`` of choices; ``smoothing``, the share
                of rows with independent columns: what neither it nor the public table has cannot come
    Gives:      by ``fit`` a `Synthetic`
    Guarantee:  the stated loss, for people in the private table alone (proofs/synthesis.md#methods)
    Cost:       the tables of the workload, counted once for each choice in the engine
    """

    name: ClassVar[str] = "PMWPub"
    public: object
    claim: Claim | None = None
    loss: Loss | None = None
    epsilon: Number | None = None
    delta: Number | None = None
    workload: Workload | None = None
    rounds: int | None = None
    smoothing: float = USUAL_SMOOTHING

    def claimed(self) -> Claim | None:
        """That the public rows are public; refused, where nobody says so."""
        return public_claim(self.claim)

    def check(self, schema: Schema, loss: Loss) -> None:
        """Refuses a public table of other columns or without rows, and what nobody vouches for."""
        super().check(schema, loss)
        self.claimed()
        check_tables(schema.domain, read_workload(self.workload, schema.domain))
        if self.rounds is not None:
            integer(self.rounds, "rounds", least=1)
        if not (isinstance(self.smoothing, int | float) and 0 <= self.smoothing <= 1):
            raise BadArgument("smoothing", "a share of 0 … 1", self.smoothing)
        public_codes(schema, self.public)

    def build(self, questions: Questions, schema: Schema, progress: Progress) -> Made:
        """Measures columns, and in rounds the tables that the public rows, weighted so far, get most wrong."""
        domain, rows = questions.domain, questions.rows
        codes = public_codes(schema, self.public)

        def fitted(measured: Sequence[Measured]) -> WeightedRows:
            alone = [one for one in measured if len(one.columns) == 1]
            rest = fit_mixture(domain, alone, total=rows, components=1)
            start = rows_of(domain, codes, rest, smoothing=float(self.smoothing))
            return reweighted(start, measured, total=rows)

        chosen = Rounds(questions, read_workload(self.workload, domain), fitted, rounds=self.rounds or ROUNDS)
        model = fitted(chosen.run([], progress))
        words = f"{len(model.codes):,} different public rows with weights; {self.smoothing:.3g} of all rows independent"
        return Made(model, (chosen.words, words))


def public_claim(claim: Claim | None) -> Claim:
    """The claim that a table is public; refused, where nobody says so."""
    return required(claim, "that the public table is public: that its rows may be handed out, and hold nothing private")


def public_codes(schema: Schema, public: object) -> Codes:
    """The codes of public rows; those with values that a column cannot have are left out."""
    codes = schema.encode(public)
    known = codes[(codes >= 0).all(axis=1)].astype(np.uint32)
    if not len(known):
        raise BadArgument("public", "a table with one or more rows of values that the columns can have", "none")
    return known


def prior_of(schema: Schema, codes: Codes, workload: Mapping[Clique, float]) -> list[Measured]:
    """The tables of a workload of public rows."""
    domain = schema.domain
    made: list[Measured] = []
    for clique in workload:
        places = flattened(codes, domain.axes(clique), domain.shape(clique))
        counts = np.bincount(places, minlength=domain.size(clique)).astype(np.float64)
        made.append(Measured(clique, counts.reshape(domain.shape(clique)), 0.0))
    return made
