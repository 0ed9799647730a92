"""The command ``sfumato plan``: what a list of statistics costs, from a codebook alone; nothing is opened or spent."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sfumato.cli.exits import misused, tell
from sfumato.cli.output import check_writable
from sfumato.cli.parsing import loss_of
from sfumato.codebook.entries import comma_list

if TYPE_CHECKING:
    from sfumato.planning.record import Plan
    from sfumato.planning.rehearsing import DryRun
    from sfumato.planning.wishes import Wanted

# What plans is loaded when somebody plans: every command starts with this file.

KEYS = frozenset(
    {
        "sql",
        "name",
        "within",
        "confidence",
        "priority",
        "weight",
        "size",
        "about",
        "unit",
        "parameters",
        "max_groups",
        "max_rows_per_group",
        "max_rows",
        "max_matches",
        "weights",
        "noise",
    }
)
"""What a file of statistics can say of each."""

FORMS = (".html", ".json", ".md", ".txt")


class Shared(StrEnum):
    """How what targets leave is shared out."""

    BEST = "best"
    EVEN = "even"
    RANKED = "ranked"


Book = Annotated[Path, typer.Argument(help="The codebook; the data itself is not needed.", show_default=False)]
Statistics = Annotated[
    list[str] | None, typer.Argument(help="SELECTs, or @FILE with a list of statistics.", show_default=False)
]
Epsilon = Annotated[str | None, typer.Option(help="The limit: ε.")]
Delta = Annotated[str | None, typer.Option(help="… with a δ.")]
Rho = Annotated[str | None, typer.Option(help="The limit in zero-concentrated privacy: ρ.")]
Rows = Annotated[int | None, typer.Option(help="About how many rows there are, by public knowledge.", min=1)]
People = Annotated[int | None, typer.Option(help="About how many people there are, by public knowledge.", min=1)]
MaxRows = Annotated[
    int | None, typer.Option(help="Keep at most so many rows of each unit, where nothing else is said.", min=1)
]
Share = Annotated[Shared, typer.Option(help="How what targets leave is shared out.")]
Unit = Annotated[str | None, typer.Option(help="The column that says whose a row is, if the codebook does not.")]
Public = Annotated[list[str] | None, typer.Option("--table", help="NAME=FILE, for each public table: plans need it.")]
Output = Annotated[
    list[Path] | None,
    typer.Option("--output", "-o", help="A report (.html), or a plan to read again (.json); more than once."),
]
Rehearse = Annotated[bool, typer.Option("--dry-run", help="Tries the plan on made-up data of the codebook's shape.")]
Success = Annotated[str | None, typer.Option(help="Instead of a limit: how often an attack may be right at most, 0.6.")]
Code = Annotated[bool, typer.Option("--code", help="Prints the plan as Python to paste.")]


def plan_statistics(
    codebook: Book,
    statistics: Statistics = None,
    *,
    epsilon: Epsilon = None,
    delta: Delta = None,
    rho: Rho = None,
    attack_success: Success = None,
    rows: Rows = None,
    people: People = None,
    max_rows: MaxRows = None,
    share: Share = Shared.BEST,
    unit: Unit = None,
    table: Public = None,
    output: Output = None,
    dry_run: Rehearse = False,
    code: Code = False,
) -> None:
    """Plans a list of statistics under a limit: what each costs, how exact it is, what does not fit.

    Opens no private data, asks nothing, charges nothing: a codebook is enough.

    In a file, a statistic is a SELECT, or has sql, name, within (50, or "5 %"), priority, max_rows and so on.
    """
    from sfumato.codebook.book import Codebook
    from sfumato.planning.limits import limit_advice
    from sfumato.planning.making import plan

    for path in output or ():
        if path.suffix not in FORMS:
            misused(f"--output takes a file that ends in {comma_list(FORMS)}; got {path.name}.")
    check_writable(*(output or ()))
    limit = loss_of(epsilon, delta, rho)
    if attack_success is not None:
        if limit is not None:
            misused("--attack-success is there to find a limit: leave --epsilon, --delta and --rho out.")
        advice = limit_advice(success=attack_success, people=people)
        tell(str(advice))
        limit = advice.limit
    if limit is None:
        misused("say what may be spent in all: --epsilon 1 (and --delta 1e-6), --rho 0.1, or --attack-success 0.6.")
    public = dict(_named(one) for one in table or ())
    made = plan(
        Codebook.read(codebook),
        _read(statistics or [], max_rows),
        limit=limit,
        rows=rows,
        people=people,
        share=share.value,
        unit=unit,
        public=public,
    )
    sys.stdout.write(made.code(codebook=str(codebook)) if code else f"{made}\n")
    run = _tried_out(made, codebook, rows, people, unit, public) if dry_run else None
    for path in output or ():
        tell(f"  written  {made.save(path, run)}")


def _tried_out(
    made: Plan, codebook: Path, rows: int | None, people: int | None, unit: str | None, public: dict[str, str]
) -> DryRun:
    from sfumato.codebook.book import Codebook
    from sfumato.planning.rehearsing import dry_run

    run = dry_run(made, Codebook.read(codebook), rows=rows, people=people, unit=unit, public=public)
    sys.stdout.write(f"\n{run}\n")
    return run


def _read(given: list[str], max_rows: int | None) -> list[Wanted]:
    """Reads statistics from texts and files."""
    if not given:
        misused("say what is wanted: SELECTs, or @FILE with a list of statistics (YAML or JSON).")
    wants = []
    for one in given:
        listed = _listed(one[1:]) if one.startswith("@") else [one]
        wants += [_wanted(each, max_rows) for each in listed]
    return wants


def _listed(path: str) -> list[Any]:
    """Reads a list of statistics from a file: YAML or JSON, or one SELECT."""
    from sfumato.codebook.strict_yaml import read_text

    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        misused(f"there is no list of statistics to read in {path}.")
    if Path(path).suffix == ".sql":
        return [text]
    read: Any = read_text(text)
    listed = read.get("statistics") if isinstance(read, dict) else read
    if not isinstance(listed, list) or not listed:
        misused(f"{path} must hold statistics: a list, each a SELECT, or with sql, name, within, priority and so on.")
    return listed


def _wanted(given: Any, max_rows: int | None) -> Wanted:
    from sfumato.planning.wishes import wanted

    said = {"sql": given} if isinstance(given, str) else given
    if not isinstance(said, dict) or not isinstance(said.get("sql"), str):
        misused("each statistic is a SELECT, or has an entry sql with one.")
    if unknown := sorted(set(map(str, said)) - KEYS):
        misused(f"a statistic has no {unknown[0]}; it has {comma_list(sorted(KEYS))}.")
    bounded = {"max_rows", "max_rows_per_group", "max_groups"} & set(said)
    rest: dict[str, Any] = {name: value for name, value in said.items() if name != "sql"}
    if max_rows is not None and not bounded:
        rest["max_rows"] = max_rows
    return wanted(said["sql"], **rest)


def _named(given: str) -> tuple[str, str]:
    name, sign, path = given.partition("=")
    if not sign or not path:
        misused(f"--table takes the name of a public table and its file, as in --table sites=sites.csv; got {given!r}.")
    return name, path
