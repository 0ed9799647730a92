"""What crosses the wire, both ways: losses, explanations, and errors with their facts. Releases have a codec."""

from __future__ import annotations

from typing import Any

from sfumato import errors
from sfumato.accounting.codec import from_plain, to_plain
from sfumato.accounting.losses.measures import Loss
from sfumato.core.outages import Outage
from sfumato.errors import SfumatoError, UnknownFormat
from sfumato.exact import probability
from sfumato.query.answer.explanation import Explanation
from sfumato.release.codec import HOW, release_from_plain, release_to_plain
from sfumato.release.record import Release
from sfumato.release.values import read_value, stored_value

RELEASE = "application/vnd.sfumato.release+json"
"""The kind of content from which the very release is read back."""

UNSAID = object()
"""Stands for a fact of an error that has no form on the wire."""

LISTS_OF_ROWS = ("tree", "noise", "errors", "others")


def loss_to_plain(loss: Loss) -> Any:
    """Writes a loss exactly."""
    return to_plain(loss)


def loss_from_plain(plain: object) -> Loss:
    """Reads a loss."""
    loss = from_plain(plain)
    if not isinstance(loss, Loss):
        raise UnknownFormat("what stands for a loss is none")
    return loss


def explanation_to_plain(explanation: Explanation) -> dict[str, Any]:
    """Writes an explanation exactly."""
    return {
        "how": HOW.write(explanation.how),
        "price": to_plain(explanation.price),
        "unit": explanation.unit,
        "confidence": str(explanation.confidence),
        "half_width": stored_value(explanation.half_width),
        "bounds": list(explanation.bounds),
        **{name: [list(row) for row in getattr(explanation, name)] for name in LISTS_OF_ROWS},
        "left": None if explanation.left is None else to_plain(explanation.left),
        "known": explanation.known,
        "costs": explanation.costs,
        "refusal": explanation.refusal,
        "beside": [[who, to_plain(price), to_plain(left)] for who, price, left in explanation.beside],
    }


def explanation_from_plain(plain: Any) -> Explanation:
    """Reads an explanation."""
    try:
        return Explanation(
            HOW.read(plain["how"]),
            loss_from_plain(plain["price"]),
            str(plain["unit"]),
            probability(str(plain["confidence"]), "confidence"),
            half_width=read_value(plain["half_width"]),
            bounds=tuple(plain["bounds"]),
            **{name: tuple(tuple(row) for row in plain[name]) for name in LISTS_OF_ROWS},
            left=None if plain["left"] is None else loss_from_plain(plain["left"]),
            known=bool(plain["known"]),
            costs=bool(plain["costs"]),
            refusal=plain["refusal"],
            beside=tuple((who, loss_from_plain(price), loss_from_plain(left)) for who, price, left in plain["beside"]),
        )
    except (KeyError, TypeError, ValueError):
        pass
    raise UnknownFormat("what stands for an explanation is none")


def error_to_plain(error: SfumatoError) -> dict[str, Any]:
    """Writes the kind of an error and its facts, as far as JSON has a form for them."""
    written = {name: _fact_to_plain(value) for name, value in vars(error).items()}
    facts = {name: plain for name, plain in written.items() if plain is not UNSAID}
    return {"error": type(error).__name__, "facts": facts}


def error_from_plain(kind: object, facts: object, words: str) -> SfumatoError | None:
    """Makes the error that a service says it is; None where it is none that this version knows."""
    made = getattr(errors, kind, None) if isinstance(kind, str) else None
    if not (isinstance(made, type) and issubclass(made, SfumatoError) and isinstance(facts, dict)):
        return None
    error = made.__new__(made, words)
    error.args = (words,)
    try:
        vars(error).update({str(name): _fact_from_plain(value) for name, value in facts.items()})
    except SfumatoError:
        return None
    return error


def _fact_to_plain(value: object) -> Any:
    match value:
        case bool() | int() | float() | str() | None:
            return value
        case Outage():
            return {"outage": value.name}
        case Loss():
            return {"loss": to_plain(value)}
        case Release():
            try:
                return {"release": release_to_plain(value)}
            except SfumatoError:
                return UNSAID
    return UNSAID


def _fact_from_plain(value: object) -> Any:
    match value:
        case {"loss": plain}:
            return loss_from_plain(plain)
        case {"outage": str(name)} if name in Outage.__members__:
            return Outage[name]
        case {"release": plain}:
            return release_from_plain(plain)
    return value
