"""Private training in scikit-learn's manners: a classifier and a regressor by any PyTorch model, or by one of ours.

They are estimators like those of `sfumato.learn`: bounds, categories and classes are stated, or come from a codebook,
and a fit is one measurement with one price, on arrays or on a table behind a ledger.
"""

from __future__ import annotations

import copy
import inspect
from abc import abstractmethod
from collections.abc import Callable, Hashable, Sequence
from functools import partial
from typing import Any, ClassVar, TypeAlias, cast, final

import numpy as np
import torch
from sklearn.base import ClassifierMixin, RegressorMixin
from torch import Tensor, nn
from torch.nn.utils import vector_to_parameters

from sfumato.accounting.losses.measures import Loss
from sfumato.accounting.plans.training import number_of_steps
from sfumato.errors import BadArgument
from sfumato.exact import Number as AnyNumber
from sfumato.exact import integer, positive
from sfumato.learn.columns import Between, Categories, Category, Column, Floats, Number
from sfumato.learn.estimator import PrivateEstimator
from sfumato.learn.sources import Fit, Held, Source
from sfumato.train.batches import PoissonBatches
from sfumato.train.checks import check_model
from sfumato.train.clipping import Clipping, Flat
from sfumato.train.guards import check_fits, check_loss, check_optimizer
from sfumato.train.losses import by_rows
from sfumato.train.measured import Optimizing, Recipe, measured
from sfumato.train.paying import ROW_BY_ROW
from sfumato.train.rows import Encoding, rows_of_each

Model: TypeAlias = nn.Module | Callable[[int, int], nn.Module] | None
"""A model, a function that makes one of the numbers of inputs and outputs, or none: then a linear one."""

EPOCHS = 60
"""How often every row is looked at, on average."""

RATE = 0.1
"""The learning rate of Adam, where no optimizer is given."""


class _Trained(PrivateEstimator):
    """What both estimators share."""

    model: Model
    criterion: Callable[..., Tensor] | None
    optimizer: Optimizing | None
    epochs: AnyNumber
    batch: int | None
    size: int | None
    clip: float | Clipping
    module_: nn.Module

    @abstractmethod
    def _outputs(self) -> int:
        """How many numbers the model gives for a row."""

    @property
    @abstractmethod
    def _compared(self) -> Callable[..., Tensor]:
        """What the model is trained by, if nothing else is asked for."""

    def _fit(self, source: Source, loss: Loss) -> Fit:
        recipe = self._recipe(source)
        return Fit(source, measured(source, recipe, loss), lambda value: self._learn(recipe, value))

    def _recipe(self, source: Source) -> Recipe:
        """Reads what is to be trained, and tries it on made-up rows: nothing of it can fail later."""
        encoding = Encoding.of(self.columns_, cast(Column, self.target_), rows_of_each(source))
        theirs = not (self.model is None and self.criterion is None and self.optimizer is None)
        module, example = self._module(encoding.width), encoding.example()
        recipe = Recipe(
            module,
            encoding,
            by_rows(self._compared if self.criterion is None else self.criterion),
            partial(torch.optim.Adam, lr=RATE) if self.optimizer is None else self.optimizer,
            self._batches(source),
            self.clip if isinstance(self.clip, Clipping) else Flat(self.clip),
            check_model(module, example),
            (ROW_BY_ROW,) if theirs else (),
        )
        check_fits(module, example)
        self._check_outputs(module, example[0])
        check_loss(recipe.of_rows, module, example)
        if not callable(recipe.optimizing):
            raise BadArgument("optimizer", "a function of parameters, such as torch.optim.SGD", recipe.optimizing)
        trial = copy.deepcopy(module)
        check_optimizer(trial, recipe.optimizing(trial.parameters()))
        return recipe

    def _check_outputs(self, model: nn.Module, inputs: Tensor) -> None:
        with torch.no_grad():
            given = copy.deepcopy(model)(inputs)
        if not isinstance(given, Tensor) or tuple(given.shape) != (len(inputs), self._outputs()):
            must = f"one that gives {self._outputs()} numbers a row: one for each class, or the one that is predicted"
            raise BadArgument("model", must, tuple(given.shape) if isinstance(given, Tensor) else "others")

    def _module(self, wide: int) -> nn.Module:
        model, outputs = self.model, self._outputs()
        if model is None:
            plain = nn.Linear(wide, outputs)
            nn.init.zeros_(plain.weight)
            nn.init.zeros_(plain.bias)
            return plain
        if isinstance(model, nn.Module):
            return copy.deepcopy(model)
        if not callable(model) or inspect.isclass(model):
            must = "a torch.nn.Module, or a function of the numbers of inputs and outputs that makes one"
            raise BadArgument("model", must, type(model).__name__)
        made = model(wide, outputs)
        if not isinstance(made, nn.Module):
            raise BadArgument("model", "a function that makes a torch.nn.Module", type(made).__name__)
        return made

    def _batches(self, source: Source) -> PoissonBatches:
        """Everybody in every step; or, with ``batch``, as many on average, out of a public number of units."""
        if self.batch is None:
            size = 1 if self.size is None else integer(self.size, "size", least=1)
            return PoissonBatches(1, number_of_steps(cast(Any, 1), None, self.epochs), size)  # type: ignore[arg-type]
        many = integer(self.batch, "batch", least=1)
        if self.size is None and not isinstance(source, Held):
            must = "given beside batch: a public number of units, about as many as there are. How many is private"
            raise BadArgument("size", must, None)
        rows = len(cast(Any, source.values[0])) if isinstance(source, Held) else 0
        size = max(many, rows if self.size is None else integer(self.size, "size", least=1))
        rate = positive(many, "batch") / size
        return PoissonBatches(rate, number_of_steps(rate, None, self.epochs), size)

    def _learn(self, recipe: Recipe, weights: object) -> None:
        module = copy.deepcopy(recipe.model).eval()
        vector = torch.from_numpy(np.array(weights, dtype=np.float32))
        vector_to_parameters(vector.to(next(module.parameters())), module.parameters())
        self.module_ = module.requires_grad_(False)

    def _given(self, X: object) -> Floats:  # noqa: N803
        """What the model gives for rows, made as rows to learn from were."""
        inputs = torch.from_numpy(self._coordinates(X)[:, 1:]).to(next(self.module_.parameters()))
        if not len(inputs):
            return np.zeros((0, self._outputs()))
        with torch.no_grad():
            return np.asarray(self.module_(inputs).double().numpy())


