"""One line for a few numbers: histograms, counts of public and of unknown keys, the most frequent of them."""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import numpy as np

from sfumato.accounting.losses.measures import Approx
from sfumato.core.domains import Texts, Vector, categories
from sfumato.core.metrics import AddRemove
from sfumato.core.space import Space
from sfumato.dp.chains import COLUMN, SURE, Between, least_noise, read_bounds, released
from sfumato.dp.reading import entries, numbers
from sfumato.entropy import Entropy
from sfumato.errors import BadArgument, elements
from sfumato.exact import Number, integer, positive, probability, rational
from sfumato.mechanisms.additive import laplace
from sfumato.mechanisms.unknown_keys import histogram as histogram_of_unknown
from sfumato.mechanisms.unknown_keys import key_noise, loss_of_a_row
from sfumato.release.answer import Answer, AnswerColumn, Role
from sfumato.release.record import Release
from sfumato.stats.keys import top_keys
from sfumato.transforms.casts import bin_by
from sfumato.transforms.filters import drop_nan
from sfumato.transforms.histogram import count_by as counts_of

BINS = 10
"""How many bins a histogram has, where nothing is said."""


def histogram(
    values: object,
    bins: int | Sequence[Number] = BINS,
    *,
    between: Between = None,
    epsilon: Number,
    confidence: Number = SURE,
    entropy: Entropy | None = None,
) -> Release:
    """Counts the entries of each bin: from each edge, included, to the next; the last bin has both.

    ``bins`` are public edges, or how many bins of one width to cut ``between`` into. Entries outside are not counted.

    >>> histogram([3, None, 15], [0, 10, 20], epsilon=1).value.names
    ('from', 'to', 'n')
    """
    edges = _edges(bins, between)
    cut = [*map(Fraction, edges[:-1]), Fraction(np.nextafter(edges[-1], np.inf))]  # so that the last edge is inside
    counted = COLUMN >> drop_nan() >> bin_by(cut) >> counts_of(range(1, len(edges)))
    release = released(least_noise(lambda b: counted >> laplace(b), epsilon), numbers(values), confidence, entropy)
    keys = [AnswerColumn("from", edges[:-1], Role.KEY), AnswerColumn("to", edges[1:], Role.KEY)]
    return _told(release, keys, confidence)


def count_by(
    values: object,
    keys: Sequence[Hashable] | None = None,
    *,
    epsilon: Number,
    delta: Number | None = None,
    confidence: Number = SURE,
    entropy: Entropy | None = None,
) -> Release:
    """Counts the entries of each public key; without ``keys``, those of all keys that occur often enough.

    Which keys occur is private as well, so that takes a ``delta``: a key that few entries have is not shown.

    >>> count_by(["a", None, "b"], ["a", "b", "c"], epsilon=1).loss
    Pure(epsilon=1.0)
    >>> count_by(["a", None, "b"], epsilon=1, delta=1e-6).value.names
    ('key', 'n')
    """
    if keys is None:
        return _unknown(values, epsilon, delta, confidence, entropy)
    if delta is not None:
        raise BadArgument("delta", "left out, where keys are listed: counting them needs none", delta)
    column, (listed, places) = AnswerColumn("key", list(keys), Role.KEY), _listed(keys, values)
    counted = places >> counts_of()
    release = released(least_noise(lambda b: counted >> laplace(b), epsilon), listed, confidence, entropy)
    return _told(release, [column], confidence)


def top_k(
    values: object,
    k: int,
    *,
    keys: Sequence[Hashable] | None = None,
    epsilon: Number,
    delta: Number | None = None,
    entropy: Entropy | None = None,
) -> Release:
    """Names the ``k`` most frequent keys, best first: of a public list, or of all that occur, which takes a ``delta``.

    >>> top_k(["a", "b", "a"], 1, keys=["a", "b", "c"], epsilon=1).loss
    Pure(epsilon=1.0)
    """
    many = integer(k, "k", least=1)
    if keys is None:
        release = _unknown(values, epsilon, delta, SURE, entropy)
        order = np.argsort(-np.asarray(release.value["n"].values, dtype=np.float64), kind="stable")[:many]
        best = tuple(release.value["key"].values[order].tolist())
        return replace(release, value=best, how=release.how.then(f"the first {many}"))
    if delta is not None:
        raise BadArgument("delta", "left out, where keys are listed: choosing among them needs none", delta)
    listed, places = _listed(keys, values)
    if many > len(keys):
        raise BadArgument("k", f"at most {len(keys)}, which is how many keys are listed", k)
    measurement = least_noise(lambda heat: places >> top_keys(many, keys=range(len(keys)), temperature=heat), epsilon)
    release = released(measurement, listed, SURE, entropy)
    return replace(release, value=tuple(keys[place] for place in release.value))


