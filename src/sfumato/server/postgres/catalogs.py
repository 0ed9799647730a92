"""What of a connection the catalog is asked: which texts may be about it, and whose catalog answers them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

from sfumato.codebook.book import Codebook
from sfumato.server.postgres.catalog.catalog import Catalog
from sfumato.server.postgres.catalog.described import Described
from sfumato.server.postgres.catalog.keeping import Catalogs
from sfumato.server.postgres.naming import DATABASE

OWN = re.compile(r"pg_|information_schema", re.IGNORECASE)
FROM = re.compile(r"\bfrom\b", re.IGNORECASE)


@final
@dataclass(frozen=True)
class Seen:
    """A data set as somebody sees it: the version that is registered, and its codebook."""

    version: str
    codebook: Codebook

    @property
    def tables(self) -> frozenset[str]:
        """The names of its tables."""
        return frozenset(table.name for table in self.codebook.tables)


def may_ask_catalog(text: str) -> bool:
    """Tells whether a text may be about the catalog: it names something of it, or asks no table at all."""
    return OWN.search(text) is not None or FROM.search(text) is None


def catalog_of(catalogs: Catalogs, person: str, seen: Mapping[str, Seen], search_path: str) -> Catalog:
    """The catalog of somebody, as it stands now."""
    visible = [Described(name, one.codebook) for name, one in seen.items()]
    path = [name for part in search_path.split(",") if (name := part.strip(' "')) in seen]
    return catalogs.of(visible, person, DATABASE, path=path)
