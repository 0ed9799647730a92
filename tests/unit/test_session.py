"""Sessions: data behind a permit, questions that are paid once, parts, what is left in every measure, checklists."""

from __future__ import annotations

import copy
import pickle
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

import sfumato as sf
from sfumato.errors import (
    AccountRefused,
    BadArgument,
    CannotJoin,
    LimitReached,
    NoProvenRoute,
    NotChainable,
    NotInDomain,
)
from sfumato.ledger.checklists import checklist_of, keep_checklist
from sfumato.ledger.ledger import Ledger
from sfumato.ledger.permit import exactly
from sfumato.ledger.stores.memory import MemoryStore
from sfumato.mechanisms.matrix_mechanism import StepsBetween
from sfumato.release.checklist import ITEMS, Checklist
from sfumato.session.dataset import Dataset
from sfumato.session.fingerprint import version_of
from sfumato.session.session import Session
from sfumato.transforms.owners import first_rows

SCORES = [71.5, 64.0, 88.0, 93.5, 55.0] * 50
SPACE = sf.vector(float, size=250)
KEY = b"k" * 32


def mean(scale: float) -> sf.Partial[sf.Measurement]:
    return sf.clamp(0, 100) >> sf.mean() >> sf.laplace(scale=scale)


@pytest.fixture
def data() -> Dataset:
    return Dataset(SCORES, name="scores", space=SPACE)


@pytest.fixture
def session(data: Dataset) -> Session:
    return data.session(limit=sf.Pure(1), ledger="memory:")


def test_a_question_is_charged_and_answered(session: Session) -> None:
    release = session.run(mean(0.8))
    assert release.loss == sf.Pure(0.5)
    assert release.charged
    assert release.data == "scores"
    assert release.unit == "one row changed"
    assert release.adjacency == "the change-one distance"
    assert session.spent == session.left == sf.Pure(0.5)
    assert abs(release.value - 74.4) < 40


def test_the_same_question_costs_nothing_again(session: Session) -> None:
    first = session.run(mean(0.8))
    again = session.run(sf.clamp(0.0, 100.0) >> sf.mean() >> sf.laplace(0.8))
    assert again.value == first.value
    assert again.receipt == first.receipt
    assert session.spent == sf.Pure(0.5)
    assert session.run(mean(1.6)).value != first.value
    assert session.spent == sf.Pure(0.75)


def test_the_same_question_at_another_confidence_is_the_same_question(session: Session) -> None:
    first, wider = session.run(mean(0.8)), session.run(mean(0.8), confidence=0.99)
    assert wider.value == first.value
    assert wider.half_width > first.half_width
    assert session.spent == sf.Pure(0.5)


def test_other_data_loss_or_unit_is_another_question(data: Dataset) -> None:
    ledger = Ledger.open("memory:")
    session = data.session(limit=sf.Pure(10), ledger=ledger)
    first = session.run(mean(0.8))
    assert session.run(mean(0.8), loss=sf.Pure(0.6)).receipt != first.receipt
    other = Dataset([*SCORES[:-1], 54.0], name="scores", space=SPACE).session(limit=sf.Pure(10), ledger=ledger)
    assert other.run(mean(0.8)).receipt != first.receipt
    same = Dataset(np.array(SCORES), name="scores", space=SPACE, version="spring")
    assert same.session(limit=sf.Pure(10), ledger=ledger).run(mean(0.8)).receipt != first.receipt
    assert session.spent == sf.Pure("2.1")


def test_a_function_of_ones_own_is_a_new_question_each_time_but_for_a_key(session: Session) -> None:
    doubled = mean(8) >> (lambda value: 2 * value)
    assert session.run(doubled).value != session.run(doubled).value
    assert session.spent == sf.Pure(0.1)
    first = session.run(doubled, key="doubled")
    assert session.run(doubled, key="doubled").value == first.value
    assert session.spent == sf.Pure("0.15")


