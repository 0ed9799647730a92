"""Compares every engine with the same question by hand there, and Spark with its peers; then ever larger tables.

Run it with `make bench-engines`, after `make peers`; all of it takes about an hour, and 10 GB of disk. The question is
count, sum and mean of visits for each of 1,000 sites, with few very busy people, who are the unit. sfumato and the
question by hand take turns in one interpreter, on the same files, server or session.

The last line gives our time over that by hand on each engine, for 10⁷ rows of 10⁶ people; the time of Tumult and of
PipelineDP on Spark over ours, for 10⁶ rows; the time that 10⁸ rows take within 4 GB, over 100 times that of 10⁶
(`linear_…`); and what noise and selection of 10⁷ groups take on Spark, over the plain aggregation (`spark_groups`).

`--part hand --part linear` measures these only; `--engine spark` on this engine only. `--part curves` times every
engine over rows, groups and columns, fits the cost model of docs/scale.md, and is left out otherwise; with
`--page docs/scale.md` it writes its tables there. With `--folder` engines may be measured one after another.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from dataclasses import astuple
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from contenders.engines.cases import ENGINES, HUNDRED_MILLION, MEMORY, visits
from contenders.engines.page import Cluster, filled, models, paper
from contenders.engines.page import curves as curve_lines
from contenders.engines.preparing import write_visits, write_wide
from contenders.engines.sizes import HELD_BACK, Point, fitted, points
from contenders.query.cases import MILLION, TEN_MILLION, Size
from side_by_side.contest import Contender, Contest, Facts, hold, ratios_line

PARTS = ("hand", "peers", "linear", "groups", "curves")
USUAL = PARTS[:-1]
PEERS = {"tumult": ("Tumult", "query/tumult.py"), "pipelinedp_spark": ("PipelineDP", "engines/pipelinedp_spark.py")}
OUT_OF_CORE = ("duckdb", "spark")
ROUNDS, LONG_ROUNDS = 3, 1


def prepare(folder: Path, parts: list[str], engines: list[str]) -> None:
    """Writes the tables that are asked about, unless they are there."""
    sizes = {MILLION: {"peers", "linear"}, TEN_MILLION: {"hand"}, HUNDRED_MILLION: {"linear"}}
    for size, wanted in sizes.items():
        if wanted & set(parts):
            write_visits(folder, size)
    asked = {point for engine in engines for point in points(engine)} if "curves" in parts else set()
    for groups, rows in sorted({(point.groups, point.rows) for point in asked}):
        write_wide(folder, groups, rows)


def timed(engine: str, folder: Path, size: Size, rounds: int, *ways: str) -> Contender:
    """Who times ways of one engine at one size."""
    return Contender(engine, "engines/hand.py", arguments=(engine, str(folder), size.name, str(rounds), *ways))


def contenders(folder: Path, parts: list[str], engines: list[str]) -> list[Contender]:
    """Everyone who takes part."""
    found: list[Contender] = []
    if "hand" in parts:
        found += [timed(engine, folder, TEN_MILLION, ROUNDS, "ours", "hand") for engine in engines]
    if "peers" in parts and "spark" in engines:
        found += [timed("spark", folder, MILLION, ROUNDS, "ours")]
        arguments = str(folder), MILLION.name, str(visits(folder, MILLION))
        found += [Contender(name, script, environment, arguments) for environment, (name, script) in PEERS.items()]
    if "linear" in parts:
        for engine in (one for one in OUT_OF_CORE if one in engines):
            found += (
                [timed(engine, folder, MILLION, ROUNDS, "ours")] if "peers" not in parts or engine != "spark" else []
            )
            found += [timed(engine, folder, HUNDRED_MILLION, LONG_ROUNDS, "ours")]
    if "groups" in parts and "spark" in engines:
        found += [Contender("spark", "engines/groups.py", arguments=(str(folder),))]
    if "curves" in parts:
        found += [Contender(engine, "engines/curves.py", arguments=(engine, str(folder))) for engine in engines]
    return found


def label(facts: Facts) -> str:
    """Says in a few words what was just measured."""
    return f"{facts['case']} {facts['kind']}"


def seconds(contest: Contest, contender: str, case: str, size: Size) -> float | None:
    """The time of one way, if it was measured."""
    found = contest.where(kind="time", contender=contender, case=case, size=size.name)
    return found[0]["seconds"] if found else None


def over(one: float | None, other: float | None) -> float | None:
    """A quotient, if both were measured."""
    return None if one is None or other is None else one / other


def figures(contest: Contest) -> dict[str, float | None]:
    """The numbers of the last line."""
    ours = {(engine, size): seconds(contest, engine, "ours", size) for engine in ENGINES for size in SIZED}
    hand = {engine: seconds(contest, engine, "hand", TEN_MILLION) for engine in ENGINES}
    peers = {name: seconds(contest, shown, "people", MILLION) for name, (shown, _) in PEERS.items()}
    more = HUNDRED_MILLION.rows / MILLION.rows
    linear = {one: over(ours[one, HUNDRED_MILLION], ours[one, MILLION]) for one in OUT_OF_CORE}
    return {
        **{f"{engine}_vs_hand": over(ours[engine, TEN_MILLION], hand[engine]) for engine in ENGINES},
        **{name: over(spent, ours["spark", MILLION]) for name, spent in peers.items()},
        **{f"linear_{one}": None if ratio is None else ratio / more for one, ratio in linear.items()},
        "spark_groups": over(*(once(contest, case) for case in ("finish", "plain"))),
    }


SIZED = (MILLION, TEN_MILLION, HUNDRED_MILLION)


def once(contest: Contest, case: str) -> float | None:
    """What a step of the question with very many groups took, if it was measured."""
    found = contest.where(kind="groups", case=case)
    return found[0]["seconds"] if found else None


def times_table(contest: Contest) -> Table:
    """Draws the table of times."""
    table = Table(title=f"Count, sum and mean for each of 1,000 sites; at most {MEMORY} for an engine")
    for heading in ("rows", "engine", "way", "seconds", "memory, GB"):
        table.add_column(heading, justify="left" if heading in ("engine", "way") else "right")
    for size in SIZED:
        for facts in contest.where(kind="time", size=size.name):
            memory = contest.where(kind="memory", size=size.name, contender=facts["contender"])
            shown = f"{memory[0]['gigabytes']:.2f}" if memory else "–"
            table.add_row(f"{size.rows:,}", facts["contender"], facts["case"], f"{facts['seconds']:.2f}", shown)
    return table


def measured_curves(contest: Contest) -> dict[str, dict[Point, float]]:
    """What was measured over sizes, of each engine that was."""
    found = {
        engine: {
            Point(facts["rows"], facts["groups"], facts["columns"]): facts["seconds"]
            for facts in contest.where(kind="curve", contender=engine)
        }
        for engine in ENGINES
    }
    return {engine: points for engine, points in found.items() if points}


def remembered(folder: Path, measured: dict[str, dict[Point, float]]) -> dict[str, dict[Point, float]]:
    """Keeps what was just measured in the folder, and adds what other runs have kept there of other engines."""
    for engine, curve in measured.items():
        rows = [[*astuple(point), spent] for point, spent in curve.items()]
        (folder / f"curves-{engine}.json").write_text(json.dumps(rows), encoding="utf-8")
    kept = {engine: folder / f"curves-{engine}.json" for engine in ENGINES}
    return {
        engine: {Point(*row[:3]): row[3] for row in json.loads(place.read_text(encoding="utf-8"))}
        for engine, place in kept.items()
        if place.exists()
    }


def write_page(page: Path, measured: dict[str, dict[Point, float]]) -> None:
    """Writes the tables of the page; a cluster on paper has the costs of Spark, and stays as it is without them."""
    parts = {"curves": curve_lines(measured), "models": models(measured)}
    if "spark" in measured:
        kept = {point: spent for point, spent in measured["spark"].items() if point.rows != HELD_BACK}
        parts["paper"] = paper(fitted(kept), Cluster())
    page.write_text(filled(page.read_text(encoding="utf-8"), parts), encoding="utf-8")


def curves(contest: Contest, console: Console) -> None:
    """Prints what was measured over sizes, the costs that fit it, and how they foretell the size that is held back."""
    for engine, measured in measured_curves(contest).items():
        model = fitted({point: spent for point, spent in measured.items() if point.rows != HELD_BACK})
        table = Table(
            title=f"{engine}: {model.question:.3f} s + {1e9 * model.row:.0f} ns a row + "
            f"{1e9 * model.number:.1f} ns a number + {1e9 * model.group:.0f} ns a group"
        )
        for heading in ("rows", "groups", "columns", "seconds", "by the model", ""):
            table.add_column(heading, justify="right")
        for point, spent in measured.items():
            sizes: list[Any] = [f"{one:,}" for one in (point.rows, point.groups, point.columns)]
            mark = "held back" if point.rows == HELD_BACK else ""
            table.add_row(*sizes, f"{spent:.3f}", f"{model.seconds(point):.3f}", mark)
        console.print(table)


def options(given: list[str] | None = None) -> argparse.Namespace:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description="Compares every engine with the same question by hand there.")
    parser.add_argument("--part", choices=PARTS, action="append", help="measure only this part; several may be given")
    parser.add_argument("--engine", choices=ENGINES, action="append", help="only on this engine")
    parser.add_argument("--page", type=Path, help="write the tables of --part curves into this page")
    parser.add_argument("--folder", type=Path, help="keep the tables here, and take them from here the next time")
    return parser.parse_args(given)


def main() -> int:
    """Measures and prints everything."""
    chosen, console = options(), Console()
    parts, engines = chosen.part or list(USUAL), chosen.engine or list(ENGINES)
    with tempfile.TemporaryDirectory() as scratch:
        folder = chosen.folder or Path(scratch)
        prepare(folder, parts, engines)
        contest = hold(contenders(folder, parts, engines), console=console, label=label)
        measured = remembered(folder, measured_curves(contest))
    console.print(times_table(contest))
    curves(contest, console)
    if chosen.page is not None and measured:
        write_page(chosen.page, measured)
    print(ratios_line(figures(contest)))
    return 1 if contest.missing else 0


if __name__ == "__main__":
    sys.exit(main())
