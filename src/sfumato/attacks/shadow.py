"""Membership with shadow models: the attacker trains models of the same kind, and learns from them what members do.

Shokri, Stronati, Song, Shmatikov 2017 (arXiv 1610.05820); the likelihood ratio is that of Carlini et al. 2022 (arXiv
2112.03570).
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from sfumato.accounting.meaning.attacker import Tested
from sfumato.attacks.fitting import Fit, Labelled, Sample, confidences, fit_model, log_odds, read_samples
from sfumato.attacks.membership import membership
from sfumato.attacks.result import Attack
from sfumato.entropy import Entropy, system
from sfumato.errors import BadArgument
from sfumato.exact import integer
from sfumato.release.progress import Progress, reporting

Floats: TypeAlias = NDArray[np.float64]

ENOUGH = 64
"""With fewer shadow models than this, all records share one spread: few confidences tell nothing of their own."""

NARROWEST = 1e-3
"""No spread of logarithmic odds is taken to be smaller: a model without any randomness has none."""


def shadow_models(
    fit: Fit,
    members: Labelled,
    outsiders: Labelled,
    *,
    auxiliary: Labelled,
    shadows: int = 8,
    loss: Tested | None = None,
    against: str | None = None,
    entropy: Entropy | None = None,
    progress: Progress | None = None,
) -> Attack:
    """Learns from shadow models how sure a model is of members of each class, then tests a model of members.

    Each shadow is trained on random auxiliary records, which the attacker has; so its members are known. They are as
    many as the target's, or half of the auxiliary records where that is less. In every class, a record is accused if
    the confidence of the target reaches the level that told shadows' members best. No answer about the target's own
    members is needed.
    """
    inside, outside, known = read_samples(members=members, outsiders=outsiders, auxiliary=auxiliary)
    source = entropy or system()
    sure, used = _shadows(fit, known, known, size=len(inside), shadows=shadows, entropy=source, progress=progress)
    levels = _levels(sure, used, np.broadcast_to(known.labels, sure.shape))
    target = fit_model(fit, inside, source)

    def margins(sample: Sample) -> Floats:
        level = np.array([levels.get(int(label), np.inf) for label in sample.labels])
        return np.asarray(log_odds(confidences(target, sample)) - level)

    name = "membership inference with shadow models"
    return membership(margins(inside), margins(outside), threshold=0.0, loss=loss, against=against, name=name)


def lira(
    fit: Fit,
    members: Labelled,
    outsiders: Labelled,
    *,
    auxiliary: Labelled | None = None,
    shadows: int = 32,
    online: bool = True,
    loss: Tested | None = None,
    against: str | None = None,
    entropy: Entropy | None = None,
    progress: Progress | None = None,
) -> Attack:
    """Compares, record by record, how sure models are with it and without it: the likelihood-ratio attack.

    Online, shadows are trained on random halves of the questioned records; a record is accused if the target's
    confidence is likelier under the Gaussian of shadows that saw it than under that of those that did not. Offline,
    shadows see auxiliary records only, and a record is the more suspect the farther the target's confidence is above
    what shadows have; the level is learnt from every second record.

    A model is the less sure of a record the more others it saw: shadows have as many records as the target. Where half
    of the questioned ones are more than that, they take fewer; where they are fewer, auxiliary records join them.
    """
    if auxiliary is None and not online:
        raise BadArgument("auxiliary", "given where online is False, for shadows to be trained on", None)
    extra = {} if auxiliary is None else {"auxiliary": auxiliary}
    inside, outside, *known = read_samples(members=members, outsiders=outsiders, **extra)
    source, questioned = entropy or system(), inside.joined(outside)
    pool, *more = [questioned, *known] if online else known
    sure, used = _shadows(
        fit, pool, questioned, *more, size=len(inside), shadows=shadows, entropy=source, progress=progress
    )
    target = log_odds(confidences(fit_model(fit, inside, source), questioned))
    mean_out, spread_out = _gaussians(sure, ~used if online else np.ones_like(sure, dtype=np.bool_))
    scores = (target - mean_out) / spread_out
    if online:
        mean_in, spread_in = _gaussians(sure, used)
        scores = (scores**2 - ((target - mean_in) / spread_in) ** 2) / 2 + np.log(spread_out / spread_in)
    return membership(
        scores[: len(inside)],
        scores[len(inside) :],
        threshold=0.0 if online else None,
        loss=loss,
        against=against,
        name=f"likelihood-ratio membership inference, {'online' if online else 'offline'}",
    )


def _shadows(
    fit: Fit,
    pool: Sample,
    questioned: Sample,
    more: Sample | None = None,
    *,
    size: int,
    shadows: int,
    entropy: Entropy,
    progress: Progress | None,
) -> tuple[Floats, NDArray[np.bool_]]:
    """Trains shadows on at most ``size`` records of a pool, half of it at most; where these are fewer, more are added.

    Says how sure each shadow is of what is asked, and which records of the pool it had seen. Shadows come in pairs that
    share no record of the pool, so that where each has half of it, every record is seen as often as not.
    """
    count, drawn = integer(shadows, "shadows", least=2), min(size, len(pool) // 2)
    sure, used = np.zeros((count, len(questioned))), np.zeros((count, len(pool)), dtype=np.bool_)
    orders = [_shuffled(len(pool), entropy) for _ in range(0, count, 2)]
    with reporting(progress, "training shadow models") as tell:
        for place in range(count):
            used[place, orders[place // 2][slice(drawn) if place % 2 == 0 else slice(-drawn, None)]] = True
            seen = pool.taken(used[place])
            if more is not None:
                seen = seen.joined(more.taken(_shuffled(len(more), entropy)[: size - drawn]))
            sure[place] = log_odds(confidences(fit_model(fit, seen, entropy), questioned))
            tell(place + 1, count)
    return sure, used


def _shuffled(count: int, entropy: Entropy) -> NDArray[np.int64]:
    """Places in a random order."""
    return np.asarray(np.argsort(entropy.words(count)))


def _levels(sure: Floats, used: NDArray[np.bool_], labels: NDArray[np.int64]) -> dict[int, float]:
    """Finds for every class the level of confidence that tells shadows' members from others best."""
    levels = {}
    for label in np.unique(labels):
        inside, outside = sure[used & (labels == label)], sure[~used & (labels == label)]
        tried = np.unique(inside)
        if len(inside) and len(outside):
            above = [1 - np.searchsorted(np.sort(side), tried) / len(side) for side in (inside, outside)]
            levels[int(label)] = float(tried[np.argmax(above[0] - above[1])])
    return levels


def _gaussians(sure: Floats, chosen: NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """Fits a Gaussian to each record's confidences under the chosen shadows; where none is chosen, that of all."""
    counts = chosen.sum(axis=0)
    total = np.where(chosen, sure, 0.0).sum(axis=0)
    overall = total.sum() / max(1, counts.sum())
    mean = np.where(counts > 0, total / np.maximum(counts, 1), overall)
    squares = np.where(chosen, (sure - mean) ** 2, 0.0)
    shared = squares.sum() / max(1, (counts - (counts > 0)).sum())
    own = squares.sum(axis=0) / np.maximum(counts - 1, 1)
    variance = np.where(counts > 1, own, shared) if len(sure) >= ENOUGH else np.full(len(counts), shared)
    return mean, np.maximum(np.sqrt(variance), NARROWEST)
