"""Private aggregation of teacher ensembles: teachers that nobody sees, and labels that they agree on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NoReturn, final

import numpy as np
from numpy.typing import NDArray

from sfumato.accounting.losses.measures import Approx, Loss
from sfumato.accounting.losses.stated import stated_loss
from sfumato.accounting.plans.account import CostReport
from sfumato.entropy import Entropy, system
from sfumato.errors import BadArgument, Exhausted, Several
from sfumato.exact import Number, integer
from sfumato.release.claim import Claim, required
from sfumato.release.progress import Progress, reporting
from sfumato.release.record import How, Release
from sfumato.release.render.displayed import Displayed
from sfumato.release.render.document import Document, Table
from sfumato.train.pate.aggregators import Aggregator
from sfumato.train.pate.estimators import check_estimator
from sfumato.train.pate.holder import ForHolder, for_holder
from sfumato.train.pate.parts import KEY, names_of, teacher_of
from sfumato.train.pate.plan import Scaled, VotingPlan, planned
from sfumato.train.pate.questions import UNSURE, Votes, check_questions, digests, first_of_each
from sfumato.train.pate.student import Student, taught
from sfumato.train.pate.teachers import Teachers, as_rows, rehearse, taken
from sfumato.train.paying import Payer, Run

PROOF = "proofs/pate.md#order"

CLAIM = Claim("the rows that teachers were trained on are those of the data set, each of the unit it is said to be")

WRITTEN = 100
"""Into so many pieces the steps of a plan are cut that are counted in the book at a time."""


@final
class PATE(Displayed):
    """Teachers on separate people, whose noisy votes label rows: any classifier is made private without a change to it.

    Takes:      how many ``teachers``; an ``estimator``, any classifier with fit and predict or a torch.nn.Module;
                ``classes``, all labels there are, or how many; two of: ``noise`` (`GNMax`, `LNMax`, `GumbelMax`,
                `ConfidentGNMax`), a ``loss`` to keep, a number of ``queries``. With confident noise ``answers`` is how
                many of them get a label. ``max_teachers`` is how many teachers one unit may reach, where its rows
                cannot be told to be its own
    Gives:      labels of rows, as long as the plan lasts (`vote`, `predict`), and from them a model that answers for
                ever (`student`)
    Guarantee:  the loss of the plan for all labels together, for whoever is protected, whatever teachers are and
                however questions are chosen; rows that are asked about must be public  (proofs/pate.md#order)
    Cost:       that of training each teacher; nothing but votes ever leaves them

    >>> rows, labels = np.eye(2)[[0, 1] * 100], [0, 1] * 100
    >>> class Nearest:
    ...     def fit(self, X, y): self.means = np.stack([X[y == each].mean(axis=0) for each in (0, 1)])
    ...     def predict(self, X): return ((X[:, None] - self.means) ** 2).sum(axis=2).argmin(axis=1)
    >>> pate = PATE(teachers=20, estimator=Nearest(), classes=2, loss=Approx(1, 1e-6), queries=2).fit(rows, labels)
    >>> pate.predict(np.eye(2)).shape, pate.left
    ((2,), 0)
    """

    def __init__(
        self,
        *,
        teachers: int,
        estimator: Any,
        classes: int | Sequence[Any],
        noise: Aggregator | Scaled | None = None,
        loss: Loss | None = None,
        epsilon: Number | None = None,
        delta: Number | None = None,
        queries: int | None = None,
        answers: int | None = None,
        max_teachers: int = 1,
        entropy: Entropy | None = None,
    ) -> None:
        check_estimator(estimator, "estimator")
        self.teachers = integer(teachers, "teachers", least=2)
        self.classes = _read_classes(classes)
        self._keep = stated_loss(loss, epsilon, delta)
        self.plan: VotingPlan = planned(
            noise, self._keep, queries=queries, answers=answers, classes=len(self.classes),
            touched=integer(max_teachers, "max_teachers", least=1, most=self.teachers),
        )  # fmt: skip
        self.asked = self.answered = 0
        self._estimator, self._entropy = estimator, system() if entropy is None else entropy
        self._teachers: Teachers | None = None
        self._run: Run | None = None
        self._shape: tuple[int, ...] = ()
        self._known: dict[bytes, int] = {}
        self._seen: list[tuple[NDArray[np.int64], NDArray[np.int64]]] = []
        self._interactive = self._ended = False
        self._public: tuple[Claim, ...] = ()

    def fit(
        self,
        X: Any,  # noqa: N803  # scikit-learn's name
        y: Any,
        *,
        people: object = None,
        session: Payer | None = None,
        key: str | None = None,
        progress: Progress | None = None,
    ) -> PATE:
        """Gives each unit to one teacher, at random, and trains all of them: on rows, or on all rows of ``people``.

        With a ``session`` the plan is charged before any teacher sees a row, under a ``key``. Left out, nothing is
        charged, and the release says so. Labels that are no class, and more teachers than units, are refused unpaid.
        """
        if self._teachers is not None:
            raise BadArgument("fit()", "called once: other data need another PATE, with a plan of its own", "twice")
        rows, labels = as_rows(X, "X"), self._places(y)
        if len(rows) != len(labels):
            raise BadArgument("y", "one label for each row of X", Several(len(labels), len(rows)))
        names = names_of(people, len(rows))
        if len(names) != len(rows):
            raise BadArgument("people", "one id for each row of X", Several(len(names), len(rows)))
        if len(set(names)) < self.teachers:
            raise BadArgument("teachers", "at most as many as there are units, and far fewer to learn", self.teachers)
        rehearse(self._estimator, rows, len(self.classes))
        if session is not None:
            self._start(session, key)
        self._shape = tuple(np.shape(rows))[1:]
        made = Teachers(len(self.classes))
        of = teacher_of(names, self.teachers, self._entropy.octets(KEY))
        with reporting(progress, "teachers") as tell:
            made.train(self._estimator, rows, labels, of, self.teachers, self._entropy, tell)
        self._teachers = made
        return self

    def vote(self, X: Any, *, expected: Any = None) -> Votes:  # noqa: N803  # scikit-learn's name
        """What the teachers say of public rows; new questions are paid for before a teacher looks, old ones are free.

        With confident noise, ``expected`` are a student's probabilities of each class: only where teachers disagree
        with them enough is there a label (the interactive variant).
        """
        teachers, rows = self._ready(), as_rows(X, "X")
        check_questions(rows, self._shape)
        names = digests(rows)
        new = first_of_each(names, self._known)
        if len(new) > self.left or (len(new) and self.labels_left == 0):
            raise Exhausted(
                f"{len(new):,} new questions were asked, and {self.left:,} are left with {self.labels_left:,} labels: "
                "the teachers have said what was paid for. Train a student on their labels, which answers for ever, "
                "or fit another PATE with a loss of its own."
            )
        guesses = self._guesses(expected, len(rows))[new]
        if len(new):
            self._count(len(new))
            self.asked += len(new)
            self._answer(teachers.votes(taken(rows, new)), guesses, [names[place] for place in new.tolist()])
        places = np.array([self._known[name] for name in names], dtype=np.int64)
        listed = np.array([*self.classes, None], dtype=object)[places]
        sure = places != UNSURE
        return Votes(np.array(listed.tolist()) if sure.all() and len(sure) else listed, sure, len(new))

    def predict(self, X: Any) -> NDArray[Any]:  # noqa: N803  # scikit-learn's name
        """The labels that `vote` gives; None where teachers were not sure."""
        return self.vote(X).labels

    def student(
        self,
        model: Any,
        inputs: Any,
        *,
        public: Claim | None = None,
        labels: int | None = None,
        progress: Progress | None = None,
    ) -> Student:
        """Trains any model on public rows that the teachers label: what it says afterwards costs nothing more.

        ``public`` is the claim that nobody who is protected, and nothing of them, is in ``inputs``: for those the
        teachers' noise does nothing. The first ``labels`` rows are asked about; left out, as many as the plan
        has left, and those that were asked about before.
        """
        check_estimator(model, "model")
        said = required(public, "the rows that a student learns from are public: public=sf.claim('…')")
        rows = as_rows(inputs, "inputs")
        many = self._affordable(rows) if labels is None else integer(labels, "labels", least=1)
        if many > len(rows) or not many:
            raise BadArgument("inputs", "as many public rows as labels are asked for, and one at least", len(rows))
        votes = self.vote(taken(rows, np.arange(many)))
        self._public += (said,)
        with reporting(progress, "student") as tell:
            made = taught(model, taken(rows, np.flatnonzero(votes.answered)), votes, self.classes, self._entropy)
            tell(1, 1)
        return Student(made, self.classes, votes, self.release_loss, said)

    @property
    def left(self) -> int:
        """How many new questions can still be asked; none after a release."""
        return 0 if self._ended else self.plan.queries - self.asked

    @property
    def labels_left(self) -> int:
        """How many labels can still be given."""
        return self.plan.answers - self.answered

    @property
    def release_loss(self) -> Loss:
        """What all labels together cost: the loss to keep, or what the plan costs."""
        return self.plan.loss if self._keep is None else self._keep

    def spent(self, delta: Number | None = None) -> CostReport:
        """What questions and labels so far cost at a δ (that of the loss to keep), with a certified bracket."""
        if delta is None:
            if not isinstance(self._keep, Approx):
                raise BadArgument("delta", "given: the loss to keep has none", None)
            delta = self._keep.delta
        if not self.asked:
            raise BadArgument("spent()", "asked after the first question: before it, nothing is", 0)
        return self.plan.account(delta=delta, queries=self.asked, answers=self.answered)

    def for_holder(self, delta: Number) -> ForHolder:
        """What this very data set lost, which is often far less than the plan: itself private, for its holder's eyes.

        It is worked out from votes without noise, so it may not be published, and pays for nothing.
        """
        self._ready()
        if self._interactive or not self._seen:
            must = "asked after questions that did not depend on answers: of others nothing is proved"
            raise BadArgument("for_holder()", must, "others" if self._interactive else "none")
        votes, scores = (np.concatenate(part) for part in zip(*self._seen, strict=True))
        return for_holder(self.plan, votes, scores, delta)

    def release(self) -> Release:
        """Ends the service: how many questions were asked and labels given, with the loss of the whole plan."""
        self._ready()
        value = {"questions": self.asked, "labels": self.answered, "teachers": self.teachers}
        if self._run is not None:
            made = self._run.finish(value)
        else:
            how = How("PATE", self._facts(), claims=self._public, proofs=(PROOF,))
            relation = self.plan.relation.value
            made = Release(
                value, self.release_loss, "one unit of the rows given", how,
                replayable=self._entropy.replayable, adjacency=relation,
            )  # fmt: skip
        self._ended = True
        return made

    def _start(self, session: Payer, key: str | None) -> None:
        """Charges the whole plan. What the book counts of a run that goes on may have been questions, or labels."""
        if not key:
            raise BadArgument("key", "a name of this ensemble, under which it can go on", key)
        if self._entropy.replayable:
            raise BadArgument("entropy", "left out where a session pays: whoever can replay it sees the votes", "given")
        self.plan = replace(self.plan, relation=session.relation)
        what = f"PATE, {self.plan.queries:,} questions to {self.teachers:,} teachers"
        ahead = -(-self.plan.steps // WRITTEN)
        event = self.plan.event()
        self._run = session.start(event, loss=self._keep, key=key, claim=CLAIM, proofs=(PROOF,), what=what, ahead=ahead)
        self.asked, self.answered = (min(self._run.taken, most) for most in (self.plan.queries, self.plan.answers))

    def _count(self, steps: int) -> None:
        """Counts questions or labels in the book, before they are."""
        if self._run is not None:
            for _ in range(steps):
                self._run.step(lambda data, entropy: None)

    def _answer(self, votes: NDArray[np.int64], guesses: NDArray[np.int64], names: list[bytes]) -> None:
        """Gives labels to those questions that pass, as long as there are any, and remembers all."""
        noise, scores = self.plan.aggregator, votes - guesses
        self._seen.append((votes, scores))
        passed = np.flatnonzero(noise.passes(scores, self._entropy))[: self.labels_left]
        if noise.check_event(self.plan.touched) is not None:
            self._count(len(passed))
        self.answered += len(passed)
        chosen = np.full(len(votes), UNSURE)
        chosen[passed] = noise.choose(votes[passed], self._entropy)
        self._known.update(zip(names, chosen.tolist(), strict=True))

    def _affordable(self, rows: Any) -> int:
        """How many rows from the first on can be labelled: those that were asked about before cost nothing."""
        new = first_of_each(digests(rows), self._known)
        return len(rows) if len(new) <= self.left else int(new[self.left])

    def _guesses(self, expected: Any, rows: int) -> NDArray[np.int64]:
        """A student's probabilities in whole votes, to be taken off those of teachers before the check."""
        shape = (rows, len(self.classes))
        if expected is None:
            return np.zeros(shape, dtype=np.int64)
        if self.plan.aggregator.check_event(self.plan.touched) is None:
            raise BadArgument(
                "expected", "left out: only confident noise has a check that guesses could matter to", "given"
            )
        chances = np.asarray(expected, dtype=np.float64)
        if chances.shape != shape or not ((chances >= 0) & (chances <= 1)).all():
            raise BadArgument("expected", f"probabilities of each class, in the shape {shape}", chances.shape)
        self._interactive = True
        return np.rint(self.teachers * chances).astype(np.int64)

    def _ready(self) -> Teachers:
        if self._teachers is None:
            raise BadArgument("the teachers", "trained first, by fit(X, y)", "not trained")
        return self._teachers

    def _places(self, y: Any) -> NDArray[np.int64]:
        """Labels as places of classes; one that is no class is refused, before anything is paid, and not shown."""
        listed = y.tolist() if hasattr(y, "tolist") else list(y)
        place = {label: index for index, label in enumerate(self.classes)}
        try:
            return np.array([place[label] for label in listed], dtype=np.int64)
        except (KeyError, TypeError):
            pass
        must = "labels out of classes=, which are public and never taken from the data"
        raise BadArgument("y", must, "another label") from None

    def _facts(self) -> tuple[tuple[str, str], ...]:
        plan = self.plan
        confident = plan.aggregator.check_event(plan.touched) is not None
        return (
            ("teachers", f"{self.teachers:,}, each with units of its own"),
            ("classes", f"{len(self.classes)}"),
            *((("a unit reaches", f"at most {plan.touched} teachers, as was said"),) if plan.touched > 1 else ()),
            ("votes", str(plan.aggregator)),
            ("questions", f"{self.asked:,} of {plan.queries:,}"),
            *((("labels", f"{self.answered:,} of {plan.answers:,}"),) if confident else ()),
            ("neighbours", plan.relation.value),
        )

    def document(self) -> Document:
        """What was asked and what it costs, for any form; nothing of any teacher."""
        kind = type(self._estimator).__name__
        rows = [*self._facts(), ("all of it costs", str(self.release_loss))]
        return Document("PATE", f"{self.teachers} teachers, {kind}", tables=(Table(tuple(rows)),))

    def __reduce__(self) -> NoReturn:
        raise BadArgument("PATE", "kept where it is: a copy would carry the teachers away", "to be copied or pickled")


def _read_classes(classes: object) -> tuple[Any, ...]:
    """All labels there are; a number stands for the whole numbers below it."""
    if isinstance(classes, int | np.integer) and not isinstance(classes, bool):
        return tuple(range(integer(classes, "classes", least=2)))
    if isinstance(classes, str) or not hasattr(classes, "__iter__"):
        raise BadArgument(
            "classes", "all labels there are, or how many: they are public, and never read off y", classes
        )
    listed = tuple(classes.tolist() if isinstance(classes, np.ndarray) else classes)
    if len(listed) < 2 or len(set(listed)) != len(listed):
        raise BadArgument("classes", "two labels at least, each once", len(listed))
    return listed
