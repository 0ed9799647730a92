"""Tells the story of the visits: a codebook, a plan, three questions in SQL, a chart, the ledger, a refusal."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console
from rich.text import Text

from sfumato.demo.console import code, headline, print_paths, say, show
from sfumato.demo.visits import (
    BY_DAY,
    BY_SITE,
    LIMIT,
    PEOPLE,
    PEOPLE_BY_SITE,
    ROWS,
    SITES,
    TOO_MANY,
    StoryQuestion,
    VisitsFolder,
    answer,
    draw_answers,
    explain,
    make_visits,
    refusal_text,
)
from sfumato.errors import MissingExtra
from sfumato.release.answer import Answer
from sfumato.release.record import Release
from sfumato.release.render.text import answer_lines
from sfumato.session.session import Session

SHOWN = 7
"""The most rows of an answer that are printed."""

SESSION = """\
data = sf.Dataset("visits.parquet", codebook="visits.yaml", version="made up")
session = data.session(
    limit=sf.Approx(2, 1e-8), ledger="visits-ledger.db"
)"""


def tell(console: Console, *, output: Path) -> None:
    """Prints the story and draws its charts into a folder."""
    data = make_visits(output)
    tell_data(console, data)
    session = data.session()
    tell_plan(console, session)
    by_site = tell_question(
        console,
        session,
        "4",
        BY_SITE,
        f"The sites are public, keys=sf.KeySet.of(site=range(1, {SITES + 1})), so all of them are answered. Of each "
        "person three sites count, and two visits to each.",
    )
    by_day = tell_question(
        console,
        session,
        "5",
        BY_DAY,
        "Of each person three days count, and one visit a day. The error is that of the noise, not of what is cut.",
    )
    tell_question(
        console,
        session,
        "6",
        PEOPLE_BY_SITE,
        "Nobody said which sites there are: a site is only shown if enough people went there, at the price of a δ.",
    )
    tell_ledger(console, session, by_site)
    draw(console, by_site, by_day, output=output)
    try_it(console, data)
    session.ledger.close()


def tell_data(console: Console, data: VisitsFolder) -> None:
    """Shows what the data looks like to somebody who may not look: a schema, and what is public about it."""
    headline(console, "1", "The data, and what is public about it")
    say(
        console,
        f"{ROWS:,} visits of {PEOPLE:,} people to {SITES} sites, made up. A few people come all the time, most come "
        "once. Nobody may look at the rows; from the names and types of the columns alone, a codebook is drafted:",
    )
    show(console, Text("sfumato codebook init visits.parquet --unit user_id", style="bold"))
    show(console, Text(data.draft.partition("tables:\n")[2].rstrip(), no_wrap=True, overflow="ellipsis"))
    say(console, "Bounds and lists only a human can know. Filled in, from public knowledge, each fact with its source:")
    show(console, code("unit:\n" + data.codebook.partition("unit:\n")[2].rstrip(), "yaml"))


def tell_plan(console: Console, session: Session) -> None:
    """Opens the session, and explains a question before anything is spent."""
    headline(console, "2", "People are protected, and a limit is set once")
    show(console, code(SESSION))
    say(console, f"All rows of one person together are hidden; {LIMIT} may be spent, in all, by all questions.")
    headline(console, "3", "Before anything is spent")
    show(console, code("EXPLAIN PRIVACY\n" + BY_DAY.sql, "sql"))
    console.print(explain(session, BY_DAY).to_text(), soft_wrap=True, markup=False, highlight=False)


def tell_question(console: Console, session: Session, number: str, question: StoryQuestion, why: str) -> Release:
    """Asks a question and shows the answer, what it cost and what is left."""
    headline(console, number, question.title)
    show(console, code(question.sql, "sql"))
    before = session.spent
    release = answer(session, question)
    if isinstance(release.value, Answer):
        show(console, Text(answer_lines(release.value, most=SHOWN)))
    paid = "nothing: an earlier run of this story asked it" if session.spent == before else f"{release.loss}"
    say(console, f"{why} It cost [b]{paid}[/b]; {session.left.str_down()} is left.")
    return release


def tell_ledger(console: Console, session: Session, by_site: Release) -> None:
    """Asks again, asks for too much, and shows what the ledger kept."""
    headline(console, "7", "The ledger")
    before = session.spent
    again = answer(session, BY_SITE)
    same = isinstance(again.value, Answer) and isinstance(by_site.value, Answer)
    same = same and again.value.to_dict() == by_site.value.to_dict()
    cost = "nothing" if session.spent == before else "something"
    say(
        console,
        f"The first question, asked again, has {'the same' if same else 'another'} answer and costs [b]{cost}[/b]. "
        f"{session.spent} of {session.limit} is spent. What does not fit is refused, and the data is not touched:",
    )
    show(console, code(TOO_MANY.sql, "sql"))
    show(console, Text(refusal_text(session, TOO_MANY), style="red"))
    say(console, f"The book can be checked by anyone: {session.ledger.verify()}.")


def draw(console: Console, by_site: Release, by_day: Release, *, output: Path) -> None:
    """Draws two answers; says what to install where that is not possible."""
    headline(console, "8", "Drawn")
    try:
        print_paths(console, draw_answers([(BY_SITE, by_site), (BY_DAY, by_day)], folder=output))
    except MissingExtra as missing:
        say(console, f"No charts: {missing}".replace("[", r"\["))


def try_it(console: Console, data: VisitsFolder) -> None:
    """Prints a command to copy, on the files that the story left."""
    headline(console, "9", "Your turn")
    say(console, "The files are there to be asked; what is left of the limit pays:")
    options = f"--codebook {data.book} --ledger {data.ledger}"
    text = f'sfumato query {data.data} {options} "SELECT COUNT(DISTINCT user_id) FROM visits" --epsilon 0.1'
    console.print(f"    {text}", soft_wrap=True, markup=False, highlight=False)
    console.print()
    say(console, "And why all this: [b]sfumato demo classroom[/b], in which two exact means give a grade away.")
