"""The main path of a service: data registered, a share requested and granted, a question asked, an answer published."""

from __future__ import annotations

from pathlib import Path

from tests.unit.service.houses import ADA, AUDITOR, BEN, CURATOR, OWNER, ROOT, asked, opened

import sfumato as sf
from sfumato.service.administrators import Administrators
from sfumato.service.analysts import Analysts
from sfumato.service.auditors import Auditors
from sfumato.service.backups import backup
from sfumato.service.curators import Curators
from sfumato.service.jobs import Jobs
from sfumato.service.owners import Owners
from sfumato.service.workers import Worker


def test_from_registration_to_publication(tmp_path: Path) -> None:
    house = opened(tmp_path)
    analysts, owners, curators, auditors = Analysts(house), Owners(house), Curators(house), Auditors(house)
    assert list(analysts.data_sets(ADA)) == ["visits"]
    request = analysts.request_share(ADA, "visits", sf.Pure("0.5"), purpose="a poster")
    decided = owners.decide(OWNER, "visits", request.number, grants=True, reason="small enough")
    assert decided.granted
    explanation = analysts.explain(ADA, "visits", asked())
    assert explanation.price == sf.Pure("0.1")
    assert explanation.left == sf.Pure("0.5")
    release = analysts.ask(ADA, "visits", asked(), key="monday")
    assert release.receipt is not None
    assert analysts.ask(ADA, "visits", asked(), key="monday").receipt == release.receipt
    [line] = analysts.answers(ADA, "visits").items
    assert line.number == release.receipt.entry
    for form in ("json", "csv", "parquet", "html", "latex", "markdown", "text"):
        assert analysts.rendered(ADA, "visits", line.number, form).content
    assert curators.missing(CURATOR, "visits", line.number) == []
    curators.publish(CURATOR, "visits", line.number, title="Visits in all")
    assert [one.answer for one in curators.published(BEN, "visits")] == [line.number]
    assert curators.published_answer(BEN, "visits", line.number).value.only() == release.value.only()
    assert auditors.verify(AUDITOR, "visits").sound
    assert [one.kind for one in auditors.book(AUDITOR, "visits").items][:2] == ["opened", "noted"]
    job = Jobs(house).submit(ADA, "visits", asked("SELECT AVG(minutes) AS m FROM visits"), "tuesday")
    assert Worker(house).work()
    done = Jobs(house).job(ADA, "visits", job.id)
    assert (done.state, done.charged) == ("done", True)
    assert done.number is not None
    assert analysts.answer(ADA, "visits", done.number)
    assert Administrators(house).state(ROOT).jobs == {"done": 1}
    assert backup(house, tmp_path / "backup").entries == house.ledger.head.entry
