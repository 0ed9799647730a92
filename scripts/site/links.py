"""Checks every link of the built site: the page it leads to is there, and so is the place on it."""

from __future__ import annotations

from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import final
from urllib.parse import unquote, urlsplit


@final
class Reader(HTMLParser):
    """Collects the links and the named places of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.fetched: list[str] = []
        self.names: set[str] = set()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        """Notes what a tag names and where it leads."""
        for key, value in attributes:
            if value is not None and key in ("id", "name"):
                self.names.add(value)
            elif value is not None and (key == "src" or (key == "href" and tag in ("a", "link"))):
                self.links.append(value)
                if (key == "src" or tag == "link") and value.startswith(("http:", "https:", "//")):
                    self.fetched.append(value)


@cache
def read(page: Path) -> Reader:
    """A page, read once."""
    reader = Reader()
    reader.feed(page.read_text(encoding="utf-8"))
    return reader


def broken(site: Path) -> list[str]:
    """Every link within the site that leads nowhere, with the page it stands on."""
    found = []
    for page in sorted(site.rglob("*.html")):
        for link in read(page).links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc or page.name == "404.html":
                continue
            target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            target = target / "index.html" if target.is_dir() else target
            lost = not target.is_file()
            if not lost and parts.fragment and target.suffix == ".html":
                lost = unquote(parts.fragment) not in read(target).names | {"__top"}
            if lost:
                found.append(f"{page.relative_to(site)}: {link}")
    return found


def fetched(site: Path) -> list[str]:
    """What pages would fetch from elsewhere: a site that is read offline has none of it."""
    return sorted(f"{page.relative_to(site)}: {link}" for page in site.rglob("*.html") for link in read(page).fetched)
