"""Students: models that learn from what teachers said of public rows, and cost nothing from then on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from sfumato.accounting.losses.measures import Loss
from sfumato.entropy import Entropy
from sfumato.errors import BadArgument
from sfumato.guarantee import guarantee
from sfumato.release.claim import Claim
from sfumato.release.render.displayed import Displayed
from sfumato.release.render.document import Document, Table
from sfumato.train.pate.estimators import Classifier, TorchClassifier, fresh
from sfumato.train.pate.questions import Votes


@final
@dataclass(frozen=True, eq=False, repr=False)
class Student(Displayed):
    """A model that was trained on labels of teachers. It may be published, and asked as often as anybody likes."""

    model: Any
    """The trained model. One of torch knows classes by their places."""
    classes: tuple[Any, ...]
    votes: Votes
    """What teachers said, and how many questions that took."""
    loss: Loss
    """What all labels of the teachers cost; the student adds nothing."""
    public: Claim
    """Who says that its rows are public."""

    def predict(self, X: Any) -> Any:  # noqa: N803  # scikit-learn's name
        """The labels of rows, free."""
        given = self.model.predict(X)
        return np.array(self.classes)[given] if isinstance(self.model, TorchClassifier) else given

    def document(self) -> Document:
        """What it learnt from and what that cost, for any form."""
        given = int(self.votes.answered.sum())
        rows = (
            ("learnt from", f"{given:,} labels of teachers, for {self.votes.asked:,} new questions"),
            ("cost of the teachers' labels", str(self.loss)),
            ("cost of what it says", "nothing: it has seen no private row"),
            ("public rows", str(self.public)),
        )
        return Document("Student of a teacher ensemble", type(self.model).__name__, tables=(Table(rows),))


@guarantee(
    claim="a function of public rows, of labels that teachers gave, and of fresh randomness",
    proof="proofs/pate.md#student",
    reviewed="26f9ced78f82",
)
def taught(model: Any, rows: Any, votes: Votes, classes: tuple[Any, ...], entropy: Entropy) -> Classifier:
    """A new model of the same settings, trained on the rows that have labels; networks learn places of classes."""
    made = fresh(model, entropy)
    labels = votes.labels[votes.answered].tolist()
    if not labels:
        raise BadArgument("the labels", "at least one: teachers were sure of none. Ask of more rows", 0)
    told = [classes.index(label) for label in labels] if isinstance(made, TorchClassifier) else labels
    made.fit(rows, np.array(told))
    return made