@final
class Classifier(ClassifierMixin, _Trained):  # type: ignore[misc]
    """Trains a classifier privately: by any PyTorch model, or, if none is given, by a linear one.

    Takes:      numbers between stated bounds and categories out of stated lists; ``classes``, all that there can be;
                ``model``, one that gives a number for each class, or a function of the numbers of inputs and outputs
                that makes one; ``epochs``; ``batch``, how many units are in a step on average, out of a public
                ``size`` (left out: all, which is best where it is affordable); ``clip``; ``optimizer``, a function of
                parameters such as ``torch.optim.SGD``; ``criterion``, the loss that the model is trained by
    Gives:      ``module_``, the trained model, ``classes_``, ``release_``
    Guarantee:  the loss that is asked for, for whoever is protected; noise is drawn in floating point
                (proofs/training.md#steps, proofs/training.md#several)
    Cost:       one forward and one backward pass over each batch

    Numbers become numbers in [−1, 1], a category one number for each of its values; a row with something missing, or of
    another class, is left out. Of arrays, the number of rows is taken to be public where there is a ``batch`` and no
    ``size``. The trained weights are averaged over the later half of all steps, which costs nothing.

    >>> model = Classifier(epsilon=1, delta=1e-6, between=(0, 100), classes=["no", "yes"])
    >>> model.fit([[30], [70]], ["no", "yes"]).predict([[20]])[0] in ("no", "yes")
    True
    """

    takes: ClassVar[str] = "classes"
    classes_: np.ndarray[Any, Any]

    def __init__(
        self,
        model: Model = None,
        *,
        loss: Loss | None = None,
        epsilon: AnyNumber | None = None,
        delta: AnyNumber | None = None,
        between: Between | None = None,
        categories: Categories | None = None,
        classes: Sequence[Hashable] | None = None,
        epochs: AnyNumber = EPOCHS,
        batch: int | None = None,
        size: int | None = None,
        clip: float | Clipping = 1.0,
        optimizer: Optimizing | None = None,
        criterion: Callable[..., Tensor] | None = None,
    ) -> None:
        self.model, self.loss, self.epsilon, self.delta = model, loss, epsilon, delta
        self.between, self.categories, self.classes = between, categories, classes
        self.epochs, self.batch, self.size, self.clip = epochs, batch, size, clip
        self.optimizer, self.criterion = optimizer, criterion

    def _outputs(self) -> int:
        values = cast(Category, self.target_).values
        if len(values) < 2:
            raise BadArgument("classes", "two or more, of which one is to be told from the others", values)
        return len(values)

    @property
    def _compared(self) -> Callable[..., Tensor]:
        made: Callable[..., Tensor] = nn.CrossEntropyLoss()
        return made

    def _learn(self, recipe: Recipe, weights: object) -> None:
        super()._learn(recipe, weights)
        self.classes_ = np.array(cast(Category, self.target_).values)

    def decision_function(self, X: object) -> Floats:  # noqa: N803
        """The scores of rows: how far the second of two classes is ahead, else one for each class."""
        given = self._given(X)
        return np.asarray(given[:, 1] - given[:, 0]) if given.shape[1] == 2 else given

    def predict_proba(self, X: object) -> Floats:  # noqa: N803
        """The chance of each class, for each row, as the model sees it."""
        given = self._given(X)
        parts = np.exp(given - given.max(axis=1, keepdims=True, initial=-np.inf))
        return np.asarray(parts / parts.sum(axis=1, keepdims=True))

    def predict(self, X: object) -> np.ndarray[Any, Any]:  # noqa: N803
        """The likeliest class of each row."""
        given = self._given(X)
        return np.asarray(self.classes_[given.argmax(axis=1)])

    def score(self, X: object, y: object, sample_weight: object = None) -> float:  # noqa: N803
        """The share of rows whose class is predicted. Not private: it tells about the rows that it is asked for."""
        return float(super().score(X, y, sample_weight))


