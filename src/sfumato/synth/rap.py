"""RAP: many tables at once, or the worst of them round after round, and a mixture of products that fits them.

After Aydore et al. 2021 (arXiv 2103.06641), with the relaxed rows as components of a mixture. No junction tree stands
in the way: all pairs of many columns can be measured, and those that are noisy are made better by all the others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, final

from sfumato.accounting.losses.measures import Loss
from sfumato.errors import BadArgument
from sfumato.exact import Number, integer
from sfumato.release.claim import Claim
from sfumato.release.progress import Progress
from sfumato.synth.asking import Clique, Questions
from sfumato.synth.graph.measured import Measured, total_of
from sfumato.synth.graph.mixing import fit_mixture
from sfumato.synth.graph.mixture import Mixture
from sfumato.synth.public import prior_of, public_claim, public_codes
from sfumato.synth.rounds import ALONE, ROUNDS, Rounds, check_tables, noise_of_all
from sfumato.synth.schema import Schema
from sfumato.synth.synthesizer import Made, Synthesizer
from sfumato.synth.workloads import Workload, read_workload

MOST_NOISE = Fraction(4, 10)
"""If noise alone would put tables this far off, in total variation, when all are measured, the worst are chosen.

On made-up rows of 10 columns of 8 codes, and of 50 of 6, all tables at once were better up to about this: at 0.24 and
at 0.38 in two cases of three each, and below in all. Far beyond, at 1.2, nothing was better than columns by themselves:
so the more noise there would be, the more of the loss these get, `ALONE_AT_MOST` in the end.
"""

ALONE_BEFORE, ALONE_AT_MOST = Fraction(2, 10), Fraction(9, 10)
"""Columns by themselves get as large a part of the loss as the noise above is, less the first of these."""

FIRST_LOOK = Fraction(1, 50)
"""The part of the loss that tells how many rows there are, where that is not stated, to decide by."""


@final
@dataclass(frozen=True, kw_only=True)
class RAP(Synthesizer):
    """Tables of a workload, all at once where noise allows it, and a mixture of products of the size that they bear.

    Takes:      ``loss``, or ``epsilon`` and perhaps ``delta``; ``workload``, the tables that matter: 2 for all pairs
                (the usual one), 3, a list of sets of columns, or weights for them; ``adaptive`` to have the worst
                tables chosen, or all measured (left out: by the noise that all would have); ``rounds`` of choices;
                ``components`` of each mixture (left out: as many as serve best); ``public``, a frame of the same
                columns, which is trusted as far as what was measured bears it out, with the ``claim`` that it is public
    Gives:      by ``fit`` a `Synthetic`
    Guarantee:  the stated loss (proofs/synthesis.md#methods); rows of ``public`` are not protected at all
    Cost:       the tables of the workload, counted once in the engine, or once for each choice; seconds for the model
    """

    name: ClassVar[str] = "RAP"
    loss: Loss | None = None
    epsilon: Number | None = None
    delta: Number | None = None
    workload: Workload | None = None
    components: int | None = None
    adaptive: bool | None = None
    rounds: int | None = None
    public: object | None = None
    claim: Claim | None = None

    def claimed(self) -> Claim | None:
        """That the public rows are public; there must be a claim of it, where there are any."""
        return None if self.public is None else public_claim(self.claim)

    def check(self, schema: Schema, loss: Loss) -> None:
        """Refuses a workload of columns that there are not, tables that are too large, and public rows of others."""
        super().check(schema, loss)
        check_tables(schema.domain, read_workload(self.workload, schema.domain))
        for number, what in ((self.components, "components"), (self.rounds, "rounds")):
            if number is not None:
                integer(number, what, least=1)
        if self.adaptive not in (None, True, False) or (self.adaptive is False and self.rounds is not None):
            raise BadArgument("adaptive", "True, or False without rounds, or left out", self.adaptive)
        if self.public is not None:
            self.claimed()
            public_codes(schema, self.public)

    def build(self, questions: Questions, schema: Schema, progress: Progress) -> Made:
        """Measures all tables of the workload, or columns and then the tables that the model so far gets most wrong."""
        workload = read_workload(self.workload, questions.domain)
        prior = () if self.public is None else prior_of(schema, public_codes(schema, self.public), workload)
        run = Run(questions, workload, self.components, prior)
        return run.made(progress, adaptive=self.adaptive, rounds=self.rounds)


@final
class Run:
    """One run: what was measured so far, and the way that is gone."""

    def __init__(
        self,
        questions: Questions,
        workload: Mapping[Clique, float],
        components: int | None,
        prior: Sequence[Measured],
    ) -> None:
        self._questions, self._workload = questions, workload
        self._components, self._prior = components, prior
        self._measured: list[Measured] = []

    def made(self, progress: Progress, *, adaptive: bool | None, rounds: int | None) -> Made:
        """Decides which way to go, goes it, and fits the model."""
        noise = self._noise() if adaptive is None and rounds is None and len(self._workload) > 1 else Fraction(0)
        if adaptive or rounds is not None or noise > MOST_NOISE:
            alone = min(ALONE_AT_MOST, max(ALONE, noise - ALONE_BEFORE))
            chosen = Rounds(self._questions, self._workload, self._sketched, rounds=rounds or ROUNDS, alone=alone)
            self._measured = chosen.run(self._measured, progress)
            notes = chosen.words
        else:
            self._measured += self._questions.noisy(list(self._workload), self._questions.left)
            notes = f"all {len(self._workload):,} tables of the workload, at once"
        model = fit_mixture(
            self._questions.domain,
            self._measured,
            total=self._questions.rows,
            components=self._components,
            prior=self._prior,
            progress=progress,
        )
        kinds = f"a mixture of {len(model.weights):,} products of independent columns"
        return Made(model, (notes, kinds) if not self._prior else (notes, kinds, "public rows as a prior"))

    def _noise(self) -> Fraction:
        """How far off noise alone would put the tables of the workload, in total variation, if all were measured."""
        rows = self._questions.rows
        if rows is None:
            alone = [(name,) for name in self._questions.domain.names]
            self._measured += self._questions.noisy(alone, self._questions.share(FIRST_LOOK))
            rows = total_of(self._measured)
        return Fraction(round(100 * min(1e6, noise_of_all(self._questions, self._workload) / rows)), 100)

    def _sketched(self, measured: Sequence[Measured]) -> Mixture:
        """A model that shows which tables it gets wrong: quick, and with few components."""
        alone = all(len(one.columns) < 2 for one in measured)
        domain, rows = self._questions.domain, self._questions.rows
        if alone and not self._prior:
            return fit_mixture(domain, measured, total=rows, components=1)
        return fit_mixture(domain, measured, total=rows, components=16, members=2, steps=120, prior=self._prior)
