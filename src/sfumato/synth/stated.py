"""What somebody states of columns where a codebook does not, before it is read as a schema."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import final

from sfumato.errors import BadArgument
from sfumato.query.frame import Frame
from sfumato.query.nodes.expressions import Column
from sfumato.synth.columns import CodedColumn
from sfumato.synth.schema import Bins, Impossible, Schema, schema_of_rows, schema_of_table, wanted_fields


@final
@dataclass(frozen=True)
class Stated:
    """What somebody states of columns besides the codebook; see `Synthesizer.fit`."""

    columns: Sequence[str] | None = None
    bins: Bins | None = None
    between: Mapping[str, object] | None = None
    categories: Mapping[str, Sequence[Hashable]] | None = None
    impossible: Impossible | None = None
    schema: Schema | None = None

    def __post_init__(self) -> None:
        stated = (self.columns, self.bins, self.between, self.categories, self.impossible)
        if self.schema is not None and stated != (None,) * len(stated):
            raise BadArgument("schema", "given alone: it says all that is public about columns", "with others")

    def fields(self, table: Frame) -> dict[str, Column]:
        """The columns of a table that are to be synthesised, by name."""
        if self.schema is not None:
            return wanted_fields(table, self.schema.domain.names)
        return wanted_fields(table, self.columns, self.bins, self.between, self.categories)

    def of_table(self, table: Frame, bought: Mapping[str, CodedColumn] | None = None) -> Schema:
        """The schema of a table of a session."""
        if self.schema is not None:
            return self.schema
        return schema_of_table(
            table,
            columns=self.columns,
            bins=self.bins,
            between=self.between,
            categories=self.categories,
            impossible=self.impossible,
            bought=bought,
        )

    def of_rows(self, rows: object) -> Schema:
        """The schema of rows that one holds."""
        if self.schema is not None:
            return self.schema
        return schema_of_rows(
            rows,
            columns=self.columns,
            bins=self.bins,
            between=self.between,  # type: ignore[arg-type]
            categories=self.categories,
            impossible=self.impossible,
        )
