"""Places that data may be read from: folders and servers that the settings name, and nothing that only looks alike."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias, final

from sfumato.errors import BadArgument, Unseen

Source: TypeAlias = str | Mapping[str, str]
"""Where data is: a path or an address, or one for each table."""

ADDRESS = re.compile(
    r"(?P<scheme>[a-z][a-z0-9+]*)://(?:[^\s@/?#\\,\[\]]*@)?(?P<host>[A-Za-z0-9][A-Za-z0-9.-]*|\[[0-9A-Fa-f:]+\])"
    r"(?::(?P<port>[0-9]{1,5}))?(?:/(?P<database>[A-Za-z0-9_][A-Za-z0-9_.-]*)?)?(?:\?(?P<said>[A-Za-z0-9_.=&-]*))?",
    re.ASCII,
)
"""One server and perhaps a database on it: several hosts, escapes and signs that readers disagree on are refused."""

SAID = frozenset({"sslmode", "connect_timeout", "application_name", "schema"})
"""What an address may say besides; nothing that sends a driver somewhere else."""

PORTS = {"postgresql": 5432, "sc": 15002}
ALIASES = {"postgres": "postgresql"}

MUST = "in a folder or on a server that the settings of the service name (data_folders, data_servers)"
PASSWORD = re.compile(r"(://)[^\s/]*@")


@final
@dataclass(frozen=True)
class Server:
    """A server of data by all that decides which one it is; without a ``database``, all of them on it."""

    scheme: str
    host: str
    port: int
    database: str

    @staticmethod
    def read(address: str) -> Server | None:
        """Reads an address; None where more than one server could be meant."""
        match = ADDRESS.fullmatch(address)
        if match is None or {part.partition("=")[0] for part in (match["said"] or "").split("&") if part} - SAID:
            return None
        scheme = ALIASES.get(match["scheme"], match["scheme"])
        port = int(match["port"] or PORTS.get(scheme, 0))
        return Server(scheme, match["host"].lower().rstrip("."), port, match["database"] or "")

    def covers(self, other: Server) -> bool:
        """Tells whether another address is on this server, and of this database where it names one."""
        same = (self.scheme, self.host, self.port) == (other.scheme, other.host, other.port)
        return same and self.database in ("", other.database)


@final
@dataclass(frozen=True)
class Places:
    """The folders and servers that data may come from."""

    folders: tuple[Path, ...] = ()
    servers: tuple[str, ...] = ()

    def checked(self, source: Source) -> Source:
        """The source with whole paths; refuses a place that the service was not told to read from."""
        if isinstance(source, str):
            return self._place(source)
        if not isinstance(source, Mapping) or not source:
            raise BadArgument("the source", "a path or an address, or one for each table", type(source).__name__)
        return {str(name): self._place(place) for name, place in source.items()}

    def _place(self, place: object) -> str:
        if not isinstance(place, str) or not place.strip() or not place.isprintable():
            raise BadArgument("the source", MUST, Unseen())
        if "://" in place:
            asked, known = Server.read(place), [Server.read(server) for server in self.servers]
            if asked is None or not any(one is not None and one.covers(asked) for one in known):
                raise BadArgument("the source", MUST, Unseen())
            return place
        inside = [path for path in self._candidates(place) if self._within(path)]
        found = [path for path in inside if _files(path)]
        if not inside or not all(self._within(os.path.realpath(one)) for path in found for one in _files(path)):
            raise BadArgument("the source", MUST, Unseen())  # a link, too, may lead nowhere else
        return (found or inside)[0]

    def _candidates(self, place: str) -> list[str]:
        """Whole paths that a path can mean: what is relative is looked for in each folder."""
        starts = [""] if os.path.isabs(place) else [str(folder) for folder in self.folders]
        return [os.path.normpath(os.path.join(start, place)) for start in starts]

    def _within(self, path: str) -> bool:
        """Tells whether a path is under a folder, as it is spelled or as its links lead."""
        folders = {spelled for one in self.folders for spelled in (one.absolute(), one.resolve())}
        return any(Path(path).is_relative_to(folder) for folder in folders)


def _files(path: str) -> list[str]:
    """The files of a path or of a pattern, as whoever opens it reads them."""
    return [path] if os.path.isfile(path) else glob.glob(path, recursive=True)


def without_password(address: str) -> str:
    """An address without who signs in there, to be shown to people.

    >>> without_password("postgresql://reader:secret@db.local/visits")
    'postgresql://db.local/visits'
    """
    return PASSWORD.sub(r"\1", address)