def test_a_session_goes_on_after_a_restart(data: Dataset, tmp_path: Path) -> None:
    address = f"sqlite:///{tmp_path / 'ledger.db'}"
    first = Dataset(SCORES, name="scores", space=SPACE, version="spring").session(limit=sf.Pure(1), ledger=address)
    value = first.run(mean(0.8)).value
    first.ledger.close()
    again = Dataset(SCORES, name="scores", space=SPACE, version="spring").session(limit=sf.Pure(1), ledger=address)
    assert again.run(mean(0.8)).value == value
    assert again.spent == sf.Pure(0.5)
    again.run(mean(0.8), loss=sf.Pure("0.5"))
    with pytest.raises(LimitReached):
        again.run(mean(0.7))
    with pytest.raises(AccountRefused, match="set once"):
        data.session(limit=sf.Pure(5), ledger=address)


def test_what_no_longer_fits_is_refused_with_the_amounts(session: Session) -> None:
    session.run(mean(0.5))
    with pytest.raises(
        LimitReached, match=r"scores cannot pay ε = 0\.5: ε = 0\.8 of ε = 1 is spent, and ε = 0\.2 is left"
    ):
        session.run(mean(0.8))
    assert session.spent == sf.Pure(0.8)


def test_parts_spend_from_the_whole(session: Session) -> None:
    ada, bob = session.part("ada", limit=sf.Pure(0.6)), session.part("bob", limit=sf.Pure(0.6))
    ada.run(mean(0.8))
    assert bob.left == sf.Pure(0.5)
    with pytest.raises(LimitReached, match=r"^scores cannot pay"):
        bob.run(mean("0.7"))  # type: ignore[arg-type]
    with session.part("eve", limit=sf.Pure(0.4), holds=True) as eve:
        assert session.left == sf.Pure(0.1)
        eve.run(mean(4))
        deeper = eve.part("intern", limit=sf.Pure(0.2))
        deeper.run(mean(8))
    assert session.spent == sf.Pure("0.65")
    with pytest.raises(AccountRefused, match="closed"):
        eve.run(mean(4.5))


def test_an_answer_that_another_part_paid_for_counts_for_who_asks_and_not_for_the_whole(session: Session) -> None:
    ada, bob = session.part("ada", limit=sf.Pure(0.6)), session.part("bob", limit=sf.Pure(0.6))
    assert ada.run(mean(0.8)).value == bob.run(mean(0.8)).value
    assert (ada.spent, bob.spent, session.spent) == (sf.Pure(0.5), sf.Pure(0.5), sf.Pure(0.5))


def test_explaining_spends_nothing(session: Session) -> None:
    quote = session.explain(mean(0.8))
    assert (quote.price, quote.fits, quote.known) == (sf.Pure(0.5), True, False)
    assert "± 2.39659 (95%)" in str(quote)
    assert not session.explain(mean(0.1)).fits
    assert "ε = 1 is left" in str(session.explain(mean(0.1)))
    session.run(mean(0.8))
    assert session.explain(mean(0.8)).known
    assert session.spent == sf.Pure(0.5)


def test_spent_and_left_in_every_measure() -> None:
    numbers = Dataset([1, 2, 3], name="numbers", space=sf.vector(int))
    session = numbers.session(limit=sf.ZCDP(0.5), ledger="memory:")
    session.run(sf.count() >> sf.gaussian(scale=2))
    assert session.spent_in(sf.Approx, delta=1e-6) == sf.convert(sf.ZCDP(0.125), sf.Approx, delta=1e-6)
    largest = session.left_in(sf.Pure)
    assert isinstance(largest, sf.Pure)
    assert sf.convert(largest, sf.ZCDP) <= session.left
    assert not sf.convert(sf.Pure(float(largest.epsilon) + 1e-6), sf.ZCDP) <= session.left
    shown = str(session.overview())
    assert all(word in shown for word in ("limit", "spent", "left", "Pure", "Approx", "ZCDP", "GDP"))
    pure = numbers.session(limit=sf.Pure(1), ledger="memory:")
    assert pure.left_in(sf.Approx) == sf.Approx(1, 0)
    with pytest.raises(NoProvenRoute):
        pure.left_in(sf.ZCDP)


