"""What is written down beside a plan: between whom information flows, the datasheet, a study of preferences."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from fractions import Fraction
from typing import Any, cast, final

from sfumato.codebook.book import SHEET, Codebook
from sfumato.errors import BadArgument, SfumatoError, UnknownFormat
from sfumato.exact import positive
from sfumato.ledger.entry import Said
from sfumato.ledger.ledger import Ledger
from sfumato.planning.desk import Book
from sfumato.release.context import NO_EXCUSE, ContextRecord
from sfumato.release.record import Receipt
from sfumato.release.render.displayed import Displayed
from sfumato.release.render.document import Document, Table

FORMAT, VERSION, TOPIC = "sfumato forms", 1, "forms"

PARADOX = (
    "What people say about privacy and what they do differ (the privacy paradox), and nobody can foresee all uses of "
    "what is published: preferences alone set no limit."
)

VALUABLE = ("preprocessing", "uses")
"""The sections of a datasheet that help analysts most."""


@final
@dataclass(frozen=True)
class Datasheet:
    """The seven sections of a datasheet (Gebru and others 2021, arXiv 1803.09010), as texts; empty where unknown."""

    motivation: str = ""
    composition: str = ""
    collection: str = ""
    preprocessing: str = ""
    uses: str = ""
    distribution: str = ""
    maintenance: str = ""

    @staticmethod
    def of(book: Book) -> Datasheet:
        """Fills in what a codebook says: its own datasheet first, and else what follows from its other entries."""
        facts = book if isinstance(book, Codebook) else Codebook.read(book)
        said = dict(facts.datasheet)
        return Datasheet(**{name: said.get(name) or _derived(facts, name) for name in SHEET})

    @property
    def missing(self) -> tuple[str, ...]:
        """The sections that nobody has written, the most valuable first."""
        empty = [name for name in SHEET if not getattr(self, name).strip()]
        return tuple(sorted(empty, key=lambda name: name not in VALUABLE))


def _derived(book: Codebook, section: str) -> str:
    """What a section can say from the other entries of a codebook."""
    match section:
        case "motivation":
            return book.description or book.scope
        case "composition":
            return " ".join(
                f"{table.name}: {', '.join(column.name for column in table.columns)}." for table in book.tables
            )
        case "collection":
            days = " to ".join(str(day) for day in book.collected)
            drawn = "" if book.sampling is None else f" {book.sampling.method} of {book.sampling.frame}".rstrip()
            return f"{days}{';' * bool(days and drawn)}{drawn}".strip()
        case "preprocessing":
            columns = [column for table in book.tables for column in table.columns]
            said = [f"{one.name}: {text}." for one in columns for text in (one.missing, one.erroneous) if text]
            return " ".join(said)
        case "distribution":
            return ", ".join(part for part in (book.url, book.contact) if part)
    return ""


@final
@dataclass(frozen=True)
class PreferenceStudy:
    """A study of what people think of a release, and what bounds it: law and ethics come before preferences.

    ``context`` says who was asked about what, ``questions`` what, ``trade_offs`` what they said they would give for
    what. ``vulnerable`` are groups with most to lose. ``ceiling`` is the ε that law and ethics allow at most (see
    `limit_advice`), and ``controls`` what protects besides: encryption, rules of access, computing on shares.
    """

    context: str
    questions: tuple[str, ...] = ()
    trade_offs: tuple[str, ...] = ()
    vulnerable: tuple[str, ...] = ()
    ceiling: Fraction | None = None
    controls: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.context, str) or not self.context.strip():
            raise BadArgument("context", "said in words: who was asked, about what", self.context)
        for name in ("questions", "trade_offs", "vulnerable", "controls"):
            object.__setattr__(self, name, _texts(getattr(self, name), name))
        if self.ceiling is not None:
            object.__setattr__(self, "ceiling", positive(self.ceiling, "ceiling"))


def _texts(given: Iterable[str], name: str) -> tuple[str, ...]:
    if isinstance(given, str) or not all(isinstance(one, str) and one.strip() for one in given):
        raise BadArgument(name.replace("_", " "), "a list of texts", given)
    return tuple(given)


@final
@dataclass(frozen=True, repr=False)
class Forms(Displayed):
    """The forms of a release: the flow of information that people know, the one that is proposed, datasheet, study.

    >>> flow = ContextRecord("a visitor", "the city", "the public", "counts by day", "published once a month")
    >>> forms = Forms(proposed=flow, datasheet=Datasheet(uses="to plan opening hours"))
    >>> Forms.from_plain(forms.to_plain()) == forms
    True
    """

    now: ContextRecord | None = None
    proposed: ContextRecord | None = None
    datasheet: Datasheet | None = None
    study: PreferenceStudy | None = None

    def __post_init__(self) -> None:
        kinds = {"now": ContextRecord, "proposed": ContextRecord, "datasheet": Datasheet, "study": PreferenceStudy}
        for name, kind in kinds.items():
            given = getattr(self, name)
            if given is not None and not isinstance(given, kind):
                raise BadArgument(name, f"a {kind.__name__}", given)

    @property
    def missing(self) -> tuple[str, ...]:
        """What is not filled in yet."""
        absent = [name for name in ("proposed", "datasheet") if getattr(self, name) is None]
        sheet = () if self.datasheet is None else self.datasheet.missing
        return (*absent, *(f"datasheet: {name}" for name in sheet))

    def document(self) -> Document:
        """All forms, for any form of writing."""
        tables = [Table(rows, title=title) for title, rows in self.sections() if rows]
        missing = tuple(f"not filled in: {', '.join(self.missing)}" for _ in range(bool(self.missing)))
        return Document("Forms", "Between whom, about whom, on which terms", warnings=missing, tables=tuple(tables))

    def sections(self) -> list[tuple[str, tuple[tuple[str, str], ...]]]:
        """The forms in words: a title, and pairs of what and how it is."""
        made = [("The flow that is proposed", _flow(self.proposed)), ("The flow that people know", _flow(self.now))]
        if self.now is not None and self.proposed is not None:
            changes = [(name, f"{before} → {after}") for name, before, after in self.now.changes(self.proposed)]
            made.append(("What changes", (*changes, ("mind", NO_EXCUSE)) if changes else (("nothing", "changes"),)))
        if self.proposed is not None:
            made.append(("What will be hard, and what is done about it", self.proposed.challenges))
        if self.datasheet is not None:
            told = asdict(self.datasheet)
            made.append(("Datasheet", tuple((name, text) for name, text in told.items() if text)))
        if self.study is not None:
            made.append(("What people think, and what bounds it", _study(self.study)))
        return made

    def to_plain(self) -> dict[str, Any]:
        """The forms as plain data."""
        said = {part.name: getattr(self, part.name) for part in fields(self)}
        plain = {name: _plain(record) for name, record in said.items() if record is not None}
        return {"format": FORMAT, "version": VERSION, **plain}

    @staticmethod
    def from_plain(plain: object) -> Forms:
        """Reads what `to_plain` wrote; refuses other formats, versions and fields."""
        kinds = {"now": ContextRecord, "proposed": ContextRecord, "datasheet": Datasheet, "study": PreferenceStudy}
        match plain:
            case {"format": form, "version": version, **rest} if form == FORMAT and version == VERSION:
                given = cast(dict[str, Any], rest)
                try:
                    return Forms(**{name: kinds[name](**_read(said)) for name, said in given.items()})
                except (AttributeError, KeyError, TypeError, ValueError, SfumatoError) as refusal:
                    raise UnknownFormat("a form in it cannot be read") from refusal
        raise UnknownFormat(f"it is no {FORMAT} of version {VERSION}")


def _flow(flow: ContextRecord | None) -> tuple[tuple[str, str], ...]:
    if flow is None:
        return ()
    names = [part.name for part in fields(flow) if part.name != "challenges"]
    return tuple((name.replace("_", " "), getattr(flow, name)) for name in names)


def _study(study: PreferenceStudy) -> tuple[tuple[str, str], ...]:
    listed = [(name.replace("_", " "), "; ".join(getattr(study, name))) for name in ("questions", "trade_offs")]
    listed += [(name, "; ".join(getattr(study, name))) for name in ("vulnerable", "controls")]
    ceiling = "" if study.ceiling is None else f"ε = {float(study.ceiling):g} at most, whatever people prefer"
    rows = [("who was asked", study.context), *listed, ("ceiling of law and ethics", ceiling), ("mind", PARADOX)]
    return tuple((name, text) for name, text in rows if text)


def _plain(record: object) -> dict[str, Any]:
    said = {part.name: getattr(record, part.name) for part in fields(cast(Any, record))}
    return {name: _plain_part(value) for name, value in said.items() if value not in (None, (), "")}


def _plain_part(value: object) -> Any:
    if isinstance(value, Fraction):
        return str(value)
    return [_plain_part(one) for one in value] if isinstance(value, tuple) else value


def _read(said: Mapping[str, Any]) -> dict[str, Any]:
    read: dict[str, Any] = {
        name: tuple(map(_whole, value)) if isinstance(value, list) else value for name, value in said.items()
    }
    return {name: Fraction(value) if name == "ceiling" else value for name, value in read.items()}


def _whole(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value


def keep_forms(ledger: Ledger, account: str, forms: Forms, *, by: str = "curator") -> Receipt:
    """Writes the forms down in the book of a data set, beside its checklist; what was written before stays there."""
    if not isinstance(forms, Forms):
        raise BadArgument("forms", "a sf.planning.Forms", forms)
    return ledger.note(account, TOPIC, cast(Said, forms.to_plain()), by=by)


def forms_of(ledger: Ledger, account: str) -> Forms | None:
    """The forms of a data set as they were last written down; None where there are none."""
    note = ledger.last_note(account, TOPIC)
    return None if note is None else Forms.from_plain(note.body["said"])
