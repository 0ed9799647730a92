"""Models by the words that people guess for them, and their parameters as they are typed."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from sfumato.cli.exits import misused
from sfumato.cli.parsing import named_texts, value_of
from sfumato.errors import did_you_mean

ENDINGS = frozenset({"regression", "regressor", "classifier"})
"""Words of a class that say no more than what its target is."""

ALSO = {
    "svm": "linearsvc",
    "ridge": "linear",
    "leastsquares": "linear",
    "ebm": "explainableboosting",
    "additive": "explainableboosting",
    "clusters": "kmeans",
    "clustering": "kmeans",
    "components": "pca",
    "correlation": "covariance",
    "multinomial": "logistic",
}
"""Other words for some, without blanks and dashes."""

TAKES = {"number": "a number", "classes": "classes", "nothing": "no target"}


def models() -> dict[str, type[Any]]:
    """Every model of `sfumato.learn` by the name that is shown: one that is added there is here too.

    What needs more than a loss to be made, such as a search over models, is none.
    """
    from sfumato import learn

    found = {}
    for name in learn.__all__:
        kind = getattr(learn, name)
        model = (
            inspect.isclass(kind) and issubclass(kind, learn.PrivateEstimator) and kind is not learn.PrivateEstimator
        )
        if model and all(one.default is not one.empty for one in inspect.signature(kind).parameters.values()):
            found["-".join(words_of(name))] = kind
    return found


def words_of(name: str) -> list[str]:
    """The words of the name of a class.

    >>> words_of("LinearSVC"), words_of("KMeans"), words_of("PCA")
    (['linear', 'svc'], ['k', 'means'], ['pca'])
    """
    return [word.lower() for word in re.findall(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+", name)]


def candidates(word: str) -> list[type[Any]]:
    """The models that a word can mean: by the whole name, by what it begins with, or by a word in it."""
    plain = re.sub(r"[^a-z0-9]", "", word.lower())
    plain, every = ALSO.get(plain, plain), models()
    parts = {name: name.split("-") for name in every}
    stems = {name: "".join(one for one in words if one not in ENDINGS) for name, words in parts.items()}
    ends = {name: ["".join(words[place:]) for place in range(len(words))] for name, words in parts.items()}
    ways = (
        [name for name in every if plain in (ends[name][0], stems[name])],
        [name for name in every if plain in (*parts[name], *ends[name])],
        [name for name in every if stems[name].endswith(plain) and len(plain) > 2],
    )
    return next(([every[name] for name in names] for names in ways if names), [])


def model_named(word: str, takes: str) -> type[Any]:
    """The model that a word means for a target that is a number, one of some classes, or nothing; else leaves."""
    found = candidates(word)
    fitting = [kind for kind in found if kind.takes == takes] or found
    names = list(models())
    if not found:
        misused(f"there is no model {word!r}; there are: {', '.join(names)}.{did_you_mean(word, names)}")
    if len(fitting) > 1:
        listed = ", ".join("-".join(words_of(kind.__name__)) for kind in fitting)
        misused(f"{word} can be any of {listed}: name one of them.")
    return fitting[0]


def parameters_of(
    kind: type[Any], settings: Sequence[str], between: Sequence[str], classes: str | None
) -> Mapping[str, object]:
    """Reads what was typed for a model: any parameter by its name, bounds of columns, and classes."""
    known = [name for name in kind().get_params() if name not in ("loss", "epsilon", "delta")]
    made: dict[str, object] = {name: _typed(text) for name, text in named_texts(settings, "--set", "bins=10")}
    if classes is not None:
        made["classes"] = [_typed(one.strip()) for one in classes.split(",")]
    if between:
        made["between"] = {name: _pair(name, text) for name, text in named_texts(between, "--between", "age=0,100")}
    for name in made:
        if name not in known:
            words = "-".join(words_of(kind.__name__))
            misused(f"{words} has no parameter {name}; it has: {', '.join(known)}.{did_you_mean(name, known)}")
    return made


def _pair(name: str, text: str) -> tuple[str, str]:
    ends = [end.strip() for end in text.split(",")]
    if len(ends) != 2:
        misused(f"--between takes a column and two bounds, as in --between age=0,100; got {name}={text}.")
    return ends[0], ends[1]


def _typed(text: str) -> object:
    value = value_of(text)
    return float(value) if isinstance(value, Decimal) else value
