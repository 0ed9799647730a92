"""The checklist of a deployment, and the context of a flow (P3-111, P3-127)."""

from __future__ import annotations

import datetime
import json

import pytest

import sfumato as sf
from sfumato.release.checklist import ALWAYS, ITEMS, MANDATORY, STEPS, Checklist
from sfumato.release.context import ContextRecord

DAY = "2026-01-10"


def closed(*names: str, plan: Checklist | None = None) -> Checklist:
    plan = Checklist() if plan is None else plan
    for name in names:
        plan = plan.close(name, by="Ada", evidence=f"minutes of {name}", date=DAY)
    return plan


def test_A3_089_eleven_steps_thirty_items_and_step_seven_blocks() -> None:
    assert len(STEPS) == 11 and len(ITEMS) == 30
    assert [len(whats) for _, whats in STEPS] == [4, 1, 2, 2, 4, 1, 2, 2, 4, 6, 2]
    plan = Checklist()
    assert plan.open_items == tuple(ITEMS) and set(plan.blocking) == MANDATORY
    done = closed(*(name for name in ITEMS if name not in ALWAYS))
    assert done.blocking == ("7a", "7b") == done.open_items
    done = closed("7a", "7b", plan=done)
    assert done.blocking == () == done.open_items and "nothing blocks a release" in str(done)


def test_the_unit_always_blocks_and_the_release_itself_never_does() -> None:
    assert Checklist(frozenset()).blocking == ("7a", "7b")
    assert Checklist(frozenset({"3a"})).blocking == ("3a", "7a", "7b")
    assert not MANDATORY & {"11a", "11b"}


def test_going_back_is_allowed_and_logged() -> None:
    first = closed("7a")
    assert first["7a"].status == "closed" and first["7a"].owner == "Ada" and first["7a"].evidence == "minutes of 7a"
    assert first["7a"].date == datetime.date(2026, 1, 10)
    back = first.reopen("7a", by="Bo", why="households share accounts", date="2026-01-12")
    assert "7a" in back.blocking and back["7a"].evidence == "" and back["7a"].date is None
    assert "7a" not in first.blocking  # a checklist never changes; there is a new one
    again = back.close("7a", by="Bo", evidence="a household", date=datetime.date(2026, 1, 13))
    assert [str(move) for move in again.history] == [
        "2026-01-10 Ada closed 7a: minutes of 7a",
        "2026-01-12 Bo reopened 7a: households share accounts",
        "2026-01-13 Bo closed 7a: a household",
    ]
    assert again.history[: len(first.history)] == first.history


def test_items_have_owners() -> None:
    plan = Checklist().assign("6a", to="Cy", by="Ada", date=DAY)
    assert plan["6a"].owner == "Cy" and plan["6a"].status == "open"
    assert closed("6a", plan=plan)["6a"].owner == "Cy"


def test_it_is_stored_and_read_back() -> None:
    plan = closed("7a", "1c").reopen("1c", by="Bo", why="a new source", date="2026-02-01")
    plan = plan.assign("1c", to="Cy", by="Bo", date="2026-02-01")
    stored = json.loads(json.dumps(plan.to_plain()))
    assert Checklist.from_plain(stored) == plan and hash(plan) == hash(Checklist.from_plain(stored))
    other = Checklist(frozenset({"1a"}))
    assert Checklist.from_plain(other.to_plain()) == other


@pytest.mark.parametrize(
    "stored",
    [
        None,
        {},
        {"format": "sfumato checklist", "version": 2, "mandatory": [], "history": []},
        {"format": "sfumato checklist", "version": 1, "mandatory": ["99z"], "history": []},
        {"format": "sfumato checklist", "version": 1, "mandatory": [[]], "history": []},
        {"format": "sfumato checklist", "version": 1, "mandatory": [], "history": [{"kind": "closed"}]},
        {
            "format": "sfumato checklist",
            "version": 1,
            "mandatory": [],
            "history": [{"kind": "reopened", "item": "7a", "by": "Ada", "words": "why", "date": DAY}],
        },
        {
            "format": "sfumato checklist",
            "version": 1,
            "mandatory": [],
            "history": [{"kind": "forgotten", "item": "7a", "by": "Ada", "words": "why", "date": DAY}],
        },
    ],
)
def test_what_was_not_stored_by_it_is_refused(stored: object) -> None:
    with pytest.raises(sf.errors.UnknownFormat):
        Checklist.from_plain(stored)


