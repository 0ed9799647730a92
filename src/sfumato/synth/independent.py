"""Independent columns: the least that a loss can buy, and what every other method must beat."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, final

from sfumato.accounting.losses.measures import Loss
from sfumato.exact import Number
from sfumato.release.progress import Progress
from sfumato.synth.asking import Questions
from sfumato.synth.schema import Schema
from sfumato.synth.synthesizer import Made, Synthesizer


@final
@dataclass(frozen=True, kw_only=True)
class Independent(Synthesizer):
    """Columns as if they had nothing to do with each other: one noisy count of each value, and that is all.

    Takes:      ``loss``, or ``epsilon`` and perhaps ``delta``
    Gives:      by ``fit`` a `Synthetic`
    Guarantee:  the stated loss (proofs/synthesis.md#methods)
    Cost:       one pass in the engine
    """

    name: ClassVar[str] = "independent columns"
    loss: Loss | None = None
    epsilon: Number | None = None
    delta: Number | None = None

    def build(self, questions: Questions, schema: Schema, progress: Progress) -> Made:
        """Measures every column by itself."""
        questions.noisy([(name,) for name in questions.domain.names], questions.loss)
        return Made(
            questions.fitted(), ("every column by itself: nothing that columns have to do with each other is kept",)
        )
