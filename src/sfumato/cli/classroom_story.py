"""Tells the classroom case study: printed with rich, drawn by `release.charts`."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from sfumato.accounting.guidance import odds_factor
from sfumato.accounting.measures import Pure
from sfumato.cli.classroom import CLOSE, Attack, attack, errors_of_mean, leak, private_mean
from sfumato.cli.classroom_ledger import SESSION, asked_twice
from sfumato.cli.telling import code, headline, listed, say, show
from sfumato.datasets import CLASSROOM, Classroom, portrait
from sfumato.errors import MissingExtra
from sfumato.exact import up
from sfumato.release.record import Release

TIMES = 5_000
LOSSES = tuple(Pure(epsilon) for epsilon in ("0.1", "0.5", "1", "2", "5", "10"))
DRAWN = LOSSES[1:]
SIZES = (10, 100, 1_000)

CHAIN = """\
students = sf.vector(float, size=10) >> sf.clamp(0, 100)
mean = students >> sf.mean() >> sf.laplace(scale=10)
mean.map(1)        # Pure(epsilon=1.0), known before any score is seen
mean(scores)       # the only line that looks at the data"""


def tell(console: Console, *, output: Path) -> None:
    """Prints the story and draws its charts into a folder."""
    tell_leak(console, CLASSROOM)
    tell_private_mean(console, CLASSROOM)
    found = attack(CLASSROOM, loss=Pure(1), times=TIMES)
    tell_attack(console, CLASSROOM, found)
    errors = errors_of_mean(CLASSROOM.between, sizes=SIZES, losses=LOSSES)
    tell_prices(console, errors)
    tell_ledger(console, CLASSROOM, output=output)
    draw(console, found, errors, output=output)


def tell_leak(console: Console, classroom: Classroom) -> None:
    """Shows that two exact means give a score away."""
    told, size = leak(classroom), len(classroom.scores)
    headline(console, "1", "Two exact means give a grade away")
    say(
        console,
        f"A class of {size} sat an exam. The teacher publishes the mean: [b]{told.before}[/b]. "
        f"{classroom.leaves} leaves the class, and the teacher publishes it again: [b]{told.after}[/b].",
    )
    formula = f"{size} × {told.before} − {size - 1} × {told.after} = "
    show(console, Text.assemble(formula, (str(told.recovered), "bold red")))
    say(console, f"That is {classroom.leaves}'s score, exactly. Nobody published it, and everybody has it now.")


def tell_private_mean(console: Console, classroom: Classroom) -> None:
    """Builds the private mean and shows its price and its release."""
    headline(console, "2", "A private mean")
    show(console, code(CHAIN))
    size, loss = len(classroom.scores), Pure(1)
    made, scale = private_mean(size, classroom.between, loss)
    facts = Table.grid(padding=(0, 2))
    facts.add_row(
        "sensitivity", f"{leak(classroom).sensitivity} points: the most that changing one score moves the mean"
    )
    facts.add_row("noise", f"Laplace of scale {scale}: the least that keeps the price")
    facts.add_row("price", f"{made.map(1)} for one student: odds about a score change by × {_factor(loss)} at most")
    show(console, facts)
    release = made([float(score) for score in classroom.scores])
    show(console, Text(str(release)))


def tell_attack(console: Console, classroom: Classroom, found: Attack) -> None:
    """Runs the attack of the first part on private means."""
    size, leaves = len(classroom.scores), classroom.leaves
    headline(console, "3", "The same attack on private means")
    formula = f"{size} × {_value(found.before):.2f} − {size - 1} × {_value(found.after):.2f} = "
    show(console, Text.assemble(formula, (f"{found.recovered:.1f}", "bold green")))
    low, high = classroom.between
    say(
        console,
        f"The truth is {found.truth:.0f}. In {len(found.guesses):,} more attacks, each with fresh noise, half were "
        f"off by more than [b]{found.median_error:.0f} points[/b]. [b]{found.hits:.1%}[/b] came within {CLOSE}, and "
        "could not know it. "
        f"A blind guess between {low} and {high} does so about {2 * CLOSE / (high - low):.0%} of the time.",
    )
    say(
        console,
        f"The pair of means costs {leaves} {found.before.loss}: {leaves} is in the first one only. It costs a "
        f"classmate {found.before.loss.then(found.after.loss)}, being in both.",
    )


