"""What every page must be: right by the rules of HTML, usable by ear, without scripts or styles of its own, escaped."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from tests.unit.pages.site import Site, parsed
from tests.unit.pages.world import HOSTILE, QUOTED, ROLES, SCRIPT, STRANGER, TURNED, VISITS, pages_of

HEADINGS = ("h1", "h2", "h3", "h4")
CONTROLS = ("input", "select", "textarea")
STEERING = re.compile("[\u202a-\u202e\u2066-\u2069\u200b\ufeff]")


def shown_pages(site: Site) -> Iterator[tuple[str, str]]:
    """Every page that anybody is shown, on data with ordinary and with hostile texts; and pages of problems."""
    for who in (*ROLES, STRANGER):
        for data_set in (VISITS, HOSTILE):
            for page, path in pages_of(data_set, site.world.answers[data_set]).items():
                answered = site.get(who, path)
                yield f"{who}: {page} of {data_set} ({answered.status_code})", answered.text
    for path in ("/sign-in", "/welcome?link=sfumato_x", "/sign-in?next=/data/visits"):
        yield path, site.get(None, path).text
    yield "nothing there", site.get("ada", "/nothing/there").text


def faults_of(text: str) -> Iterator[str]:
    page = parsed(text)
    yield from rule_faults(page)
    yield from landmark_faults(page)
    yield from naming_faults(page)
    yield from form_faults(page)
    yield from table_faults(page)


def rule_faults(page: Any) -> Iterator[str]:
    ids = Counter(part.get("id") for part in page.iter() if part.get("id"))
    yield from (f"the id {name} stands {count} times" for name, count in ids.items() if count > 1)
    for part in page.iter():
        if not isinstance(part.tag, str):
            yield "a comment or an instruction"
            continue
        yield from (f"<{part.tag} {name}>" for name in part.attrib if name == "style" or name.startswith("on"))
        if part.tag == "style" or (part.tag == "script" and ((part.text or "").strip() or not part.get("src"))):
            yield f"an inline {part.tag}"
        for name in ("src", "href", "action", "formaction"):
            if not (part.get(name) or "/").startswith(("/", "#", "url(")):
                yield f"<{part.tag} {name}={part.get(name)}> leads elsewhere"
        for name in ("aria-labelledby", "aria-describedby", "for"):
            yield from (
                f"{name} names {one}, which is not there" for one in (part.get(name) or "").split() if one not in ids
            )


def landmark_faults(page: Any) -> Iterator[str]:
    for tag in ("main", "header", "footer", "h1", "title"):
        count = sum(part.tag == tag for part in page.iter())
        if count != 1:
            yield f"{count} of <{tag}>"
    if page.get("lang") != "en":
        yield "no language"
    if not any(part.tag == "a" and part.get("href") == "#content" for part in page.iter()):
        yield "no way past the top"
    before = 0
    for part in page.iter():
        if part.tag in HEADINGS:
            level = HEADINGS.index(part.tag) + 1
            if level > before + 1:
                yield f"<{part.tag}> after a heading of level {before}"
            before = level
    for nav in page.iter("nav"):
        if not nav.get("aria-label"):
            yield "a <nav> without a name"


def naming_faults(page: Any) -> Iterator[str]:
    labels = {part.get("for") for part in page.iter("label")}
    for part in page.iter():
        named = part.get("id") in labels or part.get("aria-label")
        if part.tag in CONTROLS and part.get("type") != "hidden" and not named:
            yield f"<{part.tag} name={part.get('name')}> without a label"
        if part.tag in ("button", "a", "summary") and not "".join(part.itertext()).strip():
            yield f"<{part.tag}> without words"
        if part.get("tabindex") == "0" and part.tag != "pre" and not part.get("aria-label"):
            yield f"<{part.tag}> that is reached by keyboard and has no name"
        if part.tag == "svg" and part.get("aria-hidden") != "true":
            yield "a drawing that speaks"


def form_faults(page: Any) -> Iterator[str]:
    visit = any("sign-out" in (part.get("action") or "") for part in page.iter("form"))
    for form in page.iter("form"):
        tokens = [part for part in form.iter("input") if part.get("name") == "csrf"]
        if form.get("method") == "post" and (len(tokens) != 1 or (visit and not tokens[0].get("value"))):
            yield f"the form of {form.get('action')} without its token"
        if form.get("method") != "post" and tokens:
            yield "a token in an address"
        if any(part.tag == "form" for part in list(form.iter())[1:]):
            yield "a form in a form"


def table_faults(page: Any) -> Iterator[str]:
    for table in page.iter("table"):
        if table.find("caption") is None or not "".join(table.find("caption").itertext()).strip():
            yield "a table without a caption"
        for head in table.iter("th"):
            if head.get("scope") not in ("row", "col"):
                yield "a <th> without a scope"
            if head.get("scope") == "col" and not "".join(head.itertext()).strip():
                yield "the head of a column without words"


@pytest.fixture(scope="module")
def shown(site: Site) -> list[tuple[str, str]]:
    return list(shown_pages(site))


def test_every_page_keeps_the_rules(shown: list[tuple[str, str]]) -> None:
    told = {name: list(faults_of(text)) for name, text in shown}
    assert len(told) > 200
    assert not {name: faults for name, faults in told.items() if faults}


def test_no_text_of_people_becomes_markup(shown: list[tuple[str, str]]) -> None:
    seen: Counter[str] = Counter()
    for name, text in shown:
        assert SCRIPT not in text and "<img" not in text, name
        assert not STEERING.search(text), name
        assert "alert(2)&gt;49" not in text, name
        seen["script"] += "&lt;script&gt;alert(1)" in text
        seen["turned"] += "right\\u202eto left" in text
        seen["quoted"] += "{{ 7*7 }}" in text
    assert min(seen.values()) > 10, seen


def test_a_page_that_breaks_the_rules_is_found() -> None:
    good = '<!doctype html><html lang="en"><head><title>t</title></head><body>{}</body></html>'
    frame = '<a href="#content">skip</a><header></header><main id="content"><h1>h</h1>{}</main><footer></footer>'
    assert not list(faults_of(good.format(frame.format(""))))
    for wrong in (
        '<p id="content"></p>',
        '<p style="color:red"></p>',
        '<a href="#content" onclick="x()">x</a>',
        "<script>1</script>",
        '<a href="https://elsewhere.example">x</a>',
        '<p aria-describedby="nothing"></p>',
        "<h3>x</h3>",
        "<nav></nav>",
        '<input name="x">',
        "<button></button>",
        '<form method="post" action="/x"></form>',
        "<table><tbody><tr><td>x</td></tr></tbody></table>",
        "<h1>again</h1>",
    ):
        assert list(faults_of(good.format(frame.format(wrong)))), wrong


@pytest.mark.parametrize("text", [SCRIPT, TURNED, QUOTED])
def test_a_hostile_question_is_shown_as_it_is(site: Site, text: str) -> None:
    question = f"SELECT COUNT(*) FROM visits WHERE site = '{text}' AND MEDIAN(site) > 1</textarea>{SCRIPT}"
    for path in ("/data/visits/ask", "/data/visits/ask/explained"):
        fields = {"question": question, "epsilon": "0.1", "max_rows": "1", "do": "explain"}
        answered = site.post("ada", path, fields)
        assert answered.status_code == 200
        assert SCRIPT not in answered.text and "<img" not in answered.text
        if path.endswith("ask"):
            assert not list(faults_of(answered.text))
