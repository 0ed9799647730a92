"""Tells the classroom case study: printed with rich, drawn by `release.charts`."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from sfumato.accounting.losses.measures import Pure
from sfumato.accounting.meaning.guidance import odds_factor
from sfumato.datasets import CLASSROOM, Classroom, portrait
from sfumato.demo.classroom import CLOSE, Attack, attack, errors_of_mean, leak, private_mean
from sfumato.demo.classroom_ledger import SESSION, ask_twice
from sfumato.demo.console import code, headline, print_paths, say, show
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
    attacked = attack(CLASSROOM, loss=Pure(1), times=TIMES)
    tell_attack(console, CLASSROOM, attacked)
    errors = errors_of_mean(CLASSROOM.between, sizes=SIZES, losses=LOSSES)
    tell_prices(console, errors)
    tell_ledger(console, CLASSROOM, output=output)
    draw(console, attacked, errors, output=output)


def tell_leak(console: Console, classroom: Classroom) -> None:
    """Shows that two exact means give a score away."""
    leaked, size = leak(classroom), len(classroom.scores)
    headline(console, "1", "Two exact means give a grade away")
    say(
        console,
        f"A class of {size} sat an exam. The teacher publishes the mean: [b]{leaked.before}[/b]. "
        f"{classroom.leaves} leaves the class, and the teacher publishes it again: [b]{leaked.after}[/b].",
    )
    formula = f"{size} × {leaked.before} − {size - 1} × {leaked.after} = "
    show(console, Text.assemble(formula, (str(leaked.recovered), "bold red")))
    say(console, f"That is {classroom.leaves}'s score, exactly. Nobody published it, and everybody has it now.")


def tell_private_mean(console: Console, classroom: Classroom) -> None:
    """Builds the private mean and shows its price and its release."""
    headline(console, "2", "A private mean")
    show(console, code(CHAIN))
    size, loss = len(classroom.scores), Pure(1)
    measurement, scale = private_mean(size, classroom.between, loss)
    facts = Table.grid(padding=(0, 2))
    facts.add_row(
        "sensitivity", f"{leak(classroom).sensitivity} points: the most that changing one score moves the mean"
    )
    facts.add_row("noise", f"Laplace of scale {scale}: the least that keeps the price")
    facts.add_row(
        "price", f"{measurement.map(1)} for one student: odds about a score change by × {_factor(loss)} at most"
    )
    show(console, facts)
    release = measurement([float(score) for score in classroom.scores])
    show(console, Text(str(release)))


def tell_attack(console: Console, classroom: Classroom, attacked: Attack) -> None:
    """Runs the attack of the first part on private means."""
    size, leaves = len(classroom.scores), classroom.leaves
    headline(console, "3", "The same attack on private means")
    formula = f"{size} × {_value(attacked.before):.2f} − {size - 1} × {_value(attacked.after):.2f} = "
    show(console, Text.assemble(formula, (f"{attacked.recovered:.1f}", "bold green")))
    low, high = classroom.between
    say(
        console,
        f"The truth is {attacked.truth:.0f}. In {len(attacked.guesses):,} more attacks, each with fresh noise, half "
        f"were off by more than [b]{attacked.median_error:.0f} points[/b]. [b]{attacked.hits:.1%}[/b] came within "
        f"{CLOSE}, and could not know it. "
        f"A blind guess between {low} and {high} does so about {2 * CLOSE / (high - low):.0%} of the time.",
    )
    say(
        console,
        f"The pair of means costs {leaves} {attacked.before.loss}: {leaves} is in the first one only. It costs a "
        f"classmate {attacked.before.loss.then(attacked.after.loss)}, being in both.",
    )


def tell_prices(console: Console, errors: dict[int, dict[Pure, float]]) -> None:
    """Tabulates what each loss buys, for classes of several sizes."""
    headline(console, "4", "What a price buys")
    shown = Table(box=None, pad_edge=False, padding=(0, 2), header_style="bold")
    for heading in ("ε", "odds up to", *(f"± among {size:,}" for size in errors)):
        shown.add_column(heading, justify="right")
    for loss in LOSSES:
        bars = (f"{by_loss[loss]:.3g}" for by_loss in errors.values())
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
    asked = ask_twice(classroom, folder=output)
    if asked.known:
        say(console, "This ledger has seen the question before, in another run of this demonstration:")
    show(console, Text(str(asked.first)))
    steps = Table.grid(padding=(0, 2))
    for what, spent in (("before", asked.before), ("asked once", asked.once), ("asked again", asked.twice)):
        steps.add_row(what, f"{spent} of {asked.limit} spent")
    show(console, steps)
    same = "the same answer" if asked.first.value == asked.second.value else "another answer"
    say(console, f"The second time it is [b]{same}[/b], and it costs [b]nothing[/b]. What does not fit is refused:")
    show(console, Text(asked.refusal, style="red"))
    say(console, f"The book can be checked by anyone: {asked.verdict}. The release table is made from it:")
    show(console, Text(asked.table.to_text().partition("\n")[2].strip("\n")))
    print_paths(console, asked.written)


def draw(console: Console, attacked: Attack, errors: dict[int, dict[Pure, float]], *, output: Path) -> None:
    """Draws the story and the portrait; says what to install where that is not possible."""
    headline(console, "6", "Drawn")
    try:
        written = draw_charts(attacked, errors, output=output)
    except MissingExtra as missing:
        say(console, f"No charts: {missing}".replace("[", r"\["))
        return
    print_paths(console, written)


def draw_charts(attacked: Attack, errors: dict[int, dict[Pure, float]], *, output: Path) -> list[Path]:
    """Writes the charts into a folder and returns their paths."""
    from sfumato.charts import classroom_figure, randomized_picture, save

    scores = [float(score) for score in CLASSROOM.scores]
    releases = {f"{loss}": private_mean(len(scores), CLASSROOM.between, loss)[0](scores) for loss in DRAWN}
    attacks = f"{len(attacked.guesses):,} attacks on private means, ε = 1"
    caption = f"{attacks}. {attacked.hits:.1%} come within {CLOSE} points of the truth"
    figure = classroom_figure(
        attacked.guesses,
        truth=attacked.truth,
        possible=(float(CLASSROOM.between[0]), float(CLASSROOM.between[1])),
        releases=releases,
        errors={f"{size:,} students": by_loss for size, by_loss in errors.items()},
        caption=caption,
    )
    picture = randomized_picture(portrait())
    files = [(figure, "classroom.png"), (figure, "classroom.svg"), (picture, "portrait.png")]
    return [save(chart, output / name) for chart, name in files]


def _factor(loss: Pure) -> str:
    factor = up(odds_factor(loss))
    return f"{factor:.3f}" if factor < 100 else f"{factor:,.0f}"


def _value(release: Release) -> float:
    return float(release.value)
