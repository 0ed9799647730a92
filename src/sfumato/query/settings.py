"""Settings: what is said besides a question: what to pay or how near to come, how much of a unit to keep, keys."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import cast, final

from sfumato.accounting.measures import Loss
from sfumato.errors import BadArgument, Several
from sfumato.exact import Number, integer, positive, probability
from sfumato.query.keysets import KeySet


@final
@dataclass(frozen=True)
class Target:
    """Is how near a number must come, and how surely."""

    half_width: Fraction
    confidence: Fraction


@final
@dataclass(frozen=True)
class Settings:
    """Is how a question is to be answered.

    ``loss`` is what to pay; or ``accuracy`` how near to come, for all numbers or by the names of columns. ``groups``,
    ``rows_each`` and ``rows`` (in all) say how much of each unit to keep, ``keys`` which groups are answered.
    ``weights`` divide the loss among the columns of the answer. ``noise`` is "laplace" or "gaussian", where that is not
    to be picked.
    """

    loss: Loss | None = None
    accuracy: Target | tuple[tuple[str, Target], ...] | None = None
    groups: int | None = None
    rows_each: int | None = None
    rows: int | None = None
    keys: KeySet | None = None
    weights: tuple[tuple[str, Fraction], ...] = ()
    noise: str | None = None

    @staticmethod
    def read(
        *,
        loss: Loss | None = None,
        accuracy: object = None,
        groups: int | None = None,
        rows_each: int | None = None,
        rows: int | None = None,
        keys: KeySet | None = None,
        weights: Mapping[str, Number] | None = None,
        noise: str | None = None,
    ) -> Settings:
        """Reads settings as people write them."""
        if (loss is None) == (accuracy is None):
            must = "given, one of them: what to pay, loss=sf.Pure(0.1), or how near to come, accuracy=(50, 0.95)"
            raise BadArgument("loss or accuracy", must, Several(loss, accuracy))
        if loss is not None and not isinstance(loss, Loss):
            raise BadArgument("loss", "a privacy loss such as sf.Pure(0.1)", loss)
        if keys is not None and not isinstance(keys, KeySet):
            raise BadArgument("keys", "an sf.KeySet, such as sf.KeySet.of(site=['a', 'b'])", type(keys).__name__)
        if noise is not None and loss is None:
            raise BadArgument("noise", "left out with accuracy=, which picks it", noise)
        return Settings(
            loss=loss,
            accuracy=None if accuracy is None else _targets(accuracy),
            groups=None if groups is None else integer(groups, "groups", least=1),
            rows_each=None if rows_each is None else integer(rows_each, "rows_each", least=1),
            rows=None if rows is None else integer(rows, "rows", least=1),
            keys=keys,
            noise=noise,
            weights=tuple(
                (name, positive(weight, f"the weight of {name}")) for name, weight in sorted((weights or {}).items())
            ),
        )


def _targets(given: object) -> Target | tuple[tuple[str, Target], ...]:
    if isinstance(given, Mapping):
        return tuple((str(name), _target(one)) for name, one in given.items())
    return _target(given)


def _target(given: object) -> Target:
    match given:
        case (width, sure):
            near, certain = cast(Number, width), cast(Number, sure)  # which are read as any number is
            return Target(positive(near, "the half-width"), probability(certain, "the confidence"))
    raise BadArgument("accuracy", "a half-width and a confidence, as in (50, 0.95)", given)
