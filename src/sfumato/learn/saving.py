"""Models on disk: JSON that anybody can read, and from which the same model comes back. Loading runs no code of it.

Version 1: the name of the class, its parameters, what was fitted, and the release with its loss. Nothing in it is data
but what was released.
"""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeVar

from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from sfumato import learn
from sfumato.accounting.codec import from_plain, to_plain
from sfumato.accounting.losses.measures import Loss
from sfumato.errors import BadArgument, UnknownFormat
from sfumato.learn.columns import Bins, Category, Number
from sfumato.learn.moments import Moments
from sfumato.plain import Form, Part, Plain, without_header
from sfumato.release.codec import release_from_plain, release_to_plain
from sfumato.release.record import Release
from sfumato.release.values import VALUES
from sfumato.transforms.gram import Coordinates
from sfumato.transforms.splits import Tree

FORMAT, VERSION = "sfumato/model", 1

RECORDS: dict[str, type[Any]] = {one.__name__: one for one in (Number, Category, Bins, Moments, Coordinates, Tree)}
"""The records that models hold, by the names under which they are saved for ever."""

Model = TypeVar("Model", bound=BaseEstimator)


def save(model: BaseEstimator, path: str | Path) -> None:
    """Saves a fitted model, with its release, as JSON.

    >>> import tempfile
    >>> model = learn.Covariance(epsilon=1, between=(0, 1)).fit([[0.5, 0.25]])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(model, f"{folder}/model.json")
    ...     again = load(f"{folder}/model.json")
    >>> (again.covariance_ == model.covariance_).all(), again.release_.loss
    (np.True_, Pure(epsilon=1.0))
    """
    Path(path).write_text(json.dumps(model_to_plain(model), ensure_ascii=False, indent=1), encoding="utf-8")


def load(path: str | Path) -> Any:
    """Loads a model that `save` saved; refuses every format, version, class or word that it does not know."""
    try:
        plain = json.loads(Path(path).read_text(encoding="utf-8"))
    except ValueError:
        raise UnknownFormat("it is no JSON") from None
    return model_from_plain(plain)


def model_to_plain(model: BaseEstimator) -> dict[str, Plain]:
    """Writes a fitted model as dictionaries, lists, texts and whole numbers."""
    name = type(model).__name__
    if getattr(learn, name, None) is not type(model):
        raise BadArgument("a model", "one of sfumato.learn", name)
    check_is_fitted(model)
    parameters = model.get_params(deep=False)
    fitted = {key: value for key, value in vars(model).items() if key not in parameters}
    said: dict[str, Plain] = {key: SAVED.write(value) for key, value in parameters.items()}
    made: dict[str, Plain] = {key: SAVED.write(value) for key, value in fitted.items()}
    return {"format": FORMAT, "version": VERSION, "model": name, "parameters": said, "fitted": made}


def model_from_plain(plain: object) -> Any:
    """Reads what `model_to_plain` wrote."""
    held = without_header(plain, FORMAT, VERSION)
    match held:
        case {"model": str(name), "parameters": dict(said), "fitted": dict(made)} if len(held) == 3:
            kind = getattr(learn, name, None) if name in learn.__all__ else None
            if not (isinstance(kind, type) and issubclass(kind, BaseEstimator)):
                raise UnknownFormat("it is a model of a class that is not known here")
            model = kind(**{str(key): SAVED.read(value) for key, value in said.items()})
            for key, value in made.items():
                if not str(key).endswith("_") or str(key).startswith("_"):
                    raise UnknownFormat("it holds what no model has")
                setattr(model, str(key), SAVED.read(value))
            return model
    raise UnknownFormat("it is no model")


def _other(value: Any, part: Part) -> Plain:
    if isinstance(value, Release):
        return {"release": release_to_plain(value)}
    if isinstance(value, Loss):
        return {"loss": to_plain(value)}
    if RECORDS.get(type(value).__name__) is type(value):
        written = [part(getattr(value, one.name)) for one in fields(value)]
        return {"record": [type(value).__name__, *written]}
    return VALUES.other(value, part)  # type: ignore[no-any-return]


def _word(plain: dict[str, Any], part: Part) -> Any:
    match list(plain.items()):
        case [("release", dict(held))]:
            return release_from_plain(held)
        case [("loss", dict(held))]:
            loss = from_plain(held)
            if isinstance(loss, Loss):
                return loss
        case [("record", [str(name), *parts])] if name in RECORDS:
            try:
                return RECORDS[name](*(part(one) for one in parts))
            except TypeError:
                raise UnknownFormat("a record in it has other fields") from None
    return VALUES.readers[dict](plain, part)


SAVED = Form("what is saved", "a model of sfumato.learn", VALUES.writers, {**VALUES.readers, dict: _word}, other=_other)
"""How what a model holds is written and read: as released values are, and besides them losses and records."""
