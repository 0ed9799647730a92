"""What notebooks and prompts show of things that people hold in their hands."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

import sfumato as sf
from sfumato.errors import BadArgument
from sfumato.release.render.displayed import MEDIA, Displayed

BOOK = {
    "codebook": 1,
    "title": "An <exam>",
    "unit": {"protects": "a student"},
    "tables": {
        "scores": {
            "contributions": {"rows": 1, "source": "one sheet each"},
            "columns": {
                "points": {"type": "int", "between": [0, 10**9], "source": "the sheet", "nullable": False},
                "grade": {"type": "categories", "categories": list("ABCDEFGHIJKLMN"), "source": "the rules"},
            },
        }
    },
}
SECRET = 735_193_746
"""A number that no time and no digest has in it by chance."""


def session() -> sf.Session:
    data = {"points": np.array([SECRET] * 5), "grade": np.array(["A"] * 5)}
    return sf.Dataset(data, name="exam", codebook=BOOK).session(limit=sf.Pure(2), ledger="memory:")


THINGS: dict[str, Callable[[sf.Session], Displayed]] = {
    "session": lambda s: s,
    "dataset": lambda s: s.dataset,
    "codebook": lambda s: s.dataset.codebook,  # type: ignore[return-value]
    "overview": lambda s: s.overview(),
    "ledger": lambda s: s.ledger,
    "release": lambda s: s.run(s.dataset.space >> sf.count() >> sf.laplace(scale=2)),
    "explanation": lambda s: s.explain(s.dataset.space >> sf.count() >> sf.laplace(scale=2)),
}


@pytest.mark.parametrize("name", THINGS)
def test_everything_shows_itself_in_every_form(name: str) -> None:
    shown = THINGS[name](session())
    bundle = shown._repr_mimebundle_()
    assert set(bundle) == set(MEDIA)
    assert bundle["text/html"] == shown._repr_html_() == shown.to_html()
    assert bundle["text/plain"] == str(shown) and bundle["text/markdown"] == shown.to_markdown()
    assert "<exam>" not in bundle["text/html"] and "<script" not in bundle["text/html"]
    assert set(shown._repr_mimebundle_(include=["text/html"])) == {"text/html"}
    assert set(shown._repr_mimebundle_(exclude=["text/html"])) == set(MEDIA) - {"text/html"}
    assert str(SECRET) not in "".join(bundle.values()) + repr(shown)


def test_what_is_shown_is_what_one_wants_to_know() -> None:
    asked = session()
    asked.run(asked.dataset.space >> sf.count() >> sf.laplace(scale=2))
    text = str(asked)
    assert text.startswith("exam: ε = 0.5 of ε = 2 spent, for a student\n") and "left   ε = 1.5" in text
    assert "points  int" in text and "[0, 1000000000]" in text and "A, B, C, D, E, F, G, H, I, J, K, L, …" in text
    assert repr(asked) == "Session(exam: ε = 0.5 of ε = 2 spent, for a student)"
    assert "exam     ε = 2  ε = 0.5  open" in str(asked.ledger)
    assert repr(asked.dataset.codebook).startswith("An <exam>: protects a student")
    assert len(repr(asked.dataset.codebook)) < 1000


def test_a_limit_without_delta_says_which_keys_it_cannot_pay_for() -> None:
    assert "keys   only public ones" in str(session())
    assert "keys   only public ones" not in str(
        sf.Dataset({"points": [1], "grade": ["A"]}, codebook=BOOK).session(limit=sf.Approx(2, 1e-6), ledger="memory:")
    )
    asked = sf.Dataset({"id": [1, 2], "site": ["a", "b"]}, unit="id").session(limit=sf.Pure(9), ledger="memory:")
    with pytest.raises(BadArgument, match="which a limit must have too; or list them, in the codebook"):
        asked.sql("SELECT site, COUNT(*) AS n FROM data GROUP BY site", epsilon=1, max_groups=1, max_rows_per_group=1)


def test_losses_show_how_they_are_written_and_read() -> None:
    for loss in (sf.Pure(1), sf.Approx(1, 1e-6), sf.ZCDP(0.5), sf.GDP(1)):
        assert loss._repr_html_() == f"<code>{loss!r}</code> {loss}"


def test_what_reports_say_shows_itself_as_a_table() -> None:
    protocol = sf.local.frequencies(["<b>yes</b>", "no"], loss=1, users=50)
    found = protocol.aggregate(protocol.randomize_many(["no"] * 50))
    survey = sf.local.ChoiceSurvey("How <i>?", ["bus", "car"])
    shown: list[Displayed] = [
        found,
        survey.estimate({"bus": 30, "car": 20}),
        sf.local.Questionnaire([survey]),
        sf.local.compare(sizes=[2, 4], loss=1, users=50),
        sf.local.shuffle_gains(losses=[1], users=[100], delta=1e-6),
    ]
    for each in shown:
        bundle = each._repr_mimebundle_()
        assert set(bundle) == set(MEDIA) and bundle["text/plain"] == str(each) and "<table" in bundle["text/html"]
        assert "<b>yes" not in bundle["text/html"] and "<i>?" not in bundle["text/html"]
    assert str(found).startswith("2 values of 50 people") and "ε = 1 for one report" in str(found)


def counted() -> sf.Release:
    return (sf.vector(int) >> sf.count() >> sf.laplace(scale=2))([1] * 50)


def test_a_release_is_a_number_where_one_is_asked_for() -> None:
    release = counted()
    assert (
        float(release) == release.value and f"{release:.1f}" == f"{release.value:.1f}" and f"{release}" == str(release)
    )
    asked = session().sql("SELECT COUNT(*) AS m FROM scores", loss=sf.Pure(1))
    assert float(asked) == asked.value.only()
    several = replace(release, value=np.array([1, 2]))
    with pytest.raises(BadArgument, match="of one number; read others at"):
        float(several)
    with pytest.raises(BadArgument, match="of one row and one column"):
        float(session().sql("SELECT AVG(points) AS m, COUNT(*) AS n FROM scores", loss=sf.Pure(1)))


@pytest.mark.parametrize("use", [lambda r: r > 3, lambda r: r >= 3, lambda r: r + 1, lambda r: 2 * r, lambda r: 1 / r])
def test_a_release_is_not_compared_as_if_it_were_exact(use: Callable[[sf.Release], object]) -> None:
    with pytest.raises(TypeError, match=r"has an error bar. Compare and compute with release\.estimate\(\)"):
        use(counted())


def test_closing_a_session_closes_no_account() -> None:
    opened = session()
    opened.close()
    assert not opened.ledger["exam"].closed
    opened.close_account()
    assert opened.ledger["exam"].closed


MORE: dict[str, Callable[[sf.Session], object]] = {
    "account": lambda s: s.ledger["exam"],
    "measurement": lambda s: s.dataset.space >> sf.count() >> sf.laplace(scale=2),
    "cost of a plan": lambda _: sf.account(sf.events.Repeat(sf.events.Gaussian(scale=3), 4), delta=1e-6),
}


@pytest.mark.parametrize("name", MORE)
def test_notebooks_show_what_is_no_document_too(name: str) -> None:
    thing = MORE[name](session())
    html = thing._repr_html_()  # type: ignore[attr-defined]
    assert "<table" in html and "<script" not in html and "ε" in html
    assert str(SECRET) not in html and " at 0x" not in html + str(thing) + repr(thing)


def test_nothing_shows_where_it_lies_in_memory() -> None:
    assert " at 0x" not in repr(session().ledger)
