"""Text files, row by row: what a record of CSV or JSON is, whatever is in the file, so that damage stays where it is.

A CSV file is read from its first line to its last. A record is the shortest run of whole lines, from here on, that is
well formed and has as many fields as the header; where there is none within `LONGEST` characters, this one line is no
record, and reading goes on at the next line. Lines of JSON are records each by itself. The elements of a JSON list are
read one after another; behind one that cannot be read, reading goes on at the next place where an object begins.

Values come out as texts, for the codebook's types to read (`text_reading`). An engine's own reader must make
the same of files without damage; tests hold the two together.
"""

from __future__ import annotations

import json
import mmap
import re
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeAlias, final

from sfumato.errors import BadArgument
from sfumato.query.engines.inputs.python_values import text_of

Row: TypeAlias = list[str | None]

SEPARATED, JSON = {".csv": ",", ".tsv": "\t"}, (".json", ".jsonl", ".ndjson")

LONGEST = 1 << 20
"""A record has no more characters than this: an open quote does not swallow a file."""

OBJECT = re.compile(r"(?:[,\[]|^)[ \t\r\n]*(?=\{)", re.MULTILINE)
"""Where an element of a list may begin: behind a comma or the bracket, or in a line of its own."""


def delimiter_of(file: Path) -> str:
    """What stands between the values of a CSV file: the comma; or the semicolon, where its header has only those.

    Nothing but the header is looked at, which is public.
    """
    usual = SEPARATED[file.suffix.lower()]
    try:
        with file.open(encoding="utf-8-sig", newline="") as lines:
            header = lines.readline()
    except UnicodeError:
        return usual
    return ";" if usual == "," and "," not in header and ";" in header else usual


def header_of(files: list[Path]) -> list[str]:
    """The names of the columns of CSV files: the first record of each, the same in all.

    A column may have no name, as the index of a data frame has none; nothing can be said or asked about it.
    """
    headers = []
    for file in files:
        with Separated.opened(file) as lines:
            headers.append([name or "" for name in lines.record(None) or []])
    names = headers[0]
    said = [name.casefold() for name in names if name]
    if not said or any(one != names for one in headers) or len(set(said)) < len(said) or not all(map(_storable, names)):
        must = "CSV files in UTF-8 with the same header, in which no name is there twice"
        raise BadArgument("data", must, str(files[0].name))
    return names


def well_formed(file: Path, delimiter: str, size: int) -> bool:
    """Tells whether a CSV file is surely without damage but for its encoding: an engine's own reader may then take it.

    That one passes over some records with a quote in the wrong place. Files without quotes need no look: it refuses
    records there that have too many or too few fields.
    """
    with file.open("rb") as held, mmap.mmap(held.fileno(), 0, access=mmap.ACCESS_READ) as whole:
        if whole.find(b"\0") >= 0:
            return False
        return whole.find(b'"') < 0 or _grammar(delimiter.encode(), size).fullmatch(whole) is not None


def has_quotes(file: Path) -> bool:
    """Tells whether there is a quote anywhere in a file."""
    with file.open("rb") as held, mmap.mmap(held.fileno(), 0, access=mmap.ACCESS_READ) as whole:
        return whole.find(b'"') >= 0


def _grammar(delimiter: bytes, size: int) -> re.Pattern[bytes]:
    """The grammar of a CSV file in which every record has this many fields, and all lines end alike."""
    field = rb'(?:"[^"]*+(?:""[^"]*+)*+"|[^"\r\n' + delimiter + rb"]*+)"
    record = field + rb"(?:" + delimiter + field + rb"){%d}" % (size - 1)
    ways = (rb"(?:%b%b)*+(?:%b)?" % (record, end, record) for end in (rb"\r\n", rb"\n", rb"\r"))
    return re.compile(b"(?:\xef\xbb\xbf)?(?:" + b"|".join(ways) + b")")


def separated_rows(file: Path, names: list[str], wanted: list[str]) -> Iterator[Row | None]:
    """The wanted columns of a CSV file, row by row; None stands for a line that is no record."""
    places = [names.index(name) for name in wanted]
    with Separated.opened(file) as lines:
        lines.record(None)
        while lines.more():
            record = lines.record(len(names))
            if record is None:
                yield None
            elif record:
                yield [record[place] for place in places]


