"""Several questions in one charge: how they share a loss, and one measurement of all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from sfumato.combinators.composition import composition
from sfumato.core.measurement import Measurement
from sfumato.core.partial import start
from sfumato.core.plan import planned
from sfumato.errors import BadArgument
from sfumato.query.build.settings import Settings
from sfumato.query.nodes.worked_out import Finished
from sfumato.query.plan.compiled_query import CompiledQuery
from sfumato.release.record import Failure, How

PROOF = "proofs/query.md#together"


def settings_of(answers: Sequence[Finished], settings: Settings) -> list[Settings]:
    """The settings of each of several questions: a share of the loss, evenly or by ``weights``, and the keys it has.

    One question alone is asked as if nothing stood around it: its weights are those of its columns.
    """
    if len(answers) == 1:
        return [settings]
    weights, names = dict(settings.weights), [one.name for one in answers]
    if unknown := sorted(set(weights) - set(names)):
        raise BadArgument("weights", f"for the finished answers, which share the loss: {', '.join(names)}", unknown[0])
    if isinstance(settings.accuracy, tuple):
        raise BadArgument("accuracy", "one for all numbers, where there are several finished answers", "several")
    parts = [weights.get(name, Fraction(1)) for name in names]
    given = settings.keys
    fits = [given is not None and _has_keys(one, given.names) for one in answers]
    if given is not None and not any(fits):
        raise BadArgument("keys", "over all that one of the finished answers is grouped by", given)
    return [
        replace(
            settings,
            weights=(),
            loss=None if settings.loss is None else settings.loss.scaled(part / sum(parts)),
            keys=given if fit else None,
        )
        for part, fit in zip(parts, fits, strict=True)
    ]


def _has_keys(one: Finished, names: Sequence[str]) -> bool:
    return bool(one.question.keys) and {name for name, _ in one.question.keys} <= set(names)


def measured_together(compiled: Sequence[CompiledQuery], names: Sequence[str], confidence: Fraction) -> Measurement:
    """One measurement that gives the answers of all questions; their losses and events compose."""
    parts = [one.measurement(confidence) for one in compiled]
    if len(parts) == 1:
        return parts[0]
    whole = start(compiled[0].space, composition(parts))
    if not isinstance(whole, Measurement):
        raise TypeError(type(whole))
    return planned(replace(whole, how=how_together([part.how for part in parts], names)), whole.plan)


def how_together(parts: Sequence[How], names: Sequence[str]) -> How:
    """Describes several questions as one: all that each of them says."""
    if len(parts) == 1:
        return parts[0]
    named = list(zip(names, parts, strict=True))
    return How(
        "; ".join(dict.fromkeys(part.mechanism for part in parts)),
        tuple((f"{name}: {what}", how) for name, part in named for what, how in part.parameters),
        steps=tuple(dict.fromkeys(step for part in parts for step in part.steps)),
        claims=tuple(dict.fromkeys(claim for part in parts for claim in part.claims)),
        proofs=tuple(dict.fromkeys(proof for part in parts for proof in (*part.proofs, PROOF))),
        failure=max((part.failure for part in parts), key=list(Failure).index),
        asked="; ".join(f"{name}: {part.asked}" for name, part in named),
        cuts=tuple(dict.fromkeys(cut for part in parts for cut in part.cuts)),
    )