@pytest.mark.parametrize(
    "question", [sf.clamp(0, 100) >> sf.mean(), sf.clamp(0, 100), lambda data: data, "SELECT", None]
)
def test_what_is_no_private_question_is_refused(session: Session, question: object) -> None:
    with pytest.raises(NotChainable):
        session.run(question)  # type: ignore[arg-type]
    assert session.spent == sf.Pure(0)


def test_questions_on_other_data_or_another_unit_are_refused(session: Session) -> None:
    with pytest.raises(CannotJoin):
        session.run(sf.vector(float, size=10) >> mean(0.8))
    with pytest.raises(CannotJoin):
        session.run(sf.vector(float, size=250, metric=sf.AddRemove()) >> sf.clamp(0, 1) >> sf.sum() >> sf.laplace(9))


def test_a_unit_of_several_rows_costs_more() -> None:
    unit = sf.Unit("a patient with up to 3 visits", sf.AddRemove(), bound=3)
    session = Dataset([1, 2, 3], name="visits", space=sf.vector(int), unit=unit).session(
        limit=sf.Pure(1), ledger="memory:"
    )
    release = session.run(sf.count() >> sf.laplace(scale=10))
    assert release.loss == sf.Pure(0.3)
    assert release.unit == "a patient with up to 3 visits"


@pytest.mark.parametrize(
    "unit", [sf.Unit("x", sf.ChangeOne()), "a person", 3, sf.Unit("two rows", sf.AddRemove(), bound=1)]
)
def test_units_that_do_not_fit(unit: sf.Unit) -> None:
    space = sf.vector(int, size=3, metric=sf.AddRemove())
    with pytest.raises(BadArgument, match="unit"):
        Dataset([1, 2, 3], name="visits", space=space, unit=unit)


def test_data_is_not_to_be_had(data: Dataset, session: Session) -> None:
    with pytest.raises(BadArgument):
        pickle.dumps(data)
    with pytest.raises(BadArgument):
        copy.deepcopy(data)
    assert "71.5" not in repr(data) + repr(session) + str(vars(session))
    assert not any(isinstance(value, list) for value in vars(data).values())
    permit = Dataset([1.0] * 250, name="other", space=SPACE).session(limit=sf.Pure(1), ledger="memory:")
    foreign = permit.ledger.charge("other", sf.Pure(0.5))
    with pytest.raises(BadArgument, match="permit"):
        data.release(foreign, SPACE >> mean(0.8), confidence=0.95)


def test_data_is_taken_as_it_is() -> None:
    numbers = [1, 2, 3]
    data = Dataset(numbers, name="numbers", space=sf.vector(int))
    numbers += [4] * 10**6
    release = data.session(limit=sf.Pure(1), ledger="memory:").run(sf.count() >> sf.laplace(scale=1))
    assert release.value < 10**5


def test_data_that_is_not_what_was_declared() -> None:
    with pytest.raises(NotInDomain):
        Dataset([1.0], name="scores", space=SPACE)
    with pytest.raises(BadArgument, match="space or codebook"):
        Dataset([1.0], name="scores")
    with pytest.raises(BadArgument, match="space"):
        Dataset([1.0], name="scores", space="floats")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ([1, 2], [1, 3]),
        ([1, 2], [1.0, 2.0]),
        (["ab", "c"], ["a", "bc"]),
        ({"a": [1], "b": [2]}, {"a": [1, 2], "b": []}),
        (np.array([1, 2]), np.array([1, 2], dtype=np.int32)),
        (np.zeros((2, 3)), np.zeros((3, 2))),
        ([True], [1]),
        ([[1], [2]], [[1, 2]]),
        ([None], ["None"]),
    ],
)
def test_versions_tell_data_apart(one: object, other: object) -> None:
    assert version_of(one, KEY) == version_of(copy.deepcopy(one), KEY)
    assert version_of(one, KEY) != version_of(other, KEY)
    assert version_of(one, KEY) != version_of(one, b"x" * 32)


def test_versions_of_frames_and_of_what_has_none() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": [1, 2], "b": ["x", "y"]})
    assert version_of(frame, KEY) == version_of(frame.copy(), KEY)
    assert version_of(frame, KEY) != version_of(frame.assign(a=[1, 3]), KEY)
    with pytest.raises(BadArgument, match="version='2026-11'"):
        version_of(object(), KEY)


