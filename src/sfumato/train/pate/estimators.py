"""Models as black boxes that learn labels: whatever has ``fit`` and ``predict``, and networks of torch."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable
from typing import Any, Protocol, final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from sfumato.entropy import Entropy
from sfumato.errors import BadArgument
from sfumato.exact import integer

MakeOptimizer = Callable[[Iterable[nn.Parameter]], torch.optim.Optimizer]
"""Makes an optimizer for the parameters of a network."""

RATE = 1e-2
"""The rate at which networks learn if nothing is said: teachers have few rows, and so few steps."""

SEEDS = 1 << 31
"""Seeds are below this, which every library takes."""


class Classifier(Protocol):
    """A model that learns labels from rows: scikit-learn's manners, and nothing else of it."""

    def fit(self, X: Any, y: Any) -> Any:  # noqa: N803  # scikit-learn's name
        """Learns the label of each row."""

    def predict(self, X: Any) -> Any:  # noqa: N803  # scikit-learn's name
        """The label of each row."""


@final
class TorchClassifier:
    """A network of torch in scikit-learn's manners: plain training by cross entropy, of a copy of the network.

    The last layer of ``model`` has one output for each class. As a teacher or as a student it is copied, with the
    weights that it has: those must be public. ``optimizer`` makes one from parameters.

    >>> learnt = TorchClassifier(nn.Linear(1, 2), epochs=50).fit([[0.0], [1.0]], [0, 1])
    >>> learnt.predict([[0.0], [1.0]]).shape
    (2,)
    """

    def __init__(
        self,
        model: nn.Module,
        *,
        epochs: int = 50,
        batch: int = 64,
        optimizer: MakeOptimizer | None = None,
        seed: int = 0,
    ) -> None:
        if not isinstance(model, nn.Module):
            raise BadArgument("model", "a torch.nn.Module", type(model).__name__)
        self.model, self.optimizer, self.seed = model, optimizer, seed
        self.epochs, self.batch = integer(epochs, "epochs", least=1), integer(batch, "batch", least=1)

    def fit(self, X: Any, y: Any) -> TorchClassifier:  # noqa: N803  # scikit-learn's name
        """Trains a copy of the network, which from then on is the one that predicts."""
        rows, labels = self._inputs(X), torch.as_tensor(np.asarray(y), dtype=torch.long)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(self.seed)
            self.model = copy.deepcopy(self.model).train()
            parameters = self.model.parameters()
            optimizer = self.optimizer(parameters) if self.optimizer else torch.optim.Adam(parameters, lr=RATE)
            for _ in range(self.epochs):
                for places in torch.randperm(len(rows)).split(self.batch):
                    optimizer.zero_grad()
                    nn.functional.cross_entropy(self.model(rows[places]), labels[places]).backward()
                    optimizer.step()
        return self

    def predict(self, X: Any) -> NDArray[np.int64]:  # noqa: N803  # scikit-learn's name
        """The class with the largest output, for each row."""
        with torch.no_grad():
            largest: NDArray[np.int64] = self.model.eval()(self._inputs(X)).argmax(dim=1).numpy()
        return largest

    def _inputs(self, given: Any) -> torch.Tensor:
        rows = torch.as_tensor(np.asarray(given))
        kind = next((each.dtype for each in self.model.parameters() if each.is_floating_point()), torch.float32)
        return rows.to(kind) if rows.is_floating_point() or rows.dtype == torch.bool else rows


def fresh(estimator: Any, entropy: Entropy) -> Classifier:
    """A new model with the settings of another and nothing that it has learnt, whose randomness is its own.

    Of scikit-learn's kind, settings are copied and what was fitted is not. Seeds that were left open are drawn here,
    so that no model takes its randomness from a stream that another one has a part in.
    """
    if isinstance(estimator, nn.Module):
        estimator = TorchClassifier(estimator)
    if isinstance(estimator, TorchClassifier):
        model = copy.copy(estimator)
        model.seed = entropy.below(SEEDS)
        return model
    made = _settings_of(estimator)
    if callable(getattr(made, "get_params", None)):
        left_open = [
            name
            for name, value in made.get_params(deep=True).items()
            if value is None and name.rpartition("__")[2] == "random_state"
        ]
        made.set_params(**{name: entropy.below(SEEDS) for name in sorted(left_open)})
    checked: Classifier = made
    return checked


def check_estimator(estimator: object, name: str) -> None:
    """Refuses what cannot learn labels."""
    if isinstance(estimator, type):
        raise BadArgument(name, f"a model and not its class: {estimator.__name__}()", estimator.__name__)
    learns = all(callable(getattr(estimator, verb, None)) for verb in ("fit", "predict"))
    if not isinstance(estimator, nn.Module) and not learns:
        must = "a classifier with fit(X, y) and predict(X), such as scikit-learn's, or a torch.nn.Module"
        raise BadArgument(name, must, type(estimator).__name__)


def _settings_of(value: Any) -> Any:
    """A copy without what was fitted, all the way down; what is no model is copied whole."""
    if isinstance(value, list | tuple):
        return type(value)(_settings_of(each) for each in value)
    if not callable(getattr(value, "get_params", None)) or isinstance(value, type):
        return copy.deepcopy(value)
    return type(value)(**{name: _settings_of(each) for name, each in value.get_params(deep=False).items()})
