"""Pages in a real browser: each role's main path, by ear and keyboard, light and dark, on a phone, without scripts."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from tests.unit.pages.site import served_in
from tests.unit.pages.world import HOSTILE, PASSWORD, VISITS, World, pages_of

from sfumato.service.people import VISIT

pytest.importorskip("playwright", reason="needs playwright")
pytest.importorskip("axe_playwright_python", reason="needs axe-playwright-python")

from playwright.sync_api import Browser, ConsoleMessage, Page, expect, sync_playwright

CHROMIUM = shutil.which("chromium") or "/usr/bin/chromium"
pytestmark = pytest.mark.skipif(not Path(CHROMIUM).exists(), reason="needs chromium (scripts/debian-packages)")

BEST = {
    "home": "ada",
    "meaning": "ada",
    "tokens": "ada",
    "people": "adam",
    "register": "cora",
    "data set": "ada",
    "ask": "ada",
    "answers": "ada",
    "answer": "ada",
    "share": "ada",
    "schedules": "ada",
    "requests": "olga",
    "limits": "olga",
    "divide": "olga",
    "checklist": "cora",
    "publish": "cora",
    "published": "axel",
    "book": "axel",
    "account": "ada",
    "state": "adam",
    "tokens of": "adam",
    "upload": "cora",
    "new version": "cora",
    "openly": "axel",
    "openly one": "axel",
    "again": "ada",
    "registry": "cora",
    "webhooks": "olga",
}
"""Who opens each page."""

OWN = f"/data/{VISITS}"
QUESTION = "SELECT day, COUNT(*) AS n FROM visits GROUP BY day"


@dataclass(frozen=True)
class Stage:
    """A browser, and the pages that it is shown."""

    browser: Browser
    world: World
    address: str
    axe: str

    @contextmanager
    def opened(self, who: str | None = None, **said: Any) -> Iterator[Page]:
        """A page of a browser of one's own; whatever its console says, or breaks, is an error."""
        context = self.browser.new_context(**{"viewport": {"width": 1180, "height": 800}, **said})
        if who is not None:
            secret = self.world.house.people.issue(VISIT, who).text
            context.add_cookies([{"name": "sfumato", "value": secret, "url": self.address}])
        context.set_default_timeout(15_000)
        page, told = context.new_page(), list[str]()

        def listen(message: ConsoleMessage) -> None:
            if message.type in ("error", "warning"):
                told.append(message.text)

        page.on("console", listen)
        page.on("pageerror", lambda error: told.append(str(error)))
        page.on(
            "request", lambda request: told.append(request.url) if not request.url.startswith(self.address) else None
        )
        try:
            yield page
            assert not told
        finally:
            context.close()

    def faults(self, page: Page) -> list[str]:
        """What axe says against a page as it stands."""
        page.evaluate(self.axe)
        found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
        return [f"{one['id']}: {part['html'][:160]}" for one in found["violations"] for part in one["nodes"][:3]]

    def go(self, page: Page, path: str) -> None:
        page.goto(self.address + path)


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    axe = (files("axe_playwright_python") / "axe.min.js").read_text()
    with served_in(tmp_path_factory.mktemp("served")) as (world, address), sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        try:
            yield Stage(browser, world, address, axe)
        finally:
            browser.close()


def come_in(stage: Stage, page: Page, who: str) -> None:
    """From a one-time link to the home page."""
    stage.go(page, f"/welcome?link={stage.world.link(who)}")
    page.get_by_label("New password").fill(PASSWORD)
    page.get_by_label("The same again").fill(f"{PASSWORD}?")
    page.get_by_role("button", name="Set it and sign in").click()
    assert page.evaluate("document.querySelector('[name=again]').validationMessage") == "The two passwords differ."
    page.get_by_label("The same again").fill(PASSWORD)
    page.get_by_role("button", name="Set it and sign in").click()
    expect(page.get_by_role("heading", level=1)).to_have_text(f"Hello, {who}")


