"""Settings: what is said besides a question: what to pay or how near to come, how much of a unit to keep, keys."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeAlias, TypedDict, cast, final

from sfumato.accounting.losses.measures import Loss
from sfumato.accounting.losses.stated import needed_loss, stated_loss
from sfumato.errors import BadArgument, Several, elements
from sfumato.exact import Number, integer, positive, probability
from sfumato.query.nodes.keysets import KeySet

CONFIDENCE = Fraction(95, 100)

Accuracy: TypeAlias = tuple[Number, Number] | Mapping[str, tuple[Number, Number]]
"""A half-width and a confidence, for all numbers or by the names of columns."""

NoiseChoice: TypeAlias = str | Mapping[str, str]
"""Which noise to add, "laplace" or "gaussian": to all numbers, or by statistic: {"count": …, "sum": …}."""


class Said(TypedDict, total=False):
    """What people say besides a question, all of it optional; what each means is in `Session.sql`.

    The ``key`` of a question that is only explained decides nothing.
    """

    loss: Loss | Mapping[str, Loss] | None
    epsilon: Number | None
    delta: Number | None
    accuracy: Accuracy | None
    max_groups: int | None
    max_rows_per_group: int | None
    max_rows: int | None
    max_matches: int | None
    keys: KeySet | None
    weights: Mapping[str, Number] | None
    noise: NoiseChoice | None
    confidence: Number
    key: str | None


@final
@dataclass(frozen=True)
class Target:
    """How near a number must come, and how surely."""

    half_width: Fraction
    confidence: Fraction


@final
@dataclass(frozen=True)
class Settings:
    """How a question is to be answered.

    ``loss`` is what to pay; or ``accuracy`` how near to come, for all numbers or by the names of columns. ``losses``
    are what several kinds of units may lose, by name, until noise is found that keeps all of them, and so a ``loss``.
    ``max_groups``, ``max_rows_per_group`` and ``max_rows`` (in all) say how much of each unit to keep, ``max_matches``
    how many rows of each key on both sides of a join of different units, ``keys`` which groups are answered.
    ``weights`` divide the loss among the columns of the answer. ``noise`` is "laplace" or "gaussian", or which of them
    for "count" and for "sum", where that is not to be picked. ``confidence`` is that of the error bars, and decides
    nothing else; ``key`` makes a retry safe.
    """

    loss: Loss | None = None
    accuracy: Target | tuple[tuple[str, Target], ...] | None = None
    max_groups: int | None = None
    max_rows_per_group: int | None = None
    max_rows: int | None = None
    max_matches: int | None = None
    keys: KeySet | None = None
    weights: tuple[tuple[str, Fraction], ...] = ()
    noise: str | tuple[tuple[str, str], ...] | None = None
    confidence: Fraction = CONFIDENCE
    key: str | None = None
    losses: tuple[tuple[str, Loss], ...] = ()

    @staticmethod
    def read(
        *,
        loss: Loss | Mapping[str, Loss] | None = None,
        epsilon: Number | None = None,
        delta: Number | None = None,
        accuracy: Accuracy | None = None,
        max_groups: int | None = None,
        max_rows_per_group: int | None = None,
        max_rows: int | None = None,
        max_matches: int | None = None,
        keys: KeySet | None = None,
        weights: Mapping[str, Number] | None = None,
        noise: NoiseChoice | None = None,
        confidence: Number = CONFIDENCE,
        key: str | None = None,
    ) -> Settings:
        """Reads settings as people write them."""
        kinds = loss if isinstance(loss, Mapping) and loss else {}
        stated = stated_loss(None if kinds and epsilon is None else loss, epsilon, delta)
        if (stated is not None or kinds) and accuracy is not None:
            raise _unpriced(loss, accuracy)
        if keys is not None and not isinstance(keys, KeySet):
            raise BadArgument("keys", "an sf.KeySet, such as sf.KeySet.of(site=['a', 'b'])", type(keys).__name__)
        if noise is not None and accuracy is not None:
            raise BadArgument("noise", "left out with accuracy=, which picks it", noise)
        if isinstance(noise, Mapping) and not set(noise) <= {"count", "sum"}:
            raise BadArgument("noise", "for statistics that numbers are made of: 'count' and 'sum'", sorted(noise))
        return Settings(
            loss=stated,
            accuracy=None if accuracy is None else _targets(accuracy),
            max_groups=_bound(max_groups, "max_groups"),
            max_rows_per_group=_bound(max_rows_per_group, "max_rows_per_group"),
            max_rows=_bound(max_rows, "max_rows"),
            max_matches=_bound(max_matches, "max_matches"),
            keys=keys,
            noise=tuple(sorted(noise.items())) if isinstance(noise, Mapping) else noise,
            weights=tuple(
                (name, positive(weight, f"the weight of {name}")) for name, weight in sorted((weights or {}).items())
            ),
            confidence=probability(confidence, "confidence"),
            key=key,
            losses=tuple((str(kind), needed_loss(one, None, None)) for kind, one in kinds.items()),
        )

    @property
    def priced(self) -> Settings:
        """The settings, where they say what to pay or how near to come; refused where they do not."""
        if self.loss is None and self.accuracy is None and not self.losses:
            raise _unpriced(None, None)
        return self

    @property
    def planning(self) -> Settings:
        """What of the settings decides the plan: the same question may be asked at any confidence, under any key."""
        if self.confidence == CONFIDENCE and self.key is None:
            return self
        return replace(self, confidence=CONFIDENCE, key=None)


def _unpriced(loss: object, accuracy: object) -> BadArgument:
    must = "given, one of them: what to pay, epsilon=0.1 or loss=sf.Pure(0.1), or how near to come, accuracy=(50, 0.95)"
    return BadArgument("loss or accuracy", must, Several(loss, accuracy))


def _bound(most: int | None, name: str) -> int | None:
    return None if most is None else integer(most, name, least=1)


def _targets(given: object) -> Target | tuple[tuple[str, Target], ...]:
    if isinstance(given, Mapping):
        return tuple((str(name), _target(one)) for name, one in given.items())
    return _target(given)


def _target(given: object) -> Target:
    match given:
        case (width, sure):
            near, certain = cast(Number, width), cast(Number, sure)  # which are read as any number is
            with elements():  # names of columns, or values, may stand in their place
                return Target(positive(near, "the half-width"), probability(certain, "the confidence"))
    raise BadArgument("accuracy", "a half-width and a confidence, as in (50, 0.95)", given)
