"""What pages load besides: the sheet of style, small scripts, the logo. All of it comes with the package."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from importlib.resources import files
from typing import final

from starlette.requests import Request
from starlette.responses import Response

from sfumato.server.problems import Refused

MEDIA = {"css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8", "svg": "image/svg+xml"}
FOR_EVER = "public, max-age=31536000, immutable"
"""An address names the content, so that what was loaded once is never asked for again."""


@final
@dataclass(frozen=True)
class Assets:
    """The files by name, as they are in the package."""

    contents: dict[str, bytes]
    digests: dict[str, str]

    @staticmethod
    def load() -> Assets:
        """Reads the files once."""
        folder = files("sfumato.server.pages") / "static"
        contents = {one.name: one.read_bytes() for one in folder.iterdir() if one.name.rpartition(".")[2] in MEDIA}
        return Assets(contents, {name: hashlib.sha256(content).hexdigest()[:16] for name, content in contents.items()})

    def address(self, name: str) -> str:
        """Where a page finds a file."""
        return f"/static/{self.digests[name]}/{name}"

    def answer(self, request: Request) -> Response:
        """Sends a file; an old address leads to what there is now, and is not kept."""
        name, digest = request.path_params["name"], request.path_params["digest"]
        if name not in self.contents:
            raise Refused(404, "There is no such file.")
        kept = FOR_EVER if digest == self.digests[name] else "no-store"
        return Response(self.contents[name], media_type=MEDIA[name.rpartition(".")[2]], headers={"Cache-Control": kept})