def _edges(bins: int | Sequence[Number], between: Between) -> list[float]:
    """The public edges of a histogram, as floats."""
    if isinstance(bins, int):
        if between is None:
            must = "given, where bins are numbered: between=(0, 120); or list their edges instead: [0, 18, 65, 120]"
            raise BadArgument("between", must, None)
        bounds, many = read_bounds(between, "histogram"), integer(bins, "bins", least=1)
        cuts = [bounds.lower + bounds.width * place / many for place in range(many + 1)]
    else:
        if between is not None:
            raise BadArgument("between", "left out, where the edges of all bins are listed", between)
        with elements():
            cuts = [rational(edge, "an edge") for edge in bins]
    edges = [float(cut) for cut in cuts]
    if len(edges) < 2 or any(left >= right for left, right in pairwise(edges)):
        raise BadArgument("bins", "a number of bins, or two or more edges in rising order", bins)
    return edges


def _listed(keys: Sequence[Hashable], values: object) -> tuple[list[int], Space]:
    """Reads entries as places in a public list, each by itself; those that are not in it are left out."""
    public = categories(keys).values
    _check_alike(public, values)
    places = {key: place for place, key in enumerate(public)}
    listed = [places[entry] for entry in entries(values) if entry in places]
    return listed, Space(Vector(categories(range(len(public)))), AddRemove())


def _check_alike(keys: Sequence[Hashable], values: object) -> None:
    """Refuses texts as keys of a column whose type is one of numbers, and the other way round: none would be found."""
    held = str(getattr(values, "dtype", getattr(values, "type", ""))).lower()
    texts = {isinstance(key, str) for key in keys}
    if texts == {True} and held.startswith(("int", "uint", "float", "double")):
        raise BadArgument("keys", f"numbers, as the column holds ({held})", "texts")
    if texts == {False} and held.startswith(("str", "large_string", "utf8")):
        raise BadArgument("keys", f"texts, as the column holds ({held})", "other values")


def _unknown(
    values: object, epsilon: Number, delta: Number | None, confidence: Number, entropy: Entropy | None
) -> Release:
    """Counts keys that nobody listed."""
    if delta is None:
        must = (
            "given, where keys are not listed: which of them occur is private as well. Write delta=1e-6 (much less "
            "than 1 over the number of entries), or list the keys: keys=[…]"
        )
        raise BadArgument("delta", must, None)
    present = [_as_text(entry) for entry in entries(values)]
    loss = Approx(positive(epsilon, "epsilon"), positive(delta, "delta"))
    release = released(
        Space(Vector(Texts()), AddRemove()) >> histogram_of_unknown(loss=loss), present, confidence, entropy
    )
    shown, (low, high) = release.value, key_noise(*loss_of_a_row(loss, 1, exchanged=False)).reach
    counts, keys = [count for _, count in shown], [_from_text(key) for key, _ in shown]
    if len({key[0] for key, _ in shown}) > 1:  # a column has one kind: of several released ones it is a text
        keys = [str(key) for key in keys]
    columns = (
        AnswerColumn("key", keys, Role.KEY),
        AnswerColumn("n", counts, Role.VALUE, [n - high for n in counts], [n - low for n in counts]),
    )
    return replace(release, value=Answer(columns, release.confidence))


def _as_text(entry: Hashable) -> str:
    """An entry as a text that tells its kind, each by itself: what kind a column is could hang on a single entry."""
    match entry:
        case str():
            return f"s{entry}"
        case bool():
            return f"b{entry:d}"
        case int() | float():
            return f"n{entry!r}"
        case datetime.datetime():
            return f"t{entry.isoformat()}"
        case datetime.date():
            return f"d{entry.isoformat()}"
    raise BadArgument("values", "texts, numbers, truth values, days or times, where keys are not listed", "others")


def _from_text(text: str) -> Hashable:
    """The entry that `_as_text` wrote."""
    kind, said = text[0], text[1:]
    readers: dict[str, Callable[[str], Hashable]] = {
        "s": str,
        "b": "1".__eq__,
        "n": lambda number: float(number) if any(sign in number for sign in ".einf") else int(number),
        "t": datetime.datetime.fromisoformat,
        "d": datetime.date.fromisoformat,
    }
    return readers[kind](said)


def _told(release: Release, keys: list[AnswerColumn], confidence: Number) -> Release:
    """The release as a table: a noisy count for each key, each with an interval of its own."""
    sure, counts = probability(confidence, "confidence"), release.estimate()
    intervals = [one.interval(sure) for one in (counts if isinstance(counts, list) else [counts])]
    ends = [(math.ceil(one.low), math.floor(one.high)) for one in intervals if one is not None]
    low, high = zip(*ends, strict=True)
    column = AnswerColumn("n", list(release.value), Role.VALUE, low, high)
    return replace(release, value=Answer((*keys, column), sure), half_width=None, noise=None)
