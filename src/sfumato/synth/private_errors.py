"""How good synthetic data is, paid for: fresh noisy counts of the real table, and what they say of the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sfumato.accounting.losses.measures import Loss, Pure
from sfumato.entropy import Entropy, system
from sfumato.errors import BadArgument
from sfumato.exact import Number
from sfumato.learn.prepared import Prepared
from sfumato.query.frame import Frame
from sfumato.synth.asking import Questions, asked_questions, coded_rows, held_questions, spendable_of, started
from sfumato.synth.counting import marginals_of
from sfumato.synth.evaluation import held_rows
from sfumato.synth.holder import Basis
from sfumato.synth.noise_errors import Noise, NoiseErrors, noise_errors
from sfumato.synth.synthetic import Synthetic
from sfumato.synth.workloads import Clique, Workload


def noise_family(loss: Loss) -> Noise:
    """The family of the noise that a loss buys: Laplace for an ε, Gaussian for a ρ."""
    return Noise.LAPLACE if isinstance(spendable_of(loss), Pure) else Noise.GAUSSIAN


def private_error(
    synthetic: Synthetic,
    table: object,
    *,
    loss: Loss,
    workload: Workload | None = None,
    max_rows: int | None = None,
    key: str | None = None,
    confidence: Number = "0.95",
    entropy: Entropy | None = None,
) -> NoiseErrors:
    """Buys noisy counts of the real table, and bounds the errors of the synthetic one on a workload with them.

    Takes:      a table of a session, which is charged, or rows that one holds; the ``loss`` of all of it; a
                ``workload``, all pairs of columns unless it is given
    Gives:      a `NoiseErrors` that may be published: what it says of the real table was paid for
    Guarantee:  the stated loss; intervals as in proofs/synthetic_errors.md#fresh, as the noise is new

    The loss is shared by all tables of the workload: few of them are known well, many badly.
    """
    cliques = list(marginals_of(synthetic.schema.domain, workload))
    frame = table.frame if isinstance(table, Prepared) else table
    if not isinstance(frame, Frame):
        if max_rows is not None or key is not None:
            raise BadArgument("max_rows and key", "left out, where rows are held: each is one person's", "given")
        held = held_rows(synthetic.schema, frame, "table")
        asked = held_questions(held.codes, held.domain, loss, rows=None, entropy=entropy)
        return _told(synthetic, asked, cliques, loss, confidence, f"{loss} for {asked.unit.protects} [uncharged]")
    most = None if frame.asker.opened.catalog.by_rows else max_rows
    coded = coded_rows(frame, synthetic.schema.columns, most)
    words = f"errors of synthetic data by {synthetic.method}: {len(cliques)} tables; {'; '.join(coded.words)}"
    answers = started(frame, loss, key=f"synth error {key or system().octets(16).hex()}", what=words)
    asked = asked_questions(coded, synthetic.schema.domain, loss, rows=None, answers=answers)
    errors = _told(synthetic, asked, cliques, loss, confidence, f"{loss} for {asked.unit.protects}")
    answers.finish()
    return errors


def _told(
    synthetic: Synthetic, asked: Questions, cliques: Sequence[Clique], loss: Loss, confidence: Number, paid: str
) -> NoiseErrors:
    measured = asked.noisy(list(cliques), asked.loss)
    family, model = noise_family(loss), synthetic.model
    errors = noise_errors(measured, model, noise=family, confidence=confidence, fresh=True, basis=Basis.PAID)
    return replace(errors, paid=paid)