def test_the_book_holds_no_digest_that_could_be_tried_out(data: Dataset) -> None:
    ledger = Ledger.open("memory:")
    named = Dataset(SCORES, name="scores", space=SPACE, version="spring")
    for one in (data, named):
        one.session(limit=sf.Pure(1), ledger=ledger).run(mean(0.8))
    key = ledger.secret("versions of data")
    told = "".join(entry.text for entry in ledger.entries())
    assert '"version spring"' in told
    assert key.hex() not in told and version_of(SCORES, key) not in told


def test_a_register_keeps_a_limit_for_each_person() -> None:
    register = sf.ledger.Register(":memory:", key=sf.ledger.Register.new_key(), limit=sf.Pure(1))
    whose = [f"a{number}" for number in range(200)] + [f"b{number}" for number in range(300)]

    def visits(ids: list[str], name: str) -> Session:
        members = sf.Members(register, ids)
        data = Dataset(list(range(len(ids))), name=name, space=sf.vector(int), members=members)
        return data.session(limit=sf.Pure(100), ledger="memory:")

    count = sf.count() >> sf.laplace(scale=1)
    assert abs(visits(whose, "all").run(count).value - 500) < 40
    again = visits([*whose, *(f"c{number}" for number in range(1000))], "more").run(count)
    assert abs(again.value - 1000) < 40  # the others have nothing left
    assert register.spent("a7") == sf.Pure(1)
    assert register.took_part("c7") == ("more entry 3",)


def test_of_a_member_with_more_rows_than_the_unit_allows_only_the_first_are_used() -> None:
    register = sf.ledger.Register(":memory:", key=sf.ledger.Register.new_key(), limit=sf.Pure(100))
    unit = sf.Unit("a patient with up to 3 visits", sf.AddRemove(), bound=3)
    data = Dataset(
        [1] * 1000 + [0] * 5,
        name="visits",
        space=sf.vector(int),
        unit=unit,
        members=sf.Members(register, ["ann"] * 1005),
    )
    session = data.session(limit=sf.Pure(100), ledger="memory:")
    assert session.run(sf.count() >> sf.laplace(scale="0.1")).value in range(-5, 12)
    rows = first_rows(np.array([1, 0, 1, -1, 1, 0]), 2)
    assert rows.tolist() == [True, True, True, True, False, True]
    assert first_rows(np.array([], dtype=np.intp), 2).tolist() == []


def test_members_in_a_column() -> None:
    register = sf.ledger.Register(":memory:", key=sf.ledger.Register.new_key(), limit=sf.Pure(1))
    table = {"who": np.array(["ann", "bob", "ann"]), "visits": np.array([1, 2, 3])}
    space = sf.frame({"who": str, "visits": int})
    data = Dataset(table, name="visits", space=space, members=sf.Members(register, "who"))
    data.session(limit=sf.Pure(1), ledger="memory:").run(sf.select("visits") >> sf.count() >> sf.laplace(scale=2))
    assert register.spent("ann") == register.spent("bob") == sf.Pure(0.5)


@pytest.mark.parametrize(
    ("space", "ids"),
    [(sf.vector(int, size=3), ["a", "b", "c"]), (sf.vector(int), ["a", "b"]), (sf.vector(int), "who")],
)
def test_members_that_do_not_fit(space: sf.Space, ids: object) -> None:
    register = sf.ledger.Register(":memory:", key=sf.ledger.Register.new_key(), limit=sf.Pure(1))
    with pytest.raises(BadArgument, match="members"):
        Dataset([1, 2, 3], name="visits", space=space, members=sf.Members(register, ids))


def test_a_rehearsal_has_a_ledger_of_its_own(data: Dataset, session: Session) -> None:
    rehearsal = data.rehearsal([50.0] * 250, limit=sf.Pure(1))
    assert rehearsal.run(mean(0.8)).charged
    assert session.spent == sf.Pure(0)