def test_moves_that_cannot_be_made() -> None:
    plan = closed("7a")
    with pytest.raises(sf.errors.BadArgument, match="reopen it first"):
        closed("7a", plan=plan)
    with pytest.raises(sf.errors.BadArgument, match="this one is open already"):
        plan.reopen("7b", by="Bo", why="why", date=DAY)
    with pytest.raises(sf.errors.BadArgument, match="one of 1a to 11b"):
        closed("12a")
    with pytest.raises(sf.errors.BadArgument, match="one of 1a to 11b"):
        Checklist(frozenset({"0"}))
    with pytest.raises(sf.errors.BadArgument, match="a set of items"):
        Checklist("7a")  # type: ignore[arg-type]
    with pytest.raises(sf.errors.BadArgument, match="what settles it"):
        plan.close("7b", by="Ada", evidence=" ", date=DAY)
    with pytest.raises(sf.errors.BadArgument, match="a date such as"):
        plan.close("7b", by="Ada", evidence="x", date="soon")
    with pytest.raises(sf.errors.BadArgument, match="a date such as"):
        plan.close("7b", by="Ada", evidence="x", date=3)  # type: ignore[arg-type]
    with pytest.raises(sf.errors.BadArgument, match="no earlier than the last change, 2026-01-10"):
        plan.close("7b", by="Ada", evidence="x", date="2026-01-09")


def test_it_is_printed() -> None:
    plan = closed("7a").close("9d", by="Bo", evidence="years before 2020 | all", date=DAY)
    text = str(plan)
    assert text.startswith("2 of 30 items closed; a release is blocked by 1c, 2a, 5c, 6a, 7b, 9a, 9c, 10a, 10c, 10d")
    assert "7 Unit of privacy\nx  7a  what is protected [Ada] (minutes of 7a; 2026-01-10)\n!  7b" in text
    table = plan.to_markdown()
    assert "| 9d | Plan the release: what is not protected | yes | Bo | closed | years before 2020 \\| all |" in table
    assert table.endswith("- 2026-01-10 Bo closed 9d: years before 2020 \\| all")
    assert len([row for row in table.splitlines() if row.startswith("| ")]) == 32


def test_A3_078_the_fitness_app() -> None:
    care = ContextRecord("a user", "the app", "their care provider", "heart rate, hourly", "with consent, for care")
    sold = ContextRecord("a user", "the app", "an advertiser or insurer", "heart rate, aggregates", "commercial")
    assert [name for name, _, _ in care.changes(sold)] == ["recipient", "information type", "transmission principle"]
    text = care.compare(sold)
    assert "recipient: their care provider → an advertiser or insurer" in text
    assert "does not make an inappropriate flow appropriate" in text
    assert care.compare(care) == "The proposed flow changes nothing."


def test_A3_110_a_deployment_of_ones_own() -> None:
    record = ContextRecord(
        "a rider",
        "the city's bicycles",
        "the public",
        "counts of trips by station and day",
        "published once a month",
        challenges=(
            ("a finite limit ends", "the limit of each month is announced beforehand"),
            ("ε says little", "explained as odds out of 100"),
            ("small stations are noisy", "error bars, and stations that are counted together"),
        ),
    )
    assert len(record.challenges) == 3 and all(what and mitigation for what, mitigation in record.challenges)
    with pytest.raises(sf.errors.BadArgument, match="recipient must be said in words"):
        ContextRecord("a rider", "the city", " ", "counts", "published")
