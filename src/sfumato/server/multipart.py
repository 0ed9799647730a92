"""Forms with a file in them (multipart/form-data), read as they come: no part of the file is ever held as a whole."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, final

from starlette.requests import Request

from sfumato.errors import MissingExtra
from sfumato.server.problems import Refused

if TYPE_CHECKING:
    from python_multipart import MultipartParser

FORM = b"multipart/form-data"
MOST_PARTS, LONGEST_FIELD = 20, 4_000
UNREADABLE = "The form cannot be read."


@final
class _Part:
    """A part of a form, as far as it has come."""

    def __init__(self) -> None:
        self.headers: dict[str, bytes] = {}
        self.name = ""
        self.file: str | None = None
        self.octets: list[bytes] = []
        self.size = 0


@final
class FileForm:
    """A form whose last field is a file; `fields` reads what is before it, `octets` goes on with the file."""

    def __init__(self, request: Request) -> None:
        self._stream = request.stream()
        self._part, self._header, self._value = _Part(), b"", b""
        self._said: dict[str, str] = {}
        self._parts, self._ended, self._file = 0, False, ""
        self._arrived: list[bytes] = []
        self._parser = _parser(request, self)

    @property
    def file(self) -> str:
        """What the file is called where it came from; empty where none was sent."""
        return self._file

    async def fields(self) -> dict[str, str]:
        """The fields before the file; the file itself is not read yet."""
        while not self._file and not self._ended and await self._more():
            pass
        return dict(self._said)

    async def octets(self) -> AsyncIterator[bytes]:
        """The file, piece by piece, up to its end; a form that breaks off is refused."""
        going = True
        while going:
            some, self._arrived = self._arrived, []
            for piece in some:
                yield piece
            going = not self._ended and await self._more()
        for piece in self._arrived:
            yield piece
        if not self._ended:
            raise Refused(400, UNREADABLE)

    async def _more(self) -> bool:
        try:
            some = await anext(self._stream)
        except StopAsyncIteration:
            return False
        try:
            self._parser.write(some)
        except ValueError:  # what is wrong with it is said in words of the parser, which quote the form
            some = b""
        else:
            return True
        raise Refused(400, UNREADABLE)

    # What the parser tells

    def begin(self) -> None:
        """A part begins."""
        self._parts += 1
        if self._parts > MOST_PARTS or self._file:
            raise Refused(400, UNREADABLE)
        self._part = _Part()

    def header_field(self, data: bytes, start: int, end: int) -> None:
        """A piece of the name of a header."""
        self._header += data[start:end]

    def header_value(self, data: bytes, start: int, end: int) -> None:
        """A piece of what a header says."""
        self._value += data[start:end]

    def header_end(self) -> None:
        """A header has ended."""
        self._part.headers[self._header.decode("latin-1").lower()] = self._value
        self._header, self._value = b"", b""

    def headers_finished(self) -> None:
        """What a part is is known."""
        from python_multipart.multipart import parse_options_header

        _, said = parse_options_header(self._part.headers.get("content-disposition", b""))
        self._part.name = said.get(b"name", b"").decode("utf-8", "replace")
        if b"filename" in said:
            self._part.file = said[b"filename"].decode("utf-8", "replace")
            self._file = self._part.file

    def data(self, data: bytes, start: int, end: int) -> None:
        """A piece of what a part holds."""
        if self._part.file is not None:
            if not self._file and end > start:
                raise Refused(422, "The file has no name.")
            self._arrived.append(data[start:end])
            return
        self._part.size += end - start
        if self._part.size > LONGEST_FIELD:
            raise Refused(413, "A field of the form is too long.")
        self._part.octets.append(data[start:end])

    def part_end(self) -> None:
        """A part has ended."""
        if self._part.file is None:
            try:
                text = b"".join(self._part.octets).decode("utf-8")
            except UnicodeDecodeError:
                text = "\0"
            if "\0" in text or self._part.name in self._said:
                raise Refused(400, UNREADABLE)
            self._said[self._part.name] = text

    def end(self) -> None:
        """The form has ended."""
        self._ended = True


def is_file_form(request: Request) -> bool:
    """Tells whether a request is a form with a file in it."""
    return request.headers.get("content-type", "").partition(";")[0].strip().lower() == FORM.decode()


def _parser(request: Request, form: FileForm) -> MultipartParser:
    try:
        from python_multipart import MultipartParser as Made
        from python_multipart.multipart import parse_options_header
    except ImportError:
        raise MissingExtra("uploads from pages", "server") from None
    _, said = parse_options_header(request.headers.get("content-type", "").encode("latin-1", "replace"))
    boundary = said.get(b"boundary", b"")
    if not 0 < len(boundary) <= 100:
        raise Refused(400, UNREADABLE)
    return Made(
        boundary,
        {
            "on_part_begin": form.begin,
            "on_part_data": form.data,
            "on_part_end": form.part_end,
            "on_header_field": form.header_field,
            "on_header_value": form.header_value,
            "on_header_end": form.header_end,
            "on_headers_finished": form.headers_finished,
            "on_end": form.end,
        },
    )