def test_A3_089_nothing_is_released_while_the_checklist_is_open(session: Session) -> None:
    ledger, plan = session.ledger, Checklist()
    for name in ITEMS:
        if name != "7a":
            plan = plan.close(name, by="Ada", evidence="settled", date="2026-01-10")
    keep_checklist(ledger, "scores", plan)
    with pytest.raises(AccountRefused, match="7a what is protected"):
        session.run(mean(0.8))
    assert session.spent == sf.Pure(0)
    done = plan.close("7a", by="Ada", evidence="a student", date="2026-01-11")
    keep_checklist(ledger, "scores", done)
    assert session.run(mean(0.8)).charged
    keep_checklist(ledger, "scores", done.reopen("7a", by="Bob", why="households?", date="2026-01-12"))
    with pytest.raises(AccountRefused):
        session.run(mean(0.9))
    with pytest.raises(BadArgument, match="goes on from"):
        keep_checklist(ledger, "scores", plan)
    found = checklist_of(ledger, "scores")
    assert found is not None
    assert len(found.history) == 31


def test_A3_088_release_tables_come_from_the_ledger() -> None:
    about = {"scope": "broadband use by zip code", "url": "https://github.com/microsoft/USBroadbandUsagePercentages"}
    unit = sf.Unit("individual device", sf.AddRemove())
    devices = Dataset([1] * 812, name="devices", space=sf.vector(int), unit=unit)
    session = devices.session(limit=sf.Pure(1), ledger="memory:", about=about)
    session.run(sf.count() >> sf.laplace(scale=5))
    row = session.release_table().rows[0]
    assert row.cells[0] == about["scope"]
    assert row.cells[2:5] == ("0.2", "0.0", "individual device")
    assert row.cells[5] == "laplace"
    assert row.cells[7] == about["url"]
    hires = Dataset(
        ["python", "sql"] * 40, name="hires", space=sf.vector(str), unit=sf.Unit("hire", sf.AddRemove())
    ).session(
        limit=sf.Approx("4.8", "4e-10"),
        ledger=session.ledger,
        about={"scope": "top skills of recent hires", "url": "https://economicgraph.linkedin.com"},
    )
    for _ in range(4):
        hires.run(sf.stats.histogram(loss=sf.Approx("1.2", "1e-10")) >> list, loss=sf.Approx("1.2", "1e-10"))
    table = hires.release_table().rows[0]
    assert (table.cells[2], table.cells[3]) == ("4.8", "4e-10")
    assert hires.left == sf.Approx(0, 0)
    entry = hires.registry_entry(curator="LinkedIn")
    assert entry.parameters == "epsilon=4.8; delta=4e-10"
    assert hires.missing_for_publication() is not None


def test_a_charge_whose_release_was_lost_is_in_the_table(session: Session) -> None:
    session.run(mean(0.8))
    session.ledger.charge("scores", sf.Pure(0.25))
    assert session.release_table().rows[0].cells[2] == "0.75"
    with session.part("ada", limit=sf.Pure(0.2), holds=True) as ada:
        ada.run(mean(4))
        assert session.release_table().rows[0].cells[2] == "0.85"
    assert session.release_table().rows[0].cells[2] == "0.85"
    assert len(session.releases()) == 2


def test_releases_rest_on_the_facts_of_a_codebook() -> None:
    codebook = {
        "codebook": 1,
        "title": "An exam",
        "unit": {"protects": "a student"},
        "tables": {
            "scores": {
                "size": {"exactly": 3, "source": "the roll of the class"},
                "contributions": {"rows": 1, "source": "one exam each"},
                "columns": {"score": {"type": "int", "between": [0, 100], "source": "the marking scheme"}},
            }
        },
    }
    exam = Dataset({"score": [50, 60, 70]}, name="exam", codebook=codebook)
    session = exam.session(limit=sf.Pure(1), ledger="memory:")
    release = session.run(sf.select("score") >> sf.mean() >> sf.laplace(scale=100))
    assert release.unit == "a student"
    assert any("marking scheme" in fact.source for fact in release.facts)
    assert session.ledger["exam"].terms.about["title"] == "An exam"


# What a sceptical reader found.