@final
class Separated:
    """A CSV file as far as it has been read. Bytes that are not UTF-8 are halves of characters in its texts."""

    def __init__(self, file: Any, delimiter: str) -> None:
        self._file, self._delimiter, self._ahead = file, delimiter, deque[str]()

    @staticmethod
    def opened(file: Path) -> Separated:
        """Opens a file at its header."""
        held = file.open(encoding="utf-8-sig", errors="surrogateescape", newline="")
        return Separated(held, delimiter_of(file))

    def __enter__(self) -> Separated:
        return self

    def __exit__(self, *exception: object) -> None:
        self._file.close()

    def more(self) -> bool:
        """Tells whether there is another line."""
        if not self._ahead:
            line = self._file.readline()
            if line:
                self._ahead.append(line)
        return bool(self._ahead)

    def record(self, size: int | None) -> Row | None:
        """Reads the next record of this many fields, or of any number; None where the next line begins none.

        An empty line is no row, but where there is one column: there it is a missing value.
        """
        if not self.more():
            return None
        line = self._ahead[0]
        if not line.rstrip("\r\n") and size != 1:
            self._ahead.popleft()
            return []
        if '"' not in line:
            self._ahead.popleft()
            return _fitting(line.rstrip("\r\n").split(self._delimiter), size)
        quoted, lines = self._quoted()
        fields = None if quoted is None else _fitting(quoted, size)
        for _ in range(1 if fields is None else lines):
            self._ahead.popleft()
        return fields

    def _quoted(self) -> tuple[list[str] | None, int]:
        """Reads a record with quotes, and tells how many lines it takes; the lines stay ahead."""
        text, lines, place = self._ahead[0], 1, 0
        fields: list[str] = []
        while True:
            blank = place
            while text[blank : blank + 1] == " ":
                blank += 1
            if text[blank : blank + 1] != '"':
                end = text.find(self._delimiter, place)
                end = len(text.rstrip("\r\n")) if end < 0 else end
                fields.append(text[place:end])
            else:
                end = self._closing(text, blank + 1)
                while end < 0:
                    if len(self._ahead) == lines:
                        line = self._file.readline()
                        if not line:
                            return None, lines
                        self._ahead.append(line)
                    start, text, lines = len(text), text + self._ahead[lines], lines + 1
                    if len(text) > LONGEST:
                        return None, lines
                    end = self._closing(text, blank + 1 if text[start - 1] == '"' else start)
                fields.append(text[blank + 1 : end].replace('""', '"'))
                end += 1
                while text[end : end + 1] == " ":
                    end += 1
            if text[end : end + 1] != self._delimiter:
                return (fields if not text[end:].rstrip("\r\n") else None), lines
            place = end + 1

    @staticmethod
    def _closing(text: str, place: int) -> int:
        """Finds the quote that ends a value; -1 where there is none yet."""
        while True:
            end = text.find('"', place)
            if end < 0 or text[end + 1 : end + 2] != '"':
                return end
            place = end + 2


def _fitting(fields: list[str], size: int | None) -> Row | None:
    """A record that has as many fields as the header; empty fields too many, at the end, are none."""
    if size is not None and len(fields) > size and not any(fields[size:]):
        fields = fields[:size]
    return None if size not in (None, len(fields)) else [text_of(field) if field else None for field in fields]


def json_rows(file: Path, wanted: list[str]) -> Iterator[Row | None]:
    """The wanted entries of each object of a JSON file; None stands for what is no object.

    The file is a list of objects if it begins with a bracket, and otherwise has an object in each line.
    """
    with file.open(encoding="utf-8-sig", errors="surrogateescape", newline="\n") as lines:
        first = next((line for line in lines if line.strip()), "")
        lines.seek(0)
        objects = _elements(lines.read()) if first.lstrip().startswith("[") else map(_object, filter(str.strip, lines))
        for one in objects:
            yield None if one is None else [text_of(one.get(name)) for name in wanted]


DECODER = json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=str)
"""Reads JSON; numbers stay as they are written, because ids that differ in any digit are two people's."""


def _object(line: str) -> dict[str, Any] | None:
    try:
        element = DECODER.decode(line.lstrip("\ufeff"))
    except (ValueError, RecursionError):
        return None
    return element if isinstance(element, dict) else None


def _elements(text: str) -> Iterator[dict[str, Any] | None]:
    """The elements of a list one after another, however it is broken."""
    place = text.index("[") + 1
    while True:
        while text[place : place + 1] in (" ", "\t", "\r", "\n", ","):
            place += 1
        if text[place : place + 1] in ("", "]") and not text[place + 1 :].strip():
            return
        try:
            element, place = DECODER.raw_decode(text, place)
            yield element if isinstance(element, dict) else None
        except (ValueError, RecursionError):
            yield None
            there = OBJECT.search(text, place + 1)
            if there is None:
                return
            place = there.end()


def _storable(name: str) -> bool:
    return not any("\ud800" <= letter <= "\udfff" for letter in name)
