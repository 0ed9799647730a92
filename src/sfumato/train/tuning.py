"""Tuning: many trainings on private rows, of which the best is released, at the price of the whole search."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from sfumato.accounting.events import Runs
from sfumato.accounting.losses.measures import Loss
from sfumato.accounting.losses.stated import stated_loss
from sfumato.combinators.tuning import FEW, law_of_runs
from sfumato.entropy import Entropy, system
from sfumato.errors import BadArgument
from sfumato.exact import Number, integer, positive, rational
from sfumato.train.candidates import Candidate, Given, Make, Trials, listed, planned
from sfumato.train.clipping import Clipping
from sfumato.train.paying import Payer
from sfumato.train.planning import STRICTER
from sfumato.train.scoring import NoisyScore, ScoreFunction, accuracy
from sfumato.train.searching import Search, Tuned
from sfumato.train.trainer import LossFunction
from sfumato.train.units import Augment, Units


def tune(
    make: Make,
    data: object,
    candidates: object,
    *,
    loss_function: LossFunction,
    loss: Loss | None = None,
    epsilon: Number | None = None,
    delta: Number | None = None,
    noise_multiplier: Number | None = None,
    score: ScoreFunction = accuracy,
    score_deviation: Number = Fraction(1, 100),
    runs: int | Runs | None = None,
    pad: int | None = None,
    holdout: object = None,
    public: object = None,
    batch: int | None = None,
    epochs: Number | None = None,
    steps: int | None = None,
    clip: float | Clipping = 1.0,
    people: Sequence[object] | None = None,
    max_rows: int = 1,
    augment: Augment | None = None,
    augmentations: int = 1,
    largest: int | None = None,
    size: int | None = None,
    session: Payer | None = None,
    key: str | None = None,
    entropy: Entropy | None = None,
) -> Tuned:
    """Trains candidates with noise, scores them with noise, and releases the best: score, model, hyper-parameters.

    Takes:      ``make(**hyper-parameters)``, which gives a model, or (model, optimizer), and sees no rows; ``data`` as
                for `private`; ``candidates``, a list of hyper-parameters or a grid, where ``batch``, ``epochs``,
                ``steps`` and ``clip`` are the plan's and all others are make's; a ``loss`` to keep in all, or a
                ``noise_multiplier`` and a ``delta``; ``score(output, labels)``, one number a row from 0 to 1, and
                about how far noise may move its mean; ``runs``, a mean or a law such as sf.events.PoissonRuns(20)
    Gives:      a `Tuned`
    Guarantee:  up to 3 candidates all run and all are paid for; of more, each of a secret number of runs draws one,
                which costs what the theorem on the best of them says of a training and its score, together
                (proofs/tuning.md#tuning, proofs/repeat_and_select.md#wrapper)
    Cost:       that of all runs; their number shows in the time it takes, so keep that: ``pad=100`` trains on, for
                nothing, until there were 100 runs

    ``holdout=(X, y)`` are public rows that score without noise, for nothing. With ``public=(X, y)`` all candidates are
    trained and scored on public rows, with the noise on a mean gradient that they will have, and the best is trained
    once on ``data``: then one training is all that is paid for. With a ``session`` all is charged before anything runs;
    a search that breaks off is lost, and another one needs another ``key``.
    """
    units = Units(data, people=people, max_rows=max_rows, augment=augment, augmentations=augmentations)
    told = units.count if size is None else integer(size, "size", least=1)
    keep = stated_loss(loss, epsilon, None if noise_multiplier is not None else delta)
    if (keep is None) == (noise_multiplier is None):
        raise BadArgument("loss or noise_multiplier", "given, one of them", noise_multiplier)
    if session is not None and not key:
        raise BadArgument("key", "a name of this search: it is charged once for a key", key)
    most = None if largest is None else integer(largest, "largest", least=1)
    stated: Given = {"batch": batch, "epochs": epochs, "steps": steps, "clip": clip}
    tried = tuple(
        Candidate(given, make, loss_function, planned({**stated, **given}, told, session), most)
        for given in listed(candidates)
    )
    for each in tried:
        each.tried(units.example(), score)
    rows = public if public is not None else holdout
    trials = Trials(
        tried,
        NoisyScore(score, rational(score_deviation, "score_deviation"), told),
        _law(len(tried), runs),
        max((each.plan.relation for each in tried), key=STRICTER.index),
        Units(data, people=people, max_rows=max_rows),
        None if rows is None else Units(rows),
    )
    noise = None if noise_multiplier is None else positive(noise_multiplier, "noise_multiplier")
    padded = None if pad is None else integer(pad, "pad", least=1)
    search = Search(units, keep, delta, noise, padded, session, key, system() if entropy is None else entropy)
    return search.of(trials) if public is None else search.by_public_rows(trials, public)


def _law(candidates: int, runs: int | Runs | None) -> Runs | None:
    """The law of the number of runs; None where all candidates run."""
    if isinstance(runs, Runs):
        return runs
    if runs is None:
        return None if candidates <= FEW else law_of_runs(candidates)
    return law_of_runs(candidates, integer(runs, "runs", least=2))