def test_a_narrower_question_is_no_oracle_for_who_is_in_the_data(data: Dataset, session: Session) -> None:
    narrow = sf.vector(float, between=(0, 50), size=250) >> sf.mean() >> sf.laplace(scale=10**9)
    permit = session.ledger.charge("scores", sf.Pure("1e-6"))
    with pytest.raises(CannotJoin):
        data.release(permit, narrow, confidence=0.95)
    assert not permit.used


def test_ids_of_members_are_taken_as_they_are() -> None:
    register = sf.ledger.Register(":memory:", key=sf.ledger.Register.new_key(), limit=sf.Pure(1))
    ids = ["ann", "bob"]
    members = sf.Members(register, ids)
    data = Dataset([1, 2], name="visits", space=sf.vector(int), members=members)
    ids[0] = "eve"
    data.session(limit=sf.Pure(1), ledger="memory:").run(sf.count() >> sf.laplace(scale=1))
    assert register.spent("ann") == sf.Pure(1)
    assert register.spent("eve") == sf.Pure(0)


def test_with_and_without_members_are_two_questions() -> None:
    register = sf.ledger.Register(":memory:", key=sf.ledger.Register.new_key(), limit=sf.Pure(1))
    ledger, count = Ledger.open("memory:"), sf.count() >> sf.laplace(scale=1)
    plain = Dataset([1, 2], name="visits", space=sf.vector(int)).session(limit=sf.Pure(9), ledger=ledger)
    first = plain.run(count)
    members = sf.Members(register, ["ann", "bob"])
    kept = Dataset([1, 2], name="visits", space=sf.vector(int), members=members).session(ledger=ledger)
    assert kept.run(count).receipt != first.receipt
    assert register.spent("ann") == sf.Pure(1)
    labelled = Dataset([1, 2], name="visits", space=sf.vector(int), version="spring")
    with_members = Dataset([1, 2], name="visits", space=sf.vector(int), version="spring", members=members)
    assert labelled.published != with_members.published


def test_what_cannot_be_run_is_refused_before_it_is_charged() -> None:
    numbers = Dataset([1, 2], name="numbers", space=sf.vector(int))
    session = numbers.session(limit=sf.ApproxZCDP(1, 0), ledger="memory:")
    with pytest.raises(BadArgument, match="answers once"):
        session.run(sf.privacy_filter(sf.ApproxZCDP("0.1", 0)))
    with pytest.raises(BadArgument, match="answers once"):
        session.explain(sf.privacy_filter(sf.ApproxZCDP("0.1", 0)))
    assert session.spent == sf.ApproxZCDP(0, 0)
    register = sf.ledger.Register(":memory:", key=sf.ledger.Register.new_key(), limit=sf.Pure(1))
    counted = Dataset([1, 2], name="numbers", space=sf.vector(int), members=sf.Members(register, ["a", "b"]))
    zcdp = counted.session(limit=sf.ZCDP(1), ledger="memory:")
    with pytest.raises(NoProvenRoute):
        zcdp.run(sf.count() >> sf.gaussian(scale=2))
    assert zcdp.spent == sf.ZCDP(0)
    with pytest.raises(BadArgument, match="without '/'"):
        Dataset([1], name="a/b", space=sf.vector(int))


def test_explaining_tells_what_running_will_do(session: Session) -> None:
    ada, bob = session.part("ada", limit=sf.Pure(0.6)), session.part("bob", limit=sf.Pure(0.3))
    ada.run(mean(0.8))
    quote = bob.explain(mean(0.8))
    assert (quote.known, quote.fits) == (True, False)
    with pytest.raises(LimitReached, match=r"^scores/bob cannot pay"):
        bob.run(mean(0.8))
    again = ada.explain(mean(0.8))
    assert (again.known, again.costs, again.fits) == (True, False, True)
    assert "costs nothing" in str(again)


def test_a_session_goes_on_with_an_account_that_is_there(session: Session) -> None:
    session.part("ada", limit=sf.Pure(0.3), about={"purpose": "a pilot"})
    assert session.part("ada").limit == sf.Pure(0.3)
    with pytest.raises(AccountRefused, match="no account"):
        session.part("eve")