@final
class Regressor(RegressorMixin, _Trained):  # type: ignore[misc]
    """Trains a regressor privately: by any PyTorch model that gives one number a row, or by a linear one.

    Takes:      as `Classifier`, with ``target_between``, bounds of the target, which become −1 and 1
    Gives:      ``module_``, the trained model, ``release_``
    Guarantee:  the loss that is asked for, for whoever is protected; noise is drawn in floating point
                (proofs/training.md#steps, proofs/training.md#several)
    Cost:       one forward and one backward pass over each batch

    >>> model = Regressor(epsilon=1, delta=1e-6, between=(0, 100), target_between=(0, 20))
    >>> 0 <= model.fit([[30], [70]], [1, 2]).predict([[20]])[0] <= 20
    np.True_
    """

    takes: ClassVar[str] = "number"

    def __init__(
        self,
        model: Model = None,
        *,
        loss: Loss | None = None,
        epsilon: AnyNumber | None = None,
        delta: AnyNumber | None = None,
        between: Between | None = None,
        categories: Categories | None = None,
        target_between: tuple[AnyNumber, AnyNumber] | None = None,
        epochs: AnyNumber = EPOCHS,
        batch: int | None = None,
        size: int | None = None,
        clip: float | Clipping = 1.0,
        optimizer: Optimizing | None = None,
        criterion: Callable[..., Tensor] | None = None,
    ) -> None:
        self.model, self.loss, self.epsilon, self.delta = model, loss, epsilon, delta
        self.between, self.categories, self.target_between = between, categories, target_between
        self.epochs, self.batch, self.size, self.clip = epochs, batch, size, clip
        self.optimizer, self.criterion = optimizer, criterion

    def _outputs(self) -> int:
        return 1

    @property
    def _compared(self) -> Callable[..., Tensor]:
        made: Callable[..., Tensor] = nn.MSELoss()
        return made

    def predict(self, X: object) -> Floats:  # noqa: N803
        """The predicted number of each row, within the bounds of the target."""
        given, target = self._given(X), cast(Number, self.target_)
        return np.clip(target.decode(np.clip(given[:, 0], -1.0, 1.0)), float(target.lower), float(target.upper))

    def score(self, X: object, y: object, sample_weight: object = None) -> float:  # noqa: N803
        """R² of the predictions. Not private: it tells about the rows that it is asked for."""
        return float(super().score(X, y, sample_weight))
