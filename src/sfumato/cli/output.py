"""Writes answers: as a table for people, as CSV, JSON or Parquet for programs, and as a chart."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from enum import StrEnum
from importlib.util import find_spec
from pathlib import Path
from typing import final

from sfumato.cli.exits import misused, tell
from sfumato.errors import BadArgument, MissingExtra, SfumatoError
from sfumato.release.answer import Answer
from sfumato.release.record import Release
from sfumato.release.render.answers import full_table
from sfumato.release.render.csv import lines
from sfumato.release.render.text import answer_lines

PLOTS = (".svg", ".png", ".html")


class Form(StrEnum):
    """The forms in which an answer can be written."""

    TABLE = "table"
    CSV = "csv"
    JSON = "json"
    PARQUET = "parquet"


@final
@dataclass(frozen=True)
class Output:
    """Where an answer goes, and in which form. What cannot be written is refused before anything is paid."""

    form: Form
    path: Path | None = None
    plot: Path | None = None
    title: str | None = None

    def __post_init__(self) -> None:
        if self.form is Form.PARQUET and self.path is None:
            misused("--format parquet needs --output FILE: it is not for a terminal.")
        check_plot(self.plot)
        if self.title is not None and self.plot is None:
            misused("--title is that of a chart: say where to draw it, --plot FILE.")
        check_writable(self.path, self.plot)

    def write(self, answer: Answer, release: Release | None, notes: str) -> None:
        """Writes an answer, and the notes beside it: below a table, or else where they are in nobody's way."""
        as_table = self.form is Form.TABLE
        if self.form is Form.PARQUET:
            self._write_parquet(answer, notes)
        else:
            self._write_text(_written(self.form, answer, release, notes))
        if notes and (not as_table or self.path is not None):
            tell(notes)
        if self.plot is not None and release is not None:
            from sfumato.charts import save

            try:
                tell(f"  chart  {save(release.plot(title=self.title), self.plot)}")
            except SfumatoError as error:  # it has been paid for, and written: no chart is no refusal
                tell(f"  chart  none: {error}")

    def _write_text(self, text: str) -> None:
        if self.path is None:
            sys.stdout.write(text)
            return
        try:
            self.path.write_text(text, encoding="utf-8")
        except OSError:
            raise BadArgument("--output", "a file that can be written", str(self.path)) from None

    def _write_parquet(self, answer: Answer, notes: str) -> None:
        import pyarrow.parquet

        table = answer.to_arrow(intervals=True)
        try:
            pyarrow.parquet.write_table(table.replace_schema_metadata({"sfumato": notes}), self.path)
        except OSError:
            raise BadArgument("--output", "a file that can be written", str(self.path)) from None


def check_writable(*paths: Path | None) -> None:
    """Refuses files that are in no folder, or are one."""
    for path in paths:
        if path is not None and (path.is_dir() or not path.resolve().parent.is_dir()):
            misused(f"{path} cannot be written: there is no such folder, or it is one itself.")


def check_plot(path: Path | None) -> None:
    """Refuses to draw where that cannot be done; what draws is not loaded yet."""
    if path is None:
        return
    if path.suffix not in PLOTS:
        misused(f"--plot takes a file that ends in {', '.join(PLOTS)}; got {path.name}.")
    if find_spec("altair") is None or find_spec("vl_convert") is None:
        raise MissingExtra("drawing charts", "plot")


def _written(form: Form, answer: Answer, release: Release | None, notes: str) -> str:
    match form:
        case Form.CSV:
            table = full_table(answer)
            return lines([table.head, *table.rows])
        case Form.JSON:
            return json.dumps(answer.to_dict(), default=str) + "\n" if release is None else release.to_json()
    return "\n".join([answer_lines(answer), *[notes] * bool(notes)]) + "\n"
