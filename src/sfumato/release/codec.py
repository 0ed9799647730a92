"""A stored form of releases: what JSON can hold, and from which the same release comes back.

Version 1 of the format: every field of the release under its name. A value is itself where JSON has a form for it
(None, truth values, texts, lists, whole numbers up to 63 bits), else one word that says what it is, and the thing.
Rules that never change: no word and no field is removed, none changes its meaning; what is unknown is refused. A field
that came later is written only where it says something, and where it is not there it says nothing: what was stored
before it is read as it always was. Reading runs no code but the constructors named here.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from sfumato.accounting.codec import from_plain, to_plain
from sfumato.accounting.measures import Loss
from sfumato.errors import BadArgument, UnknownFormat
from sfumato.noise.binomial import Binomial
from sfumato.noise.bounded import Truncated
from sfumato.noise.discrete_gaussian import DiscreteGaussian
from sfumato.noise.discrete_laplace import DiscreteLaplace
from sfumato.noise.staircase import Staircase
from sfumato.release.claim import Claim
from sfumato.release.record import Cut, Cutting, Fact, Failure, How, Noised, Receipt, Release
from sfumato.release.values import Stored, read_value, stored_value

FORMAT, VERSION = "sfumato/release", 1

NOISES = (DiscreteLaplace, DiscreteGaussian, Staircase, Truncated, Binomial)

MOST_BITS, MOST_TRIALS = 2048, 1 << 20
"""What the numbers of a stored noise may be at most: so that its intervals take about a second, whoever wrote it."""

FIELDS = [
    *("format", "version", "value", "loss", "unit", "how", "half_width", "confidence", "replayable", "adjacency"),
    *("noise", "data", "facts", "receipt", "made_by"),
]


def release_to_plain(release: Release) -> dict[str, Stored]:
    """Gives a release as dictionaries, lists, texts and whole numbers; refuses values that have no stored form.

    >>> from sfumato.accounting.measures import Pure
    >>> plain = release_to_plain(Release(3.5, Pure(1), "a row", How("laplace")))
    >>> plain["value"], plain["loss"]["kind"]
    ({'float': '0x1.c000000000000p+1'}, 'Pure')
    >>> release_from_plain(plain).value
    3.5
    """
    how, noise, receipt = release.how, release.noise, release.receipt
    return {
        "format": FORMAT,
        "version": VERSION,
        "value": stored_value(release.value),
        "loss": to_plain(release.loss),  # type: ignore[dict-item]  # the plain form of accounting is one of these
        "unit": release.unit,
        "how": _how_to_plain(how),
        "half_width": stored_value(release.half_width),
        "confidence": stored_value(release.confidence),
        "replayable": release.replayable,
        "adjacency": release.adjacency,
        "noise": None if noise is None else _noise_to_plain(noise),
        "data": release.data,
        "facts": [[fact.what, fact.source] for fact in release.facts],
        "receipt": None if receipt is None else [receipt.entry, receipt.digest, receipt.account, receipt.time],
        "made_by": release.version,
    }


def release_from_plain(plain: object) -> Release:
    """Reads what `release_to_plain` wrote; refuses every format, version, field or word that it does not know."""
    if not isinstance(plain, dict):
        raise UnknownFormat("it is no dictionary")
    if plain.get("format") != FORMAT:
        raise UnknownFormat(f"its format is not {FORMAT!r}")
    if type(plain.get("version")) is not int or plain["version"] != VERSION:
        raise UnknownFormat(f"its version is not {VERSION}")
    read = _fields(plain, FIELDS, "release")
    return Release(
        value=read_value(read["value"]),
        loss=_loss(read["loss"]),
        unit=_text(read["unit"]),
        how=_how(read["how"]),
        half_width=_widths(read_value(read["half_width"])),
        confidence=_share(read_value(read["confidence"])),
        replayable=_flag(read["replayable"]),
        adjacency=_text(read["adjacency"]),
        noise=None if read["noise"] is None else _noise(read["noise"]),
        data=_text(read["data"]),
        facts=tuple(Fact(_text(what), _text(source)) for what, source in _pairs(read["facts"])),
        receipt=None if read["receipt"] is None else _receipt(read["receipt"]),
        version=_text(read["made_by"]),
    )


def _how_to_plain(how: How) -> Stored:
    later: dict[str, Stored] = {
        "asked": how.asked,
        "cuts": [[cut.cutting.name, cut.what, cut.source] for cut in how.cuts],
    }
    return {
        "mechanism": how.mechanism,
        "parameters": [[name, value] for name, value in how.parameters],
        "steps": list(how.steps),
        "postprocessing": list(how.postprocessing),
        "claims": [claim.text for claim in how.claims],
        "proofs": list(how.proofs),
        "failure": how.failure.name,
        **{name: said for name, said in later.items() if said},
    }


HOW = ["mechanism", "parameters", "steps", "postprocessing", "claims", "proofs", "failure"]


def _how(plain: object) -> How:
    read = _fields(plain, HOW, "how", later={"asked": "", "cuts": []})
    failure = read["failure"]
    if not isinstance(failure, str) or failure not in Failure.__members__:
        raise UnknownFormat("its kind of failure is unknown")
    return How(
        mechanism=_text(read["mechanism"]),
        parameters=tuple((_text(name), _text(value)) for name, value in _pairs(read["parameters"])),
        steps=_texts(read["steps"]),
        postprocessing=_texts(read["postprocessing"]),
        claims=tuple(Claim(text) for text in _texts(read["claims"])),
        proofs=_texts(read["proofs"]),
        failure=Failure[failure],
        asked=_text(read["asked"]),
        cuts=tuple(_cut(part) for part in _list(read["cuts"])),
    )


def _cut(plain: object) -> Cut:
    kind, *said = _list(plain) or [None]
    if not isinstance(kind, str) or kind not in Cutting.__members__ or len(said) != 2:
        raise UnknownFormat("a cut is not a kind, what was cut, and who said so")
    return Cut(Cutting[kind], _text(said[0]), _text(said[1]))


def _noise_to_plain(noised: Noised) -> Stored:
    if type(noised.noise) not in NOISES:
        raise BadArgument(
            "what is stored", "a release whose noise is one of sfumato's own", type(noised.noise).__name__
        )
    if not _is_moderate(noised.noise):
        raise BadArgument("what is stored", MODERATE, type(noised.noise).__name__)
    return {
        "noise": to_plain(noised.noise),  # type: ignore[dict-item]  # the plain form of accounting is one of these
        "step": stored_value(noised.step),
        "coordinates": noised.coordinates,
        "rounding": stored_value(noised.rounding),
        "offset": stored_value(noised.offset),
    }


def _noise(plain: object) -> Noised:
    read = _fields(plain, ["noise", "step", "coordinates", "rounding", "offset"], "noise")
    noise, step, rounding = from_plain(read["noise"]), read_value(read["step"]), read_value(read["rounding"])
    coordinates, offset = read_value(read["coordinates"]), read_value(read["offset"])
    if not isinstance(noise, NOISES) or type(coordinates) is not int or coordinates < 0 or type(offset) is not int:
        raise UnknownFormat("its noise is no integer noise on so many coordinates")
    if not _is_moderate(noise):
        raise UnknownFormat(f"its noise is not {MODERATE}")
    if type(step) is not Fraction or type(rounding) is not Fraction or step <= 0 or rounding < 0:
        raise UnknownFormat("its noise is not in whole steps")
    return Noised(noise, step, coordinates, rounding, offset)


MODERATE = f"noise with numbers of up to {MOST_BITS} bits, or of up to {MOST_TRIALS} coins"


def _is_moderate(noise: object) -> bool:
    match noise:
        case DiscreteLaplace():
            return _few_bits(noise.scale)
        case DiscreteGaussian():
            return _few_bits(noise.square, 2 * MOST_BITS)
        case Staircase():
            return _few_bits(noise.decay)
        case Truncated():
            return _few_bits(noise.low) and _few_bits(noise.high) and _is_moderate(noise.noise)
        case Binomial():
            return noise.trials <= MOST_TRIALS
    return False


def _few_bits(value: Fraction | int, most: int = MOST_BITS) -> bool:
    return max(value.numerator.bit_length(), value.denominator.bit_length()) <= most


def _widths(value: Any) -> Any:
    if isinstance(value, dict | list | tuple | np.ndarray):
        parts = value.values() if isinstance(value, dict) else value.ravel() if isinstance(value, np.ndarray) else value
        for part in parts:
            _widths(part)
    elif isinstance(value, int | float | Fraction | np.number) and not value >= 0:
        raise UnknownFormat("the half of its error bar is less than 0, or no number")
    return value


def _receipt(plain: object) -> Receipt:
    if not isinstance(plain, list) or len(plain) != 4 or type(plain[0]) is not int:
        raise UnknownFormat("its receipt is not an entry, a digest, an account and a time")
    entry, digest, account, time = plain
    return Receipt(entry, _text(digest), _text(account), _text(time))


def _loss(plain: object) -> Loss:
    loss = from_plain(plain)
    if not isinstance(loss, Loss):
        raise UnknownFormat("what stands for its loss is none")
    return loss


def _share(value: object) -> Fraction:
    if type(value) is not Fraction or not 0 <= value <= 1:
        raise UnknownFormat("its confidence is no rational between 0 and 1")
    return value


def _fields(plain: object, names: list[str], what: str, *, later: Mapping[str, object] | None = None) -> dict[str, Any]:
    """Gives the fields of a record, all of which are there but for those that came later."""
    optional = later or {}
    if not isinstance(plain, dict) or not set(names) <= set(plain) <= {*names, *optional}:
        raise UnknownFormat(f"a {what} has the fields {', '.join((*names, *optional))} and no others")
    return {**optional, **plain}


def _text(plain: object) -> str:
    if type(plain) is not str:
        raise UnknownFormat("something else stands where a text should")
    return plain


def _flag(plain: object) -> bool:
    if type(plain) is not bool:
        raise UnknownFormat("something else stands where true or false should")
    return plain


def _texts(plain: object) -> tuple[str, ...]:
    return tuple(_text(part) for part in _list(plain))


def _list(plain: object) -> list[object]:
    if not isinstance(plain, list):
        raise UnknownFormat("something else stands where a list should")
    return plain


def _pairs(plain: object) -> list[tuple[object, object]]:
    if not isinstance(plain, list) or not all(isinstance(pair, list) and len(pair) == 2 for pair in plain):
        raise UnknownFormat("something else stands where a list of pairs should")
    return [(first, second) for first, second in plain]
