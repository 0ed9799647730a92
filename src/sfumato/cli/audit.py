"""The command ``sfumato audit``: does a mechanism keep its promise?"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from sfumato.cli.exits import VIOLATED, misused, tell

What = Annotated[
    str,
    typer.Argument(
        metavar="MODULE:OBJECT",
        help="A measurement, a transformation or an sf.audit.Trial, several of them, or a function that gives these; "
        "MODULE is a name such as shop.reports, or a file such as reports.py.",
        show_default=False,
    ),
]
Html = Annotated[Path | None, typer.Option(help="Where to write a report, with charts, as one page of HTML.")]
Samples = Annotated[int, typer.Option(help="How often a black box is run, at most.", min=100)]
Tries = Annotated[int, typer.Option(help="How many pairs of neighbours are generated.", min=1)]
Seconds = Annotated[float, typer.Option(help="How long each audit may take, about.", min=0.1)]
Confidence = Annotated[str, typer.Option(help="Of bounds that come from samples.")]
Witness = Annotated[bool, typer.Option("--witness", help="Shows the pair of data sets that tells most.")]


def audit(
    what: What,
    *,
    html: Html = None,
    samples: Samples = 100_000,
    tries: Tries = 200,
    seconds: Seconds = 60.0,
    confidence: Confidence = "0.99",
    witness: Witness = False,
) -> None:
    """Measures what mechanisms cost, and sets it beside what they claim. Leaves with 6 where a claim is broken."""
    from sfumato.audit.record import Verdict, worst
    from sfumato.audit.report import place, save_report
    from sfumato.audit.subjects import examine
    from sfumato.release.render import rendered

    if html is not None:
        place(html)  # before the work, not after it
    findings = examine(_loaded(what), samples=samples, tries=tries, seconds=seconds, confidence=confidence)
    console = Console(soft_wrap=True)
    for one in findings:
        console.print(rendered(one.document(witness=witness), "text"), markup=False, highlight=False)
    if html is not None:
        tell(f"Written: {save_report(findings, html, witness=witness)}")
    if worst(findings) is Verdict.VIOLATED:
        raise typer.Exit(VIOLATED)


def _loaded(what: str) -> Any:
    """Imports the object that MODULE:OBJECT names; the current folder counts, as it does for Python."""
    name, _, path = what.rpartition(":")
    if not name or not path:
        misused(f"write MODULE:OBJECT, such as reports.py:mean; got {what}")
    try:
        thing: Any = _file(Path(name)) if name.endswith(".py") else _module(name)
    except ModuleNotFoundError as missing:
        if missing.name is None or not f"{name}.".startswith(f"{missing.name}."):
            raise  # it is there, and imports something that is not
        misused(f"there is no module {name} here")
    for part in path.split("."):
        if not hasattr(thing, part):
            misused(f"{name} has no {path}")
        thing = getattr(thing, part)
    return thing


def _module(name: str) -> Any:
    if "" not in sys.path:
        sys.path.insert(0, "")
    return importlib.import_module(name)


def _file(path: Path) -> Any:
    specification = importlib.util.spec_from_file_location(path.stem, path)
    if not path.is_file() or specification is None or specification.loader is None:
        misused(f"there is no file {path}")
    module = importlib.util.module_from_spec(specification)
    sys.modules[path.stem] = module  # so that classes in it can be found again
    specification.loader.exec_module(module)
    return module