def analyst(stage: Stage, page: Page) -> None:
    page.get_by_role("link", name="Ask (Visits to sites)").click()
    question = page.get_by_role("textbox", name="Question")
    question.fill("SELECT ARRAY_AGG(site) FROM visits")
    expect(page.locator(".under mark")).to_have_text("ARRAY_AGG")
    expect(page.get_by_role("status").first).to_contain_text("ARRAY_AGG is refused")
    question.fill(QUESTION)
    expect(page.get_by_label("Rows in each group")).to_have_attribute("aria-invalid", "true")
    page.get_by_label("Groups of a person").fill("3")
    page.get_by_label("Rows in each group").fill("1")
    expect(page.locator("#explained .big")).to_have_text("ε = 0.1")
    page.locator("#f-epsilon").fill("0.3")
    expect(page.locator("#explained .big")).to_have_text("ε = 0.3")
    assert not stage.faults(page)
    page.get_by_role("button", name="Pay and ask").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("28 rows by day: n")
    expect(page.locator("figure svg")).to_be_visible()
    assert not stage.faults(page)
    with page.expect_download() as download:
        page.get_by_role("link", name="CSV").click()
    assert "2026-02-14" in Path(download.value.path()).read_text()


def owner(stage: Stage, page: Page) -> None:
    page.get_by_role("link", name="1 request for a share of visits").click()
    page.get_by_label("Reason").fill("There is enough for it")
    page.get_by_role("button", name="Grant it").click()
    expect(page.get_by_role("status").first).to_contain_text("The share is granted")
    page.get_by_role("link", name="Limits").click()
    expect(page.get_by_role("row", name="visits/ada+2")).to_be_visible()
    page.once("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name="Close visits/ada+2").click()
    expect(page.get_by_role("status").first).to_contain_text("The share is closed")
    page.get_by_role("link", name="Webhooks").click()
    page.get_by_role("button", name="Send a test to chat").click()
    expect(page.get_by_role("status").first).to_contain_text("A test is on its way")


def curator(stage: Stage, page: Page) -> None:
    stage.go(page, f"{OWN}/publish")
    row = page.locator("tr").filter(has=page.get_by_text("Publish answer")).first
    row.get_by_text("Publish answer").click()
    row.get_by_label("Title for readers").fill("How long people stay")
    page.once("dialog", lambda dialog: dialog.accept())
    row.get_by_role("button", name="Publish", exact=True).click()
    expect(page.get_by_role("status").first).to_have_text("It is published.")
    page.get_by_role("link", name="The page that readers see").click()
    expect(page.get_by_role("heading", name="How long people stay")).to_be_visible()
    with page.expect_download() as download:
        page.get_by_role("link", name="JSON of How long people stay").click()
    assert Path(download.value.path()).read_text().startswith("{")
    stage.go(page, f"/upload?name={VISITS}")
    octets = b"patient,minutes\np1,5\n"
    page.get_by_label("File").set_input_files({"name": "stays.csv", "mimeType": "text/csv", "buffer": octets})
    page.get_by_role("button", name="Send it").click()
    page.get_by_label("In words").fill("a patient")
    page.get_by_label("patient", exact=False).last.check()
    page.get_by_role("button", name="Make the draft").click()
    page.get_by_role("button", name="Check it and go on").click()
    expect(page.get_by_role("status").first).to_contain_text("The codebook can be read.")


def auditor(stage: Stage, page: Page) -> None:
    page.get_by_role("link", name="Book (Visits to sites)").click()
    page.get_by_role("button", name="Verify the whole book").click()
    expect(page.get_by_role("status").first).to_contain_text("The chain holds.")
    with page.expect_download() as download:
        page.get_by_role("link", name="Export without answers").click()
    assert '"value":null' in Path(download.value.path()).read_text()


def administrator(stage: Stage, page: Page) -> None:
    page.get_by_role("link", name="People").click()
    page.get_by_label("Name").fill("grace")
    page.get_by_label("Roles").last.fill("analyst of visits")
    page.get_by_role("button", name="Add and make a link").click()
    address = page.locator("#link").inner_text()
    assert address.startswith(f"{stage.address}/welcome?link=sfumato_")
    page.get_by_role("link", name="Tokens").click()
    page.get_by_label("What it is for").fill("watching")
    page.get_by_role("button", name="Make it").click()
    expect(page.locator("#token")).to_contain_text("sfumato_")


@pytest.mark.parametrize(
    ("who", "path"),
    [("ada", analyst), ("olga", owner), ("cora", curator), ("axel", auditor), ("adam", administrator)],
)
def test_the_main_path_of_each_role_from_a_link_to_a_download(
    stage: Stage, who: str, path: Callable[[Stage, Page], None]
) -> None:
    with stage.opened(accept_downloads=True) as page:
        come_in(stage, page, who)
        path(stage, page)
        page.get_by_role("button", name="Sign out").click()
        expect(page.get_by_role("heading", level=1)).to_have_text("Sign in")


def tour(stage: Stage, names: list[str], data_set: str, **said: Any) -> Iterator[tuple[str, Page]]:
    """Opens pages one after another, each as somebody who may."""
    addresses = pages_of(data_set, stage.world.answers[data_set])
    for who in sorted({BEST[name] for name in names}):
        with stage.opened(who, reduced_motion="reduce", **said) as page:
            for name in (name for name in names if BEST[name] == who):
                stage.go(page, addresses[name])
                yield name, page


def scanned(stage: Stage, scheme: str, names: list[str], data_set: str) -> dict[str, list[str]]:
    """What axe says against pages, with everything opened that can be."""
    faults = {}
    for name, page in tour(stage, names, data_set, color_scheme=scheme):
        page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
        faults[name] = stage.faults(page)
    return {name: told for name, told in faults.items() if told}


def test_axe_finds_nothing_against_any_page(stage: Stage) -> None:
    assert not scanned(stage, "light", list(BEST), VISITS)
    assert not scanned(
        stage, "dark", ["home", "answer", "meaning", "requests", "webhooks", "account", "openly one"], VISITS
    )


@pytest.mark.nightly
def test_axe_finds_nothing_against_any_page_in_the_dark_and_with_hostile_texts(stage: Stage) -> None:
    assert not scanned(stage, "dark", list(BEST), VISITS)
    assert not scanned(stage, "light", list(BEST), HOSTILE)
    assert not scanned(stage, "dark", list(BEST), HOSTILE)


def test_axe_finds_what_is_wrong(stage: Stage) -> None:
    with stage.opened() as page:
        stage.go(page, "/sign-in")
        assert not stage.faults(page)
        page.evaluate("document.querySelector('label').remove()")
        assert any(fault.startswith("label:") for fault in stage.faults(page))


@pytest.mark.parametrize("data_set", [HOSTILE, pytest.param(VISITS, marks=pytest.mark.nightly)])
def test_every_page_fits_on_a_phone(stage: Stage, data_set: str) -> None:
    wide = {}
    for name, page in tour(stage, list(BEST), data_set, viewport={"width": 360, "height": 740}):
        wide[name] = page.evaluate("document.documentElement.scrollWidth")
    assert len(wide) == len(BEST) and set(wide.values()) == {360}, wide


def test_light_and_dark_follow_the_system_and_the_switch_before_anything_is_drawn(stage: Stage) -> None:
    colour = "getComputedStyle(document.body).backgroundColor"
    seen = {}
    for scheme in ("light", "dark"):
        with stage.opened("ada", color_scheme=scheme) as page:
            stage.go(page, "/")
            seen[scheme] = page.evaluate(colour)
            other = "Dark" if scheme == "light" else "Light"
            with page.expect_response("**/theme"):
                page.get_by_role("button", name=other, exact=True).click()
            seen[f"{scheme}, switched"] = page.evaluate(colour)
            page.reload()
            assert page.evaluate(colour) == seen[f"{scheme}, switched"]
            assert page.evaluate("document.documentElement.dataset.theme") == other.lower()
    assert seen["light"] == seen["dark, switched"] != seen["dark"] == seen["light, switched"]


def test_without_scripts_a_question_is_explained_asked_and_light_switched(stage: Stage) -> None:
    with stage.opened("ada", java_script_enabled=False) as page:
        stage.go(page, f"{OWN}/ask")
        page.fill("#f-question", "SELECT COUNT(*) AS n FROM visits")
        page.fill("#f-epsilon", "0.04")
        page.locator("summary").last.click()
        page.fill("#f-max_rows", "2")
        page.click("text=What would it cost?")
        expect(page.locator("#explained .big")).to_have_text("ε = 0.04")
        page.click("text=Pay and ask")
        expect(page.get_by_role("heading", level=1)).to_contain_text("±")
        page.click("button:has-text('Dark')")
        expect(page.locator("html")).to_have_attribute("data-theme", "dark")


def test_the_keyboard_reaches_everything_in_order(stage: Stage) -> None:
    with stage.opened("ada") as page:
        stage.go(page, f"{OWN}/ask")
        page.keyboard.press("Tab")
        expect(page.locator(":focus")).to_have_text("Skip to the content")
        page.keyboard.press("Enter")
        assert page.evaluate("document.activeElement.id") == "content"
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.id") == "f-question"
        page.keyboard.type("SELECT COUNT(*) AS n FROM visits")
        page.keyboard.press("Control+Enter")
        expect(page.get_by_role("status").first).to_contain_text("Refused")
        outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        assert outline != "none"