def tell_prices(console: Console, errors: dict[int, dict[Pure, float]]) -> None:
    """Tabulates what each loss buys, for classes of several sizes."""
    headline(console, "4", "What a price buys")
    shown = Table(box=None, pad_edge=False, padding=(0, 2), header_style="bold")
    for heading in ("ε", "odds up to", *(f"± among {size:,}" for size in errors)):
        shown.add_column(heading, justify="right")
    for loss in LOSSES:
        bars = (f"{found[loss]:.3g}" for found in errors.values())
        shown.add_row(f"{up(loss.epsilon):g}", f"× {_factor(loss)}", *bars)
    show(console, shown)
    say(
        console,
        "Errors in points, kept with 95 % confidence. Ten are few to hide among; in a crowd the same ε is cheap.",
    )


def tell_ledger(console: Console, classroom: Classroom, *, output: Path) -> None:
    """Asks the same question twice under a ledger that is kept, and then one that the limit does not allow."""
    headline(console, "5", "Under a ledger")
    show(console, code(SESSION))
    told = asked_twice(classroom, folder=output)
    if told.known:
        say(console, "This ledger has seen the question before, in another run of this demonstration:")
    show(console, Text(str(told.first)))
    steps = Table.grid(padding=(0, 2))
    for what, spent in (("before", told.before), ("asked once", told.once), ("asked again", told.twice)):
        steps.add_row(what, f"{spent} of {told.limit} spent")
    show(console, steps)
    same = "the same answer" if told.first.value == told.second.value else "another answer"
    say(console, f"The second time it is [b]{same}[/b], and it costs [b]nothing[/b]. What does not fit is refused:")
    show(console, Text(told.refusal, style="red"))
    say(console, f"The book can be checked by anyone: {told.verdict}. The release table is made from it:")
    show(console, Text(told.table.to_text().partition("\n")[2].strip("\n")))
    listed(console, told.written)


def draw(console: Console, found: Attack, errors: dict[int, dict[Pure, float]], *, output: Path) -> None:
    """Draws the story and the portrait; says what to install where that is not possible."""
    headline(console, "6", "Drawn")
    try:
        written = draw_charts(found, errors, output=output)
    except MissingExtra as missing:
        say(console, f"No charts: {missing}".replace("[", r"\["))
        return
    listed(console, written)


def draw_charts(found: Attack, errors: dict[int, dict[Pure, float]], *, output: Path) -> list[Path]:
    """Writes the charts and gives their paths."""
    from sfumato.release.charts import classroom_figure, randomized_picture, save

    scores = [float(score) for score in CLASSROOM.scores]
    releases = {f"{loss}": private_mean(len(scores), CLASSROOM.between, loss)[0](scores) for loss in DRAWN}
    attacks = f"{len(found.guesses):,} attacks on private means, ε = 1"
    told = f"{attacks}. {found.hits:.1%} come within {CLOSE} points of the truth"
    figure = classroom_figure(
        found.guesses,
        truth=found.truth,
        possible=(float(CLASSROOM.between[0]), float(CLASSROOM.between[1])),
        releases=releases,
        errors={f"{size:,} students": by_loss for size, by_loss in errors.items()},
        told=told,
    )
    picture = randomized_picture(portrait())
    files = [(figure, "classroom.png"), (figure, "classroom.svg"), (picture, "portrait.png")]
    return [save(chart, output / name) for chart, name in files]


def _factor(loss: Pure) -> str:
    factor = up(odds_factor(loss))
    return f"{factor:.3f}" if factor < 100 else f"{factor:,.0f}"


def _value(release: Release) -> float:
    return float(release.value)