def test_units_are_compared_exactly_and_not_by_name() -> None:
    places = ("a", "b", "c")
    near, far = StepsBetween(places, ((0, 1), (1, 2))), StepsBetween(places, ((0, 1), (1, 2), (0, 2)))
    assert str(near) == str(far)
    assert exactly(near) != exactly(far)


@pytest.mark.parametrize(
    "number", [10**5000, -(10**5000), np.float32(0.5), np.longdouble(1.5)], ids=["huge", "tiny", "float32", "long"]
)
def test_any_number_has_a_version(number: object) -> None:
    assert version_of([number], KEY) == version_of([number], KEY)
    assert version_of([number, 1], KEY) != version_of([number], KEY)


def test_the_table_of_a_month_holds_the_releases_of_that_month() -> None:
    moments = [datetime(2026, 11, 16, tzinfo=UTC)]
    ledger = Ledger(MemoryStore(), clock=lambda: moments[-1])
    session = Dataset([1, 2], name="visits", space=sf.vector(int)).session(
        limit=sf.Pure(1), ledger=ledger, period="month"
    )
    session.run(sf.count() >> sf.laplace(scale=1))
    moments.append(datetime(2026, 12, 1, tzinfo=UTC))
    session.run(sf.count() >> sf.laplace(scale=10))
    row = session.release_table().rows[0]
    assert row.cells[2] == "0.1"
    assert "2026-12" in row.period
    assert len({step.release for step in row.steps}) == 1
    assert len(session.releases()) == 2
    assert not session.missing_for_publication()
    assert session.registry_entry().parameters == "epsilon=0.1"


def test_a_book_is_recounted_by_every_way_that_is_valid_for_it() -> None:
    """50 Gaussian questions that were fixed in advance cost far less than their limit, which holds in any case."""
    asked = Dataset(list(range(100)), name="rows", space=sf.vector(int)).session(
        limit=sf.Approx(1, 1e-6), ledger="memory:"
    )
    for number in range(50):
        asked.run(sf.keep(sf.between(number, 99)) >> sf.count() >> sf.gaussian(scale=100))
    adaptive = asked.account(delta=1e-6)
    assert adaptive.loss == sf.Approx(1, 1e-6) and [way.name for way in adaptive.ways] == ["Approx"]
    fixed = asked.account(
        delta=1e-6, claim=sf.claim("the fifty questions were written down before the first was asked")
    )
    assert 0.27 < fixed.loss.epsilon < 0.28 and "PLD" in {way.name for way in fixed.ways}
    assert asked.spent.within(asked.limit) and asked.left.epsilon > 0.4
    assert "as Gaussian losses" in str(asked.overview())
    with pytest.raises(BadArgument, match="claim must be"):
        asked.account(delta=1e-6, claim="fixed")  # type: ignore[arg-type]


def test_pure_questions_are_recounted_however_they_were_chosen(session: Session) -> None:
    session.run(mean(4))
    assert session.account(delta=0).loss == sf.Approx("0.1", 0)
    with session.part("ada", limit=sf.Pure("0.5")) as part:
        part.run(mean(5))
        assert part.account(delta=0).loss == sf.Approx("0.08", 0)
    assert session.account(delta=0).loss == sf.Approx("0.18", 0)


def test_what_another_part_paid_for_is_recounted_for_who_saw_it_too(session: Session) -> None:
    ada, ben = (session.part(name, limit=sf.Pure("0.5")) for name in ("ada", "ben"))
    assert ada.run(mean(4)).value == ben.run(mean(4)).value
    assert ada.account(delta=0).loss == ben.account(delta=0).loss == sf.Approx("0.1", 0)
    assert session.account(delta=0).loss == sf.Approx("0.1", 0)  # it ran once


def test_a_question_that_counts_by_what_it_runs_is_in_the_book_with_its_event() -> None:
    asked = Dataset(list(range(100)), name="rows", space=sf.vector(int)).session(
        limit=sf.Approx(1, 1e-6), ledger="memory:"
    )
    asked.run(sf.count() >> sf.gaussian(scale=100))
    (charge,) = asked.ledger.entries(kinds=("charged",))
    assert charge.body["event"] and charge.body["loss"]
    assert asked.ledger.verify().sound
