"""What each role does: shares and policies, answers and publications, the book without answers, people and tokens."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.unit.service.houses import (
    ADA,
    AUDITOR,
    BEN,
    CODEBOOK,
    COUNT,
    CURATOR,
    OWNER,
    ROOT,
    Clock,
    asked,
    opened,
    somebody,
    visits,
)
from tests.unit.service.houses import registration as registering

import sfumato as sf
from sfumato.codebook.book import Codebook
from sfumato.errors import AccountRefused, BadArgument, LimitReached, NotAllowed, SfumatoError, SignInRefused
from sfumato.ledger.entry import digest_of
from sfumato.ledger.signing import new_signing_key, public_key
from sfumato.service.administrators import Administrators
from sfumato.service.analysts import Analysts
from sfumato.service.asking import Asked
from sfumato.service.auditors import Auditors
from sfumato.service.curators import Curators
from sfumato.service.explaining import of_own
from sfumato.service.house import House
from sfumato.service.owners import Owners
from sfumato.service.people import TOKEN
from sfumato.service.rights import Action, Grant, Role
from sfumato.service.tokens import Tokens

MEAN = "SELECT AVG(minutes) AS m FROM visits"
OTTO = somebody("otto", Role.OWNER)


def number_of(release: Any) -> int:
    return int(release.receipt.entry)


# Explaining


def test_who_has_no_share_is_told_price_and_errors_and_nothing_of_what_is_left(house: House) -> None:
    analysts = Analysts(house)
    before = analysts.explain(BEN, "visits", asked())
    unpriced = analysts.explain(BEN, "visits", Asked.read(MEAN, {}))
    analysts.ask(ADA, "visits", asked())
    analysts.ask(ADA, "visits", asked("SELECT SUM(minutes) AS s FROM visits", epsilon="0.37"))
    after = analysts.explain(BEN, "visits", asked())
    assert (before.left, before.known, before.refusal) == (None, False, None)
    assert before == after
    assert before.price == sf.Pure("0.1")
    assert before.errors
    assert unpriced == analysts.explain(BEN, "visits", Asked.read(MEAN, {}))
    house.ledger.close_account("visits", by="x")
    assert analysts.explain(BEN, "visits", asked()) == after


def test_who_may_see_limits_is_told_what_is_left_of_all(house: House) -> None:
    for person in (CURATOR, OWNER):
        explanation = Analysts(house).explain(person, "visits", asked())
        assert explanation.left == sf.Pure("0.5")


def test_under_a_cap_an_analyst_learns_nothing_of_the_amounts_above(tmp_path: Path) -> None:
    house = opened(tmp_path, period="month")
    analysts, owners = Analysts(house), Owners(house)
    owners.open_share(OWNER, "visits", "ada", sf.Pure("0.9"), reason="a", period="month")
    owners.open_share(OWNER, "visits", "ben", sf.Pure("0.9"), reason="b", period="month")
    analysts.ask(ADA, "visits", asked(epsilon="0.8"))
    explanation = analysts.explain(BEN, "visits", asked(MEAN, epsilon="0.5"))
    assert explanation.left == sf.Pure("0.9")
    assert explanation.refusal is not None
    assert "0.2" not in explanation.refusal
    assert "0.8" not in explanation.refusal
    with pytest.raises(LimitReached) as refusal:
        analysts.ask(BEN, "visits", asked(MEAN, epsilon="0.5"))
    assert (refusal.value.left, refusal.value.limit) == (None, None)
    for amount in ("0.2", "0.8", "ε = 1"):
        assert amount not in str(refusal.value)
    with pytest.raises(LimitReached, match=r"ε = 0\.9"):
        analysts.ask(BEN, "visits", asked(MEAN, epsilon="0.95"))


def test_amounts_of_other_accounts_are_in_no_refusal(house: House) -> None:
    said = Analysts(house).explain(ADA, "visits", asked())
    share = house.ledger["visits/ada"]
    for account in ("visits", "visits (firms)", "visits/ada+2"):
        other = replace(said, refusal=f"{account} cannot pay ε = 1: ε = 0.7 of ε = 0.9 is spent")
        assert "0.7" not in str(of_own(other, share).refusal)
    for refusal in ("visits/ada cannot pay ε = 1: ε = 0.1 is left", "nothing is released while its checklist is open"):
        assert of_own(replace(said, refusal=refusal), share).refusal == refusal
    beside = replace(said, beside=(("a firm", sf.Pure("0.1"), sf.Pure("0.777")),))
    assert of_own(beside, share).beside == ()
    assert "0.777" not in str(of_own(beside, share))
    assert "a firm: the price is ε = 0.1" in of_own(beside, share).bounds
    with pytest.raises(LimitReached, match="visits/ada cannot pay"):
        Analysts(house).ask(ADA, "visits", asked(epsilon="0.9"))


# Shares


def test_a_share_is_requested_and_granted_for_reasons(tmp_path: Path) -> None:
    house = opened(tmp_path)
    with pytest.raises(NotAllowed, match="no share"):
        Analysts(house).ask(ADA, "visits", asked())
    request = Analysts(house).request_share(ADA, "visits", sf.Pure("0.3"), purpose="a poster")
    assert [one.number for one in Owners(house).requests(OWNER, "visits", undecided=True)] == [request.number]
    both = somebody("ada", Role.ANALYST, Role.OWNER)
    with pytest.raises(AccountRefused, match="somebody else"):
        Owners(house).decide(both, "visits", request.number, grants=True, reason="why not")
    with pytest.raises(AccountRefused, match="somebody else"):
        Owners(house).open_share(both, "visits", "ada+2", sf.Pure("0.1"), reason="why not")
    decided = Owners(house).decide(OWNER, "visits", request.number, grants=True, reason="fine")
    assert decided.granted
    assert Owners(house).requests(OWNER, "visits", undecided=True) == []
    [mine] = Analysts(house).requests(ADA, "visits")
    assert [(one.by, one.reason) for one in mine.decisions] == [("olga", "fine")]
    assert Analysts(house).requests(BEN, "visits") == []
    with pytest.raises(AccountRefused, match="decided already"):
        Owners(house).decide(OTTO, "visits", request.number, grants=False, reason="no")


def test_a_closed_share_can_be_followed_by_another(house: House) -> None:
    analysts, owners = Analysts(house), Owners(house)
    first = analysts.ask(ADA, "visits", asked())
    line = owners.close_share(OWNER, "visits", "ada", reason="the pilot is over")
    assert line.closed
    with pytest.raises(AccountRefused, match="closed"):
        analysts.ask(ADA, "visits", asked(MEAN))
    request = analysts.request_share(ADA, "visits", sf.Pure("0.3"), purpose="more")
    assert request.share == "ada+2"
    owners.decide(OWNER, "visits", request.number, grants=True, reason="fine")
    second = analysts.ask(ADA, "visits", asked(MEAN))
    assert [number_of(first), number_of(second)] == [one.number for one in analysts.answers(ADA, "visits").items]
    assert [(share.account, share.closed) for share in analysts.shares(ADA, "visits")] == [
        ("visits/ada", True),
        ("visits/ada+2", False),
    ]
    assert [one.share for one in analysts.spending(ADA, "visits").items] == ["visits/ada", "visits/ada+2"]


def test_several_people_must_agree_where_a_policy_says_so(tmp_path: Path) -> None:
    house = opened(tmp_path)
    owners = Owners(house)
    assert owners.policy(OWNER, "visits").needed == 1
    assert owners.set_policy(OWNER, "visits", needed=2, reason="the board wants it").needed == 2
    with pytest.raises(AccountRefused, match="takes 2 people"):
        owners.open_share(OWNER, "visits", "ada", sf.Pure("0.1"), reason="alone")
    with pytest.raises(AccountRefused, match="takes 2 people"):
        owners.open_shares(OWNER, "visits", {"ada": sf.Pure("0.1")}, reason="alone")
    request = Analysts(house).request_share(ADA, "visits", sf.Pure("0.3"), purpose="a poster")
    assert not owners.decide(OWNER, "visits", request.number, grants=True, reason="yes").granted
    with pytest.raises(AccountRefused):
        owners.decide(OWNER, "visits", request.number, grants=True, reason="yes again")
    assert owners.decide(OTTO, "visits", request.number, grants=True, reason="yes").granted
    assert owners.set_policy(OWNER, "visits", needed=1, reason="quicker").needed == 2
    assert owners.set_policy(OWNER, "visits", needed=1, reason="quicker!").needed == 2
    assert owners.set_policy(OTTO, "visits", needed=1, reason="agreed").needed == 1


def test_a_limit_is_divided_and_opened_for_many(tmp_path: Path) -> None:
    house = opened(tmp_path)
    owners = Owners(house)
    equal = owners.propose(OWNER, "visits", ["ada", "ben"])
    assert equal == {"ada": sf.Pure("0.5"), "ben": sf.Pure("0.5")}
    assert owners.propose(OWNER, "visits", {"ada": 9, "ben": 1}, of=sf.Pure("0.5"))["ben"] == sf.Pure("0.05")
    assert owners.propose(OWNER, "visits", ["ada", "ben"], of=sf.Pure("0.6"), ranked=True)["ada"] == sf.Pure("0.4")
    lines = owners.open_shares(OWNER, "visits", equal, reason="half each")
    assert [line.limit for line in lines] == [sf.Pure("0.5")] * 2
    with pytest.raises(LimitReached):
        owners.open_share(OWNER, "visits", "cleo", sf.Pure("0.01"), reason="too late")
    tree = owners.limits(OWNER, "visits")
    assert [(line.account, line.depth, line.held) for line in tree] == [
        ("visits", 0, sf.Pure(1)),
        ("visits/ada", 1, None),
        ("visits/ben", 1, None),
    ]
    assert [line.left for line in tree] == [sf.Pure(0), sf.Pure("0.5"), sf.Pure("0.5")]
    assert tree[1].purpose == "half each"


def test_a_demand_says_which_questions_must_relax(tmp_path: Path) -> None:
    house = opened(tmp_path)
    wanted = [
        Asked.read(COUNT, {"accuracy": [20, "0.95"]}),
        Asked.read(MEAN, {"epsilon": "0.5"}),
        Asked.read("SELECT SUM(minutes) AS s FROM visits", {"epsilon": "0.1"}),
    ]
    demand = Owners(house).demand(OWNER, "visits", wanted, within=sf.Pure("0.8"))
    assert demand.prices[1:] == (sf.Pure("0.5"), sf.Pure("0.1"))
    first = demand.prices[0]
    assert first == Analysts(house).explain(OWNER, "visits", wanted[0]).price
    assert demand.total == first.then(sf.Pure("0.6"))
    assert demand.relax == ((1,) if not first.then(sf.Pure("0.5")).within(sf.Pure("0.8")) else ())
    assert demand.fits is (demand.relax == ())
    assert house.ledger["visits"].spent == sf.Pure(0)
    with pytest.raises(BadArgument):
        Owners(house).demand(OWNER, "visits", [Asked.read(COUNT, {})])


@pytest.mark.parametrize("name", ["", "a/b", "ada+", "ada+x", "Ada", "../x", None, 7])
def test_names_of_shares_are_those_of_people(house: House, name: Any) -> None:
    with pytest.raises(BadArgument):
        Owners(house).open_share(OWNER, "visits", name, sf.Pure("0.1"), reason="x")
    with pytest.raises(BadArgument):
        Owners(house).close_share(OWNER, "visits", name, reason="x")


@pytest.mark.parametrize("reason", ["", "  ", None, 7])
def test_decisions_have_reasons(house: House, reason: Any) -> None:
    request = Analysts(house).request_share(BEN, "visits", sf.Pure("0.1"), purpose="a poster")
    for act in (
        lambda: Owners(house).decide(OWNER, "visits", request.number, grants=True, reason=reason),
        lambda: Owners(house).open_share(OWNER, "visits", "cleo", sf.Pure("0.1"), reason=reason),
        lambda: Owners(house).close_share(OWNER, "visits", "ada", reason=reason),
        lambda: Owners(house).set_policy(OWNER, "visits", needed=2, reason=reason),
        lambda: Analysts(house).request_share(BEN, "visits", sf.Pure("0.1"), purpose=reason),
    ):
        with pytest.raises(BadArgument):
            act()
    assert house.ledger.accounts == ("visits", "visits/ada")
    assert not house.ledger["visits/ada"].closed


# Answers and publications


def test_answers_come_in_pages_and_are_ones_own(house: House) -> None:
    analysts = Analysts(house)
    Owners(house).open_share(OWNER, "visits", "ben", sf.Pure("0.2"), reason="a pilot")
    mine = [number_of(analysts.ask(ADA, "visits", asked(epsilon=f"0.0{n}"))) for n in range(1, 6)]
    other = number_of(analysts.ask(BEN, "visits", asked(MEAN)))
    seen, after = list[int](), 0
    while True:
        page = analysts.answers(ADA, "visits", after=after, many=2)
        seen += [line.number for line in page.items]
        if page.after is None:
            break
        after = page.after
    assert seen == mine
    with pytest.raises(NotAllowed) as hidden:
        analysts.answer(ADA, "visits", other)
    for number in (other + 1000, 1, 0, -1, None, "1", 2**70):
        with pytest.raises(NotAllowed) as missing:
            analysts.answer(ADA, "visits", number)  # type: ignore[arg-type]
        assert str(missing.value) == str(hidden.value)
    assert [line.by for line in Curators(house).answers(CURATOR, "visits").items] == ["ada"] * 5 + ["ben"]
    assert number_of(Curators(house).answer(CURATOR, "visits", other)) == other


def test_what_two_have_paid_for_both_see(house: House) -> None:
    analysts = Analysts(house)
    Owners(house).open_share(OWNER, "visits", "ben", sf.Pure("0.2"), reason="a pilot")
    first = analysts.ask(ADA, "visits", asked())
    with pytest.raises(NotAllowed):
        analysts.answer(BEN, "visits", number_of(first))
    again = analysts.ask(BEN, "visits", asked())
    assert again.receipt == first.receipt
    assert house.ledger["visits"].left == sf.Pure("0.3")
    assert house.ledger["visits/ben"].spent == sf.Pure("0.1")
    assert analysts.answer(BEN, "visits", number_of(first)).receipt == first.receipt
    assert [line.number for line in analysts.answers(BEN, "visits").items] == [number_of(first)]


def test_what_is_published_all_may_read_until_it_is_withdrawn(house: House) -> None:
    analysts, curators = Analysts(house), Curators(house)
    number = number_of(analysts.ask(ADA, "visits", asked()))
    for reader in (BEN, AUDITOR, OWNER):
        with pytest.raises(NotAllowed):
            curators.published_answer(reader, "visits", number)
    curators.publish(CURATOR, "visits", number, title="Visits in all")
    for reader in (BEN, AUDITOR, OWNER):
        assert curators.published_answer(reader, "visits", number)
        assert curators.rendered(reader, "visits", number, "csv").content
    assert analysts.answer(BEN, "visits", number)
    curators.withdraw(CURATOR, "visits", number, reason="a slip")
    assert curators.published(AUDITOR, "visits") == []
    with pytest.raises(NotAllowed):
        curators.published_answer(AUDITOR, "visits", number)
    with pytest.raises(BadArgument):
        curators.withdraw(CURATOR, "visits", number, reason="again")
    with pytest.raises(NotAllowed):
        curators.publish(CURATOR, "visits", number + 1000, title="nothing")
    for title in ("", " ", "two\nlines", "x" * 201, None):
        with pytest.raises(BadArgument):
            curators.publish(CURATOR, "visits", number, title=title)  # type: ignore[arg-type]


def test_tables_and_registry_entries_come_from_the_book(house: House) -> None:
    curators = Curators(house)
    assert curators.missing_for_publication(CURATOR, "visits") == ["releases: there are none yet."]
    Analysts(house).ask(ADA, "visits", asked())
    assert curators.missing_for_publication(CURATOR, "visits") == []
    assert "one clinic" in curators.release_table(CURATOR, "visits").to_text()
    assert curators.registry_entry(CURATOR, "visits", sector="health").sector == "health"


def test_a_checklist_blocks_until_it_is_done(house: House) -> None:
    curators = Curators(house)
    assert curators.checklist(CURATOR, "visits") is None
    with pytest.raises(BadArgument, match="begun"):
        curators.set_item(CURATOR, "visits", "7a", evidence="a patient")
    curators.begin_checklist(CURATOR, "visits", mandatory=frozenset({"7a", "7b"}))
    with pytest.raises(AccountRefused, match="checklist"):
        Analysts(house).ask(ADA, "visits", asked())
    curators.set_item(CURATOR, "visits", "7a", owner="carl")
    curators.set_item(CURATOR, "visits", "7a", evidence="a patient")
    kept = curators.set_item(CURATOR, "visits", "7b", evidence="a row is a visit")
    assert kept.blocking == ()
    assert Analysts(house).ask(ADA, "visits", asked())
    assert curators.set_item(CURATOR, "visits", "7a", why="is it families?").blocking == ("7a",)
    with pytest.raises(BadArgument):
        curators.begin_checklist(CURATOR, "visits")
    for said in ({}, {"evidence": "a", "why": "b"}, {"owner": ""}):
        with pytest.raises(SfumatoError):
            curators.set_item(CURATOR, "visits", "7a", **said)


def test_codebooks_are_checked_without_data_and_never_read_from_paths(house: House, tmp_path: Path) -> None:
    curators = Curators(house)
    good = curators.check(CURATOR, "visits", Codebook.read(CODEBOOK).to_yaml())
    assert good.codebook is not None
    assert any("created" in doubt for doubt in good.doubts)
    (tmp_path / "book.yaml").write_text("codebook: 1\ntitle: secret plans\n")
    for text in (
        str(tmp_path / "book.yaml"),
        "/etc/passwd",
        "codebook: 1",
        "codebook: 1\n- [",
        "{" * 50_000,
        "x" * 3_000_000,
    ):
        check = curators.check(CURATOR, "visits", text)
        assert check.codebook is None
        assert check.wrong
        assert "secret plans" not in check.wrong
        assert "root:" not in check.wrong


# The book


def test_auditors_read_the_book_without_answers(house: House) -> None:
    release = Analysts(house).ask(ADA, "visits", asked())
    auditors, after, lines = Auditors(house), 0, list[Any]()
    while True:
        page = auditors.book(AUDITOR, "visits", after=after, many=2)
        lines += page.items
        if page.after is None:
            break
        after = page.after
    assert [line.kind for line in lines][-2:] == ["charged", "released"]
    text = json.dumps([line.said for line in lines], default=str)
    assert digest_of("") not in text
    assert all("value" not in line.said for line in lines)
    assert len(auditors.receipts(AUDITOR, "visits", many=500).items) == len(lines)
    assert release.receipt in [one.receipt for one in auditors.receipts(AUDITOR, "visits", many=500).items]


def test_a_book_that_was_rolled_back_is_exposed_by_receipts(tmp_path: Path, clock: Clock) -> None:
    house = opened(tmp_path, clock, share=sf.Pure("0.5"))
    head = Auditors(house).head(AUDITOR, "visits")
    release = Analysts(house).ask(ADA, "visits", asked())
    assert release.receipt is not None
    assert Auditors(house).verify(AUDITOR, "visits", receipts=[head, release.receipt]).sound
    with_less = opened(tmp_path, clock, share=sf.Pure("0.5"))
    assert not Auditors(with_less).verify(AUDITOR, "visits", receipts=[release.receipt]).sound


def test_whoever_may_export_all_takes_a_book_that_verifies_and_others_digests(house: House, tmp_path: Path) -> None:
    everything = somebody("carla", Role.CURATOR, data_set="*")
    other = visits(tmp_path / "grades.parquet", shift=99)
    Curators(house).register(everything, registering(other, name="grades"))
    Analysts(house).ask(ADA, "visits", asked())
    whole = list(Auditors(house).export(somebody("aude", Role.AUDITOR, data_set="*"), "visits"))
    book = sf.Ledger.imported(whole, "memory:")
    assert book.verify(receipts=[house.ledger.head]).sound
    assert book["visits/ada"].spent == sf.Pure("0.1")
    assert next(iter(book.store.rows(kinds=("released",)))).value is None
    part = [json.loads(line) for line in Auditors(house).export(AUDITOR, "visits")]
    assert len(part) == len(whole)
    shown = [line["entry"]["account"] for line in part if "entry" in line]
    assert shown
    assert all(account.partition("/")[0] == "visits" for account in shown)
    assert not any("grades" in json.dumps(line) for line in part)
    assert [line["digest"] for line in part] == [json.loads(line)["digest"] for line in whole]


def test_checkpoints_are_signed_with_the_key_that_the_settings_name(tmp_path: Path) -> None:
    secret = new_signing_key()
    (tmp_path / "key").write_text(secret.hex())
    house = opened(tmp_path, signing_key_file=tmp_path / "key")
    auditors = Auditors(house)
    auditors.checkpoint(AUDITOR, "visits")
    assert auditors.signer(AUDITOR, "visits") == public_key(secret)
    assert auditors.verify(AUDITOR, "visits", signer=public_key(secret)).signed == 1
    assert not auditors.verify(AUDITOR, "visits", signer=public_key(new_signing_key())).sound
    assert secret.hex() not in "".join(entry.text for entry in house.ledger.entries())
    assert secret.hex() not in repr(house)


# People


def test_changes_of_rights_are_in_the_book_of_each_data_set(house: House, tmp_path: Path) -> None:
    administrators = Administrators(house)
    administrators.add(ROOT, "cleo", [Grant("analyst", "visits")])
    administrators.set_grants(ROOT, "cleo", [Grant("auditor"), Grant("analyst", "grades")])
    administrators.invite(ROOT, "cleo")
    administrators.leave(ROOT, "cleo")
    said = [entry.body["said"] for entry in house.ledger.notes("visits", "rights")]
    about = [one for one in said if isinstance(one, dict) and one["person"] == "cleo"]
    assert about == [
        {"person": "cleo", "roles": ["analyst"]},
        {"person": "cleo", "roles": ["auditor of all data sets"]},
        {"person": "cleo", "invited": True},
        {"person": "cleo", "roles": []},
    ]
    assert {entry.by for entry in house.ledger.notes("visits", "rights")} == {"root"}
    administrators.add(ROOT, "dora", [Grant("budget owner")])
    file = visits(tmp_path / "grades.parquet", shift=99)
    Curators(house).register(somebody("carla", Role.CURATOR, data_set="*"), registering(file, name="grades"))
    noted = [entry.body["said"] for entry in house.ledger.notes("grades", "rights")]
    assert {"person": "dora", "roles": ["budget owner of all data sets"]} in noted


def test_nobody_changes_what_they_may_do_themselves(house: House) -> None:
    for act in (
        lambda: Administrators(house).set_grants(ROOT, "root", []),
        lambda: Administrators(house).leave(ROOT, "root"),
    ):
        with pytest.raises(BadArgument, match="somebody else"):
            act()
    with pytest.raises(BadArgument):
        Administrators(house).set_grants(ROOT, "stranger", [])
    with pytest.raises(BadArgument):
        Administrators(house).invite(ROOT, "stranger")


def test_tokens_are_ones_own_and_draw_no_others(house: House, clock: Clock) -> None:
    tokens = Tokens(house)
    secret = tokens.issue(ADA, "laptop")
    holder = house.people.known_by(TOKEN, secret.text)
    assert holder.may(Action.ASK, "visits").allowed
    with pytest.raises(NotAllowed, match="token"):
        tokens.issue(holder, "another")
    with pytest.raises(NotAllowed):
        tokens.mine(holder)
    [mine] = tokens.mine(ADA)
    assert (mine.called, mine.place) == ("laptop", secret.place)
    assert secret.text not in repr(mine)
    tokens.revoke(BEN, secret.place)
    assert house.people.known_by(TOKEN, secret.text)
    assert [token.place for token in Administrators(house).tokens(ROOT, "ada")] == [secret.place]
    Administrators(house).revoke(ROOT, "ada", secret.place)
    with pytest.raises(SignInRefused):
        house.people.known_by(TOKEN, secret.text)
    for said in (
        {"scope": [Action.KEEP_TOKENS]},
        {"scope": []},
        {"lasts": timedelta(days=1000)},
        {"lasts": timedelta(0)},
    ):
        with pytest.raises(BadArgument):
            tokens.issue(ADA, "x", **said)  # type: ignore[arg-type]
    for called in ("", " ", "x" * 81, "two\nlines", None):
        with pytest.raises(BadArgument):
            tokens.issue(ADA, called)  # type: ignore[arg-type]


def test_the_state_of_a_service_has_nothing_of_data(house: House) -> None:
    release = Analysts(house).ask(ADA, "visits", asked())
    state = Administrators(house).state(ROOT)
    assert (state.people, state.data_sets, state.entries) == (6, 1, house.ledger.head.entry)
    assert str(release.value.only()) not in repr(state).replace(str(state.entries), "")
    assert "visits" not in repr(state)


# Odds


@pytest.mark.parametrize("loss", [sf.Pure(1), sf.Approx(1, "1e-6"), sf.ZCDP("0.1"), sf.GDP(1)])
def test_a_loss_is_put_into_odds_without_any_data(house: House, loss: Any) -> None:
    meaning = Analysts(house).meaning(ROOT, loss)
    assert 0.5 < meaning.success < 1
    assert [rate for rate, found in meaning.detected if found < rate] == []
    assert all(prior <= belief <= 1 for prior, belief in meaning.beliefs)
    assert "attacker" in meaning.words
    assert (meaning.taking is None) is not isinstance(loss, sf.Pure)


def test_the_odds_of_a_pure_loss_are_those_of_the_spec(house: House) -> None:
    meaning = Owners(house).meaning(OWNER, sf.Pure(1))
    assert (meaning.taking, meaning.leaving) == (73, 27)
    assert "73 of 100" in meaning.odds
    assert float(meaning.success) == pytest.approx(0.7310586, abs=1e-6)
    assert meaning.warning == ""
    assert "above" in Owners(house).meaning(OWNER, sf.Pure(8)).warning


# What comes from outside


@pytest.mark.parametrize("many", [0, -1, 501, None, "5", 1.5, True])
def test_pages_have_a_size(house: House, many: Any) -> None:
    for act in (Analysts(house).answers, Analysts(house).spending):
        with pytest.raises(BadArgument):
            act(ADA, "visits", many=many)
    with pytest.raises(BadArgument):
        Auditors(house).book(AUDITOR, "visits", many=many)


@pytest.mark.parametrize("after", [-1, None, "0", 1.5, True, 2**70])
def test_pages_begin_after_a_number(house: House, after: Any) -> None:
    for act in (Analysts(house).answers, Analysts(house).spending):
        with pytest.raises(BadArgument):
            act(ADA, "visits", after=after)
    with pytest.raises(BadArgument):
        Auditors(house).book(AUDITOR, "visits", after=after)


@pytest.mark.parametrize("form", ["", "exe", "../x", None, 7, "answers", "__init__"])
def test_forms_that_there_are_not(house: House, form: Any) -> None:
    number = number_of(Analysts(house).ask(ADA, "visits", asked()))
    with pytest.raises(BadArgument):
        Analysts(house).rendered(ADA, "visits", number, form)
