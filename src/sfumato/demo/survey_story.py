"""Tells the survey with two coins, and asks whoever sits at the terminal, if that is wanted."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from sfumato.demo.console import code, headline, print_paths, say, show
from sfumato.demo.survey import (
    QUESTION,
    STUDENTS,
    TRUTHS,
    Interview,
    Surveyed,
    ask_students,
    interview,
    plans,
    three_questions,
)
from sfumato.errors import BadArgument, MissingExtra
from sfumato.local.survey import CoinSurvey
from sfumato.local.survey_plans import survey_sizes

SURVEY = """\
survey = sf.local.CoinSurvey("Have you ever copied in an exam?")
survey.loss                  # ln 3 = 1.0986, for one answer
survey.answer(True)          # on the respondent's device
survey.estimate(yes=400, answers=1000)"""

YES, NO = frozenset({"y", "yes", "j", "ja", "true", "1"}), frozenset({"n", "no", "nein", "false", "0"})
TRIES = 3
"""So often is somebody asked again who answered neither yes nor no."""


def tell(console: Console, *, output: Path) -> None:
    """Prints the story and writes a sheet of paper and a chart into a folder."""
    try:
        output.mkdir(parents=True, exist_ok=True)
    except OSError:
        raise BadArgument("the output folder", "one that can be written to", str(output)) from None
    survey = CoinSurvey(QUESTION)
    tell_coins(console, survey)
    surveyed = ask_students(survey)
    tell_answers(console, surveyed)
    tell_deniability(console, survey)
    tell_doubts(console, surveyed)
    tell_plans(console, survey)
    tell_several(console)
    finish(console, survey, output=output)


def tell_coins(console: Console, survey: CoinSurvey) -> None:
    """Asks one made-up student, and shows the coins that nobody else sees."""
    headline(console, "1", "A question nobody likes to answer")
    say(
        console,
        f"An interviewer asks: [i]{survey.question}[/i] Asked straight out, few would admit it. So there are two "
        "coins, which only the student sees. Heads on the first: tell the truth. Tails: toss the second, and let it "
        "answer.",
    )
    show(console, code(SURVEY))
    say(console, "Four students for whom the truth is yes, with their coins, and what the interviewer hears:")
    shown = Table(box=None, pad_edge=False, padding=(0, 2), header_style="bold")
    for name in ("truth", "first coin", "second coin", "heard"):
        shown.add_column(name)
    for _ in range(4):
        shown.add_row(*_told(interview(True, survey=survey)))
    show(console, shown)


def tell_answers(console: Console, surveyed: Surveyed) -> None:
    """Shows what a thousand answers say."""
    estimate, survey = surveyed.estimate, surveyed.survey
    headline(console, "2", f"{STUDENTS:,} answers")
    heard = estimate.yes / estimate.answers
    say(
        console,
        f"[b]{estimate.yes}[/b] of {estimate.answers:,} said yes: {heard:.1%}. That is not the share that copied, "
        f"for coins said some of it: where nobody copied, {float(survey.expected_share(0)):.0%} would say yes; where "
        f"all did, {float(survey.expected_share(1)):.0%}. The truth lies in between, and is worked out by a straight "
        "line:",
    )
    show(console, Text.assemble(f"2 × {heard:.3f} − ½ = ", (f"{float(estimate.share):.1%}", "bold green")))
    low, high = (float(end) for end in estimate.interval)
    say(
        console,
        f"With 95 % confidence it lies between {low:.1%} and {high:.1%}. (It is {float(surveyed.truth):.0%}: these "
        "students are made up.) The whole class is known, and no student is.",
    )


def tell_deniability(console: Console, survey: CoinSurvey) -> None:
    """Says what one answer lets anybody conclude."""
    headline(console, "3", "What a yes gives away")
    show(console, Text(str(survey.deniability())))


def tell_doubts(console: Console, surveyed: Surveyed) -> None:
    """Says what refusals and lies do to the interval."""
    headline(console, "4", "Refusals and lies")
    refused = surveyed.estimate.doubted(refused=50)
    lied = surveyed.estimate.doubted(liars="0.05", say="no")
    rows = Table.grid(padding=(0, 2))
    for what, interval in (
        ("all answered, by the coins", surveyed.estimate.interval),
        ("50 more refused to answer", refused.interval),
        ("1 in 20 said no whatever the coins said", lied.interval),
    ):
        rows.add_row(what, " … ".join(f"{float(end):.1%}" for end in interval))
    show(console, rows)
    say(
        console,
        "No coin tells a lie from the truth. What can be said is how far lies can move the answer, and no more.",
    )


def tell_plans(console: Console, survey: CoinSurvey) -> None:
    """Plans the number of people for an error."""
    headline(console, "5", "How many must be asked")
    shown = Table(box=None, pad_edge=False, padding=(0, 2), header_style="bold")
    for name in ("error up to", "with coins", "asked directly"):
        shown.add_column(name, justify="right")
    for plan in plans(survey):
        shown.add_row(f"± {float(plan.error):.0%}", f"{plan.people:,}", f"{plan.direct:,}")
    show(console, shown)
    say(console, "The coins cost about four times the people, with 95 % confidence: the price of hiding everybody.")


def tell_several(console: Console) -> None:
    """Shows what several questions cost one person."""
    headline(console, "6", "Several questions")
    asked = three_questions()
    say(
        console,
        "What a person's answers tell adds up. Three questions by two fair coins change odds by 3 × 3 × 3 = 27; to "
        "keep the 3 of one, the first coin must fall heads less often:",
    )
    show(console, Text(asked.to_text()))


def finish(console: Console, survey: CoinSurvey, *, output: Path) -> None:
    """Writes a sheet for respondents with real coins, and a chart for planning."""
    headline(console, "7", "On paper, and drawn")
    sheet = output / "survey-sheet.md"
    try:
        sheet.write_text(survey.paper(), encoding="utf-8")
    except OSError:
        raise BadArgument("the output folder", "one that can be written to", str(output)) from None
    print_paths(console, [sheet])
    try:
        from sfumato.charts import save

        sizes = survey_sizes([CoinSurvey(QUESTION, truth) for truth in TRUTHS])
        print_paths(console, [save(sizes.plot(), output / "survey-people.png")])
    except MissingExtra as missing:
        say(console, f"No charts: {missing}".replace("[", r"\["))
    say(console, "Answer it yourself, with coins on the screen: [b]sfumato demo survey --ask[/b]")


def ask(console: Console) -> None:
    """Asks whoever sits at the terminal, tosses the coins in sight, and shows what would be sent; keeps nothing."""
    survey = CoinSurvey(QUESTION)
    show(console, Text(survey.ask()))
    truth = _answer(console)
    if truth is None:
        say(console, "No answer is an answer too. Nothing was tossed, kept or sent.")
        return
    happened = interview(truth, survey=survey)
    first = "[b]heads[/b]: the truth is told" if happened.heads else "[b]tails[/b]: the second coin answers"
    say(console, f"First coin: {first}.")
    if happened.second is not None:
        say(
            console,
            f"Second coin: [b]{'heads' if happened.second else 'tails'}[/b], which is {_word(happened.second)}.",
        )
    say(console, f"This would be sent: [b]{_word(happened.said)}[/b]. Nothing else, and not the coins.")
    told = survey.deniability()
    before, after = told.beliefs[1].before, told.beliefs[1].after_yes if happened.said else told.beliefs[1].after_no
    say(
        console,
        f"Who held a yes of yours for {float(before):.0%} likely holds it for {float(after):.1%} likely now, and can "
        "prove nothing. Nothing was kept: close the window, and only you know.",
    )


def _answer(console: Console) -> bool | None:
    """Reads a yes or a no; None where nobody answers."""
    for _ in range(TRIES):
        try:
            said = console.input("Your true answer, which stays here (yes/no): ").strip().lower()
        except EOFError:
            console.print()
            return None
        if said in YES | NO:
            console.print()
            return said in YES
        if not said:
            return None
    return None


def _told(happened: Interview) -> tuple[str, ...]:
    second = "" if happened.second is None else "heads" if happened.second else "tails"
    return _word(happened.truth), "heads" if happened.heads else "tails", second, _word(happened.said)


def _word(answer: bool) -> str:  # noqa: FBT001
    return "yes" if answer else "no"
