"""Builds the documentation site into build/site/: `make docs`. It can be read from the disk, without a network.

Every Python block is run, and what it prints and draws stands below it; `--fast` leaves that out. What has not changed
since the last time is not run again.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml
from rich.console import Console

sys.path.insert(0, str(Path(__file__).parents[2]))

from scripts.site import layout, links, names, proofs
from scripts.site.showing import shown

ROOT = Path(__file__).parents[2]
BUILD = ROOT / "build"
TOP = ("README.md", "CONTRIBUTING.md", "CODE_OF_CONDUCT.md", "SECURITY.md", "CHANGELOG.md", "ROADMAP.md", "LICENSE")

ELSEWHERE = "https://unpkg.com/iframe-worker/shim"
"""What lets the search work without a server; ours is assets/from-disk.js."""

CONFIGURATION: dict[str, Any] = {
    "site_name": "sfumato",
    "site_description": "Differential privacy, exact and explained",
    "use_directory_urls": False,
    "theme": {
        "variant": "classic",
        "font": False,
        "logo": "logo.svg",
        "favicon": "logo.svg",
        "palette": [
            {
                "media": "(prefers-color-scheme: light)",
                "scheme": "default",
                "primary": "custom",
                "accent": "custom",
                "toggle": {"icon": "material/weather-night", "name": "Dark"},
            },
            {
                "media": "(prefers-color-scheme: dark)",
                "scheme": "slate",
                "primary": "custom",
                "accent": "custom",
                "toggle": {"icon": "material/weather-sunny", "name": "Light"},
            },
        ],
        "features": [
            "navigation.tabs",
            "navigation.top",
            "navigation.footer",
            "content.code.copy",
            "search.highlight",
            "toc.follow",
        ],
    },
    "extra_css": ["site.css"],
    "extra": {"generator": False},
    "markdown_extensions": [
        "attr_list",
        "md_in_html",
        "tables",
        "footnotes",
        "pymdownx.details",
        "pymdownx.highlight",
        "pymdownx.superfences",
        {"toc": {"permalink": True}},
    ],
    "plugins": [
        "search",
        "offline",
    ],
}


def stage(folder: Path, *, run: bool, told: Callable[[str], None]) -> dict[str, int]:
    """Writes the pages as the builder reads them, and says how many there are and how many blocks ran."""
    shutil.rmtree(folder, ignore_errors=True)
    for name in ("docs", "proofs", "names"):
        (folder / name).mkdir(parents=True)
    ran = 0
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
        text, blocks = shown(page, BUILD / "outputs", told) if run else (page.read_text(encoding="utf-8"), 0)
        ran += blocks
        target = folder / "index.md" if page.name == "README.md" else folder / "docs" / page.name
        target.write_text(names.linked(text) if page.name == "reference.md" else text, encoding="utf-8")
    for name in TOP[1:]:
        shutil.copy(ROOT / name, folder / name)
    found = proofs.claims()
    for page in sorted((ROOT / "proofs").glob("*.md")):
        text = proofs.with_code(page.name, proofs.as_mathematics(page.read_text(encoding="utf-8")), found)
        (folder / "proofs" / page.name).write_text(text, encoding="utf-8")
    (folder / "proofs" / "index.md").write_text(proofs.index(found), encoding="utf-8")
    for place, text in names.pages((ROOT / "docs" / "reference.md").read_text(encoding="utf-8")).items():
        (folder / place).write_text(text, encoding="utf-8")
    names.commands(folder)
    for asset in (Path(__file__).parent / "assets").iterdir():
        shutil.copy(asset, folder / asset.name)
    return {"pages": sum(1 for _ in folder.rglob("*.md")), "examples_run": ran}


def close(site: Path) -> None:
    """Takes the one script that pages would fetch from elsewhere from the site itself."""
    for page in site.rglob("*.html"):
        up = "../" * (len(page.relative_to(site).parts) - 1) or "./"
        text = page.read_text(encoding="utf-8")
        page.write_text(text.replace(ELSEWHERE, f"{up}from-disk.js"), encoding="utf-8")


def menu(folder: Path) -> list[Any]:
    """The menu of what was staged."""
    docs = [page.stem for page in (folder / "docs").glob("*.md")]
    proved = sorted(f"proofs/{page.name}" for page in (folder / "proofs").glob("*.md") if page.name != "index.md")
    code = ["commands.md", *sorted(f"names/{page.name}" for page in (folder / "names").glob("*.md"))]
    return layout.navigation(docs, proved, code)


def main() -> int:
    """Builds the site and checks its links; the last line says how many pages, examples and broken links there are."""
    parser = argparse.ArgumentParser(description="Builds the documentation site into build/site/.")
    parser.add_argument("--fast", action="store_true", help="do not run the examples")
    chosen, console = parser.parse_args(), Console(stderr=True)
    folder, site = BUILD / "pages", BUILD / "site"
    with console.status("Pages") as status:
        counted = stage(folder, run=not chosen.fast, told=lambda page: status.update(f"Running {page}"))
        settings = CONFIGURATION | {"docs_dir": folder.name, "site_dir": site.name, "nav": menu(folder)}
        (BUILD / "mkdocs.yml").write_text(yaml.safe_dump(settings, sort_keys=False), encoding="utf-8")
        status.update("Writing the site")
        order = [sys.executable, "-m", "zensical", "build", "--clean", "--config-file", str(BUILD / "mkdocs.yml")]
        built = subprocess.run(order, check=False, capture_output=True, text=True)
    if built.returncode or "issues found" in built.stdout:
        console.print(built.stdout, built.stderr, markup=False)
        return built.returncode or 1
    close(site)
    lost = links.broken(site) + links.fetched(site)
    for line in lost:
        console.print(line, style="red", highlight=False, markup=False)
    summary = counted | {"broken_links": len(lost)}
    (BUILD / "summary.json").write_text(json.dumps(summary), encoding="utf-8")
    print(" ".join(f"{name}={number}" for name, number in summary.items()))
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main())
